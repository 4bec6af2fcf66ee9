//! What was read before it is needed, and holds until something is executed.

use std::any::{Any, TypeId, type_name};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use ccm_host::{Cancellation, Command, Executor, Finished, Local, Runner, RunnerMiddleware, StartError};
use ccm_model::{Failure, ResourceIndex, Stream};
use tracing::debug;

use crate::managed::Managed;

/// A resource that was read before its turn.
pub(crate) struct Ahead {
    pub managed: Box<dyn Managed>,
    pub read: Result<(), Failure>,
}

/// What is known of the machine in the course of a run.
#[derive(Default)]
pub(crate) struct Known {
    ahead: RefCell<HashMap<ResourceIndex, Ahead>>,
    shared: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
    kept: RefCell<HashMap<TypeId, Rc<dyn Any>>>,
    forgotten: Cell<u64>,
    singly: Cell<bool>,
}

impl Known {
    /// Forgets everything, because something was executed. What comes is read singly: where one thing changes
    /// others do, and each would let what was read ahead be read again.
    pub(crate) fn forget(&self) {
        self.forgotten.set(self.forgotten.get() + 1);
        if !self.shared.borrow().is_empty() {
            debug!("shared states invalidated");
            self.shared.borrow_mut().clear();
        }
        self.read_singly();
    }

    /// Forgets what was read ahead, and reads nothing ahead any more.
    pub(crate) fn read_singly(&self) {
        let prefetched = self.ahead.borrow().len();
        if prefetched > 0 {
            debug!(prefetched, "prefetched states invalidated");
            self.ahead.borrow_mut().clear();
        }
        self.singly.set(true);
    }

    /// Forgets everything now, and again when what this returns is dropped.
    pub(crate) fn forgets(&self) -> Forgets<'_> {
        self.forget();
        Forgets(self)
    }

    pub(crate) fn reads_singly(&self) -> bool {
        self.singly.get()
    }

    /// How often everything was forgotten; what was read holds as long as this stays the same.
    pub(crate) fn forgotten(&self) -> u64 {
        self.forgotten.get()
    }

    pub(crate) fn is_ahead(&self, index: ResourceIndex) -> bool {
        self.ahead.borrow().contains_key(&index)
    }

    pub(crate) fn put_ahead(&self, index: ResourceIndex, ahead: Ahead) {
        self.ahead.borrow_mut().insert(index, ahead);
    }

    pub(crate) fn take_ahead(&self, index: ResourceIndex) -> Option<Ahead> {
        let mut ahead = self.ahead.borrow_mut();
        if ahead.is_empty() { None } else { ahead.remove(&index) }
    }

    pub(crate) fn kept<T: Any + Default>(&self) -> Rc<T> {
        let mut kept = self.kept.borrow_mut();
        let value = kept.entry(TypeId::of::<T>()).or_insert_with(|| Rc::new(T::default()));
        Rc::clone(value).downcast().unwrap_or_default()
    }

    pub(crate) async fn shared<T: Any, E>(
        &self,
        read: impl AsyncFnOnce() -> Result<T, E>,
    ) -> Result<Rc<T>, E> {
        let known = self.shared.borrow().get(&TypeId::of::<T>()).map(Rc::clone);
        if let Some(known) = known.and_then(|known| known.downcast().ok()) {
            debug!(state = %type_name::<T>(), "shared state reused");
            return Ok(known);
        }
        debug!(state = %type_name::<T>(), "reading shared state");
        let before = self.forgotten();
        let value = Rc::new(read().await?);
        if before == self.forgotten() {
            self.shared.borrow_mut().insert(TypeId::of::<T>(), value.clone());
        }
        Ok(value)
    }
}

/// Forgets when it is dropped, so that neither a panic nor a cancellation leaves behind what no longer holds.
pub(crate) struct Forgets<'a>(&'a Known);

impl Drop for Forgets<'_> {
    fn drop(&mut self) {
        self.0.forget();
    }
}

/// Runs commands, and forgets what was known before each: nobody can say what a command changes.
pub(crate) struct Forgetting<'a> {
    pub executor: &'a dyn Executor,
    pub known: &'a Known,
}

impl RunnerMiddleware for Forgetting<'_> {
    fn inner(&self) -> &dyn Executor {
        self.executor
    }

    fn run_around<'a>(
        &'a self,
        runner: &'a dyn Runner,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            let _forgets = self.known.forgets();
            runner.run(command, cancellation, on_line).await
        })
    }
}
