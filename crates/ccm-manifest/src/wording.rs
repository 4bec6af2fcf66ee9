//! Wording that several mistakes share.

use std::path::Path;

use ccm_model::{Diagnostic, Node, Span, escape_control};

/// A name as a message shows it: on one line, and cut when it is a whole script.
pub(crate) fn shown(name: &str) -> String {
    cut(name, 120)
}

/// A path as a message shows it: on one line, and cut when it is longer than any that leads somewhere.
pub(crate) fn shown_path(path: &Path) -> String {
    cut(&path.to_string_lossy(), 480)
}

fn cut(text: &str, longest: usize) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(longest).collect();
    let dots = if characters.next().is_some() { "…" } else { "" };
    format!("{}{dots}", escape_control(&start))
}

/// A text as a key that can be copied into the manifest: in quotes, if YAML would read it as something else.
pub(crate) fn as_key(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_alphanumeric() || "/_.~+".contains(first))
        && !text.ends_with([':', ' '])
        && [": ", " #", "\t"].iter().all(|special| !text.contains(special));
    let shown = shown(text);
    if is_plain && shown == text { shown } else { format!("\"{}\"", shown.replace('"', "\\\"")) }
}

/// Says that a value is of another kind than it has to be.
pub(crate) fn expected(what: &str, found: &Node) -> Diagnostic {
    Diagnostic::error(found.span, format!("expected {what}, found {}", found.describe()))
}

/// The place before the first byte of a span, for what is missing there: a label over a whole section would
/// show nothing but the section.
pub(crate) fn start_of(span: Span) -> Span {
    Span { end: span.start, ..span }
}

/// Tells whether a name says nothing.
pub(crate) fn is_blank(name: &str) -> bool {
    name.trim().is_empty()
}
