//! Octal digits.

use ccm_model::{Diagnostic, DiagnosticKind, Node, ScalarStyle};

use crate::{ValueError, expected};

/// Decodes octal digits. `noun` names the value, `example` shows how to write it.
///
/// Refuses a number that an expression yielded, because its base is unknown.
pub fn octal<T>(
    node: &Node,
    (noun, example): (&str, &str),
    errors: &mut Vec<Diagnostic>,
    parse: impl FnOnce(&str) -> Result<T, ValueError>,
) -> Option<T> {
    if node.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Computed) {
        let message = format!("expected a {noun} as text, found {}", node.describe());
        let hint = format!("quote the value where it is set: `\"{example}\"`");
        errors.push(Diagnostic::error(DiagnosticKind::WrongType, node.span, message).with_hint(hint));
        return None;
    }
    let Some(text) = node.as_text() else {
        errors.push(expected("text", node));
        return None;
    };
    parse(text).map_err(|error| errors.push(error.at(node.span))).ok()
}
