//! Hiding values in a stream that comes in pieces.

use std::sync::Arc;

use super::index::{ALL, Found};
use super::{REDACTED, Redactor, SHORTEST_SECRET};

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

    /// Hands on what was held back.
    pub fn finish(&mut self, show: &mut dyn FnMut(&[u8])) {
        let held = std::mem::take(&mut self.held);
        let found = self.search(&held);
        let from = unfinished(&found, &held);
        let from = if held.len() - from < SHORTEST_SECRET { held.len() } else { from };
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
        let settled = unfinished(&found, bytes);
        let at = self.show_before(settled, bytes, &found, show);
        if at < settled {
            show(&bytes[at..settled]);
        }
        self.held.extend_from_slice(&bytes[settled..]);
        self.covered = at.saturating_sub(settled);
    }

    /// Finds what is known by now, even if it became known after the beginning of the stream.
    fn search(&self, bytes: &[u8]) -> Found {
        self.redactor.index().search(ALL, bytes, &[bytes.len()])
    }

    /// Shows what is before a place, hiding what has to be, and returns where what was not shown begins.
    fn show_before(&self, place: usize, bytes: &[u8], found: &Found, show: &mut dyn FnMut(&[u8])) -> usize {
        let mut at = self.covered;
        for hidden in &found.hidden {
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

/// Where the end of a piece begins that is the beginning of a value.
fn unfinished(found: &Found, bytes: &[u8]) -> usize {
    found.unfinished.first().copied().unwrap_or(bytes.len())
}
