//! Ends of runs that come from outside.

use std::fmt;
use std::sync::{Arc, OnceLock};

use ccm_engine::Stop;
use ccm_host::{Cancellation, CancellationLevel, CancellationSource};
use ccm_model::StopCause;

/// Handle that ends a run from any thread.
///
/// A canceller belongs to one run: [`RunOptions::canceller`](crate::RunOptions::canceller) takes it, and
/// copies of it end the same run. A run that begins with a canceller that was raised before ends at once.
#[derive(Clone)]
pub struct Canceller(Arc<CancellerState>);

struct CancellerState {
    source: CancellationSource,
    cancellation: Cancellation,
    cause: OnceLock<StopCause>,
}

impl Canceller {
    /// Makes a canceller that was not raised.
    pub fn new() -> Self {
        let (source, cancellation) = CancellationSource::new();
        Self(Arc::new(CancellerState { source, cancellation, cause: OnceLock::new() }))
    }

    /// Makes the end of the run more urgent. The first cause is the one that is reported.
    pub fn raise(&self, level: CancellationLevel, cause: StopCause) {
        let _ = self.0.cause.set(cause);
        self.0.source.raise(level);
    }

    /// Returns the cause of the first call of [`Self::raise`].
    pub fn cause(&self) -> Option<&StopCause> {
        self.0.cause.get()
    }

    /// Waits until the end is at least that urgent.
    pub async fn reached(&self, level: CancellationLevel) {
        self.0.cancellation.reached(level).await;
    }

    /// Waits until the run is to end, and returns the cause.
    pub async fn stopped(&self) -> StopCause {
        self.reached(CancellationLevel::Stop).await;
        match self.cause() {
            Some(cause) => cause.clone(),
            // A cause is set before the level is raised.
            None => std::future::pending().await,
        }
    }

    pub(crate) fn cancellation(&self) -> &Cancellation {
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
