//! Warnings about globs of programs that are written as something else, and so match nothing.

use ccm_model::{Diagnostic, DiagnosticKind, Node, escape_control};

use crate::tables;

/// Returns the warning about a program that is written as a regular expression, or in the wrong letter case.
pub(super) fn program_warning(node: &Node) -> Option<Diagnostic> {
    let text = node.as_text().filter(|text| !text.contains('/'))?;
    let shown = escape_control(text);
    if is_regular_expression(text) {
        let message = format!("`{shown}` looks like a regular expression, but `program` takes a glob");
        let warning = Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message);
        return Some(warning.with_hint(format!("write `{}`", escape_control(&as_glob(text)))));
    }
    let lower = text.to_ascii_lowercase();
    let is_mistaken = lower != text && tables::find(text).is_none() && tables::find(&lower).is_some();
    is_mistaken.then(|| {
        let message = format!("no known program is named `{shown}`: letter case matters");
        Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message).with_suggestion(Some(&lower))
    })
}

fn is_regular_expression(text: &str) -> bool {
    if text.starts_with('^') || text.ends_with('$') || text.contains('|') || text.contains(".+") {
        return true;
    }
    let Some((before, _)) = text.split_once(".*") else { return false };
    // `mkfs.*` and `python3.*` are names with a dot, and so may be those of programs that ccm does not know.
    let has_versions = before.ends_with(|last: char| last.is_ascii_digit());
    let is_family = || tables::find(&format!("{before}.x")).is_some();
    before.is_empty() || !has_versions && tables::find(before).is_some() && !is_family()
}

/// Returns the glob that a simple regular expression stands for.
fn as_glob(text: &str) -> String {
    let text = text.trim_start_matches('^').trim_end_matches('$');
    let glob = text.replace(".*", "*").replace(".+", "?*").replace('|', ",");
    match text.contains('|') {
        true if text.contains('(') => glob.replace('(', "{").replace(')', "}"),
        true => format!("{{{glob}}}"),
        false => glob,
    }
}
