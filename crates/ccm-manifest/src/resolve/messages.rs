//! Text and spans that several messages share.

use std::io;
use std::path::Path;

use ccm_model::{Diagnostic, DiagnosticKind, Node, Span, escape_control};

/// Returns a name for a message: on one line, and cut because a name may be a whole script.
pub(crate) fn shown(name: &str) -> String {
    shortened(name, 120)
}

/// Returns a path for a message: on one line, and cut if it is too long.
pub(crate) fn shown_path(path: &Path) -> String {
    shortened(&path.to_string_lossy(), 480)
}

/// Returns the message about a path that can't be read. `kind` precedes it, as in `the manifest `.
pub(crate) fn unreadable(kind: &str, path: &Path, error: &io::Error) -> String {
    let path = shown_path(path);
    match error.kind() {
        io::ErrorKind::NotFound => format!("{kind}`{path}` does not exist"),
        _ => format!("{kind}`{path}` can't be read: {error}"),
    }
}

fn shortened(text: &str, longest: usize) -> String {
    let mut characters = text.chars();
    let start: String = characters.by_ref().take(longest).collect();
    let dots = if characters.next().is_some() { "…" } else { "" };
    format!("{}{dots}", escape_control(&start))
}

/// Returns a text as a YAML key, with quotes where YAML needs them.
pub(crate) fn as_key(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_alphanumeric() || "/_.~+".contains(first))
        && !text.ends_with([':', ' '])
        && [": ", " #", "\t"].iter().all(|special| !text.contains(special));
    let shown = shown(text);
    if is_plain && shown == text { shown } else { format!("\"{}\"", shown.replace('"', "\\\"")) }
}

/// Returns the error for a value of the wrong kind.
pub(crate) fn expected(what: &str, found: &Node) -> Diagnostic {
    Diagnostic::error(
        DiagnosticKind::WrongType,
        found.span,
        format!("expected {what}, found {}", found.describe()),
    )
}

/// Returns the empty span before another, for a missing part: a label over the whole section shows nothing.
pub(crate) fn start_of(span: Span) -> Span {
    Span { end: span.start, ..span }
}

pub(crate) fn is_blank(name: &str) -> bool {
    name.trim().is_empty()
}
