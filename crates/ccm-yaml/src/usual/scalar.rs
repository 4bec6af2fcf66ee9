//! Scalars that end on their line.

use ccm_model::ScalarStyle;

use super::Usual;

/// A scalar and its place.
pub(super) struct Written {
    pub(super) text: Box<str>,
    pub(super) style: ScalarStyle,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Written {
    /// The value of a key that has none.
    pub(super) fn missing(at: usize) -> Self {
        Self { text: "".into(), style: ScalarStyle::Plain, start: at, end: at }
    }
}

/// Where a scalar stands, which decides where it ends.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// On a line of its own, behind a dash or behind a key.
    Line,
    /// Between brackets.
    Brackets,
}

impl Usual<'_> {
    /// Reads a scalar with or without quotes up to its last byte.
    pub(super) fn scalar(&mut self, place: Place) -> Option<Written> {
        match self.bytes.get(self.at)? {
            b'\'' => self.single_quoted(),
            b'"' => self.double_quoted(),
            _ => self.plain(place),
        }
    }

    fn plain(&mut self, place: Place) -> Option<Written> {
        let start = self.at;
        match self.bytes[start] {
            b'-' if place == Place::Line && !self.is_end_of_word(start + 1) => {}
            b'-' | b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|'
            | b'>' | b'%' | b'@' | b'`' | b'\t' | b'\n' => return None,
            _ => {}
        }
        let mut at = start + 1;
        let mut end = at;
        while let Some(byte) = self.bytes.get(at) {
            match byte {
                b'\n' => break,
                b':' if self.is_end_of_word(at + 1) => break,
                b'#' if end < at => break,
                b' ' => {
                    at += 1;
                    continue;
                }
                b'\t' => return None,
                b',' | b']' | b'}' if place == Place::Brackets => break,
                b'[' | b'{' if place == Place::Brackets => return None,
                b':' if place == Place::Brackets
                    && matches!(self.bytes.get(at + 1), Some(b',' | b'[' | b']' | b'{' | b'}')) =>
                {
                    return None;
                }
                _ => {}
            }
            at += 1;
            end = at;
        }
        // A colon belongs right behind its key.
        if self.bytes.get(at) == Some(&b':') && end < at {
            return None;
        }
        self.at = end;
        Some(Written { text: self.text[start..end].into(), style: ScalarStyle::Plain, start, end })
    }

    fn single_quoted(&mut self) -> Option<Written> {
        let start = self.at;
        let mut is_escaped = false;
        let mut at = start + 1;
        loop {
            match self.bytes.get(at)? {
                b'\'' if self.bytes.get(at + 1) == Some(&b'\'') => {
                    is_escaped = true;
                    at += 2;
                }
                b'\'' => break,
                b'\n' | b'\t' => return None,
                _ => at += 1,
            }
        }
        let text = &self.text[start + 1..at];
        let text = if is_escaped { text.replace("''", "'").into() } else { text.into() };
        Some(self.quoted(text, start, at + 1))
    }

    fn double_quoted(&mut self) -> Option<Written> {
        let start = self.at;
        let mut text = String::new();
        let mut copied = start + 1;
        let mut at = start + 1;
        loop {
            match self.bytes.get(at)? {
                b'"' => break,
                b'\\' => {
                    let meant = match self.bytes.get(at + 1)? {
                        b'n' => '\n',
                        b't' => '\t',
                        b'"' => '"',
                        b'\\' => '\\',
                        _ => return None,
                    };
                    text.push_str(&self.text[copied..at]);
                    text.push(meant);
                    at += 2;
                    copied = at;
                }
                b'\n' | b'\t' => return None,
                _ => at += 1,
            }
        }
        let rest = &self.text[copied..at];
        let text = if text.is_empty() { rest.into() } else { (text + rest).into() };
        Some(self.quoted(text, start, at + 1))
    }

    fn quoted(&mut self, text: Box<str>, start: usize, end: usize) -> Written {
        self.at = end;
        Written { text, style: ScalarStyle::Quoted, start, end }
    }
}
