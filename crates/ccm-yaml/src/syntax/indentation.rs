//! Lines that do not fit those above them.

use ccm_model::{Diagnostic, Span};
use granit_parser::ErrorKind;

use super::Mistake;
use crate::excerpt::{line_around, rest_of_line};
use crate::extent;

impl Mistake<'_> {
    /// The tab in an indentation that explains the mistake.
    pub(super) fn tab(&self) -> Option<Span> {
        let range = match self.kind {
            ErrorKind::TabNotAllowed
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInPlainScalar
            | ErrorKind::TabAtBlockScalarStart
            | ErrorKind::InvalidBlockEntryWhitespace
            | ErrorKind::InvalidMappingValueWhitespace
            | ErrorKind::ExpectedWhitespace => self.tab_at_or_behind()?,
            ErrorKind::MappingValueNotAllowed
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::ExpectedBlockSequenceEntry
            | ErrorKind::ExpectedDocumentStart => self.tab_on_line(line_around(self.text, self.at).0)?,
            _ => return None,
        };
        Some(self.span(range.0, range.1))
    }

    /// The parser names the place of the tab, or the begin of what the tab then interrupts.
    fn tab_at_or_behind(&self) -> Option<(usize, usize)> {
        let before = extent::tab_before(self.text, self.at).map(|range| (range.start, range.end));
        if before.is_some() {
            return before;
        }
        if self.text[..self.at].ends_with('\t') {
            return Some((self.at - 1, self.at));
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

    /// The indentation of the line, if it holds a tab.
    fn tab_on_line(&self, line_start: usize) -> Option<(usize, usize)> {
        let line = &self.text[line_start..];
        let text_start = line_start + line.len() - line.trim_start_matches([' ', '\t']).len();
        extent::tab_before(self.text, text_start).map(|range| (range.start, range.end))
    }

    /// Something stands where nothing of its kind can.
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
                self.span(dash, dash + 1),
                "a list element stands among the keys of a map",
            )
            .with_hint("the line does not fit the indentation above");
        }
        self.error("unexpected text behind a value").with_hint("quote the whole value if it is meant as text")
    }

    /// Says that the line of the mistake is indented in a way that nothing above asks for.
    pub(super) fn does_not_fit(&self) -> Diagnostic {
        let (line_start, line) = line_around(self.text, self.at);
        let start = line_start + line.len() - line.trim_start().len();
        let end = start + rest_of_line(self.text, start).len();
        Diagnostic::error(self.span(start, end), "the line does not fit the indentation above")
            .with_hint("what belongs together begins in the same column")
    }

    /// The begin of a line that the parser took for a directive before it found no document.
    fn unread_directive(&self) -> Option<usize> {
        let unread = &self.text[self.read..self.at.max(self.read)];
        let behind_line_end = unread.match_indices(['\n', '\r']).map(|(end, _)| end + 1);
        std::iter::once(0)
            .chain(behind_line_end)
            .find(|start| unread[*start..].starts_with('%'))
            .map(|start| self.read + start)
    }

    pub(super) fn directive(&self, start: usize) -> Diagnostic {
        let line = rest_of_line(self.text, start);
        let span = self.span(start, start + line.len());
        Diagnostic::error(span, "a line that begins with `%` is a directive to YAML")
            .with_hint("quote the text if it is meant as a key or value")
    }
}
