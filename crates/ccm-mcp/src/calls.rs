//! Calls in progress.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ccm_model::StopCause;
use ccm_runtime::{CancellationLevel, Canceller};

/// Maximum number of calls in progress. Each may hold a message of the largest size.
pub(crate) const MAX_CALLS: usize = 16;

/// Calls in progress of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionCalls(Arc<Mutex<CallsState>>);

#[derive(Debug, Default)]
struct CallsState {
    next: u64,
    in_progress: HashMap<u64, Canceller>,
    /// No further call may begin.
    is_closed: bool,
}

/// Call in progress, until this value is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionCall {
    calls: ConnectionCalls,
    number: u64,
    /// Handle that ends the call.
    pub(crate) canceller: Canceller,
}

/// Reason why no call can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CallRefused {
    #[error("the limit of {MAX_CALLS} calls in progress is reached")]
    TooMany,
    #[error("the connection ends")]
    Closed,
}

/// Ends a call as at its time limit. The protocol has no signal; the cause is that of a polite end.
pub(crate) fn end(canceller: &Canceller) {
    let cause = StopCause::Signal { name: "SIGTERM".to_owned(), number: 15 };
    canceller.raise(CancellationLevel::Stop, cause);
}

impl ConnectionCalls {
    fn state(&self) -> MutexGuard<'_, CallsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call.
    pub(crate) fn begin(&self) -> Result<ConnectionCall, CallRefused> {
        let mut state = self.state();
        if state.is_closed {
            return Err(CallRefused::Closed);
        }
        if state.in_progress.len() >= MAX_CALLS {
            return Err(CallRefused::TooMany);
        }
        let (number, canceller) = (state.next, Canceller::new());
        state.next += 1;
        state.in_progress.insert(number, canceller.clone());
        Ok(ConnectionCall { calls: self.clone(), number, canceller })
    }

    /// Ends all calls. No further call can begin.
    pub(crate) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.in_progress.values().for_each(end);
    }
}

impl Drop for ConnectionCall {
    fn drop(&mut self) {
        self.calls.state().in_progress.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_has_few_calls_and_ends_them_all() {
        let calls = ConnectionCalls::default();
        let mut begun: Vec<ConnectionCall> = (0..MAX_CALLS).map(|_| calls.begin().expect("a call")).collect();
        assert_eq!(calls.begin().err(), Some(CallRefused::TooMany));
        begun.pop();
        let last = calls.begin().expect("a call");
        calls.close();
        assert!(
            last.canceller.cause().is_some() && begun.iter().all(|call| call.canceller.cause().is_some())
        );
        drop((last, begun));
        assert_eq!(calls.begin().err(), Some(CallRefused::Closed));
    }
}
