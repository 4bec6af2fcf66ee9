//! Expressions without quotes, the most frequent error: YAML reads them as maps.

use ccm_model::{Diagnostic, DiagnosticKind, SourceId, Span};

use crate::excerpt::{line_around, quote_it, rest_of_line};

/// Error of an expression without quotes, which in brackets (`in_flow`) does not end with the line.
pub(crate) fn unquoted(source: SourceId, text: &str, start: usize, in_flow: bool) -> Diagnostic {
    let rest = rest_of_line(text, start);
    let closed = rest.find("}}").map(|at| &rest[..at + 2]);
    let value = match closed {
        None => "",
        Some(closed) if in_flow || rest[closed.len()..].starts_with(':') => closed,
        Some(_) => rest,
    };
    let end = start + closed.unwrap_or(rest).len();
    Diagnostic::error(
        DiagnosticKind::Syntax,
        Span::new(source, start, end),
        "an expression without quotes is a map to YAML",
    )
    .with_hint(quote_it(value))
}

/// Finds an unquoted expression that causes an error at `at`: a `{{` that begins a value earlier on the line.
pub(crate) fn unquoted_before(text: &str, at: usize) -> Option<usize> {
    let (line_start, line) = line_around(text, at);
    let until_error = (at - line_start + 1).min(line.len());
    line.match_indices("{{").map(|(found, _)| found).find_map(|found| {
        let begins_value = line[..found].trim_end().ends_with([':', '-', '[', ',', '?', '{']);
        let begins = begins_value || line[..found].trim_start().is_empty();
        (found < until_error && begins).then_some(line_start + found)
    })
}
