//! Errors of superfluous and missing colons.

use ccm_model::{Diagnostic, DiagnosticKind, Span};

use super::{PrecedingScalar, SyntaxError};
use crate::excerpt::{line_around, quote_it, rest_of_line, shown};

/// Maximum length of a key in YAML.
const MAX_KEY: usize = 1024;

impl SyntaxError<'_> {
    /// Error of a `: ` where no key can end.
    pub(super) fn colon(&self) -> Diagnostic {
        let (line_start, line) = line_around(self.text, self.at);
        let before_colon = self.text[..self.at].trim_end_matches([' ', '\t']).len();
        let scalar = self.last_scalar.filter(|last| last.span.end as usize == before_colon);
        let Some(PrecedingScalar { span, is_value }) = scalar else {
            return self.error("unexpected `:`").with_hint("quote the text if the `:` is part of it");
        };
        let start = span.start as usize;
        if start < line_start {
            return self.colon_on_later_line(span, is_value);
        }
        if before_colon - start > MAX_KEY {
            return self.key_too_long(span);
        }
        if line.starts_with("---") {
            return self
                .error("a map can't begin on the line of the `---`")
                .with_hint("put the first key of the map on the next line");
        }
        Diagnostic::error(
            DiagnosticKind::Syntax,
            self.span(self.at, self.at + 1),
            "unexpected `:` in a value",
        )
        .with_label(span, "the value begins here")
        .with_hint(quote_it(rest_of_line(self.text, start)))
    }

    /// Error of a line that continues the text above but was meant as an entry.
    fn colon_on_later_line(&self, text: Span, is_value: bool) -> Diagnostic {
        let first_line = rest_of_line(self.text, text.start as usize);
        let above = self.span(text.start as usize, text.start as usize + first_line.len());
        if let Some((key, value)) = glued(first_line).filter(|_| is_value) {
            let message = format!("there is no space after the colon of `{key}`");
            return Diagnostic::error(DiagnosticKind::Syntax, above, message)
                .with_hint(format!("put a space after the colon: `{key}: {}`", shown(value)));
        }
        if is_value {
            return self.does_not_fit().with_label(above, "value of the key above");
        }
        let (line_start, line) = line_around(self.text, self.at);
        let start = line_start + line.len() - line.trim_start().len();
        Diagnostic::error(
            DiagnosticKind::Syntax,
            above,
            format!("expected `:` after `{}`", shown(first_line)),
        )
        .with_label(self.span(start, self.at), "this is a key")
    }

    pub(super) fn key_without_colon(&self) -> Diagnostic {
        let rest = self.rest();
        let span = self.span(self.at, self.at + rest.len());
        if rest.find(": ").is_some_and(|colon| colon > MAX_KEY) || rest.len() > MAX_KEY {
            return self.key_too_long(span);
        }
        let error = Diagnostic::error(
            DiagnosticKind::Syntax,
            span,
            format!("expected `key: value`, found `{}`", shown(rest)),
        );
        match rest.split_once(':') {
            Some((key, value)) if !key.is_empty() && !value.is_empty() && !value.starts_with('/') => {
                error.with_hint("add a blank after the `:`")
            }
            _ => {
                error.with_hint("write `key: value`, or indent this line more if it continues the text above")
            }
        }
    }

    fn key_too_long(&self, key: Span) -> Diagnostic {
        let start = key.start as usize;
        let shown = self.text[start..].char_indices().nth(40).map_or(self.text.len() - start, |(end, _)| end);
        Diagnostic::error(
            DiagnosticKind::LimitExceeded,
            self.span(start, start + shown),
            format!("a key is longer than {MAX_KEY} characters"),
        )
        .with_hint("use a short name, and write the text as a value")
    }
}

/// Splits a key and a value without a space after the colon, such as `command:echo`. An address is no such pair.
fn glued(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    let is_key = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    (is_key && !value.is_empty() && !value.starts_with("//")).then_some((key, value))
}
