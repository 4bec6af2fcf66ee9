//! Values of literals.

use std::borrow::Cow;

use crate::error::{Error, ExprResult};

pub(crate) enum Number {
    Int(i64),
    Float(f64),
}

pub(crate) fn number(written: &str, at: usize) -> ExprResult<Number> {
    let range = at..at + written.len();
    let digits: Cow<'_, str> =
        if written.contains('_') { Cow::Owned(written.replace('_', "")) } else { Cow::Borrowed(written) };
    let lowercase = digits.to_ascii_lowercase();
    let integer = |digits: &str, base| {
        i64::from_str_radix(digits, base).map(Number::Int).map_err(|error| {
            Error::syntax(
                range.clone(),
                match error.kind() {
                    std::num::IntErrorKind::PosOverflow => "this integer is too large: it exceeds 2^63 - 1",
                    _ => "this is not a number",
                },
            )
        })
    };
    if let Some(digits) = lowercase.strip_prefix("0x") {
        return integer(digits, 16);
    }
    if lowercase.contains(['.', 'e']) {
        return match lowercase.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok(Number::Float(number)),
            Ok(_) => Err(Error::syntax(range, "this number is too large")),
            Err(_) => Err(Error::syntax(range, "this is not a number")),
        };
    }
    if let Some(digits) = lowercase.strip_prefix("0b") {
        return integer(digits, 2);
    }
    if let Some(digits) = lowercase.strip_prefix("0o") {
        return integer(digits, 8);
    }
    integer(&lowercase, 10)
}

pub(crate) fn raw_text(written: &str) -> Cow<'_, str> {
    let inner = &written[1..written.len() - 1];
    if inner.contains('`') { Cow::Owned(inner.replace("``", "`")) } else { Cow::Borrowed(inner) }
}

/// Parses quoted text, quotes included; `at` is its offset in the expression.
pub(crate) fn text(written: &str, at: usize) -> ExprResult<Cow<'_, str>> {
    let inner = &written[1..written.len() - 1];
    if !inner.contains(['\\', '\r']) {
        return Ok(Cow::Borrowed(inner));
    }
    let mut read = String::with_capacity(inner.len());
    let mut rest = Escapes { quote: written.as_bytes()[0], inner, at: at + 1, next: 0 };
    while let Some(span) = rest.next()? {
        match span {
            LiteralPiece::Plain(character) => read.push(character),
            // Half of a surrogate pair is no character.
            LiteralPiece::Code(code, _) => {
                read.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
        }
    }
    Ok(Cow::Owned(read))
}

/// Parses bytes, written as text after a `b`; `at` is the offset of the `b`.
pub(crate) fn bytes(written: &str, at: usize) -> ExprResult<Vec<u8>> {
    let inner = &written[2..written.len() - 1];
    let mut read = Vec::with_capacity(inner.len());
    let mut rest = Escapes { quote: written.as_bytes()[1], inner, at: at + 2, next: 0 };
    loop {
        let start = rest.next;
        match rest.next()? {
            None => return Ok(read),
            Some(LiteralPiece::Plain(character)) => {
                read.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Some(LiteralPiece::Code(code, Escape::Byte)) => read.push(u8::try_from(code).unwrap_or(u8::MAX)),
            Some(LiteralPiece::Code(_, Escape::Character)) => {
                let range = at + 2 + start..at + 2 + rest.next;
                return Err(Error::syntax(range, "a bytes literal can't contain `\\u` escapes")
                    .with_hint("write the character itself, or each of its bytes as \\xHH"));
            }
        }
    }
}

enum Escape {
    /// `\x41` or `\101`.
    Byte,
    /// `\u0041` or `\U00000041`.
    Character,
}

enum LiteralPiece {
    Plain(char),
    Code(u32, Escape),
}

/// Iterator over the characters and escapes of quoted text.
struct Escapes<'t> {
    quote: u8,
    inner: &'t str,
    /// Offset of `inner` in the expression.
    at: usize,
    next: usize,
}

impl Escapes<'_> {
    fn next(&mut self) -> ExprResult<Option<LiteralPiece>> {
        let rest = &self.inner[self.next..];
        let mut characters = rest.chars();
        let Some(first) = characters.next() else { return Ok(None) };
        if first == '\r' {
            // Every line end reads as `\n`.
            self.next += if rest.starts_with("\r\n") { 2 } else { 1 };
            return Ok(Some(LiteralPiece::Plain('\n')));
        }
        if first != '\\' {
            self.next += first.len_utf8();
            return Ok(Some(LiteralPiece::Plain(first)));
        }
        let letter = characters.next();
        let plain = match letter {
            Some('a') => Some('\x07'),
            Some('b') => Some('\x08'),
            Some('f') => Some('\x0c'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some('v') => Some('\x0b'),
            Some('\\') => Some('\\'),
            Some(quote) if u32::from(quote) == u32::from(self.quote) => Some(quote),
            _ => None,
        };
        if let Some(plain) = plain {
            self.next += 2;
            return Ok(Some(LiteralPiece::Plain(plain)));
        }
        let (skip, length, base, kind) = match letter {
            Some('x') => (2, 2, 16, Escape::Byte),
            Some('u') => (2, 4, 16, Escape::Character),
            Some('U') => (2, 8, 16, Escape::Character),
            Some('0'..='3') => (1, 3, 8, Escape::Byte),
            _ => return Err(self.unknown(letter)),
        };
        let code = rest
            .get(skip..skip + length)
            .filter(|digits| digits.chars().all(|digit| digit.is_digit(base)))
            .and_then(|digits| u32::from_str_radix(digits, base).ok())
            .filter(|code| *code <= u32::from(char::MAX));
        match code {
            Some(code) => {
                self.next += skip + length;
                Ok(Some(LiteralPiece::Code(code, kind)))
            }
            None => Err(self.unknown(letter)),
        }
    }

    fn unknown(&self, letter: Option<char>) -> Box<Error> {
        let start = self.at + self.next;
        let end = start + 1 + letter.map_or(0, char::len_utf8);
        Error::syntax(start..end, "this escape is unknown").with_hint(
            "use one of \\n \\t \\r \\a \\b \\f \\v \\\\, the quote of the text, \\xHH, \\NNN, \\uHHHH and \
             \\UHHHHHHHH, or text in backticks",
        )
    }
}
