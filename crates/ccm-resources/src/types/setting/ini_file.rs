//! Files as Python's configparser reads them.

use super::document::{
    Document, Position, Setting, indentation, is_blank, is_comment, trim, trim_end, trim_start,
};
use super::format::Syntax;
use crate::parts::text::TextLines;

/// Reads a file. A line that is deeper than the setting above it continues the value of that setting, whatever it holds.
pub(super) fn read(lines: &TextLines<'_>, syntax: &Syntax) -> Document {
    let mut document = Document::new(lines, Vec::new());
    // The depth of the last line that was no continuation; `None` if no setting can be continued.
    let mut depth: Option<usize> = None;
    for (index, line) in lines.iter().enumerate() {
        if is_blank(line) || is_comment(line) {
            continue;
        }
        let indentation = indentation(line).len();
        if depth.is_some_and(|depth| indentation > depth)
            && let Some(setting) = document.last()
        {
            let between = setting.lines.end..index;
            setting.comments.extend(between.filter(|between| is_comment(lines.get(*between))));
            setting.lines.end = index + 1;
            setting.value_end = Position { line: index, column: trim_end(line).len() };
            let value = setting.value.get_or_insert_default();
            value.push(b'\n');
            value.extend_from_slice(trim(line));
            continue;
        }
        if let Some(name) = section(line, syntax) {
            document.begin(name.to_vec(), index, index, lines);
            let other = first_section(line).filter(|other| *other != name).map(<[u8]>::to_vec);
            let current = document.current();
            document.sections[current].other_name = other;
            depth = None;
            continue;
        }
        let found = setting(line, index, document.current(), &syntax.delimiters);
        document.settings.extend(found.map(|found| {
            let of_equals = [b"=".to_vec()];
            let is_split_elsewhere = syntax.delimiters.len() > 1 && syntax.core() == "=";
            let other = is_split_elsewhere
                .then(|| setting(line, index, 0, &of_equals))
                .flatten()
                .filter(|other| other.value.is_some() && other.key != found.key);
            Setting { other_key: other.map(|other| other.key), ..found }
        }));
        depth = syntax.has_deeper_lines().then_some(indentation);
    }
    document
}

/// Returns the section that a line begins: all up to the last bracket.
pub(super) fn section<'a>(line: &'a [u8], syntax: &Syntax) -> Option<&'a [u8]> {
    if !syntax.has_deeper_lines() {
        return first_section(line);
    }
    let inner = trim(line).strip_prefix(b"[")?;
    let end = memchr::memrchr(b']', inner)?;
    (end > 0).then(|| &inner[..end])
}

/// Returns the section that a line begins for programs that read up to the first bracket.
fn first_section(line: &[u8]) -> Option<&[u8]> {
    let inner = trim(line).strip_prefix(b"[")?;
    let end = memchr::memchr(b']', inner)?;
    let behind = trim_start(&inner[end + 1..]);
    matches!(behind, [] | [b'#' | b';', ..]).then(|| &inner[..end])
}

/// Returns the setting of a line that is no comment and no header.
pub(super) fn setting(line: &[u8], index: usize, section: usize, delimiters: &[Vec<u8>]) -> Option<Setting> {
    let text = trim_end(line);
    let start = indentation(text).len();
    let inner = &text[start..];
    let delimiter = match delimiters {
        [] => inner.iter().position(u8::is_ascii_whitespace).map(|at| (at, 0)),
        all => all
            .iter()
            .filter_map(|one| Some((memchr::memmem::find(inner, one)?, one.len())))
            .min_by_key(|(at, _)| *at),
    };
    let (key, value_start) = match delimiter {
        Some((at, length)) => {
            let behind = start + at + length;
            (trim_end(&inner[..at]), text.len() - trim_start(&text[behind..]).len())
        }
        None => (inner, text.len()),
    };
    // Without a separator, a key alone has an empty value.
    let has_value = delimiter.is_some() || delimiters.is_empty();
    (!key.is_empty()).then(|| Setting {
        section,
        key: key.to_vec(),
        other_key: None,
        value: has_value.then(|| text[value_start..].to_vec()),
        lines: index..index + 1,
        comments: Vec::new(),
        start,
        value_start: Position { line: index, column: value_start },
        value_end: Position { line: index, column: text.len() },
    })
}
