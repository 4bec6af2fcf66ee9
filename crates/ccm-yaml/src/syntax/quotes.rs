//! Errors of quotes, text after quotes, and escapes.

use ccm_model::{Diagnostic, DiagnosticKind};
use granit_parser::ErrorKind;

use super::SyntaxError;
use crate::excerpt::{quote_it, rest_of_line, word_length};
use crate::extent;

impl SyntaxError<'_> {
    pub(super) fn unclosed_quote(&self, quote: usize) -> Diagnostic {
        let quote_mark = self.text[quote..].chars().next().unwrap_or('"');
        Diagnostic::error(DiagnosticKind::Syntax, self.span(quote, quote + 1), "unclosed quote")
            .labelled(format!("this `{quote_mark}` is never closed"))
    }

    /// Error of a quoted text that reaches a line where it can't continue: its closing quote is missing.
    pub(super) fn unfinished_quote(&self) -> Diagnostic {
        let quote = extent::skip_to_content(self.text, self.read);
        if quote < self.at && self.text[quote..].starts_with(['"', '\'']) {
            let end = self.at + word_length(self.text, self.at);
            if end == self.at {
                return self.unclosed_quote(quote);
            }
            return self.unclosed_quote(quote).with_label(
                self.span(self.at, end),
                "the quoted text can't continue on a line with this indentation",
            );
        }
        self.error("a quoted text can't continue on a line with this indentation")
            .with_hint("add the closing quote above")
    }

    pub(super) fn text_after_quote(&self) -> Diagnostic {
        if let Some(error) = self.closed_by_another() {
            return error;
        }
        let error = self.error("unexpected text after the closing quote");
        if self.text[..self.at].ends_with('\'') {
            return error.with_hint("write a quote as `''` in single quotes");
        }
        if self.text[..self.at].ends_with('"') {
            return error.with_hint("write a quote in double quotes as `\\\"`");
        }
        let quote = extent::skip_to_content(self.text, self.read);
        let same_line = quote < self.at && !self.text[quote..self.at].contains(['\n', '\r']);
        let whole = if same_line && self.bracket.is_none() { rest_of_line(self.text, quote) } else { "" };
        error.with_hint(format!("if the quotes are part of the text, {}", quote_it(whole)))
    }

    /// Error of a quoted text that ends in a later line, with text behind it: what closes it is the opening quote of another.
    fn closed_by_another(&self) -> Option<Diagnostic> {
        let opening = extent::skip_to_content(self.text, self.read);
        let quoted = self.text.get(opening..self.at)?;
        let mark = quoted.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
        let closing = opening + quoted.rfind(mark).filter(|at| quoted[..*at].contains(['\n', '\r']))?;
        let error =
            Diagnostic::error(DiagnosticKind::Syntax, self.span(opening, opening + 1), "unclosed quote");
        let closing = self.span(closing, closing + 1);
        Some(
            error
                .labelled(format!("this `{mark}` is closed in another line"))
                .with_label(closing, "by this one"),
        )
    }

    /// Error of an invalid escape in the double-quoted text at the error.
    pub(super) fn escape(&self) -> Diagnostic {
        let bytes = self.text.as_bytes();
        let mut at = self.at + 1;
        while let Some(found) = self.text[at..].find(['\\', '"']) {
            let start = at + found;
            if bytes[start] == b'"' {
                break;
            }
            let Some(letter) = self.text[start + 1..].chars().next() else {
                return self.unclosed_quote(self.at);
            };
            let digits = hex_digits(letter);
            let value = self.text.get(start + 2..start + 2 + digits).filter(|_| digits > 0);
            let number = value.and_then(|value| u32::from_str_radix(value, 16).ok());
            let surrogate = number.filter(|number| (0xd800..0xe000).contains(number));
            let end = start + 1 + letter.len_utf8() + if number.is_some() { digits } else { 0 };
            let wrong = match self.kind {
                ErrorKind::UnknownQuotedScalarEscape => !is_escape(letter),
                ErrorKind::InvalidQuotedScalarHexEscape => digits > 0 && number.is_none(),
                ErrorKind::InvalidUnicodeEscape => {
                    number.is_some_and(|number| char::from_u32(number).is_none())
                }
                _ => surrogate.is_some(),
            };
            if wrong {
                return self.wrong_escape(start, end, digits);
            }
            at = end;
        }
        self.error("an escape in this text is not valid")
            .with_hint("use single quotes, where a `\\` is just a `\\`")
    }

    fn wrong_escape(&self, start: usize, end: usize, digits: usize) -> Diagnostic {
        let escape = self.text[start..end].escape_debug().to_string().replace("\\\\", "\\");
        let message = match self.kind {
            ErrorKind::UnknownQuotedScalarEscape => format!("unknown escape `{escape}`"),
            ErrorKind::InvalidQuotedScalarHexEscape => {
                format!("the escape `{escape}` needs {digits} hexadecimal digits")
            }
            ErrorKind::InvalidUnicodeEscape => format!("the escape `{escape}` names no character"),
            _ => format!("the escape `{escape}` is half of a surrogate pair"),
        };
        Diagnostic::error(DiagnosticKind::Syntax, self.span(start, end), message)
            .with_hint("write a backslash as `\\\\`, or use single quotes, where it is just a backslash")
    }
}

fn hex_digits(letter: char) -> usize {
    match letter {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    }
}

fn is_escape(letter: char) -> bool {
    "0abt\tnvfre \"/\\N_LPxuU\n\r".contains(letter)
}
