//! Quotes of command output for failures.

use ccm_host::CapturedOutput;
use ccm_model::{Stream, StreamTail};

const LINES: usize = 20;
const CHARACTERS: usize = 10_000;

pub(crate) fn tail(stream: Stream, captured: &CapturedOutput) -> Option<StreamTail> {
    let contiguous;
    let bytes: &[u8] = if captured.tail.is_empty() {
        &captured.head
    } else if captured.dropped > 0 {
        // The gap lies between head and tail, so the first line after it lacks its beginning.
        &captured.tail
    } else {
        contiguous = [&captured.head[..], &captured.tail[..]].concat();
        &contiguous
    };
    let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if bytes.is_empty() && captured.head.is_empty() {
        return None;
    }
    let newlines = bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let start = newlines.map(|(at, _)| at + 1).nth(LINES - 1).unwrap_or(0);
    let quoted = &bytes[start..];
    let newline = u64::from(captured.tail.last().or(captured.head.last()) == Some(&b'\n'));
    Some(StreamTail {
        stream,
        lines: truncated_lines(&String::from_utf8_lossy(quoted)),
        bytes_before: captured.total() - quoted.len() as u64 - newline,
    })
}

/// Returns a stream; only its beginning if the stream was too long to be kept whole.
pub(crate) fn bytes(captured: &CapturedOutput) -> Vec<u8> {
    let tail = if captured.truncated() { &[][..] } else { &captured.tail };
    [&captured.head, tail].concat()
}

/// Returns a stream as text, as far as [`bytes`] returns it.
pub(crate) fn text(captured: &CapturedOutput) -> String {
    String::from_utf8_lossy(&bytes(captured)).into_owned()
}

/// Splits into lines, after cutting and marking what exceeds the limit.
fn truncated_lines(text: &str) -> Vec<String> {
    let characters = text.chars().count();
    let mut text = text.to_owned();
    if let Some((at, _)) = text.char_indices().nth(CHARACTERS) {
        text.truncate(at);
        text += &format!("... (truncated, {} more chars)", characters - CHARACTERS);
    }
    text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines_of(head: &str, end: &str, dropped: u64) -> Option<(Vec<String>, u64)> {
        let captured = CapturedOutput { head: head.into(), tail: end.into(), dropped };
        tail(Stream::Stdout, &captured).map(|tail| (tail.lines, tail.bytes_before))
    }

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn last_lines_are_kept() {
        assert_eq!(lines_of("", "", 0), None);
        assert_eq!(lines_of("a\nb\n", "", 0), Some((owned(&["a", "b"]), 0)));
        assert_eq!(lines_of("a\r\nb", "", 0), Some((owned(&["a", "b"]), 0)));
        assert_eq!(lines_of("\n", "", 0), Some((owned(&[""]), 0)));
        assert_eq!(lines_of("a\nb", "c\nd\n", 0), Some((owned(&["a", "bc", "d"]), 0)));
        assert_eq!(lines_of("a\nb", "c\nd\n", 5), Some((owned(&["c", "d"]), 8)));
        let many = (0..30).map(|line| line.to_string()).collect::<Vec<_>>().join("\n") + "\n";
        let last: Vec<String> = (10..30).map(|line| line.to_string()).collect();
        assert_eq!(lines_of(&many, "", 0), Some((last, 20)));
    }

    #[test]
    fn long_quote_names_the_number_of_cut_characters() {
        let lines = lines_of(&"ä".repeat(CHARACTERS + 7), "", 0).map(|(lines, _)| lines).unwrap_or_default();
        assert_eq!(lines.len(), 1);
        assert!(lines[0].ends_with("ää... (truncated, 7 more chars)"));
    }
}
