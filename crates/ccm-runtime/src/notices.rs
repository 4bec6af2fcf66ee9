//! The receiver of a session's notices.

use std::cell::RefCell;
use std::rc::Rc;

use crate::session::Notice;

type Receiver = Rc<dyn Fn(&Notice<'_>)>;

/// Receiver of notices, which a session shares with its inputs and its governance.
#[derive(Clone, Default)]
pub(crate) struct Notices(Rc<RefCell<Option<Receiver>>>);

impl Notices {
    /// Sets the receiver.
    pub(crate) fn receive(&self, receiver: impl Fn(&Notice<'_>) + 'static) {
        self.0.replace(Some(Rc::new(receiver)));
    }

    /// Hands a notice to the receiver, if there is one.
    pub(crate) fn report(&self, notice: &Notice<'_>) {
        // The receiver may set another one.
        let receiver = self.0.borrow().clone();
        if let Some(receiver) = receiver {
            receiver(notice);
        }
    }
}
