//! Extents of values, where the parser does not report them.

use std::ops::Range;

/// Extent of a block scalar: header and content, without trailing lines that hold no text. `from` lies after
/// everything read earlier and before the header; `content` is the parser's extent of the scalar: the content
/// lines, or the header if there are none.
pub(crate) fn block_scalar(text: &str, from: usize, content: &Range<usize>) -> Range<usize> {
    let start = skip_to_content(text, from);
    let header = text[start..].bytes().take_while(|byte| b"|>+-123456789".contains(byte)).count();
    let written = text[..content.end.max(start)].trim_end_matches([' ', '\t', '\r', '\n']).len();
    // Without content only the header is left, possibly with a comment after it.
    if content.start == start || written <= content.start {
        return start..start + header;
    }
    let blanks = text[written..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    start..written + blanks
}

/// Returns `true` if the last line of a block scalar is the last line of the text, without a line end. `scalar` is the
/// extent of the scalar without trailing lines that hold no text, `value` what the parser read.
pub(crate) fn ends_without_line_end(text: &str, scalar: &Range<usize>, value: &str) -> bool {
    if scalar.end == text.len() {
        return true;
    }
    // Blanks that are indented deeper than the scalar are text.
    let last_line = text.rfind('\n').map_or(0, |end| end + 1);
    let blanks = &text[last_line..];
    if blanks.is_empty() || !text[scalar.end..].bytes().all(|byte| byte.is_ascii_whitespace()) {
        return false;
    }
    let indentation = |lines: &str| {
        let first = lines.lines().find(|line| !line.trim_matches([' ', '\t']).is_empty())?;
        Some(first.len() - first.trim_start_matches(' ').len())
    };
    let header_end = text[scalar.start..scalar.end].find('\n').unwrap_or_default();
    let found = indentation(&text[scalar.start + header_end..scalar.end]).zip(indentation(value));
    found.is_some_and(|(written, inner)| blanks.len() > written - inner.min(written))
}

/// Offset of the first dash of a list that is the value of a key which ends at `key_end`. For a dash that is
/// not indented the parser reports the offset after the dash.
pub(crate) fn list_start(text: &str, key_end: usize, named: usize) -> usize {
    let dash = skip(text, key_end, b" \t\r\n:");
    if dash < named { dash } else { named }
}

/// Offset of the first scalar after `from`, past indicators, comments, anchors and tags.
pub(crate) fn skip_to_content(text: &str, from: usize) -> usize {
    skip(text, from, b" \t\r\n:-?,[{")
}

fn skip(text: &str, from: usize, skipped: &[u8]) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            byte if skipped.contains(byte) => 1,
            b'#' => length_until(bytes, at, |byte| matches!(byte, b'\n' | b'\r')),
            b'&' | b'!' => length_until(bytes, at, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')),
            _ => break,
        };
    }
    at
}

/// Offset of a missing value: after the colon of the key that ends at `key_end`.
pub(crate) fn missing_value(text: &str, key_end: usize) -> usize {
    let after = text[key_end..].trim_start_matches([' ', '\t', '\r', '\n']);
    if after.starts_with(':') { text.len() - after.len() + 1 } else { key_end }
}

/// Offset of a missing list element: after its dash, which is the first after `from`.
pub(crate) fn missing_element(text: &str, from: usize) -> usize {
    let dash = skip(text, from, b" \t\r\n");
    if text[dash..].starts_with('-') && !text[dash..].starts_with("---") { dash + 1 } else { from }
}

/// Returns the indentation before `at`, if it holds a tab.
pub(crate) fn tab_before(text: &str, at: usize) -> Option<Range<usize>> {
    let before = &text[..at];
    let start = before.trim_end_matches([' ', '\t']).len();
    let begins_line = start == 0 || before[..start].ends_with(['\n', '\r']);
    (begins_line && before[start..].contains('\t')).then_some(start..at)
}

fn length_until(bytes: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|byte| is_end(*byte)).unwrap_or(bytes.len() - from)
}
