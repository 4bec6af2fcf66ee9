//! Cancellation of runs from outside.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ccm_engine::Stop;
use ccm_host::{Cancellation, CancellationLevel, CancellationSource};
use ccm_model::StopCause;

/// Handle that ends a run from any thread.
///
/// A canceller belongs to one run: [`RunOptions::canceller`](crate::RunOptions::canceller) takes it, and its
/// copies end the same run. A canceller that is already raised ends its run at once.
#[derive(Clone)]
pub struct Canceller(Arc<CancellerState>);

struct CancellerState {
    source: CancellationSource,
    cancellation: Cancellation,
    cause: OnceLock<StopCause>,
}

impl Canceller {
    /// Creates a canceller that is not raised.
    pub fn new() -> Self {
        let (source, cancellation) = CancellationSource::new();
        Self(Arc::new(CancellerState { source, cancellation, cause: OnceLock::new() }))
    }

    /// Makes the end of the run more urgent. Only the first cause is reported.
    pub fn raise(&self, level: CancellationLevel, cause: StopCause) {
        let _ = self.0.cause.set(cause);
        self.0.source.raise(level);
    }

    /// Returns the cause of the first call of [`Self::raise`].
    pub fn cause(&self) -> Option<&StopCause> {
        self.0.cause.get()
    }

    /// Returns the time that a stop leaves to a running tool that must not be interrupted, such as one that
    /// installs packages. `None` if no such tool runs.
    pub fn patience(&self) -> Option<Duration> {
        self.0.cancellation.patience()
    }

    /// Waits until the urgency is at least this level.
    pub async fn reached(&self, level: CancellationLevel) {
        self.0.cancellation.reached(level).await;
    }

    /// Waits for the request to end the run, and returns the cause.
    pub async fn stopped(&self) -> StopCause {
        self.reached(CancellationLevel::Stop).await;
        match self.cause() {
            Some(cause) => cause.clone(),
            // A cause is set before the level is raised.
            None => std::future::pending().await,
        }
    }

    /// Returns the request to end the run, for a command outside of runs.
    pub fn cancellation(&self) -> &Cancellation {
        &self.0.cancellation
    }

    pub(crate) fn stop(&self) -> Stop<'_> {
        Stop { cancellation: &self.0.cancellation, cause: &self.0.cause }
    }
}

impl Default for Canceller {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Canceller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Canceller").field("cause", &self.cause()).finish_non_exhaustive()
    }
}
