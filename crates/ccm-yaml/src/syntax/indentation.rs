//! Errors of indentation.

use ccm_model::{Diagnostic, DiagnosticKind, Span};
use granit_parser::ErrorKind;

use super::SyntaxError;
use crate::excerpt::{line_around, rest_of_line};
use crate::extent;

impl SyntaxError<'_> {
    /// Finds the tab in an indentation that causes the error.
    pub(super) fn tab(&self) -> Option<Span> {
        let range = match self.kind {
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::InvalidBlockEntryWhitespace
            | ErrorKind::InvalidMappingValueWhitespace
            | ErrorKind::ExpectedWhitespace => self.tab_at_or_after()?,
            ErrorKind::MappingValueNotAllowed
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::ExpectedBlockSequenceEntry
            | ErrorKind::ExpectedDocumentStart => self.tab_on_line(line_around(self.text, self.at).0)?,
            _ => return None,
        };
        Some(self.span(range.0, range.1))
    }

    /// The parser reports the offset of the tab, or the start of the syntax that the tab interrupts.
    fn tab_at_or_after(&self) -> Option<(usize, usize)> {
        let before = extent::tab_before(self.text, self.at).map(|range| (range.start, range.end));
        if before.is_some() {
            return before;
        }
        if self.text[..self.at].ends_with('\t') {
            // A tab behind a colon is none of YAML's concern, unless the value goes on.
            let next_line = self.at + self.text[self.at..].find('\n').map_or(0, |end| end + 1);
            let below = (next_line > self.at).then(|| self.tab_on_line(next_line)).flatten();
            return Some(below.unwrap_or((self.at - 1, self.at)));
        }
        let mut line_start = line_around(self.text, self.at).0;
        while line_start <= self.text.len() {
            let found = self.tab_on_line(line_start);
            if found.is_some() {
                return found;
            }
            line_start += self.text[line_start..].find(['\n', '\r'])? + 1;
        }
        None
    }

    /// Returns the indentation of a line, if it holds a tab.
    fn tab_on_line(&self, line_start: usize) -> Option<(usize, usize)> {
        let line = &self.text[line_start..];
        let text_start = line_start + line.len() - line.trim_start_matches([' ', '\t']).len();
        extent::tab_before(self.text, text_start).map(|range| (range.start, range.end))
    }

    /// Error of syntax that is not allowed at this position.
    pub(super) fn misplaced(&self) -> Diagnostic {
        let (line_start, line) = line_around(self.text, self.at);
        let before = &line[..self.at - line_start];
        if let Some(directive) = self.unread_directive() {
            return self.directive(directive);
        }
        if before.trim().is_empty() {
            return self.does_not_fit();
        }
        if before.trim_start().starts_with("- ") && before.trim_matches([' ', '-']).is_empty() {
            let dash = line_start + line.len() - line.trim_start().len();
            return Diagnostic::error(
                DiagnosticKind::Indentation,
                self.span(dash, dash + 1),
                "a list element is among the keys of a map",
            )
            .with_hint("align the `-` with its list");
        }
        self.error("unexpected text after a value").with_hint("quote the whole value if it is meant as text")
    }

    /// Error of a line whose indentation fits nothing above.
    pub(super) fn does_not_fit(&self) -> Diagnostic {
        let (line_start, line) = line_around(self.text, self.at);
        let start = line_start + line.len() - line.trim_start().len();
        let end = start + rest_of_line(self.text, start).len();
        Diagnostic::error(
            DiagnosticKind::Indentation,
            self.span(start, end),
            "the line does not fit the indentation above",
        )
        .with_hint("indent all entries of a list or map alike")
    }

    /// Finds a line that the parser took for a directive, if it then found no document.
    fn unread_directive(&self) -> Option<usize> {
        let unread = &self.text[self.read..self.at.max(self.read)];
        let after_line_end = unread.match_indices(['\n', '\r']).map(|(end, _)| end + 1);
        std::iter::once(0)
            .chain(after_line_end)
            .find(|start| unread[*start..].starts_with('%'))
            .map(|start| self.read + start)
    }

    pub(super) fn directive(&self, start: usize) -> Diagnostic {
        let line = rest_of_line(self.text, start);
        let span = self.span(start, start + line.len());
        Diagnostic::error(DiagnosticKind::Syntax, span, "a line that begins with `%` is a directive to YAML")
            .with_hint("quote the text if it is meant as a key or value")
    }
}
