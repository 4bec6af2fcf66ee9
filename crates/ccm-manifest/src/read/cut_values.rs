//! Warnings about plain values that YAML cuts at ` #`, where a comment begins: `color #ff0000` is `color`.

use std::collections::HashMap;

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeValue, ScalarStyle, Span};

use crate::resolve::messages::shown;

/// Warns of the plain values of a text that are followed by ` #` and a letter or digit.
pub(crate) fn check(root: &Node, text: &str, diagnostics: &mut Diagnostics) {
    let found = comments_without_blank(text);
    if !found.is_empty() {
        check_node(root, text, &found, diagnostics);
    }
}

/// Returns the position of a `#` behind an empty value, as in `color: #fff` and `- #fff`.
fn behind_empty(node: &Node, behind: usize, text: &str, found: &HashMap<usize, usize>) -> Option<usize> {
    if node.as_scalar().is_none() || !node.span.range().is_empty() {
        return None;
    }
    found.get(&behind).copied().filter(|_| text[..behind].ends_with([':', '-']))
}

fn warning_of_empty(node: &Node, at: usize, text: &str) -> Diagnostic {
    let end = text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end);
    let end = at + text[at..end].trim_end().len();
    let comment = Span::new(node.span.source, at, end);
    let message = "the value is empty: a comment begins at `#`";
    Diagnostic::warning(DiagnosticKind::Syntax, comment, message)
        .with_hint("put the value between quotes")
        .with_hint("write a blank behind the `#` of a comment")
}

/// Returns the position of each `#` that may begin a comment and has no blank behind it, by the end of what precedes it.
fn comments_without_blank(text: &str) -> HashMap<usize, usize> {
    let bytes = text.as_bytes();
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let found = memchr::memchr_iter(b'#', bytes).filter_map(|at| {
        if !bytes[..at].last().is_some_and(is_blank)
            || !text[at + 1..].starts_with(|next: char| next.is_alphanumeric() || next == '{')
        {
            return None;
        }
        let end = text[..at].trim_end_matches([' ', '\t']).len();
        let begins_line = bytes[..end].last().is_none_or(|byte| matches!(byte, b'\n' | b'\r'));
        (!begins_line).then_some((end, at))
    });
    found.collect()
}

fn check_node(node: &Node, text: &str, found: &HashMap<usize, usize>, diagnostics: &mut Diagnostics) {
    match &node.value {
        NodeValue::Scalar(scalar) => {
            let is_plain = scalar.style == ScalarStyle::Plain && !node.span.range().is_empty();
            let cut = found.get(&(node.span.end as usize)).filter(|_| is_plain);
            diagnostics.extend(cut.map(|at| warning(node.span, *at, text)));
        }
        NodeValue::List(elements) => {
            for element in elements {
                let dash = text[..element.span.start as usize].trim_end_matches([' ', '\t']).len();
                let empty = behind_empty(element, dash, text, found);
                diagnostics.extend(empty.map(|at| warning_of_empty(element, at, text)));
                check_node(element, text, found, diagnostics);
            }
        }
        NodeValue::Map(map) => {
            for entry in map.entries() {
                let empty = behind_empty(&entry.value, entry.key.span.end as usize + 1, text, found);
                diagnostics.extend(empty.map(|at| warning_of_empty(&entry.value, at, text)));
                check_node(&entry.value, text, found, diagnostics);
            }
        }
    }
}

fn warning(value: Span, at: usize, text: &str) -> Diagnostic {
    let end = text[at..].find(['\n', '\r']).map_or(text.len(), |end| at + end);
    let end = at + text[at..end].trim_end().len();
    let kept = text.get(value.range()).unwrap_or_default();
    let comment = Span::new(value.source, at, end);
    let message = format!("the value ends at ` #`, where a comment begins: it is `{}`", shown(kept));
    // The rest may be a part of a secret, which only the excerpt hides.
    Diagnostic::warning(DiagnosticKind::Syntax, comment, message)
        .with_hint("put the whole value between quotes")
        .with_hint("write a blank behind the `#` of a comment")
}
