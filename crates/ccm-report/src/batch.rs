//! Text on its way to a file, a pipe or a terminal.

use std::io::{self, Write};
use std::time::Duration;

/// What tells that nothing happened waits until it is this long, or tells of this much time.
///
/// A steady run of thousands of resources would otherwise cost a system call for each. What is lost when the
/// machine dies says only that nothing happened; everything else is written out at once. The owner calls [`Batch::write_out`]
/// where the run waits, as for a command.
const PENDING_BYTES: usize = 8 * 1024;
const PENDING_RUNTIME: Duration = Duration::from_millis(50);

/// Collects text and writes it out when it is due.
#[derive(Debug)]
pub(crate) struct Batch<W> {
    out: W,
    pending: String,
    /// What the resources in `pending` took.
    runtime: Duration,
    /// The first error; after it nothing is written.
    error: Option<io::Error>,
}

impl<W: Write> Batch<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, pending: String::new(), runtime: Duration::ZERO, error: None }
    }

    /// Tells whether it is of any use to go on.
    pub(crate) fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// Adds text, which tells of that much time and must not wait if it is urgent.
    pub(crate) fn push(&mut self, text: &str, runtime: Duration, urgent: bool) {
        if self.failed() {
            return;
        }
        self.pending.push_str(text);
        self.runtime = self.runtime.saturating_add(runtime);
        if urgent || self.pending.len() >= PENDING_BYTES || self.runtime >= PENDING_RUNTIME {
            self.write_out();
        }
    }

    /// Writes out what waits, because nobody knows when more will come.
    pub(crate) fn write_out(&mut self) {
        self.runtime = Duration::ZERO;
        if self.pending.is_empty() || self.failed() {
            return;
        }
        let written = self.out.write_all(self.pending.as_bytes()).and_then(|()| self.out.flush());
        self.pending.clear();
        self.error = written.err();
    }

    /// Writes out what still waits, and returns where it went or the first error.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.write_out();
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.out),
        }
    }
}
