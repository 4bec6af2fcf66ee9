//! Configuration files as git reads them.

use super::document::{Document, Position, Setting, unreadable};
use super::format::Format;
use crate::parts::text::{PartConflict, TextLines};

/// Bytes of a file, with a line end behind each line.
struct Cursor<'l> {
    lines: Vec<&'l [u8]>,
    next: Position,
}

impl<'l> Cursor<'l> {
    fn new(lines: Vec<&'l [u8]>) -> Self {
        Self { lines, next: Position { line: 0, column: 0 } }
    }

    /// Returns the next byte without moving on.
    fn peek(&self) -> Option<u8> {
        let line = self.lines.get(self.next.line)?;
        Some(line.get(self.next.column).copied().unwrap_or(b'\n'))
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.next = match byte {
            b'\n' => Position { line: self.next.line + 1, column: 0 },
            _ => Position { column: self.next.column + 1, ..self.next },
        };
        Some(byte)
    }

    /// Returns the place of the next byte; the end of the last line if there is none.
    fn existing(&self) -> Position {
        match self.lines.last() {
            Some(last) if self.next.line >= self.lines.len() => {
                Position { line: self.lines.len() - 1, column: last.len() }
            }
            _ => self.next,
        }
    }

    fn skip_line(&mut self) {
        self.next = Position { line: self.next.line + 1, column: 0 };
    }

    fn skip_blanks(&mut self, is_blank: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&is_blank) {
            self.next();
        }
    }
}

/// Reads a file. Other bytes than git allows make git refuse all of it.
pub(super) fn read(lines: &TextLines<'_>) -> Result<Document, PartConflict> {
    let mut document = Document::new(lines, Vec::new());
    let mut cursor = Cursor::new(lines.iter().collect());
    while let Some(byte) = cursor.peek() {
        let at = cursor.next;
        let error = || unreadable(Format::Git, at.line);
        match byte {
            b'#' | b';' => cursor.skip_line(),
            b'[' => {
                let name = header(&mut cursor).ok_or_else(error)?;
                document.begin(name, at.line, at.line, lines);
            }
            byte if byte.is_ascii_alphabetic() => {
                let section = document.current();
                let found = setting(&mut cursor, section).ok_or_else(error)?;
                document.settings.push(found);
            }
            byte if is_blank(byte) || byte == b'\n' => drop(cursor.next()),
            _ => return Err(error()),
        }
    }
    Ok(document)
}

/// Returns the name of a section in the form in which git compares it: `remote.origin` for `remote "origin"`.
pub(super) fn section_name(section: &str) -> Option<Vec<u8>> {
    let header_line = format!("[{section}]");
    let mut cursor = Cursor::new(vec![header_line.as_bytes()]);
    let name = header(&mut cursor)?;
    (cursor.next.column == header_line.len()).then_some(name)
}

/// Reads a header, from its bracket on.
fn header(cursor: &mut Cursor<'_>) -> Option<Vec<u8>> {
    let mut name = Vec::new();
    cursor.next();
    loop {
        match cursor.next()? {
            b']' => return (!name.is_empty()).then_some(name),
            byte if is_blank(byte) => break,
            byte if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.') => {
                name.push(byte.to_ascii_lowercase());
            }
            _ => return None,
        }
    }
    cursor.skip_blanks(is_blank);
    if cursor.next()? != b'"' {
        return None;
    }
    name.push(b'.');
    loop {
        match cursor.next()? {
            b'\n' => return None,
            b'"' => break,
            b'\\' => name.push(cursor.next().filter(|byte| *byte != b'\n')?),
            byte => name.push(byte),
        }
    }
    (cursor.next()? == b']').then_some(name)
}

/// Reads a key with its value.
fn setting(cursor: &mut Cursor<'_>, section: usize) -> Option<Setting> {
    let first = cursor.next;
    let mut key = Vec::new();
    while let Some(byte) = cursor.peek().filter(|byte| byte.is_ascii_alphanumeric() || *byte == b'-') {
        key.push(byte);
        cursor.next();
    }
    let key_end = cursor.next;
    cursor.skip_blanks(|byte| matches!(byte, b' ' | b'\t'));
    let (value, value_start, value_end) = match cursor.next()? {
        b'\n' => (None, key_end, key_end),
        b'=' => {
            let behind = cursor.next;
            cursor.skip_blanks(is_blank);
            let start = cursor.next;
            let (value, end) = value(cursor)?;
            match end {
                Some(end) => (Some(value), start, end),
                // Blanks in front of a comment, or at the end of the line, are not a value.
                None => (Some(value), behind, behind),
            }
        }
        _ => return None,
    };
    Some(Setting {
        section,
        key,
        other_key: None,
        value,
        lines: first.line..cursor.next.line,
        comments: Vec::new(),
        start: first.column,
        value_start,
        value_end,
    })
}

