//! Checks the syntax of shell text: with the own parser, and with the shell of the machine where the parser is not
//! sure.

use std::collections::HashMap;
use std::ops::Range;

use ccm_model::{Control, Diagnostic, DiagnosticKind, Diagnostics};
use ccm_properties::{CheckInput, PropertyError, ShellText};
use ccm_shell::{ShellDialect, UnreadableKind, UnreadableText};

use crate::read::draft::ResourceDraft;
use crate::resolve::messages::shown;
use crate::scopes::Scopes;
use crate::sources::ShellTextError;

/// Reports shell texts that the shell can't parse. Texts of unmanaged resources, and texts with late values, are not
/// checked.
pub(crate) fn check(
    drafts: &[ResourceDraft],
    scopes: &Scopes<'_, '_>,
    secrets: &[String],
    diagnostics: &mut Diagnostics,
) {
    let mut texts: Vec<&str> = Vec::new();
    let mut doubts: Vec<Box<UnreadableText>> = Vec::new();
    // `None` for a text that every shell accepts.
    let mut positions: HashMap<&str, Option<usize>> = HashMap::new();
    let mut found: Vec<(&ResourceDraft, ShellText<'_>, usize)> = Vec::new();
    let is_managed = |draft: &&ResourceDraft| !matches!(draft.resource.control, Control::NotManaged { .. });
    for draft in drafts.iter().filter(is_managed).filter(|draft| !draft.has_errors) {
        let view = scopes.types.spec(draft.type_index).commands();
        for text in view.map(|view| view.shell_texts(&draft.resource)).unwrap_or_default() {
            let placed = diagnostic(draft, &text, None, String::new(), scopes);
            if draft.found.explains(&placed) {
                continue;
            }
            let position = *positions.entry(text.text).or_insert_with(|| {
                let doubt = ccm_shell::check(text.text, ShellDialect::Sh).err()?;
                texts.push(text.text);
                doubts.push(doubt);
                Some(texts.len() - 1)
            });
            found.extend(position.map(|position| (draft, text, position)));
        }
    }
    if texts.is_empty() {
        return;
    }
    let errors = scopes.context.sources.parse_shell(&texts);
    for (draft, text, position) in found {
        let Some(Some(error)) = errors.get(position) else { continue };
        // The message may quote a part of a secret, which redaction would not find.
        let is_secret = secrets.iter().any(|secret| text.text.contains(secret.as_str()));
        let message = if is_secret {
            "the shell can't read this text".to_owned()
        } else {
            format!("the shell can't read this text: {}", shown(&error.message))
        };
        diagnostics.set_context(scopes.context_of(draft));
        let bytes = doubts.get(position).and_then(|doubt| exact(doubt)).or_else(|| line_of(text.text, error));
        diagnostics.push(diagnostic(draft, &text, bytes, message, scopes));
    }
    diagnostics.set_context(None);
}

fn diagnostic(
    draft: &ResourceDraft,
    text: &ShellText<'_>,
    bytes: Option<Range<usize>>,
    message: String,
    scopes: &Scopes<'_, '_>,
) -> Diagnostic {
    let error = PropertyError::new(DiagnosticKind::Syntax, text.property, message).at_element(text.element);
    let error = bytes.into_iter().fold(error, PropertyError::at_bytes);
    let source_text = &scopes.manifests[draft.manifest].text;
    let subscribes = draft.subscribes;
    error.at(&CheckInput { resource: &draft.resource, source_text, secrets: &[], subscribes })
}

/// Returns the bytes of the error that the own parser found, if it found one. A shell names no more than a line.
fn exact(doubt: &UnreadableText) -> Option<Range<usize>> {
    let range = doubt.span.range();
    (doubt.kind == UnreadableKind::Syntax && !range.is_empty()).then_some(range)
}

/// Returns the bytes of the line that the shell names; the last line of the text if the shell names its end.
fn line_of(text: &str, error: &ShellTextError) -> Option<Range<usize>> {
    let number = error.line?.checked_sub(1)?;
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let range = start..start + line.trim_end_matches('\n').len();
        start += line.len();
        range
    });
    let lines: Vec<Range<usize>> = lines.collect();
    lines.get(number).or(lines.last()).cloned().filter(|line| !line.is_empty())
}
