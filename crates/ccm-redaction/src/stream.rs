//! Hiding values in a stream that comes in pieces.

use std::sync::Arc;

use super::{REDACTED, Redactor};

/// Hides values in a stream, however it is cut into pieces.
///
/// The end of a piece that may be the beginning of a value is held back until it is clear what it is. A value
/// whose beginning ends the stream is hidden from its fourth byte on, the first three included.
#[derive(Debug)]
pub struct StreamRedactor {
    redactor: Arc<Redactor>,
    /// What may be the beginning of a value.
    held: Vec<u8>,
    /// So many bytes of it are part of what was hidden before.
    covered: usize,
}

impl StreamRedactor {
    /// Begins a stream.
    pub fn new(redactor: Arc<Redactor>) -> Self {
        Self { redactor, held: Vec::new(), covered: 0 }
    }

    /// Takes the next piece, and hands on what can be shown by now.
    pub fn push(&mut self, bytes: &[u8], show: &mut dyn FnMut(&[u8])) {
        if self.redactor.is_empty() {
            show(bytes);
        } else if self.held.is_empty() {
            self.pass(bytes, show);
        } else {
            let mut whole = std::mem::take(&mut self.held);
            whole.extend_from_slice(bytes);
            self.pass(&whole, show);
        }
    }

    /// Hands on what was held back.
    pub fn finish(&mut self, show: &mut dyn FnMut(&[u8])) {
        let held = std::mem::take(&mut self.held);
        let from = self.redactor.search.beginning_before(&held).unwrap_or(held.len());
        let at = self.show_before(from, &held, show);
        if from < held.len() && at <= from {
            show(REDACTED.as_bytes());
        } else if from == held.len() && at < held.len() {
            show(&held[at..]);
        }
        self.covered = 0;
    }

    fn pass(&mut self, bytes: &[u8], show: &mut dyn FnMut(&[u8])) {
        let settled = self.redactor.search.unfinished(bytes);
        let at = self.show_before(settled, bytes, show);
        if at < settled {
            show(&bytes[at..settled]);
        }
        self.held.extend_from_slice(&bytes[settled..]);
        self.covered = at.saturating_sub(settled);
    }

    /// Shows what is before a place, hiding what has to be, and returns where what was not shown begins.
    fn show_before(&self, place: usize, bytes: &[u8], show: &mut dyn FnMut(&[u8])) -> usize {
        let mut at = self.covered;
        for hidden in self.redactor.hidden(bytes) {
            if hidden.start >= place.max(at) {
                break;
            }
            if hidden.start >= at {
                if hidden.start > at {
                    show(&bytes[at..hidden.start]);
                }
                show(REDACTED.as_bytes());
            }
            // It goes on with what was hidden before otherwise.
            at = at.max(hidden.end);
        }
        at
    }
}