/// Reads a value up to the end of its line. Returns its meaning, and the end of its text if there is any.
fn value(cursor: &mut Cursor<'_>) -> Option<(Vec<u8>, Option<Position>)> {
    let mut value = Vec::new();
    let mut is_quoted = false;
    // Length of the value and end of its text without blanks at its end.
    let mut kept = 0;
    let mut end = None;
    loop {
        // The end of the file ends the line.
        match cursor.next().unwrap_or(b'\n') {
            b'\n' if is_quoted => return None,
            b'\n' => break,
            b'#' | b';' if !is_quoted => {
                cursor.skip_line();
                break;
            }
            byte if is_blank(byte) && !is_quoted => {
                if !value.is_empty() {
                    value.push(byte);
                }
                continue;
            }
            b'\\' => match cursor.next().unwrap_or(b'\n') {
                // Blanks in front of a continuation are a part of the value.
                b'\n' => {}
                b't' => value.push(b'\t'),
                b'b' => value.push(8),
                b'n' => value.push(b'\n'),
                byte @ (b'\\' | b'"') => value.push(byte),
                _ => return None,
            },
            b'"' => is_quoted = !is_quoted,
            byte => value.push(byte),
        }
        kept = value.len();
        end = Some(cursor.existing());
    }
    value.truncate(kept);
    Some((value, end))
}

/// Returns the text of a value.
pub(super) fn encoded(value: &str) -> String {
    let is_blank_end = |c: char| c.is_ascii() && is_blank(c as u8);
    let needs_quotes = value.contains(['#', ';', '\r']) || value.trim_matches(is_blank_end) != value;
    let mut text = String::new();
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\\' | '"' => text.extend(['\\', c]),
            other => text.push(other),
        }
    }
    if needs_quotes { format!("\"{text}\"") } else { text }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_have_one_name() {
        for (section, name) in [
            ("core", Some("core")),
            ("Core", Some("core")),
            ("remote \"Origin\"", Some("remote.Origin")),
            ("Remote   \"Origin\"", Some("remote.Origin")),
            ("remote.Origin", Some("remote.origin")),
            (r#"a "b\"]c\\""#, Some(r#"a.b"]c\"#)),
            ("a \"\"", Some("a.")),
            ("", None),
            ("a b", None),
            ("a \"b", None),
            ("a \"b\" ", None),
            ("a] [b", None),
            ("a\n", None),
        ] {
            assert_eq!(section_name(section).as_deref(), name.map(str::as_bytes), "{section}");
        }
    }

    #[test]
    fn values_are_read_back() {
        for value in [
            "",
            "a",
            " a ",
            "a  b",
            "a # b",
            "a;b",
            "\"",
            "\\",
            "C:\\data\\",
            "a\nb",
            "a\tb",
            "\t",
            "\r",
            "a\r",
            "ü",
            "\u{8}",
        ] {
            let line = format!("key = {}", encoded(value));
            let mut cursor = Cursor::new(vec![line.as_bytes()]);
            let found = setting(&mut cursor, 0).expect("a setting");
            assert_eq!(found.value.as_deref(), Some(value.as_bytes()), "{line}");
        }
    }

    #[test]
    fn values_are_read_as_by_git() {
        for (text, value) in [
            ("k", Some(None)),
            ("k  ", Some(None)),
            ("k = ", Some(Some(""))),
            ("k = # c", Some(Some(""))),
            ("k = a # c", Some(Some("a"))),
            ("k = a\"  # b\" ; c", Some(Some("a  # b"))),
            ("k = a \\\n  b \\\n", Some(Some("a   b "))),
            ("k = \"a \\\n b\"", Some(Some("a  b"))),
            ("k = a \\", Some(Some("a "))),
            ("k = \\x", None),
            ("k = \"a", None),
            ("k # c", None),
            ("k a", None),
        ] {
            let lines: Vec<&[u8]> = text.split('\n').map(str::as_bytes).collect();
            let found = setting(&mut Cursor::new(lines), 0).map(|found| found.value);
            let expected = value.map(|value| value.map(|value: &str| value.as_bytes().to_vec()));
            assert_eq!(found, expected, "{text}");
        }
    }
}
