//! Requests to end a run.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

/// Urgency with which a run should end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CancellationLevel {
    /// Go on.
    #[default]
    Go,
    /// Start nothing new, and end the running command as at its deadline.
    Stop,
    /// Kill the running command at once.
    Kill,
}

/// Request to end a run, for the parts of the run that observe it.
#[derive(Clone, Debug)]
pub struct Cancellation {
    receiver: watch::Receiver<CancellationLevel>,
    patience: Arc<Mutex<Option<Duration>>>,
}

/// Request to end a run, for the code that makes it.
#[derive(Debug)]
pub struct CancellationSource(watch::Sender<CancellationLevel>);

impl CancellationSource {
    /// Returns a source and its cancellation.
    pub fn new() -> (Self, Cancellation) {
        let (sender, receiver) = watch::channel(CancellationLevel::Go);
        (Self(sender), Cancellation { receiver, patience: Arc::default() })
    }

    /// Raises the level. A level is never lowered.
    pub fn raise(&self, level: CancellationLevel) {
        self.0.send_if_modified(|current| {
            let raised = level > *current;
            *current = level.max(*current);
            raised
        });
    }
}

impl Cancellation {
    /// Returns a cancellation that never comes.
    pub fn never() -> Self {
        CancellationSource::new().1
    }

    /// Returns the current level.
    pub fn level(&self) -> CancellationLevel {
        *self.receiver.borrow()
    }

    /// Returns the time that a stop leaves to a running tool that must not be interrupted. `None` if no such tool
    /// runs.
    pub fn patience(&self) -> Option<Duration> {
        *self.patience.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a tool that must not be interrupted as running, until the mark is dropped.
    pub(crate) fn be_patient(&self, patience: Duration) -> PatienceMark<'_> {
        self.set_patience(Some(patience).filter(|patience| !patience.is_zero()));
        PatienceMark(self)
    }

    fn set_patience(&self, patience: Option<Duration>) {
        *self.patience.lock().unwrap_or_else(PoisonError::into_inner) = patience;
    }

    /// Waits until the level is reached; for ever, if the source is dropped.
    pub async fn reached(&self, level: CancellationLevel) {
        let mut receiver = self.receiver.clone();
        if receiver.wait_for(|current| *current >= level).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Mark of a running tool that must not be interrupted.
pub(crate) struct PatienceMark<'a>(&'a Cancellation);

impl Drop for PatienceMark<'_> {
    fn drop(&mut self) {
        self.0.set_patience(None);
    }
}
