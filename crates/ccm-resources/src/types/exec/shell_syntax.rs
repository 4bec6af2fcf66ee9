//! Shell syntax in commands that no shell reads.

use ccm_model::{
    Diagnostic, DiagnosticKind, Node, ShellSyntax, ShellSyntaxKind, escape_control, shell_syntax,
};
use ccm_properties::{CheckInput, PropertyError, is_empty_text};

const LITERAL: &str = "put this text in single quotes to pass it as it is";

/// Returns the error of text that needs a shell.
pub(crate) fn error(text: &str, property: &'static str) -> Option<PropertyError> {
    let found = shell_syntax(text).filter(|found| found.kind.needs_shell())?;
    // The value may be a secret.
    let shown = match found.kind {
        ShellSyntaxKind::Assignment => {
            shown(text, &found).split_inclusive('=').take(1).collect::<String>() + "…"
        }
        _ => shown(text, &found),
    };
    let message = match found.kind {
        ShellSyntaxKind::Assignment => format!("`{shown}` is not a program"),
        ShellSyntaxKind::Builtin => format!("`{shown}` is part of the shell and not a program"),
        _ if shown == "`" => {
            "a backtick needs a shell, and the posix provider starts the program without one".to_owned()
        }
        _ => format!("`{shown}` needs a shell, and the posix provider starts the program without one"),
    };
    let hint = match (found.kind, &*shown) {
        (ShellSyntaxKind::Builtin, "cd") => {
            "set the directory with `cwd`, or add `provider: shell`".to_owned()
        }
        (ShellSyntaxKind::Builtin, "umask") => {
            "use the property `umask`, or add `provider: shell`".to_owned()
        }
        (ShellSyntaxKind::Assignment, _) | (ShellSyntaxKind::Builtin, "export") => {
            "set the variable with `environment`, or add `provider: shell`".to_owned()
        }
        (ShellSyntaxKind::Builtin, _) => "add `provider: shell`".to_owned(),
        _ => format!("add `provider: shell`, or {LITERAL}"),
    };
    let error = PropertyError::new(DiagnosticKind::Syntax, property, message).with_hint(hint);
    Some(error.at_bytes(found.range))
}

/// Returns warnings about text in the command and the guards that may have been meant for a shell.
pub(crate) fn warnings<'c>(checked: &'c CheckInput<'_>) -> impl Iterator<Item = Diagnostic> + 'c {
    let resource = checked.resource;
    let named = match resource.properties.get("command") {
        // With `args` the command is the program alone.
        _ if resource.properties.get("args").is_some() => None,
        Some(node) if !is_empty_text(node) => warning_of(node, checked),
        _ => warning(&resource.id.name, |_| resource.span),
    };
    let guards = ["onlyif", "unless"].into_iter().filter_map(|property| resource.properties.get(property));
    let guards = guards.flat_map(|node| match node.as_list() {
        Some(list) => list,
        None => std::slice::from_ref(node),
    });
    named.into_iter().chain(guards.filter_map(|node| warning_of(node, checked)))
}

fn warning_of(node: &Node, checked: &CheckInput<'_>) -> Option<Diagnostic> {
    warning(node.as_text()?, |found| node.locate(checked.source_text, found.range.start, found.range.end))
}

fn warning(text: &str, span: impl Fn(&ShellSyntax) -> ccm_model::Span) -> Option<Diagnostic> {
    let found = shell_syntax(text).filter(|found| !found.kind.needs_shell())?;
    let message = match found.kind {
        ShellSyntaxKind::LineEnd => "these lines are one command to the posix provider".to_owned(),
        _ => format!("`{}` is plain text to the posix provider", shown(text, &found)),
    };
    let hint = match found.kind {
        ShellSyntaxKind::LineEnd => {
            "add `provider: shell` if a shell should read this text, or write the command in one line"
                .to_owned()
        }
        ShellSyntaxKind::Home => format!("write the whole path, or {LITERAL}"),
        _ => format!("add `provider: shell` if a shell should read this text, or {LITERAL}"),
    };
    Some(Diagnostic::warning(DiagnosticKind::NoEffect, span(&found), message).with_hint(hint))
}

/// Returns the found text, shortened.
fn shown(text: &str, found: &ShellSyntax) -> String {
    const MAX_CHARACTERS: usize = 40;
    let found = text.get(found.range.clone()).unwrap_or_default();
    match found.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", escape_control(&found[..end])),
        None => escape_control(found).into_owned(),
    }
}
