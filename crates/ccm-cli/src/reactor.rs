//! The reactor during a run: signals, the time limit and progress.
//!
//! The run has its own thread, because work on files blocks its thread, and a blocked reactor would miss
//! signals.

use std::io;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ccm_runtime::process::after;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::{CancellationLevel, Canceller, ExitCode, Job, StopCause};
use tokio::sync::Notify;

use crate::error::{CommandError, CommandResult};
use crate::listeners::Listeners;

/// Time between two updates of the progress.
const TICK: Duration = Duration::from_millis(500);

/// State that the reactor shares with the thread that applies a manifest.
#[derive(Default)]
pub(crate) struct SharedRun {
    /// Handle that ends the run.
    pub(crate) canceller: Canceller,
    /// Listeners of the run, once the run has begun.
    listeners: Mutex<Option<Listeners>>,
    /// The manifest was loaded. Loading can't be cancelled.
    is_loaded: AtomicBool,
    has_begun: Notify,
}

impl SharedRun {
    /// Marks the end of loading: from now on a signal cancels the run.
    pub(crate) fn mark_loaded(&self) {
        self.is_loaded.store(true, Ordering::SeqCst);
    }

    /// Marks the beginning of the run, from which the time limit counts.
    pub(crate) fn mark_begun(&self) {
        self.has_begun.notify_one();
    }

    /// Sets the listeners of the run.
    pub(crate) fn listen(&self, listeners: Listeners) {
        *self.listeners() = Some(listeners);
    }

    /// Returns the listeners. The lock is held for one event or one update at a time.
    pub(crate) fn listeners(&self) -> MutexGuard<'_, Option<Listeners>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Waits for the end of a job that applies a manifest. Signals and the time limit become cancellations.
pub(crate) async fn supervise(
    job: Job<CommandResult>,
    signals: &Signals,
    timeout: Option<Duration>,
    shared: &SharedRun,
) -> CommandResult {
    let mut job = pin!(job);
    let mut time_limit = pin!(async {
        match timeout {
            // The time limit counts from the beginning of the run.
            Some(_) => shared.has_begun.notified().await,
            None => std::future::pending().await,
        }
        after(timeout).await
    });
    let mut has_expired = false;
    let mut level = CancellationLevel::Go;
    loop {
        let mut is_urgent = level != CancellationLevel::Go;
        let stop = tokio::select! {
            biased;
            ended = &mut job => {
                return ended.unwrap_or_else(|error| {
                    let found = CommandError::of(&error).therefore("the run ended early");
                    Err(found.with_code(ExitCode::Failures))
                });
            }
            Ok(signal) = signals.next() => {
                let stop = StopCause::Signal { name: signal.name.to_owned(), number: signal.number };
                if !shared.is_loaded.load(Ordering::SeqCst) {
                    return Err(CommandError::stopped(&stop, "ccm"));
                }
                // Ctrl-\ means that the user does not want to wait.
                is_urgent |= signal.name == "SIGQUIT";
                stop
            }
            elapsed = &mut time_limit, if !has_expired => {
                has_expired = true;
                StopCause::Timeout { after: elapsed }
            }
            _ = after(Some(TICK)) => {
                if let Some(listeners) = &mut *shared.listeners() {
                    listeners.tick();
                }
                continue;
            }
        };
        let raised = if is_urgent { CancellationLevel::Kill } else { CancellationLevel::Stop };
        if raised > level
            && let Some(listeners) = &mut *shared.listeners()
        {
            listeners.interrupted(&stop, shared.canceller.patience(), is_urgent);
        }
        // A second cause only makes the end more urgent; the first one is reported.
        level = raised;
        shared.canceller.raise(level, stop);
    }
}

/// Waits for work that nothing interrupts.
pub(crate) fn block_on<T>(work: impl Future<Output = T>) -> io::Result<T> {
    Ok(tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work))
}
