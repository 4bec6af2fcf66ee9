//! Reads resources that are not written in the manifest: from its `resources_template`, or given in their place.

use std::path::Path;
use std::sync::Arc;

use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Node, NodeEntry, Span, normalize};

use crate::resolve::expand::diagnostic;
use crate::resolve::expansion::needed_before_run;
use crate::resolve::messages::expected;
use crate::resolve::scope::{EvalError, ManifestEvaluator};

/// Renders the template and returns its text and items, whose errors point into that text. Sets `is_unchecked` if the
/// resources are unknown, because an input was left out.
pub(crate) fn generate(
    template: &NodeEntry,
    evaluator: &ManifestEvaluator<'_, '_>,
    is_unchecked: &mut bool,
    diagnostics: &mut Diagnostics,
) -> Option<(Arc<str>, Vec<Node>)> {
    let span = template.value.span;
    let Some(name) = template.value.as_text() else {
        diagnostics.push(expected("the name of a template", &template.value));
        return None;
    };
    let is_beside = !name.is_empty() && Path::new(name).file_name() == Some(name.as_ref());
    if !is_beside {
        let error = Diagnostic::error(
            DiagnosticKind::InvalidValue,
            span,
            "the template must be in the directory of the manifest",
        );
        diagnostics.push(error.with_hint("write the name of the template without a directory"));
        return None;
    }
    let rendered = evaluator.template(name);
    evaluator.context.record_early_uses(span);
    let text: Arc<str> = match rendered {
        Ok(text) => text.into(),
        Err(error) => {
            *is_unchecked |= matches!(error, EvalError::Unchecked);
            diagnostics.extend(expression_error(error, span));
            return None;
        }
    };
    let path = normalize(&evaluator.manifest.directory.join(name));
    let shown = format!("{} (rendered)", path.display());
    Some(items(shown, text, evaluator, diagnostics))
}

/// Reads a list of resources, whose text gets this name in messages, and returns the text and its items.
pub(crate) fn items(
    shown: String,
    text: Arc<str>,
    evaluator: &ManifestEvaluator<'_, '_>,
    diagnostics: &mut Diagnostics,
) -> (Arc<str>, Vec<Node>) {
    let source = evaluator.context.texts.borrow_mut().add(shown, Arc::clone(&text));
    let (root, errors) = ccm_yaml::parse_with_duplicates(source, &text, &ccm_yaml::Limits::default())
        .unwrap_or_else(|errors| (None, errors));
    diagnostics.extend(errors);
    let nodes = match root {
        None => Vec::new(),
        Some(Node { value: ccm_model::NodeValue::List(items), .. }) => items,
        Some(other) => {
            let error = expected("a list of resources", &other);
            let is_manifest = other.as_map().is_some_and(|map| map.entry("ccm").is_some());
            diagnostics.push(if is_manifest {
                error.with_hint("write the list alone, without `ccm:` and `resources:`")
            } else {
                error
            });
            Vec::new()
        }
    };
    (text, nodes)
}

fn expression_error(error: EvalError, span: Span) -> Option<Diagnostic> {
    match error {
        EvalError::Reported | EvalError::Unchecked => None,
        EvalError::Invalid(error) => Some(diagnostic(error, |_| span)),
        EvalError::Deferred(on) => on.first().map(|on| needed_before_run(on, None, span)),
    }
}
