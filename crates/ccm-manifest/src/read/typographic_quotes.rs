//! Warnings about typographic quotes, which word processors and web pages write instead of straight ones. To YAML they
//! are a part of the text.

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeValue, Span};

use crate::resolve::messages::shown;

const QUOTES: [char; 8] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛'];

/// Warns of the texts and keys in a manifest that stand between typographic quotes. Each pair is reported once, also if
/// aliases repeat the node.
pub(crate) fn check(node: &Node, text: &str, diagnostics: &mut Diagnostics) {
    match &node.value {
        NodeValue::Scalar(_) => diagnostics.extend(warning(node.span, text)),
        NodeValue::List(elements) => {
            for element in elements {
                check(element, text, diagnostics);
            }
        }
        NodeValue::Map(map) => {
            for entry in map.entries() {
                diagnostics.extend(warning(entry.key.span, text));
                check(&entry.value, text, diagnostics);
            }
        }
    }
}

/// Returns the warning about a text that is written between typographic quotes. A text between straight quotes may hold
/// them.
fn warning(span: Span, text: &str) -> Option<Diagnostic> {
    let written = text.get(span.range())?;
    let inner = written.strip_prefix(QUOTES)?.strip_suffix(QUOTES)?;
    if inner.contains('\n') {
        return None;
    }
    let first = written.chars().next()?;
    let message =
        format!("the text begins with `{first}`, which is no quote to YAML and becomes a part of the text");
    let straight = inner.replace('\\', "\\\\").replace('"', "\\\"");
    Some(
        Diagnostic::warning(DiagnosticKind::Syntax, span, message)
            .with_hint(format!("write straight quotes: `\"{}\"`", shown(&straight))),
    )
}
