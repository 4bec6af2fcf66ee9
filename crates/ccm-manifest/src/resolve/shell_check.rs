//! Checks the syntax of shell text: with the own parser, and with the shell of the machine where the parser is not
//! sure.

use std::collections::HashMap;
use std::ops::Range;

use ccm_model::{Control, Diagnostic, DiagnosticKind, Diagnostics, Node, Resource};
use ccm_properties::{CheckInput, HEALTH_CHECKS, HealthCheck, PropertyError, ShellText};
use ccm_shell::{ShellDialect, UnreadableKind, UnreadableText};

use crate::read::draft::ResourceDraft;
use crate::resolve::messages::shown;
use crate::scopes::Scopes;
use crate::sources::{ShellTextError, Sources};

/// Reports shell texts that the shell can't parse. Texts of unmanaged resources, and texts with late values, are not
/// checked.
pub(crate) fn check(
    drafts: &[ResourceDraft],
    scopes: &Scopes<'_, '_>,
    secrets: &[String],
    diagnostics: &mut Diagnostics,
) {
    let mut texts = ShellTexts::default();
    let mut found: Vec<(&ResourceDraft, PlacedText<'_>, usize)> = Vec::new();
    let is_managed = |draft: &&ResourceDraft| !matches!(draft.resource.control, Control::NotManaged { .. });
    for draft in drafts.iter().filter(is_managed).filter(|draft| !draft.has_errors) {
        let view = scopes.types.spec(draft.type_index).commands();
        let of_type = view.map(|view| view.shell_texts(&draft.resource)).unwrap_or_default();
        let of_type = of_type.into_iter().map(PlacedText::Property);
        for text in of_type.chain(texts_of_checks(&draft.resource)) {
            if !draft.found.explains(&text.diagnostic(None, String::new(), &input(draft, scopes))) {
                found.extend(texts.add(text.text()).map(|position| (draft, text, position)));
            }
        }
    }
    let errors = texts.errors(scopes.context.sources);
    for (draft, text, position) in found {
        diagnostics.set_context(scopes.context_of(draft));
        diagnostics.extend(texts.error(&text, (position, &errors), secrets, &input(draft, scopes)));
    }
    diagnostics.set_context(None);
}

fn input<'i>(draft: &'i ResourceDraft, scopes: &'i Scopes<'_, '_>) -> CheckInput<'i> {
    CheckInput {
        resource: &draft.resource,
        source_text: &scopes.manifests[draft.manifest].text,
        secrets: &[],
        subscribes: draft.subscribes,
    }
}

/// Finds the texts of the health checks of a manifest that the shell can't parse.
pub(crate) fn check_manifest(checked: &CheckInput<'_>, sources: &dyn Sources) -> Vec<Diagnostic> {
    let mut texts = ShellTexts::default();
    let of_checks = texts_of_checks(checked.resource);
    let found = of_checks.filter_map(|text| texts.add(text.text()).map(|position| (text, position)));
    let found: Vec<_> = found.collect();
    let errors = texts.errors(sources);
    let errors = found
        .iter()
        .filter_map(|(text, position)| texts.error(text, (*position, &errors), checked.secrets, checked));
    errors.collect()
}

/// Returns the texts of the health checks of a resource. An executor may have another shell.
fn texts_of_checks(resource: &Resource) -> impl Iterator<Item = PlacedText<'_>> {
    let node = resource.properties.get(HEALTH_CHECKS);
    let node = node.filter(|_| resource.properties.get("executor").is_none());
    node.into_iter().flat_map(HealthCheck::shell_texts).map(PlacedText::HealthCheck)
}

/// Text for a shell, with its place.
enum PlacedText<'r> {
    Property(ShellText<'r>),
    HealthCheck(&'r Node),
}

impl<'r> PlacedText<'r> {
    fn text(&self) -> &'r str {
        match self {
            Self::Property(text) => text.text,
            Self::HealthCheck(node) => node.as_text().unwrap_or_default(),
        }
    }

    fn diagnostic(&self, bytes: Option<Range<usize>>, message: String, input: &CheckInput<'_>) -> Diagnostic {
        match self {
            Self::Property(text) => {
                let error = PropertyError::new(DiagnosticKind::Syntax, text.property, message);
                let error = error.at_element(text.element);
                bytes.into_iter().fold(error, PropertyError::at_bytes).at(input)
            }
            Self::HealthCheck(node) => {
                let span =
                    bytes.map_or(node.span, |bytes| node.locate(input.source_text, bytes.start, bytes.end));
                let mut error = Diagnostic::error(DiagnosticKind::Syntax, span, message);
                error.property = Some(HEALTH_CHECKS.into());
                error
            }
        }
    }
}

/// Texts that the own parser is not sure of, each once.
#[derive(Default)]
struct ShellTexts<'t> {
    texts: Vec<&'t str>,
    doubts: Vec<UnreadableText>,
    /// `None` for a text that every shell accepts.
    positions: HashMap<&'t str, Option<usize>>,
}

impl<'t> ShellTexts<'t> {
    /// Adds a text, and returns its position unless every shell accepts the text.
    fn add(&mut self, text: &'t str) -> Option<usize> {
        let Self { texts, doubts, positions } = self;
        *positions.entry(text).or_insert_with(|| {
            let doubt = ccm_shell::check(text, ShellDialect::Sh).err()?;
            texts.push(text);
            doubts.push(*doubt);
            Some(texts.len() - 1)
        })
    }

    /// Lets the shell of the machine read the texts.
    fn errors(&self, sources: &dyn Sources) -> Vec<Option<ShellTextError>> {
        if self.texts.is_empty() { Vec::new() } else { sources.parse_shell(&self.texts) }
    }

    /// Returns the error of a text, if the shell has found one.
    fn error(
        &self,
        text: &PlacedText<'_>,
        (position, errors): (usize, &[Option<ShellTextError>]),
        secrets: &[String],
        input: &CheckInput<'_>,
    ) -> Option<Diagnostic> {
        let error = errors.get(position)?.as_ref()?;
        // The message may quote a part of a secret, which redaction would not find.
        let is_secret = secrets.iter().any(|secret| text.text().contains(secret.as_str()));
        let message = if is_secret {
            "the shell can't read this text".to_owned()
        } else {
            format!("the shell can't read this text: {}", shown(&error.message))
        };
        let exact = self.doubts.get(position).and_then(exact);
        Some(text.diagnostic(exact.or_else(|| line_of(text.text(), error)), message, input))
    }
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
