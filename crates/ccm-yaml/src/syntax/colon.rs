//! Colons too many and colons too few.

use ccm_model::{Diagnostic, Span};

use super::{Mistake, Neighbour};
use crate::excerpt::{line_around, quote_it, rest_of_line, shown};

/// How long a key may be, by the rules of YAML.
const LONGEST_KEY: usize = 1024;

impl Mistake<'_> {
    /// A `: ` where no key can end.
    pub(super) fn colon(&self) -> Diagnostic {
        let (line_start, line) = line_around(self.text, self.at);
        let before_colon = self.text[..self.at].trim_end_matches([' ', '\t']).len();
        let scalar = self.last_scalar.filter(|last| last.span.end as usize == before_colon);
        let Some(Neighbour { span, is_value }) = scalar else {
            return self.error("unexpected `:`").with_hint("quote the text if the `:` is part of it");
        };
        let start = span.start as usize;
        if start < line_start {
            return self.colon_on_later_line(span, is_value);
        }
        if before_colon - start > LONGEST_KEY {
            return self.key_too_long(span);
        }
        if line.starts_with("---") {
            return self
                .error("a map can't begin on the line of the `---`")
                .with_hint("put its first key on the next line");
        }
        Diagnostic::error(self.span(self.at, self.at + 1), "unexpected `:` in a value")
            .with_label(span, "the value begins here")
            .with_hint(quote_it(rest_of_line(self.text, start)))
    }

    /// The text above runs on into this line, which was meant as an entry of its own.
    fn colon_on_later_line(&self, text: Span, is_value: bool) -> Diagnostic {
        let first_line = rest_of_line(self.text, text.start as usize);
        let above = self.span(text.start as usize, text.start as usize + first_line.len());
        if is_value {
            return self.does_not_fit().with_label(above, "the key above has this value already");
        }
        let (line_start, line) = line_around(self.text, self.at);
        let start = line_start + line.len() - line.trim_start().len();
        Diagnostic::error(above, format!("expected `:` behind `{}`", shown(first_line)))
            .with_label(self.span(start, self.at), "because this is a key")
    }

    /// What should have been a key has no `: ` behind it.
    pub(super) fn key_without_colon(&self) -> Diagnostic {
        let rest = self.rest();
        let span = self.span(self.at, self.at + rest.len());
        if rest.find(": ").is_some_and(|colon| colon > LONGEST_KEY) || rest.len() > LONGEST_KEY {
            return self.key_too_long(span);
        }
        let error = Diagnostic::error(span, format!("expected `key: value`, found `{}`", shown(rest)));
        match rest.split_once(':') {
            Some((key, value)) if !key.is_empty() && !value.is_empty() && !value.starts_with('/') => {
                error.with_hint("a blank belongs behind the `:`")
            }
            _ => error.with_hint("a text of several lines is indented deeper than its key"),
        }
    }

    fn key_too_long(&self, key: Span) -> Diagnostic {
        let start = key.start as usize;
        let shown = self.text[start..].char_indices().nth(40).map_or(self.text.len() - start, |(end, _)| end);
        Diagnostic::error(
            self.span(start, start + shown),
            format!("a key is longer than {LONGEST_KEY} characters"),
        )
        .with_hint("use a short name, and write the text as a value")
    }
}
