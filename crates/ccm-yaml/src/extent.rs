//! From where to where a value was written, where the parser does not say it.

use std::ops::Range;

/// The header and the content of a block scalar, without the lines at its end that hold no text.
///
/// `from` is a place before the header and behind everything that was read earlier; `content` is what the
/// parser gives as the scalar: its first to its last line, or its header if nothing follows.
pub(crate) fn block_scalar(text: &str, from: usize, content: &Range<usize>) -> Range<usize> {
    let start = skip_to_content(text, from);
    let header = text[start..].bytes().take_while(|byte| b"|>+-123456789".contains(byte)).count();
    let written = text[..content.end.max(start)].trim_end_matches([' ', '\t', '\r', '\n']).len();
    // Without content there is nothing but the header, possibly with a comment behind it.
    if content.start == start || written <= content.start {
        return start..start + header;
    }
    let blanks = text[written..].bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    start..written + blanks
}

/// The first dash of a list that is the value of a key which ends at `key_end`. The parser names the place
/// behind the dash if that is not indented.
pub(crate) fn list_start(text: &str, key_end: usize, named: usize) -> usize {
    let dash = skip(text, key_end, b" \t\r\n:");
    if dash < named { dash } else { named }
}

/// Finds the first byte of the scalar that stands behind `from`: behind indicators, comments, anchors and
/// tags.
pub(crate) fn skip_to_content(text: &str, from: usize) -> usize {
    skip(text, from, b" \t\r\n:-?,[{")
}

/// Skips comments, anchors, tags and the given bytes.
fn skip(text: &str, from: usize, skipped: &[u8]) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            byte if skipped.contains(byte) => 1,
            b'#' => until(bytes, at, |byte| matches!(byte, b'\n' | b'\r')),
            b'&' | b'!' => until(bytes, at, |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')),
            _ => break,
        };
    }
    at
}

/// The place of a value that is missing behind a key that ends at `key_end`: behind the colon.
pub(crate) fn missing_value(text: &str, key_end: usize) -> usize {
    let behind = text[key_end..].trim_start_matches([' ', '\t', '\r', '\n']);
    if behind.starts_with(':') { text.len() - behind.len() + 1 } else { key_end }
}

/// The place of a list's element that is missing, when everything up to `from` was read: behind its dash.
pub(crate) fn missing_element(text: &str, from: usize) -> usize {
    let dash = skip(text, from, b" \t\r\n");
    if text[dash..].starts_with('-') && !text[dash..].starts_with("---") { dash + 1 } else { from }
}

/// The tabs and blanks before `at`, if they begin its line and hold a tab.
pub(crate) fn tab_before(text: &str, at: usize) -> Option<Range<usize>> {
    let before = &text[..at];
    let start = before.trim_end_matches([' ', '\t']).len();
    let begins_line = start == 0 || before[..start].ends_with(['\n', '\r']);
    (begins_line && before[start..].contains('\t')).then_some(start..at)
}

fn until(bytes: &[u8], from: usize, is_end: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|byte| is_end(*byte)).unwrap_or(bytes.len() - from)
}
