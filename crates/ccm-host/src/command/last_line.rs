//! Last line that a running command printed, for a display of its progress.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::lines::incomplete;

/// Maximum length of the line in bytes. The rest of a longer line is dropped.
const MAX_LINE: usize = 1024;

/// Last line that a running command printed, shared between the runner and whoever shows the line.
///
/// The line is redacted, may be incomplete, and is not blank. A carriage return ends a line too, because
/// programs draw their own progress with it.
#[derive(Clone, Debug, Default)]
pub struct LastLine(Arc<Mutex<String>>);

/// Two handles are equal if they share the line.
impl PartialEq for LastLine {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for LastLine {}

impl LastLine {
    /// Returns the line; empty if there is none.
    pub fn get(&self) -> String {
        self.line().clone()
    }

    /// Replaces the line.
    pub fn set(&self, line: &str) {
        let mut shared = self.line();
        shared.clear();
        shared.push_str(line);
    }

    /// Removes the line.
    pub fn clear(&self) {
        self.line().clear();
    }

    fn line(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Finds the last line of a stream that arrives in pieces.
#[derive(Debug)]
pub(super) struct LastLineFinder {
    last_line: LastLine,
    /// Part of the line that has arrived.
    begun: Vec<u8>,
}

impl LastLineFinder {
    pub(super) fn new(last_line: LastLine) -> Self {
        Self { last_line, begun: Vec::new() }
    }

    /// Takes the next bytes. Only the end of a long piece is read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let mut pieces = bytes.rsplit(|byte| matches!(byte, b'\n' | b'\r'));
        let end = pieces.next().unwrap_or_default();
        if end.len() == bytes.len() {
            self.extend(bytes);
            self.show(&self.begun);
            return;
        }
        if !self.show(end) {
            // The piece before the first line end completes the line begun.
            let mut before = pieces.peekable();
            while let Some(piece) = before.next() {
                if before.peek().is_none() {
                    self.extend(piece);
                    self.show(&self.begun);
                } else if self.show(piece) {
                    break;
                }
            }
        }
        self.begun.clear();
        self.extend(end);
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = MAX_LINE - self.begun.len();
        self.begun.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Shows a line, and returns `true`, unless the line is blank.
    fn show(&self, line: &[u8]) -> bool {
        let line = &line[..line.len().min(MAX_LINE)];
        let line = &line[..line.len() - incomplete(line)];
        if line.trim_ascii().is_empty() {
            return false;
        }
        self.last_line.set(&String::from_utf8_lossy(line));
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the last line after each piece.
    fn after_each(pieces: &[&[u8]]) -> Vec<String> {
        let last_line = LastLine::default();
        let mut finder = LastLineFinder::new(last_line.clone());
        let after = |piece: &&[u8]| {
            finder.push(piece);
            last_line.get()
        };
        pieces.iter().map(after).collect()
    }

    #[test]
    fn the_last_line_that_is_not_blank_is_kept() {
        for (pieces, expected) in [
            (&[&b""[..]][..], &[""][..]),
            (&[b"a\n"], &["a"]),
            (&[b"a\nb"], &["b"]),
            (&[b"a\nb", b"c\n"], &["b", "bc"]),
            (&[b"a\n", b"\n \n"], &["a", "a"]),
            (&[b"ab", b"c\n\n\n"], &["ab", "abc"]),
            (&[b"a\n\n\n"], &["a"]),
            (&[b"\n\na\n\n"], &["a"]),
            (&[b"10%\r20%\r", b"30%\r"], &["20%", "30%"]),
            (&[b"a\r\nb\r\n"], &["b"]),
            (&[b"Continue? [y/N] "], &["Continue? [y/N] "]),
            (&[b"a\xe2\x82", b"\xac"], &["a", "a€"]),
            (&[b"\xe2\x82", b"\xac\n"], &["", "€"]),
            (&[b"\xff\n"], &["\u{fffd}"]),
        ] {
            assert_eq!(after_each(pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn a_long_line_is_cut() {
        let long = "x".repeat(3 * MAX_LINE);
        let shown = "x".repeat(MAX_LINE);
        let ended = format!("{long}\n");
        for pieces in [vec![long.as_bytes()], vec![long.as_bytes(), long.as_bytes()], vec![ended.as_bytes()]]
        {
            assert!(after_each(&pieces).iter().all(|line| *line == shown));
        }
        let cut = format!("{}€", "x".repeat(MAX_LINE - 1));
        assert_eq!(after_each(&[cut.as_bytes()]), ["x".repeat(MAX_LINE - 1)]);
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(
            printed in prop::collection::vec(prop::sample::select(b"ab \n\r".to_vec()), 1..60),
            read in 1_usize..9,
        ) {
            let pieces: Vec<&[u8]> = printed.chunks(read).collect();
            let text = String::from_utf8_lossy(&printed).into_owned();
            let expected = text.rsplit(['\n', '\r']).find(|line| !line.trim().is_empty()).unwrap_or_default();
            prop_assert_eq!(after_each(&pieces).pop().unwrap_or_default(), expected);
        }
    }
}
