//! Receivers of the events of a run.

use ccm_model::Event;
use ccm_report::JsonLine;

/// An event of a run. It holds no secret.
#[derive(Clone, Debug)]
pub struct Emitted<'a> {
    /// The event.
    pub event: Event,
    /// Line of JSON of the event, if lines are requested ([`RunOptions::json_lines`](crate::RunOptions::json_lines))
    /// and the event has one.
    pub line: Option<JsonLine<'a>>,
}

/// Receiver of the events of a run. A closure that takes an [`Emitted`] is one.
pub trait Sink {
    /// Takes an event.
    fn accept(&mut self, emitted: Emitted<'_>);

    /// Passes on the collected events, because the run waits, usually for a command.
    fn flush(&mut self) {}
}

impl<F: FnMut(Emitted<'_>)> Sink for F {
    fn accept(&mut self, emitted: Emitted<'_>) {
        self(emitted);
    }
}
