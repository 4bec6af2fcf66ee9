//! Standard error, and how it is written at each time of a run.

use std::io::{Write as _, stderr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ccm_runtime::process::{NonBlockingWriter, write_error_within};

/// Maximum time that messages wait for a reader that ccm gave up on.
const LAST_CHANCE: Duration = Duration::from_millis(200);

/// Standard error. Its copies share the route to it.
#[derive(Clone, Debug, Default)]
pub(crate) struct ErrorOutput {
    route: Arc<Mutex<ErrorRoute>>,
}

#[derive(Debug, Default)]
enum ErrorRoute {
    /// Messages are written at once.
    #[default]
    Direct,
    /// A thread writes the messages in order with the report. A stalled reader must not delay the run.
    Thread(NonBlockingWriter),
    /// Messages that are not read soon are dropped.
    Bounded,
}

impl ErrorOutput {
    /// Sends messages through the thread that writes the report of a run.
    pub(crate) fn write_through(&self, writer: &NonBlockingWriter) {
        *self.route() = ErrorRoute::Thread(writer.clone());
    }

    /// Writes messages directly again, after all output was read.
    pub(crate) fn write_directly(&self) {
        *self.route() = ErrorRoute::Direct;
    }

    /// Writes messages directly, and drops those that nobody reads.
    pub(crate) fn write_without_waiting(&self) {
        *self.route() = ErrorRoute::Bounded;
    }

    /// Writes a text in one piece. Errors are ignored, because standard error may be closed.
    pub(crate) fn write(&self, text: &[u8]) {
        let _ = match &mut *self.route() {
            ErrorRoute::Direct => {
                let mut stderr = stderr().lock();
                stderr.write_all(text).and_then(|()| stderr.flush())
            }
            ErrorRoute::Thread(writer) => writer.write_all(text),
            ErrorRoute::Bounded => write_error_within(text, LAST_CHANCE),
        };
    }

    fn route(&self) -> MutexGuard<'_, ErrorRoute> {
        self.route.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
