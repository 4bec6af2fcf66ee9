//! Expansions of bash alone.

use crate::lexer::TextParser;
use crate::tree::{ParameterOperation, ValueEdit, WordNode, WordPart};
use crate::unreadable::{ReadResult, UnreadableText};

impl TextParser<'_, '_> {
    /// Reads the operations on a parameter that only bash has.
    pub(crate) fn bash_operation(
        &mut self,
        name: String,
        start: usize,
        is_quoted: bool,
    ) -> ReadResult<(String, ParameterOperation)> {
        let operation = match self.byte(0) {
            Some(b'[') => return self.element(name, start),
            Some(b':') => {
                self.at += 1;
                ParameterOperation::Slice(self.arithmetic_until(b'}', start)?.into())
            }
            Some(b'/') => {
                self.at += 1;
                let edit = match self.byte(0) {
                    Some(b'/') => ValueEdit::Replaced { all: true },
                    Some(b'#' | b'%') => ValueEdit::Other,
                    _ => ValueEdit::Replaced { all: false },
                };
                self.at += usize::from(edit != ValueEdit::Replaced { all: false });
                let mut operands = vec![self.operand(is_quoted, b"/")?];
                if self.byte(0) == Some(b'/') {
                    self.at += 1;
                    operands.push(self.operand(is_quoted, b"")?);
                }
                ParameterOperation::Edit(edit, operands)
            }
            Some(byte @ (b'^' | b',')) => {
                let edit = match (byte, self.byte(1) == Some(byte)) {
                    (b'^', true) => ValueEdit::UpperCase,
                    (_, true) => ValueEdit::LowerCase,
                    (_, false) => ValueEdit::Other,
                };
                self.at += if edit == ValueEdit::Other { 1 } else { 2 };
                ParameterOperation::Edit(edit, vec![self.operand(is_quoted, b"")?])
            }
            Some(b'@') => match self.byte(1) {
                Some(b'Q' | b'U' | b'u' | b'L' | b'E') => {
                    self.at += 2;
                    ParameterOperation::Edit(ValueEdit::Other, Vec::new())
                }
                Some(b'P') => {
                    self.at += 2;
                    ParameterOperation::Expanded
                }
                _ => return Err(self.unknown_operation(start)),
            },
            _ => return Err(self.unknown_operation(start)),
        };
        Ok((name, operation))
    }

    fn unknown_operation(&self, start: usize) -> Box<UnreadableText> {
        let message = "this expansion has a form that can't be read here";
        UnreadableText::unsupported(self.span_with_next(start), message)
    }

    /// Reads `[…]` behind the name of a list.
    pub(crate) fn element(&mut self, name: String, start: usize) -> ReadResult<(String, ParameterOperation)> {
        if !self.is_bash() {
            let message = "lists have a meaning in bash alone";
            return Err(UnreadableText::ambiguous(self.span_with_next(start), message));
        }
        self.at += 1;
        if matches!(self.byte(0), Some(b'@' | b'*')) && self.byte(1) == Some(b']') {
            self.at += 2;
            if matches!(self.byte(0), Some(b':' | b'/' | b'#' | b'%' | b'^' | b',' | b'-' | b'+' | b'@')) {
                return Err(self.unknown_operation(start));
            }
            return Ok((name, ParameterOperation::Elements));
        }
        let subscript = self.arithmetic_until(b']', start)?;
        self.at += 1;
        Ok((name, ParameterOperation::Element(subscript.into())))
    }

    /// Reads `${!…}`.
    pub(crate) fn indirect(&mut self, start: usize) -> ReadResult<(String, ParameterOperation)> {
        if !self.is_bash() {
            let message = "`${!…}` has a meaning in bash alone";
            return Err(UnreadableText::ambiguous(self.span_with_next(start), message));
        }
        self.at += 1;
        let name = self.name();
        match (self.byte(0), self.byte(1), self.byte(2)) {
            _ if name.is_empty() => Err(self.unknown_operation(start)),
            (Some(b'}'), _, _) => Ok((name, ParameterOperation::Indirect)),
            (Some(b'*' | b'@'), Some(b'}'), _) => {
                self.at += 1;
                Ok((name, ParameterOperation::Elements))
            }
            (Some(b'['), Some(b'*' | b'@'), Some(b']')) => {
                self.at += 3;
                Ok((name, ParameterOperation::Elements))
            }
            _ => Err(self.unknown_operation(start)),
        }
    }

    /// Reads `$'…'`.
    pub(crate) fn ansi_quoted(&mut self, word: &mut WordNode) -> ReadResult<()> {
        let start = self.at;
        if !self.is_bash() {
            let message = "`$'…'` has a meaning in bash alone";
            let error = UnreadableText::ambiguous(self.span(start, start + 2), message);
            return Err(error.with_hint("let `printf` write the character"));
        }
        self.at += 2;
        let mut text = String::new();
        loop {
            let Some(character) = self.character() else { return Err(self.open_quote(start)) };
            self.at += character.len_utf8();
            match character {
                '\'' => return self.push(word, WordPart::Quoted(text)),
                '\\' => text.push(self.ansi_escape(start)?),
                _ => text.push(character),
            }
        }
    }

    fn open_quote(&self, start: usize) -> Box<UnreadableText> {
        UnreadableText::syntax(self.span(start, start + 2), "this `$'` is not closed")
    }

    fn ansi_escape(&mut self, start: usize) -> ReadResult<char> {
        let Some(character) = self.character() else { return Err(self.open_quote(start)) };
        let unknown = |parser: &Self| {
            let message = "this escape can't be read here";
            UnreadableText::unsupported(parser.span(start, parser.at), message)
        };
        self.at += character.len_utf8();
        Ok(match character {
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => character,
            '0'..='7' => {
                self.at -= 1;
                self.code(8, 3)
                    .filter(|code| code.is_ascii() && *code != '\0')
                    .ok_or_else(|| unknown(self))?
            }
            'x' => self
                .code(16, 2)
                .filter(|code| code.is_ascii() && *code != '\0')
                .ok_or_else(|| unknown(self))?,
            'u' => self.code(16, 4).filter(|code| *code != '\0').ok_or_else(|| unknown(self))?,
            'U' => self.code(16, 8).filter(|code| *code != '\0').ok_or_else(|| unknown(self))?,
            _ => return Err(unknown(self)),
        })
    }

    fn code(&mut self, radix: u32, digits: usize) -> Option<char> {
        let is_digit = |byte: &u8| char::from(*byte).is_digit(radix);
        let length = self.rest().bytes().take(digits).take_while(is_digit).count();
        let code = u32::from_str_radix(self.rest().get(..length)?, radix).ok()?;
        self.at += length;
        char::from_u32(code)
    }
}
