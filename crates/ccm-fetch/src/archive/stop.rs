//! Ending an extraction from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use super::ExtractError;

/// Request to end, shared with the thread of the extraction.
#[derive(Clone, Debug)]
pub(super) struct ExtractionStop {
    cancelled: Arc<AtomicBool>,
    deadline: Option<(Instant, Duration)>,
}

/// Cancels when it is dropped.
pub(super) struct StopOnDrop(ExtractionStop);

impl ExtractionStop {
    pub(super) fn after(timeout: Option<Duration>) -> Self {
        let deadline = timeout.and_then(|after| Some((Instant::now().checked_add(after)?, after)));
        Self { cancelled: Arc::default(), deadline }
    }

    pub(super) fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    pub(super) fn on_drop(&self) -> StopOnDrop {
        StopOnDrop(self.clone())
    }

    /// Returns an error if the extraction has to end. Called at each step.
    pub(super) fn check(&self) -> Result<(), ExtractError> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(ExtractError::Cancelled);
        }
        match self.deadline {
            Some((deadline, after)) if Instant::now() >= deadline => Err(ExtractError::TimedOut { after }),
            _ => Ok(()),
        }
    }
}

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
