//! Values that no machine has, so that a rule always fails.

use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeMap, ScalarKind, closest, listed};

use crate::kinds::{Attribute, RuleKind};

/// Types of files.
const FILE_TYPES: [&str; 7] =
    ["file", "directory", "symlink", "pipe", "socket", "character-device", "block-device"];

/// Adds warnings about values that the subjects of a rule never have.
pub(super) fn report(kind: RuleKind, body: &NodeMap, found: &mut Vec<Diagnostic>) {
    let scalar = |attribute: Attribute| Some((body.get(attribute.name())?, attribute.name()));
    if kind == RuleKind::File
        && let Some((node, name)) = scalar(Attribute::Filetype)
        && let Some(text) = node.as_text().filter(|text| !FILE_TYPES.contains(text))
    {
        let hint = match (text, closest(text, FILE_TYPES)) {
            ("dir" | "folder" | "d", _) => "write `directory`".to_owned(),
            ("link" | "l" | "symbolic link", _) => "write `symlink`".to_owned(),
            ("regular" | "regular file" | "f" | "-", _) => "write `file`".to_owned(),
            (_, Some(meant)) => format!("did you mean `{meant}`?"),
            (_, None) => format!("use {}", listed(&FILE_TYPES, "or")),
        };
        found.push(never(node, name, &hint));
    }
    if kind == RuleKind::Http
        && let Some((node, name)) = scalar(Attribute::Status)
        && let Some(ScalarKind::Int(status)) = node.as_scalar().map(ccm_model::Scalar::kind)
        && !(100..=599).contains(&status)
    {
        found.push(never(node, name, "write a status between 100 and 599, such as `200`"));
    }
}

fn never(node: &Node, name: &str, hint: &str) -> Diagnostic {
    let message = format!("`{name}` is never {}", node.describe());
    Diagnostic::warning(DiagnosticKind::NoEffect, node.span, message).with_hint(hint)
}
