//! Buffered text for a file, a pipe or a terminal.

use std::io::{self, Write};
use std::time::Duration;

/// Limits of buffered text: its length, and the duration of its resources. Without the buffer, a run of
/// thousands of unchanged resources would cost a system call for each. Only text about unchanged resources is
/// buffered, so only such text can be lost in a crash.
const PENDING_BYTES: usize = 8 * 1024;
const PENDING_RUNTIME: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct OutputBuffer<W> {
    out: W,
    pending: String,
    /// Duration of the resources in `pending`.
    runtime: Duration,
    /// First error. After an error nothing is written.
    error: Option<io::Error>,
}

impl<W: Write> OutputBuffer<W> {
    pub(crate) fn new(out: W) -> Self {
        Self { out, pending: String::new(), runtime: Duration::ZERO, error: None }
    }

    pub(crate) fn failed(&self) -> bool {
        self.error.is_some()
    }

    /// Adds text about resources with this duration. Urgent text is written at once.
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

    /// Writes the buffered text. The owner calls this where the run waits, as for a command.
    pub(crate) fn write_out(&mut self) {
        self.runtime = Duration::ZERO;
        if self.pending.is_empty() || self.failed() {
            return;
        }
        let written = self.out.write_all(self.pending.as_bytes()).and_then(|()| self.out.flush());
        self.pending.clear();
        self.error = written.err();
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.write_out();
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.out),
        }
    }
}
