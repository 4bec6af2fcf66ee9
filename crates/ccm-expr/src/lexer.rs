//! Lexer: splits the text into tokens, one at a time.

use std::ops::Range;

use crate::error::{Error, ExprResult};
use crate::tree::{Operator, TextSpan};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind {
    End,
    Number,
    /// Text in `"` or `'`.
    Text,
    /// Text in backticks.
    RawText,
    /// Text with a prefix `b`.
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
    Assign,
    Pipe,
    Bang,
    Operator(Operator),
    Not,
    Let,
    If,
    Else,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Token {
    pub(crate) fn range(self) -> Range<usize> {
        self.span().range()
    }

    pub(crate) fn span(self) -> TextSpan {
        TextSpan { start: self.start, end: self.end }
    }
}

/// Lexer over a text. A copy looks ahead without moving the original.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next token; at the end, `End` every time.
    pub(crate) fn next(&mut self) -> ExprResult<Token> {
        self.skip_blanks()?;
        let start = self.at;
        let kind = match self.peek(0) {
            None => TokenKind::End,
            Some(b'"' | b'\'') => self.quoted(start)?,
            Some(b'`') => self.raw(start)?,
            Some(b'b') if matches!(self.peek(1), Some(b'"' | b'\'')) => {
                self.at += 1;
                self.quoted(start)?;
                TokenKind::Bytes
            }
            Some(b'0'..=b'9') => self.number(start)?,
            Some(b'.') if matches!(self.peek(1), Some(b'0'..=b'9')) => self.number(start)?,
            Some(byte) if is_word_byte(byte) => self.word(start),
            Some(byte) if byte.is_ascii() => self.operator(start, byte)?,
            Some(_) => match self.character() {
                Some(character) if is_word(character) => self.word(start),
                _ => return Err(self.unknown_character(start)),
            },
        };
        // Texts are limited to far less than 4 GiB.
        #[allow(clippy::cast_possible_truncation, reason = "the parser refuses texts beyond 2^24 bytes")]
        Ok(Token { kind, start: start as u32, end: self.at as u32 })
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn character(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_blanks(&mut self) -> ExprResult<()> {
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
                        return Err(Error::syntax(
                            self.at..self.text.len(),
                            "this comment is not closed: its `*/` is missing",
                        ));
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

    /// Reads quoted text from its opening quote. Escapes are resolved later.
    fn quoted(&mut self, start: usize) -> ExprResult<TokenKind> {
        let quote = self.peek(0);
        self.at += 1;
        loop {
            match self.peek(0) {
                None | Some(b'\n') => {
                    return Err(Error::syntax(
                        start..self.at,
                        "this text is not closed: its quote is missing",
                    )
                    .with_hint("put text of several lines between backticks"));
                }
                Some(b'\\') if self.peek(1).is_some_and(|byte| byte != b'\n') => self.at += 2,
                byte => {
                    self.at += 1;
                    if byte == quote {
                        return Ok(TokenKind::Text);
                    }
                }
            }
            // An escape may have skipped the first byte of a longer character.
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
        }
    }

    /// Reads text in backticks; a doubled backtick is a backtick.
    fn raw(&mut self, start: usize) -> ExprResult<TokenKind> {
        self.at += 1;
        loop {
            match self.text[self.at..].find('`') {
                None => {
                    self.at = self.text.len();
                    return Err(Error::syntax(
                        start..self.at,
                        "this text is not closed: its backtick is missing",
                    ));
                }
                Some(end) => {
                    self.at += end + 1;
                    if self.peek(0) != Some(b'`') {
                        return Ok(TokenKind::RawText);
                    }
                    self.at += 1;
                }
            }
        }
    }

    fn number(&mut self, start: usize) -> ExprResult<TokenKind> {
        let mut digits: fn(u8) -> bool = |byte| byte.is_ascii_digit() || byte == b'_';
        if self.peek(0) == Some(b'0') {
            let of_base: Option<fn(u8) -> bool> = match self.peek(1) {
                Some(b'x' | b'X') => Some(|byte| byte.is_ascii_hexdigit() || byte == b'_'),
                Some(b'o' | b'O') => Some(|byte| matches!(byte, b'0'..=b'7' | b'_')),
                Some(b'b' | b'B') => Some(|byte| matches!(byte, b'0' | b'1' | b'_')),
                _ => None,
            };
            if let Some(of_base) = of_base {
                self.at += 2;
                digits = of_base;
            }
        }
        self.skip_while(digits);
        // `1..2` is a range, not a number with a fraction.
        if self.peek(0) == Some(b'.') && self.peek(1) != Some(b'.') {
            self.at += 1;
            self.skip_while(digits);
        } else if self.peek(0) == Some(b'.') {
            return Ok(TokenKind::Number);
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
            return Err(Error::syntax(start..self.at, "this is neither a number nor a name")
                .with_hint("begin a name with a letter, and a number in another base with 0x, 0o or 0b"));
        }
        Ok(TokenKind::Number)
    }

    fn skip_while(&mut self, accept: fn(u8) -> bool) {
        while self.peek(0).is_some_and(accept) {
            self.at += 1;
        }
    }

    fn word(&mut self, start: usize) -> TokenKind {
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
        // `#in` is a variable of the predicate, not a keyword.
        if start > 0 && self.text.as_bytes()[start - 1] == b'#' {
            return TokenKind::Name;
        }
        match &self.text[start..self.at] {
            "and" => TokenKind::Operator(Operator::And),
            "or" => TokenKind::Operator(Operator::Or),
            "not" => TokenKind::Not,
            "in" => TokenKind::Operator(Operator::In),
            "matches" => TokenKind::Operator(Operator::Matches),
            "contains" => TokenKind::Operator(Operator::Contains),
            "startsWith" => TokenKind::Operator(Operator::StartsWith),
            "endsWith" => TokenKind::Operator(Operator::EndsWith),
            "let" => TokenKind::Let,
            "if" => TokenKind::If,
            "else" => TokenKind::Else,
            _ => TokenKind::Name,
        }
    }

    fn operator(&mut self, start: usize, byte: u8) -> ExprResult<TokenKind> {
        let next = self.peek(1);
        let (length, kind) = match (byte, next) {
            (b'(', _) => (1, TokenKind::LeftParenthesis),
            (b')', _) => (1, TokenKind::RightParenthesis),
            (b'[', _) => (1, TokenKind::LeftBracket),
            (b']', _) => (1, TokenKind::RightBracket),
            (b'{', _) => (1, TokenKind::LeftBrace),
            (b'}', _) => (1, TokenKind::RightBrace),
            (b',', _) => (1, TokenKind::Comma),
            (b';', _) => (1, TokenKind::Semicolon),
            (b'#', _) => (1, TokenKind::Hash),
            (b':', Some(b':')) => (2, TokenKind::DoubleColon),
            (b':', _) => (1, TokenKind::Colon),
            (b'.', Some(b'.')) => (2, TokenKind::Operator(Operator::Range)),
            (b'.', _) => (1, TokenKind::Dot),
            (b'?', Some(b'.')) => (2, TokenKind::OptionalDot),
            (b'?', Some(b'?')) => (2, TokenKind::Operator(Operator::Coalesce)),
            (b'?', _) => (1, TokenKind::Question),
            (b'|', Some(b'|')) => (2, TokenKind::Operator(Operator::Or)),
            (b'|', _) => (1, TokenKind::Pipe),
            (b'&', Some(b'&')) => (2, TokenKind::Operator(Operator::And)),
            (b'=', Some(b'=')) => (2, TokenKind::Operator(Operator::Equal)),
            (b'=', _) => (1, TokenKind::Assign),
            (b'!', Some(b'=')) => (2, TokenKind::Operator(Operator::NotEqual)),
            (b'!', _) => (1, TokenKind::Bang),
            (b'<', Some(b'=')) => (2, TokenKind::Operator(Operator::LessOrEqual)),
            (b'<', _) => (1, TokenKind::Operator(Operator::Less)),
            (b'>', Some(b'=')) => (2, TokenKind::Operator(Operator::GreaterOrEqual)),
            (b'>', _) => (1, TokenKind::Operator(Operator::Greater)),
            (b'*', Some(b'*')) => (2, TokenKind::Operator(Operator::Power)),
            (b'*', _) => (1, TokenKind::Operator(Operator::Multiply)),
            (b'^', _) => (1, TokenKind::Operator(Operator::Power)),
            (b'+', _) => (1, TokenKind::Operator(Operator::Add)),
            (b'-', _) => (1, TokenKind::Operator(Operator::Subtract)),
            (b'/', _) => (1, TokenKind::Operator(Operator::Divide)),
            (b'%', _) => (1, TokenKind::Operator(Operator::Modulo)),
            (b'&', _) => return Err(self.unknown_character(start).with_hint("did you mean `&&`?")),
            _ => return Err(self.unknown_character(start)),
        };
        self.at += length;
        Ok(kind)
    }

    fn unknown_character(&self, start: usize) -> Box<Error> {
        let character = self.text[start..].chars().next().unwrap_or(char::REPLACEMENT_CHARACTER);
        let shown = character.escape_debug();
        Error::syntax(start..start + character.len_utf8(), format!("`{shown}` has no meaning here"))
    }
}

/// Returns the bytes of each comment of a valid text that begins with `//`.
pub(crate) fn line_comments(text: &str) -> Vec<Range<usize>> {
    let mut comments = Vec::new();
    if !text.contains("//") {
        return comments;
    }
    let mut lexer = Lexer::new(text);
    loop {
        let end = lexer.at;
        let Ok(token) = lexer.next() else { return comments };
        let blanks = &text[end..token.start as usize];
        let mut at = 0;
        while let Some(start) = blanks[at..].find('/').map(|found| at + found) {
            let (length, is_line) = match &blanks[start..] {
                rest if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), true),
                rest => (rest.find("*/").map_or(rest.len(), |end| end + 2), false),
            };
            comments.extend(is_line.then(|| end + start..end + start + length));
            at = start + length;
        }
        if token.kind == TokenKind::End {
            return comments;
        }
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
