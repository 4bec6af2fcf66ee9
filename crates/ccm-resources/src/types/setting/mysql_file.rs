//! Option files as `MySQL` and `MariaDB` read them.

use super::document::{Document, Position, Setting, indentation, trim_end, trim_start, unreadable};
use super::format::{Format, Syntax};
use crate::parts::text::{PartConflict, TextLines};

/// Reads a file. No value is continued.
pub(super) fn read(lines: &TextLines<'_>, syntax: &Syntax) -> Result<Document, PartConflict> {
    let mut document = Document::new(lines, Vec::new());
    for (index, line) in lines.iter().enumerate() {
        let start = indentation(line).len();
        match &line[start..] {
            [] | [b'#' | b';' | b'!', ..] => {}
            [b'[', inner @ ..] => {
                let end = memchr::memchr(b']', inner).ok_or_else(|| unreadable(Format::Mysql, index))?;
                document.begin(syntax.section(&inner[..end]), index, index, lines);
            }
            _ if document.current() == 0 => return Err(unreadable(Format::Mysql, index)),
            _ => document.settings.push(setting(line, start, index, document.current())),
        }
    }
    Ok(document)
}

fn setting(line: &[u8], start: usize, index: usize, section: usize) -> Setting {
    let text = trim_end(without_comment(line));
    let equals = memchr::memchr(b'=', text);
    let key_end = trim_end(&text[..equals.unwrap_or(text.len())]).len().max(start);
    let at = |column| Position { line: index, column };
    let value_start = match equals {
        Some(equals) => text.len() - trim_start(&text[equals + 1..]).len(),
        None => text.len(),
    };
    Setting {
        section,
        key: line[start..key_end].to_vec(),
        other_key: None,
        value: equals.map(|_| decoded(&text[value_start..])),
        lines: index..index + 1,
        comments: Vec::new(),
        start,
        value_start: at(value_start),
        value_end: at(text.len()),
    }
}

/// Returns a line without the comment at its end, which begins with `#` outside of quotes.
fn without_comment(line: &[u8]) -> &[u8] {
    let mut quote = None;
    let mut is_escaped = false;
    for (index, byte) in line.iter().enumerate() {
        if matches!(byte, b'\'' | b'"') && !is_escaped {
            match quote {
                None => quote = Some(*byte),
                Some(open) if open == *byte => quote = None,
                Some(_) => {}
            }
        }
        if quote.is_none() && *byte == b'#' {
            return &line[..index];
        }
        is_escaped = quote.is_some() && *byte == b'\\' && !is_escaped;
    }
    line
}

/// Returns the meaning of a value.
fn decoded(value: &[u8]) -> Vec<u8> {
    let value = match value {
        [first @ (b'"' | b'\''), inner @ .., last] if first == last => inner,
        value => value,
    };
    let mut decoded = Vec::new();
    let mut bytes = value.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        let Some(next) = bytes.peek().copied().filter(|_| byte == b'\\') else {
            decoded.push(byte);
            continue;
        };
        let meaning = match next {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b's' => b' ',
            b'"' | b'\'' | b'\\' => next,
            _ => {
                decoded.push(byte);
                next
            }
        };
        decoded.push(meaning);
        bytes.next();
    }
    decoded
}

/// Returns the text of a value.
pub(super) fn encoded(value: &str) -> String {
    let needs_quotes = value.contains(['#', '\'', '"'])
        || value.trim_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}') != value;
    let mut text = String::new();
    for c in value.chars() {
        match c {
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\\' => text.push_str("\\\\"),
            '"' => text.push_str("\\\""),
            other => text.push(other),
        }
    }
    if needs_quotes { format!("\"{text}\"") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_back() {
        for value in [
            "",
            "a",
            "a b",
            " a ",
            "a # b",
            "it's",
            "\"",
            "'",
            "\\",
            "C:\\data\\",
            "C:\\new",
            "a\nb",
            "a\tb",
            "\t",
            "'a'",
            "\"a",
            "a\\'#",
            "#",
            "\\\\",
            "ü",
            "\u{b}",
        ] {
            let line = format!("key = {}", encoded(value));
            let found = setting(line.as_bytes(), 0, 0, 0);
            assert_eq!(found.value.as_deref(), Some(value.as_bytes()), "{line}");
            assert_eq!(found.key, b"key");
        }
    }

    #[test]
    fn comments_end_values() {
        for (line, value) in [
            ("k", None),
            ("k # c", None),
            ("k =", Some("")),
            ("k = # c", Some("")),
            ("k = a#c", Some("a")),
            ("k = 'a#b' # c", Some("a#b")),
            ("k = it's # c", Some("it's # c")),
            ("k = \"a\\\"#\" # c", Some("a\"#")),
            ("k = C:\\data\\", Some("C:\\data\\")),
            ("k = a\\sb", Some("a b")),
        ] {
            let found = setting(line.as_bytes(), 0, 0, 0);
            assert_eq!(found.value.as_deref(), value.map(str::as_bytes), "{line}");
            assert_eq!(found.key, b"k", "{line}");
        }
    }
}
