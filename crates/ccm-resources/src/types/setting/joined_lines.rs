//! Files in which a backslash at the end of a line continues it, as systemd and Samba read them.

use super::document::{
    Document, Position, Setting, is_blank, is_comment, trim, trim_end, trim_start, unreadable,
};
use super::format::{Format, Syntax, is_space};
use crate::parts::text::{PartConflict, TextLines};

/// Line that the program puts together from one or several.
#[derive(Default)]
struct JoinedLine {
    bytes: Vec<u8>,
    /// Place of each byte.
    places: Vec<Position>,
    /// Comment lines between.
    comments: Vec<usize>,
    first: usize,
    last: usize,
}

/// Reads a file.
pub(super) fn read(lines: &TextLines<'_>, syntax: &Syntax) -> Result<Document, PartConflict> {
    let mut document = Document::new(lines, syntax.section(b""));
    let mut index = 0;
    while index < lines.len() {
        if is_blank(lines.get(index)) || is_comment(lines.get(index)) {
            index += 1;
            continue;
        }
        let joined = match syntax.format {
            Format::Samba => of_samba(lines, index),
            _ => of_systemd(lines, index),
        };
        index = joined.last + 1;
        let text = trim(&joined.bytes);
        if let Some(inner) = text.strip_prefix(b"[") {
            let end = memchr::memchr(b']', inner);
            let name = match syntax.format {
                Format::Samba => end.map(|end| &inner[..end]),
                _ => inner.strip_suffix(b"]"),
            };
            let name = name.ok_or_else(|| unreadable(syntax.format, joined.first))?;
            document.begin(syntax.section(name), joined.first, joined.last, lines);
        } else if !text.is_empty() {
            document.settings.push(setting(&joined, lines, document.current()));
        }
    }
    Ok(document)
}

/// Joins lines as systemd does: an odd number of backslashes at the end is a blank, and comment lines are left out.
fn of_systemd(lines: &TextLines<'_>, first: usize) -> JoinedLine {
    let mut joined = JoinedLine { first, ..JoinedLine::default() };
    for index in first..lines.len() {
        let line = lines.get(index);
        if is_comment(line) {
            joined.comments.push(index);
            continue;
        }
        joined.last = index;
        let backslashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
        let is_continued = backslashes % 2 == 1;
        for (column, byte) in line.iter().enumerate() {
            let is_mark = is_continued && column + 1 == line.len();
            joined.push(if is_mark { b' ' } else { *byte }, index, column);
        }
        if !is_continued {
            break;
        }
    }
    let last = joined.last;
    joined.comments.retain(|comment| *comment < last);
    joined
}

/// Joins lines as Samba does: a backslash at the end is left out, and several blanks are one.
fn of_samba(lines: &TextLines<'_>, first: usize) -> JoinedLine {
    let mut joined = JoinedLine { first, ..JoinedLine::default() };
    for index in first..lines.len() {
        joined.last = index;
        let line = if index == first { trim_start(lines.get(index)) } else { lines.get(index) };
        let skipped = lines.get(index).len() - line.len();
        for (column, byte) in line.iter().enumerate() {
            if !(is_space(*byte) && joined.bytes.last().copied().is_some_and(is_space)) {
                joined.push(*byte, index, skipped + column);
            }
        }
        match &joined.bytes[..] {
            [.., b'\\'] => joined.pop(1),
            [.., b'\\', last] if is_space(*last) => joined.pop(2),
            _ => break,
        }
    }
    joined
}

impl JoinedLine {
    fn push(&mut self, byte: u8, line: usize, column: usize) {
        self.bytes.push(byte);
        self.places.push(Position { line, column });
    }

    fn pop(&mut self, count: usize) {
        let length = self.bytes.len().saturating_sub(count);
        self.bytes.truncate(length);
        self.places.truncate(length);
    }

    /// Returns the place of a byte, or that behind the one before it.
    fn end_of(&self, length: usize) -> Position {
        match length.checked_sub(1).and_then(|last| self.places.get(last)) {
            Some(last) => Position { column: last.column + 1, ..*last },
            None => Position { line: self.first, column: 0 },
        }
    }
}

fn setting(joined: &JoinedLine, lines: &TextLines<'_>, section: usize) -> Setting {
    let bytes = trim_end(&joined.bytes);
    let start = bytes.len() - trim_start(bytes).len();
    let equals = memchr::memchr(b'=', bytes);
    let key = trim_end(&bytes[start.min(equals.unwrap_or(bytes.len()))..equals.unwrap_or(bytes.len())]);
    let (value_start, value_end) = match equals {
        Some(equals) => {
            let behind = joined.end_of(equals + 1);
            let line = lines.get(behind.line);
            let blanks = line[behind.column..].len() - trim_start(&line[behind.column..]).len();
            let is_text = behind.column + blanks < line.len();
            let start = Position { column: behind.column + if is_text { blanks } else { 0 }, ..behind };
            let has_value = !trim(&bytes[equals + 1..]).is_empty();
            (start, if has_value { joined.end_of(bytes.len()) } else { start })
        }
        None => (joined.end_of(start + key.len()), joined.end_of(start + key.len())),
    };
    Setting {
        section,
        key: key.to_vec(),
        other_key: None,
        value: equals.map(|equals| trim(&bytes[equals + 1..]).to_vec()),
        lines: joined.first..joined.last + 1,
        comments: joined.comments.clone(),
        start: joined.places.get(start).map_or(0, |place| place.column),
        value_start,
        value_end,
    }
}
