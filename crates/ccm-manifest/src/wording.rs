//! Wording that several mistakes share.

use ccm_model::{Diagnostic, Node, Span, escape_control};

/// A name as a message shows it: on one line, and cut when it is a whole script.
pub(crate) fn shown(name: &str) -> String {
    const LONGEST: usize = 120;
    let mut characters = name.chars();
    let start: String = characters.by_ref().take(LONGEST).collect();
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

/// Lists names: "`a`, `b` and `c`".
pub(crate) fn listed(names: &[&str], last: &str) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => String::new(),
        Some((only, [])) => only.clone(),
        Some((end, rest)) => format!("{} {last} {end}", rest.join(", ")),
    }
}

/// Tells whether a name says nothing.
pub(crate) fn is_blank(name: &str) -> bool {
    name.trim().is_empty()
}
