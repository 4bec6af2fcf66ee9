//! Redaction of a stream that comes in pieces.

use std::sync::Arc;

use super::index::{ALL, FoundForms};
use super::{MIN_SECRET_LENGTH, REDACTED, Redactor};

/// Redactor of a stream. The result does not depend on how the stream is cut into pieces: the end of a piece
/// is held back while it may begin a value. If the stream ends with the first four or more bytes of a value,
/// these bytes are redacted.
#[derive(Debug)]
pub struct StreamRedactor {
    redactor: Arc<Redactor>,
    held: Vec<u8>,
    /// Number of these bytes that belong to a value that was redacted before.
    covered: usize,
}

impl StreamRedactor {
    /// Builds a redactor of a stream.
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Vec::new(), covered: 0 }
    }

    /// Handles the next piece. Calls `show` with text that can be shown now.
    pub fn push(&mut self, bytes: &[u8], show: &mut dyn FnMut(&[u8])) {
        if self.redactor.index().is_empty() {
            show(bytes);
        } else if self.held.is_empty() {
            self.pass(bytes, show);
        } else {
            let mut whole = std::mem::take(&mut self.held);
            whole.extend_from_slice(bytes);
            self.pass(&whole, show);
        }
    }

    /// Ends the stream. Calls `show` with the text that was held back.
    pub fn finish(&mut self, show: &mut dyn FnMut(&[u8])) {
        let held = std::mem::take(&mut self.held);
        let found = self.search(&held);
        let from = unfinished(&found, &held);
        let from = if held.len() - from < MIN_SECRET_LENGTH { held.len() } else { from };
        let at = self.show_before(from, &held, &found, show);
        if from < held.len() && at <= from {
            show(REDACTED.as_bytes());
        } else if from == held.len() && at < held.len() {
            show(&held[at..]);
        }
        self.covered = 0;
    }

    fn pass(&mut self, bytes: &[u8], show: &mut dyn FnMut(&[u8])) {
        let found = self.search(bytes);
        let decided = unfinished(&found, bytes);
        let at = self.show_before(decided, bytes, &found, show);
        if at < decided {
            show(&bytes[at..decided]);
        }
        self.held.extend_from_slice(&bytes[decided..]);
        self.covered = at.saturating_sub(decided);
    }

    /// Finds all known values, also those that were added after the beginning of the stream.
    fn search(&self, bytes: &[u8]) -> FoundForms {
        self.redactor.index().search(ALL, bytes, &[bytes.len()])
    }

    /// Shows the redacted text before an offset. Returns the offset of the first byte that was held back.
    fn show_before(
        &self,
        offset: usize,
        bytes: &[u8],
        found: &FoundForms,
        show: &mut dyn FnMut(&[u8]),
    ) -> usize {
        let mut at = self.covered;
        for hidden in &found.hidden {
            if hidden.start >= offset.max(at) {
                break;
            }
            if hidden.start >= at {
                if hidden.start > at {
                    show(&bytes[at..hidden.start]);
                }
                show(REDACTED.as_bytes());
            }
            // Otherwise the text continues a value that was redacted before.
            at = at.max(hidden.end);
        }
        at
    }
}

/// Returns the offset of the longest beginning of a value at the end of a piece.
fn unfinished(found: &FoundForms, bytes: &[u8]) -> usize {
    found.unfinished.first().copied().unwrap_or(bytes.len())
}
