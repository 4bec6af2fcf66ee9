//! Lines of text, cut from a stream while it arrives.

/// Maximum number of bytes of a stream that are handed on as lines.
const MAX_SHARE: usize = 1024 * 1024;
/// Maximum length of a line. A longer one is handed on in parts.
const MAX_LINE: usize = 64 * 1024;

/// Collects the part of a line that has arrived.
#[derive(Debug, Default)]
pub(super) struct LineSplitter {
    begun: Vec<u8>,
    taken: usize,
    /// The line begun is the rest of a line that was too long.
    is_rest: bool,
}

impl LineSplitter {
    /// Takes the next bytes, and hands on each line that they complete.
    pub(super) fn push(&mut self, bytes: &[u8], on_line: &mut dyn FnMut(&str)) {
        let mut bytes = &bytes[..bytes.len().min(MAX_SHARE - self.taken)];
        self.taken += bytes.len();
        while !bytes.is_empty() {
            let room = MAX_LINE - self.begun.len();
            if let Some(end) = bytes.iter().take(room + 1).position(|byte| *byte == b'\n') {
                self.begun.extend_from_slice(&bytes[..end]);
                bytes = &bytes[end + 1..];
                self.end_line(on_line);
            } else {
                let (part, rest) = bytes.split_at(room.min(bytes.len()));
                self.begun.extend_from_slice(part);
                bytes = rest;
                if self.begun.len() == MAX_LINE {
                    self.cut_line(on_line);
                }
            }
        }
    }

    /// Hands on the last line if it has no line end.
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

    /// Hands on the part of a line that has arrived, without an incomplete character or line end at its end.
    fn cut_line(&mut self, on_line: &mut dyn FnMut(&str)) {
        let kept_back = if self.begun.ends_with(b"\r") { 1 } else { incomplete(&self.begun) };
        let complete = self.begun.len() - kept_back;
        on_line(&String::from_utf8_lossy(&self.begun[..complete]));
        self.begun.drain(..complete);
        self.is_rest = true;
    }
}

/// Counts the bytes at the end that begin a character without completing it. Bytes before them need not be
/// UTF-8.
pub(super) fn incomplete(bytes: &[u8]) -> usize {
    const MAX_CHARACTER: usize = 4;
    let tail = &bytes[bytes.len().saturating_sub(MAX_CHARACTER - 1)..];
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
        let mut lines = LineSplitter::default();
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
            ("x".repeat(MAX_LINE), vec![MAX_LINE]),
            ("x".repeat(MAX_LINE) + "\n", vec![MAX_LINE]),
            ("x".repeat(MAX_LINE) + "\r\ny", vec![MAX_LINE, 1]),
            ("x".repeat(MAX_LINE - 1) + "\r\ny", vec![MAX_LINE - 1, 1]),
            ("x".repeat(MAX_LINE) + "y\n", vec![MAX_LINE, 1]),
            ("x".repeat(MAX_LINE) + "\n\n", vec![MAX_LINE, 0]),
            ("x".repeat(MAX_LINE - 1) + "äy", vec![MAX_LINE - 1, 3]),
            ("x".repeat(MAX_LINE - 2) + "😀y", vec![MAX_LINE - 2, 5]),
            ("x".repeat(MAX_LINE - 3) + "😀y", vec![MAX_LINE - 3, 5]),
            ("x".repeat(MAX_LINE - 4) + "😀y", vec![MAX_LINE, 1]),
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
        let printed = [&b"\xff"[..], "x".repeat(MAX_LINE - 2).as_bytes(), "ä\n".as_bytes()].concat();
        assert_eq!(lines(&printed, 4096).last().map(String::as_str), Some("ä"));
    }

    #[test]
    fn no_more_than_its_share_of_a_stream_is_handed_on() {
        let found = lines("12345678\n".repeat(MAX_SHARE).as_bytes(), 65_536);
        assert_eq!(found.iter().map(|line| line.len() + 1).sum::<usize>(), MAX_SHARE + 1);
        assert_eq!(
            lines(&vec![b'x'; 3 * MAX_SHARE], 65_536).iter().map(String::len).sum::<usize>(),
            MAX_SHARE
        );
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
