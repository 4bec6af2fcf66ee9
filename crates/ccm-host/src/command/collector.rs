//! Output of a command, from wherever it comes: redacted, cut into lines, and kept in bounded memory.

use std::sync::Arc;

use ccm_redaction::{Redactor, StreamRedactor};

use super::CapturedOutput;
use super::capture::Capture;
use super::last_line::{LastLine, LastLineFinder};
use super::lines::LineSplitter;

/// Collects one output stream of a command.
#[derive(Debug)]
pub struct OutputCollector {
    redaction: StreamRedactor,
    capture: Capture,
    /// Output as it was printed; `None` if there are no secrets to hide.
    printed: Option<Capture>,
    lines: LineSplitter,
    last_line: Option<LastLineFinder>,
}

impl OutputCollector {
    /// Creates the collector of a stream in which the redactor hides secrets. `last_line` follows the stream.
    pub fn new(redactor: &Arc<Redactor>, last_line: Option<&LastLine>) -> Self {
        Self {
            redaction: StreamRedactor::new(Arc::clone(redactor)),
            capture: Capture::default(),
            printed: (!redactor.is_empty()).then(Capture::default),
            lines: LineSplitter::default(),
            last_line: last_line.cloned().map(LastLineFinder::new),
        }
    }

    /// Takes the next bytes, and hands on each line that they complete, without secrets.
    pub fn push(&mut self, bytes: &[u8], on_line: &mut dyn FnMut(&str)) {
        let Self { redaction, capture, printed, lines, last_line } = self;
        if let Some(printed) = printed {
            printed.push(bytes);
        }
        redaction.push(bytes, &mut |shown| {
            capture.push(shown);
            lines.push(shown, on_line);
            if let Some(last_line) = last_line {
                last_line.push(shown);
            }
        });
    }

    /// Ends the stream. Returns the output without secrets, and as it was printed if there are secrets to hide.
    pub fn finish(self, on_line: &mut dyn FnMut(&str)) -> (CapturedOutput, Option<CapturedOutput>) {
        let Self { mut redaction, mut capture, printed, mut lines, .. } = self;
        redaction.finish(&mut |shown| {
            capture.push(shown);
            lines.push(shown, on_line);
        });
        lines.finish(on_line);
        (capture.finish(), printed.map(Capture::finish))
    }
}
