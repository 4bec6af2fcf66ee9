//! Buffered text for a file, a pipe or a terminal.

use std::io::{self, Write};
use std::time::Duration;

/// Maximum length of buffered text.
const MAX_PENDING_BYTES: usize = 8 * 1024;
/// Maximum duration of the resources in buffered text.
const MAX_PENDING_RUNTIME: Duration = Duration::from_millis(50);

/// Buffer for text about unchanged resources, so that a run of thousands of them does not cost a system call for
/// each. Other text is written at once, so only text about unchanged resources can be lost in a crash.
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
        if urgent || self.pending.len() >= MAX_PENDING_BYTES || self.runtime >= MAX_PENDING_RUNTIME {
            self.write_out();
        }
    }

    /// Writes the buffered text. To be called before the run waits, for example for a command.
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
