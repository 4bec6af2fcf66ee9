//! Errors of brackets and their content.

use ccm_model::{Diagnostic, DiagnosticKind};
use granit_parser::ErrorKind;

use super::SyntaxError;
use crate::excerpt::{line_around, quote_it};

impl SyntaxError<'_> {
    /// Builds the diagnostic of an error of brackets; `None` for any other error.
    pub(super) fn bracket_error(&self) -> Option<Diagnostic> {
        Some(match self.kind {
            ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::ExpectedFlowSequenceSeparator => {
                self.in_brackets(&format!("expected `,` or `{}`", self.closing_bracket()))
            }
            ErrorKind::InvalidColonPlacement | ErrorKind::FlowMappingValueAdjacentCollection => {
                self.in_brackets("unexpected `:` in brackets")
            }
            ErrorKind::UnclosedFlowCollection { open } => {
                let error = Diagnostic::error(DiagnosticKind::Syntax, self.character(), "unclosed bracket")
                    .labelled(format!("this `{open}` is never closed"));
                let (_, line) = line_around(self.text, self.at);
                if line.contains(" #") {
                    error.with_hint("quote what begins with `#`: behind a blank, it begins a comment")
                } else {
                    error
                }
            }
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => Diagnostic::error(
                DiagnosticKind::Syntax,
                self.character(),
                format!("`{open}` is closed by `{close}`"),
            )
            .labelled("opened here"),
            ErrorKind::MisplacedFlowCollectionEnd => {
                let bracket = self.first_character();
                Diagnostic::error(
                    DiagnosticKind::Syntax,
                    self.character(),
                    format!("this `{bracket}` closes nothing"),
                )
                .with_hint(quote_it(self.rest()))
            }
            ErrorKind::BlockEntryInFlowCollection => {
                self.in_brackets("a list in brackets has no `-` before its elements")
            }
            _ => return None,
        })
    }

    /// Error in brackets, where the closing bracket may be missing.
    fn in_brackets(&self, message: &str) -> Diagnostic {
        let error = self.error(message);
        let Some(bracket) = self.bracket else { return error };
        let open = self.text.get(bracket.range()).unwrap_or_default();
        let error = error.with_label(bracket, format!("this `{open}` is open"));
        let closing = self.closing_bracket();
        let (line_start, _) = line_around(self.text, self.at);
        if (bracket.start as usize) < line_start {
            error.with_hint(format!("close the bracket with `{closing}`"))
        } else {
            error.with_hint("quote text that holds brackets, `: ` or `, `")
        }
    }

    fn closing_bracket(&self) -> char {
        let open = self.bracket.and_then(|bracket| self.text.get(bracket.range()));
        if open == Some("{") { '}' } else { ']' }
    }

    /// Returns `true` if a bracket before `start` is open.
    pub(super) fn bracket_before(&self, start: usize) -> bool {
        self.bracket.is_some_and(|bracket| (bracket.start as usize) < start)
    }
}
