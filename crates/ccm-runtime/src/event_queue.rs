//! Events of a run on their way to another thread.

use std::mem::take;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ccm_model::{Event, Outcome};
use tokio::sync::Notify;

use crate::sink::{Emitted, Sink};

/// Maximum number of events before the receiver is woken.
const MAX_BATCH: usize = 256;

/// An event that left its run.
#[derive(Clone, Debug)]
pub struct QueuedEvent {
    /// The event.
    pub event: Event,
    /// Line of JSON of the event, if lines are requested.
    pub line: Option<String>,
}

/// Creates a queue for the events of a run: the sink for the run, and the receiver for another thread.
///
/// Waking a thread costs as much as reading several unchanged resources. So the receiver is only woken for
/// urgent events (a change, a failure, a line of output), when the run waits, and after some hundred events.
pub fn event_queue() -> (QueueSink, EventQueue) {
    let queue = Arc::new(Queue::default());
    (QueueSink(Arc::clone(&queue)), EventQueue(queue))
}

/// Sink of an [`EventQueue`]. Dropping it ends the queue.
#[derive(Debug)]
pub struct QueueSink(Arc<Queue>);

/// Receiving end of a queue of events.
#[derive(Debug)]
pub struct EventQueue(Arc<Queue>);

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<QueueState>,
    filled: Notify,
}

#[derive(Debug, Default)]
struct QueueState {
    events: Vec<QueuedEvent>,
    /// The receiver should take the events now.
    is_due: bool,
    is_ended: bool,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self, change: impl FnOnce(&mut QueueState)) {
        let mut state = self.state();
        let was_due = state.is_due;
        change(&mut state);
        let is_due = state.is_due;
        drop(state);
        // A receiver that was woken need not be woken again before it takes the events.
        if is_due && !was_due {
            self.filled.notify_one();
        }
    }
}

impl Sink for QueueSink {
    fn accept(&mut self, Emitted { event, line }: Emitted<'_>) {
        let is_urgent = is_urgent(&event);
        let line = line.map(|line| line.text.to_owned());
        self.0.wake(|state| {
            state.events.push(QueuedEvent { event, line });
            state.is_due |= is_urgent || state.events.len() >= MAX_BATCH;
        });
    }

    fn flush(&mut self) {
        self.0.wake(|state| state.is_due |= !state.events.is_empty());
    }
}

impl Drop for QueueSink {
    fn drop(&mut self) {
        self.0.wake(|state| (state.is_due, state.is_ended) = (true, true));
    }
}

impl EventQueue {
    /// Waits for events, and returns them in order; `None` after the last ones.
    pub async fn next(&mut self) -> Option<Vec<QueuedEvent>> {
        loop {
            let (is_due, is_ended) = {
                let state = self.0.state();
                (state.is_due && !state.events.is_empty(), state.is_ended)
            };
            match (is_due, is_ended) {
                (true, _) => return Some(self.take()),
                (false, true) => return None,
                (false, false) => self.0.filled.notified().await,
            }
        }
    }

    /// Returns the events so far without waiting. A resource that blocks its thread has begun, although its
    /// event wakes nobody.
    pub fn take(&mut self) -> Vec<QueuedEvent> {
        let mut state = self.0.state();
        state.is_due = state.is_ended;
        take(&mut state.events)
    }
}

/// Returns `true` for an event that reports more than an unchanged resource.
fn is_urgent(event: &Event) -> bool {
    match event {
        Event::ResourceStarted(_) | Event::ArtifactsLeft(_) => false,
        Event::ResourceFinished(transaction) => {
            let is_quiet = matches!(transaction.outcome, Outcome::Unchanged | Outcome::Skipped { .. });
            !is_quiet || !transaction.warnings.is_empty()
        }
        Event::SessionStarted(_) | Event::OutputReceived(_) | Event::SessionFinished(_) => true,
    }
}
