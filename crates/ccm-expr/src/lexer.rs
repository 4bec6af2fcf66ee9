//! Cuts the text into tokens, one at a time.

use std::ops::Range;

use crate::error::{Error, Fallible};

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    End,
    Number,
    /// Between `"` or `'`.
    Text,
    /// Between backticks.
    RawText,
    /// Text with a `b` before it.
    Bytes,
    Name,
    Hash,
    LeftParenthesis,
    RightParenthesis,
    LeftBracket,
    RightBracket,
    LeftBrace,
    RightBrace,
    Comma,
    Semicolon,
    Colon,
    DoubleColon,
    Dot,
    OptionalDot,
    Question,
    Coalesce,
    Assign,
    Pipe,
    Range,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    /// `**` or `^`.
    Power,
    Bang,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// `&&` or `and`.
    And,
    /// `||` or `or`.
    Or,
    Not,
    In,
    Matches,
    Contains,
    StartsWith,
    EndsWith,
    Let,
    If,
    Else,
}

/// A token and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Reads tokens from a text. A copy looks ahead without moving the original.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// The next token, or the end again and again.
    pub(crate) fn next(&mut self) -> Fallible<Token> {
        self.skip_blanks()?;
        let start = self.at;
        let kind = match self.peek(0) {
            None => Kind::End,
            Some(b'"' | b'\'') => self.quoted(start)?,
            Some(b'`') => self.raw(start)?,
            Some(b'b') if matches!(self.peek(1), Some(b'"' | b'\'')) => {
                self.at += 1;
                self.quoted(start)?;
                Kind::Bytes
            }
            Some(b'0'..=b'9') => self.number(start)?,
            Some(b'.') if matches!(self.peek(1), Some(b'0'..=b'9')) => self.number(start)?,
            Some(byte) if is_word_byte(byte) => self.word(start),
            Some(byte) if byte.is_ascii() => self.sign(start, byte)?,
            Some(_) => match self.character() {
                Some(character) if is_word(character) => self.word(start),
                _ => return Err(self.unknown_character(start)),
            },
        };
        // Texts are refused long before they reach this length.
        #[allow(clippy::cast_possible_truncation, reason = "the parser refuses texts beyond 2^24 bytes")]
        Ok(Token { kind, start: start as u32, end: self.at as u32 })
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn character(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Skips white space and comments.
    fn skip_blanks(&mut self) -> Fallible<()> {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t' | b'\n' | b'\r' | b'\x0b' | b'\x0c') => self.at += 1,
                Some(b'/') if self.peek(1) == Some(b'/') => {
                    self.at =
                        self.text[self.at..].find('\n').map_or(self.text.len(), |end| self.at + end + 1);
                }
                Some(b'/') if self.peek(1) == Some(b'*') => match self.text[self.at + 2..].find("*/") {
                    Some(end) => self.at += end + 4,
                    None => {
                        return Err(Error::compile(self.at..self.text.len(), "this comment has no end `*/`"));
                    }
                },
                Some(byte) if !byte.is_ascii() => match self.character() {
                    Some(blank) if blank.is_whitespace() => self.at += blank.len_utf8(),
                    _ => return Ok(()),
                },
                _ => return Ok(()),
            }
        }
    }

    /// A quoted text; the lexer stands at its quote. Escapes are looked at when the text is needed.
    fn quoted(&mut self, start: usize) -> Fallible<Kind> {
        let quote = self.peek(0);
        self.at += 1;
        loop {
            match self.peek(0) {
                None | Some(b'\n') => {
                    return Err(Error::compile(start..self.at, "this text has no end: its quote is missing")
                        .hint("text over several lines stands between backticks"));
                }
                Some(b'\\') if self.peek(1).is_some_and(|byte| byte != b'\n') => self.at += 2,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return Ok(Kind::Text);
                    }
                }
            }
            // An escape may have skipped the first byte of a longer character.
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        }
    }

    /// Text between backticks, where a doubled backtick stands for one.
    fn raw(&mut self, start: usize) -> Fallible<Kind> {
        self.at += 1;
        loop {
            match self.text[self.at..].find('`') {
                None => {
                    self.at = self.text.len();
                    return Err(Error::compile(
                        start..self.at,
                        "this text has no end: its backtick is missing",
                    ));
                }
                Some(end) => {
                    self.at += end + 1;
                    if self.peek(0) != Some(b'`') {
                        return Ok(Kind::RawText);
                    }
                    self.at += 1;
                }
            }
        }
    }

    fn number(&mut self, start: usize) -> Fallible<Kind> {
        let mut digits: fn(u8) -> bool = |byte| byte.is_ascii_digit() || byte == b'_';
        if self.peek(0) == Some(b'0') {
            let based: Option<fn(u8) -> bool> = match self.peek(1) {
                Some(b'x' | b'X') => Some(|byte| byte.is_ascii_hexdigit() || byte == b'_'),
                Some(b'o' | b'O') => Some(|byte| matches!(byte, b'0'..=b'7' | b'_')),
                Some(b'b' | b'B') => Some(|byte| matches!(byte, b'0' | b'1' | b'_')),
                _ => None,
            };
            if let Some(based) = based {
                self.at += 2;
                digits = based;
            }
        }
        self.skip_while(digits);
        // `1..2` is a range, not a number with a fraction.
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            self.skip_while(digits);
        } else if self.peek(0) == Some(b'.') {
            return Ok(Kind::Number);
        }
        if matches!(self.peek(0), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(0), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.skip_while(digits);
        }
        if self.character().is_some_and(is_word) {
            while let Some(character) = self.character().filter(|character| is_word(*character)) {
                self.at += character.len_utf8();
            }
            return Err(Error::compile(start..self.at, "this is neither a number nor a name")
                .hint("a name begins with a letter; a number in another base with 0x, 0o or 0b"));
        }
        Ok(Kind::Number)
    }

    fn skip_while(&mut self, accept: fn(u8) -> bool) {
        while self.peek(0).is_some_and(accept) {
            self.at += 1;
        }
    }

    /// A name or a keyword.
    fn word(&mut self, start: usize) -> Kind {
        loop {
            match self.peek(0) {
                Some(byte) if is_word_byte(byte) => self.at += 1,
                Some(byte) if !byte.is_ascii() => match self.character() {
                    Some(character) if is_word(character) => self.at += character.len_utf8(),
                    _ => break,
                },
                _ => break,
            }
        }
        // `#in` asks for a variable of the predicate, whatever its name.
        if start > 0 && self.text.as_bytes()[start - 1] == b'#' {
            return Kind::Name;
        }
        match &self.text[start..self.at] {
            "and" => Kind::And,
            "or" => Kind::Or,
            "not" => Kind::Not,
            "in" => Kind::In,
            "matches" => Kind::Matches,
            "contains" => Kind::Contains,
            "startsWith" => Kind::StartsWith,
            "endsWith" => Kind::EndsWith,
            "let" => Kind::Let,
            "if" => Kind::If,
            "else" => Kind::Else,
            _ => Kind::Name,
        }
    }

    fn sign(&mut self, start: usize, byte: u8) -> Fallible<Kind> {
        let next = self.peek(1);
        let (length, kind) = match (byte, next) {
            (b'(', _) => (1, Kind::LeftParenthesis),
            (b')', _) => (1, Kind::RightParenthesis),
            (b'[', _) => (1, Kind::LeftBracket),
            (b']', _) => (1, Kind::RightBracket),
            (b'{', _) => (1, Kind::LeftBrace),
            (b'}', _) => (1, Kind::RightBrace),
            (b',', _) => (1, Kind::Comma),
            (b';', _) => (1, Kind::Semicolon),
            (b'#', _) => (1, Kind::Hash),
            (b':', Some(b':')) => (2, Kind::DoubleColon),
            (b':', _) => (1, Kind::Colon),
            (b'.', Some(b'.')) => (2, Kind::Range),
            (b'.', _) => (1, Kind::Dot),
            (b'?', Some(b'.')) => (2, Kind::OptionalDot),
            (b'?', Some(b'?')) => (2, Kind::Coalesce),
            (b'?', _) => (1, Kind::Question),
            (b'|', Some(b'|')) => (2, Kind::Or),
            (b'|', _) => (1, Kind::Pipe),
            (b'&', Some(b'&')) => (2, Kind::And),
            (b'=', Some(b'=')) => (2, Kind::Equal),
            (b'=', _) => (1, Kind::Assign),
            (b'!', Some(b'=')) => (2, Kind::NotEqual),
            (b'!', _) => (1, Kind::Bang),
            (b'<', Some(b'=')) => (2, Kind::LessOrEqual),
            (b'<', _) => (1, Kind::Less),
            (b'>', Some(b'=')) => (2, Kind::GreaterOrEqual),
            (b'>', _) => (1, Kind::Greater),
            (b'*', Some(b'*')) => (2, Kind::Power),
            (b'*', _) => (1, Kind::Star),
            (b'^', _) => (1, Kind::Power),
            (b'+', _) => (1, Kind::Plus),
            (b'-', _) => (1, Kind::Minus),
            (b'/', _) => (1, Kind::Slash),
            (b'%', _) => (1, Kind::Percent),
            (b'&', _) => return Err(self.unknown_character(start).hint("did you mean `&&`?")),
            _ => return Err(self.unknown_character(start)),
        };
        self.at += length;
        Ok(kind)
    }

    fn unknown_character(&self, start: usize) -> Box<Error> {
        let character = self.text[start..].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        let shown = character.escape_debug();
        Error::compile(start..start + character.len_utf8(), format!("`{shown}` has no meaning here"))
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$')
}

fn is_word(character: char) -> bool {
    if character.is_ascii() {
        return u8::try_from(character).is_ok_and(is_word_byte);
    }
    character.is_alphabetic() || character.is_numeric()
}
