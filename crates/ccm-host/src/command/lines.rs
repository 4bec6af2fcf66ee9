//! Cutting a stream into lines of text while it comes.

/// How much of a stream is handed on as lines.
const SHARE: usize = 1024 * 1024;
/// How long a line may grow before a part of it is handed on by itself.
const LONGEST: usize = 64 * 1024;

/// Collects what of a line has come so far.
#[derive(Debug, Default)]
pub(super) struct Lines {
    begun: Vec<u8>,
    taken: usize,
    /// The line begun is the rest of one that was too long.
    is_rest: bool,
}

impl Lines {
    /// Takes the next bytes and hands on each line that they complete.
    pub(super) fn push(&mut self, bytes: &[u8], on_line: &mut dyn FnMut(&str)) {
        let mut bytes = &bytes[..bytes.len().min(SHARE - self.taken)];
        self.taken += bytes.len();
        while !bytes.is_empty() {
            let room = LONGEST - self.begun.len();
            if let Some(end) = bytes.iter().take(room + 1).position(|byte| *byte == b'\n') {
                self.begun.extend_from_slice(&bytes[..end]);
                bytes = &bytes[end + 1..];
                self.end_line(on_line);
            } else {
                let (part, rest) = bytes.split_at(room.min(bytes.len()));
                self.begun.extend_from_slice(part);
                bytes = rest;
                if self.begun.len() == LONGEST {
                    self.cut_line(on_line);
                }
            }
        }
    }

    /// Hands on a last line that has no end.
    pub(super) fn finish(&mut self, on_line: &mut dyn FnMut(&str)) {
        if !self.begun.is_empty() {
            self.end_line(on_line);
        }
    }

    fn end_line(&mut self, on_line: &mut dyn FnMut(&str)) {
        let line = self.begun.strip_suffix(b"\r").unwrap_or(&self.begun);
        if !(line.is_empty() && self.is_rest) {
            on_line(&String::from_utf8_lossy(line));
        }
        self.begun.clear();
        self.is_rest = false;
    }

    /// Hands on what is there of a line, and keeps back a character or a line end that is not complete.
    fn cut_line(&mut self, on_line: &mut dyn FnMut(&str)) {
        let kept_back = if self.begun.ends_with(b"\r") { 1 } else { unfinished(&self.begun) };
        let complete = self.begun.len() - kept_back;
        on_line(&String::from_utf8_lossy(&self.begun[..complete]));
        self.begun.drain(..complete);
        self.is_rest = true;
    }
}

/// Counts the bytes at the end that begin a character without completing it, in a text that may hold bytes
/// that are no text further up.
fn unfinished(bytes: &[u8]) -> usize {
    const LONGEST_CHARACTER: usize = 4;
    let tail = &bytes[bytes.len().saturating_sub(LONGEST_CHARACTER - 1)..];
    (0..tail.len())
        .map(|start| &tail[start..])
        .find(|end| {
            std::str::from_utf8(end)
                .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
        })
        .map_or(0, <[u8]>::len)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(bytes: &[u8], read: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let mut keep = |line: &str| found.push(line.to_owned());
        bytes.chunks(read).for_each(|chunk| lines.push(chunk, &mut keep));
        lines.finish(&mut keep);
        found
    }

    #[test]
    fn lines_end_where_they_should() {
        for (printed, expected) in [
            (&b""[..], &[][..]),
            (b"a\n", &["a"]),
            (b"a", &["a"]),
            (b"a\nb", &["a", "b"]),
            (b"\n\n", &["", ""]),
            (b"a\r\nb\r\n", &["a", "b"]),
            (b"10%\r20%\r\n", &["10%\r20%"]),
            (b"\r\n", &[""]),
            ("ä€😀\n".as_bytes(), &["ä€😀"]),
            (b"a\xffb\n", &["a\u{fffd}b"]),
            (b"a\xe2\x82\nb\n", &["a\u{fffd}", "b"]),
            (b"a\xe2\x82", &["a\u{fffd}"]),
        ] {
            for read in 1..5 {
                assert_eq!(lines(printed, read), expected, "{printed:?} by {read}");
            }
        }
    }

    #[test]
    fn an_endless_line_comes_in_parts_and_no_character_is_cut() {
        for (printed, parts) in [
            ("x".repeat(LONGEST), vec![LONGEST]),
            ("x".repeat(LONGEST) + "\n", vec![LONGEST]),
            ("x".repeat(LONGEST) + "\r\ny", vec![LONGEST, 1]),
            ("x".repeat(LONGEST - 1) + "\r\ny", vec![LONGEST - 1, 1]),
            ("x".repeat(LONGEST) + "y\n", vec![LONGEST, 1]),
            ("x".repeat(LONGEST) + "\n\n", vec![LONGEST, 0]),
            ("x".repeat(LONGEST - 1) + "äy", vec![LONGEST - 1, 3]),
            ("x".repeat(LONGEST - 2) + "😀y", vec![LONGEST - 2, 5]),
            ("x".repeat(LONGEST - 3) + "😀y", vec![LONGEST - 3, 5]),
            ("x".repeat(LONGEST - 4) + "😀y", vec![LONGEST, 1]),
        ] {
            for read in [1000, 65_536, 1_000_000] {
                let found = lines(printed.as_bytes(), read);
                assert_eq!(found.iter().map(String::len).collect::<Vec<_>>(), parts, "by {read}");
                assert!(!found.concat().contains('\u{fffd}'));
            }
        }
    }

    #[test]
    fn a_bad_byte_further_up_does_not_break_the_character_at_the_cut() {
        let printed = [&b"\xff"[..], "x".repeat(LONGEST - 2).as_bytes(), "ä\n".as_bytes()].concat();
        assert_eq!(lines(&printed, 4096).last().map(String::as_str), Some("ä"));
    }

    #[test]
    fn no_more_than_its_share_of_a_stream_is_handed_on() {
        let found = lines("12345678\n".repeat(SHARE).as_bytes(), 65_536);
        assert_eq!(found.iter().map(|line| line.len() + 1).sum::<usize>(), SHARE + 1);
        assert_eq!(lines(&vec![b'x'; 3 * SHARE], 65_536).iter().map(String::len).sum::<usize>(), SHARE);
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_the_reads(
            printed in prop::collection::vec(prop::sample::select(b"ab\n\r\xc3\xa4\xe2\x82\xac\xff".to_vec()), 0..60),
            read in 1_usize..9,
        ) {
            let text = String::from_utf8_lossy(&printed).into_owned();
            let mut expected: Vec<&str> = text.split('\n').collect();
            if expected.last() == Some(&"") {
                expected.pop();
            }
            let expected: Vec<&str> = expected.into_iter().map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
            prop_assert_eq!(lines(&printed, read), expected);
        }
    }
}
