//! Changes of single settings in the lines of a file.

use super::document::{Position, Setting, is_blank, trim, trim_end, trim_start};
use super::format::Syntax;
use crate::parts::text::{LineEdits, TextLines};

/// Returns the edits that give a setting another value. `text` is the value as it is written.
pub(super) fn with_value(found: &Setting, text: &str, lines: &TextLines<'_>, syntax: &Syntax) -> LineEdits {
    let Position { line, column } = found.value_start;
    let is_one_line = found.value_end.line == line;
    let before = &lines.get(line)[..column];
    let behind = &lines.get(found.value_end.line)[found.value_end.column..];
    let behind = match trim(behind) {
        b"\\" => b"",
        [] if !is_one_line => b"",
        _ => behind,
    };
    // The value may begin on a later line.
    let is_empty = is_blank(&lines.get(line)[column..]) || found.value.as_ref().is_none_or(Vec::is_empty);
    let new = joined(before, text, behind, is_empty, found.value.is_some(), syntax);
    let mut edits = vec![(line, Some(new))];
    edits.extend(found.own_lines().filter(|other| *other > line).map(|other| (other, None)));
    edits
}

/// Puts a line together from what is before the value, the value, and what is behind it.
fn joined(
    before: &[u8],
    text: &str,
    behind: &[u8],
    is_empty: bool,
    has_value: bool,
    syntax: &Syntax,
) -> Vec<u8> {
    let mut new = before.to_vec();
    let mut behind = behind;
    let lacks_blank = syntax.core().is_empty() && is_empty && !before.ends_with(b" ");
    if !has_value || lacks_blank {
        new.truncate(trim_end(before).len());
        new.extend_from_slice(syntax.separator.as_bytes());
    } else if is_empty && !text.is_empty() {
        if !behind.is_empty() && is_blank(behind) {
            // The blanks at the end of the line separate.
            new.extend_from_slice(std::mem::take(&mut behind));
        } else if has_blank_before_separator(before, syntax) {
            new.push(b' ');
            behind = if trim(behind).is_empty() { behind } else { trim_start(behind) };
        }
    }
    new.extend_from_slice(text.as_bytes());
    if text.is_empty() && is_blank(behind) {
        new.truncate(trim_end(&new).len());
        return new;
    }
    let is_glued = !behind.is_empty() && !behind[0].is_ascii_whitespace() && is_empty;
    if is_glued {
        new.push(b' ');
    }
    new.extend_from_slice(behind);
    new
}

/// Returns `true` for the beginning of a line up to a separator that has a blank before and none behind it.
fn has_blank_before_separator(before: &[u8], syntax: &Syntax) -> bool {
    let Some(key) = before.strip_suffix(syntax.core().as_bytes()) else { return false };
    key.last().is_some_and(u8::is_ascii_whitespace)
}

/// Returns the edits that remove a setting. What stands in front of its key stays.
pub(super) fn without(found: &Setting, lines: &TextLines<'_>) -> LineEdits {
    let first = found.lines.start;
    let before = trim_end(&lines.get(first)[..found.start]);
    found
        .own_lines()
        .map(|line| (line, (line == first && !before.is_empty()).then(|| before.to_vec())))
        .collect()
}
