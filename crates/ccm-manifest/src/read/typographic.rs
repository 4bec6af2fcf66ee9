//! Warnings about typographic quotes and spaces, which word processors and web pages write instead of plain ones. To
//! YAML they are a part of the text.

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeValue, SourceId, Span};

use crate::resolve::messages::shown;

/// Spaces that look like a plain one, or like none.
const SPACES: [(char, &str); 6] = [
    ('\u{a0}', "no-break space"),
    ('\u{202f}', "narrow no-break space"),
    ('\u{2007}', "figure space"),
    ('\u{3000}', "ideographic space"),
    ('\u{200b}', "zero-width space"),
    ('\u{feff}', "byte order mark"),
];

const PLAIN_SPACE: &str = "write a plain space, or quote the text if it is meant so";

const QUOTES: [char; 8] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛'];

/// Adds a hint to each error on a line with a typographic space.
pub(crate) fn explain(source: SourceId, text: &str, diagnostics: &mut Diagnostics) {
    // Most manifests have none.
    if text.is_ascii() {
        return;
    }
    for error in diagnostics.errors_mut() {
        let lines: Vec<&str> = error
            .labels
            .iter()
            .filter(|label| label.span.source == source)
            .map(|label| {
                let range = label.span.range();
                let start = text[..range.start].rfind('\n').map_or(0, |end| end + 1);
                let end = text[range.end..].find('\n').map_or(text.len(), |length| range.end + length);
                &text[start..end]
            })
            .collect();
        if let Some(name) = lines.iter().find_map(|line| space_in(line)) {
            let hint = format!("replace the {name} in this line, which is no space to YAML, by a plain one");
            if !error.hints.contains(&hint) {
                error.hints.push(hint);
            }
        }
    }
}

/// Returns the name of the first typographic space in a text.
fn space_in(text: &str) -> Option<&'static str> {
    text.chars().find_map(space_name)
}

fn space_name(character: char) -> Option<&'static str> {
    SPACES.iter().find(|(space, _)| *space == character).map(|(_, name)| *name)
}

/// Warns of the texts and keys in a manifest that stand between typographic quotes, or begin or end with a typographic
/// space. Each is reported once, also if aliases repeat the node.
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

/// Returns the warning about a text that is written between typographic quotes or spaces. A text between straight quotes
/// may hold them.
fn warning(span: Span, text: &str) -> Option<Diagnostic> {
    let written = text.get(span.range())?;
    if let Some(space) = written.chars().next().and_then(space_name) {
        let message = format!("the text begins with a {space}, which becomes a part of it");
        return Some(Diagnostic::warning(DiagnosticKind::Syntax, span, message).with_hint(PLAIN_SPACE));
    }
    if let Some(space) = written.chars().next_back().and_then(space_name) {
        let message = format!("the text ends with a {space}, which becomes a part of it");
        return Some(Diagnostic::warning(DiagnosticKind::Syntax, span, message).with_hint(PLAIN_SPACE));
    }
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
