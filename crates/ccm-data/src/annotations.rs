//! Annotations in comments: `# @require`, `# @validate EXPRESSION`, `# @sensitive`, `# @encrypted` and `# @merge WORD`.
//!
//! [`collect`] finds them in the text of `data`, [`check`] applies them to the final data, and
//! [`sensitive_texts`] lists the texts to redact.

mod collect;
mod comments;
mod open_value;
mod sensitive_ranges;

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use ccm_expr::Value;
use ccm_model::MIN_SECRET_LENGTH;
use ccm_model::{Diagnostic, DiagnosticKind, Diagnostics, Span, escape_control};

use crate::hierarchy::LevelMerge;
use crate::printed;

pub use collect::{annotation_spans, collect};
pub use open_value::OpenValue;
pub use sensitive_ranges::{secrets_of_invalid, sensitive_parts, sensitive_parts_of_invalid};

/// Annotation of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Keys from the root to the annotated key.
    pub path: Vec<Arc<str>>,
    /// Span of that key.
    pub key_span: Span,
    /// Span of the annotation, from its `@` to its end.
    pub span: Span,
    /// Kind.
    pub kind: AnnotationKind,
}

/// Kind of an annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationKind {
    /// The value must not be null or an empty text.
    Require,
    /// An expression over `value` must be true.
    Validate {
        /// Expression.
        expression: String,
        /// Span of the expression, byte for byte.
        span: Span,
    },
    /// The value is redacted everywhere.
    Sensitive,
    /// The texts of the value are encrypted. The key has an annotation of the kind [`Self::Sensitive`] as well.
    Encrypted {
        /// Span of the value.
        value: Span,
    },
    /// The values of the levels of a hierarchy are merged this way.
    Merge(LevelMerge),
}

impl AnnotationKind {
    /// Returns `true` for an annotation that may stand in a data file or above a key of an override.
    pub fn may_be_of_a_level(&self) -> bool {
        matches!(self, Self::Sensitive | Self::Encrypted { .. })
    }
}

/// Returns the spans of the values that are encrypted.
pub fn encrypted_values(annotations: &[Annotation]) -> impl Iterator<Item = Span> {
    annotations.iter().filter_map(|annotation| match annotation.kind {
        AnnotationKind::Encrypted { value } => Some(value),
        _ => None,
    })
}

/// Error of the evaluation of an expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// Kind of the diagnostic.
    pub kind: DiagnosticKind,
    /// Message; holds no values.
    pub message: String,
    /// Bytes of the expression with the error; `None` for all of them.
    pub range: Option<Range<usize>>,
    /// Hints.
    pub hints: Vec<String>,
}

/// Returns the merges of the keys directly below `data`. Reports annotations that have no effect: for a key further
/// down, a second one for the same key, and without levels any but `unique`, which is for data from outside as well.
pub fn level_merges(
    annotations: &[Annotation],
    has_levels: bool,
    diagnostics: &mut Diagnostics,
) -> HashMap<Arc<str>, LevelMerge> {
    let mut merges = HashMap::new();
    let mut spans: HashMap<&[Arc<str>], Span> = HashMap::new();
    for Annotation { path, span, kind, .. } in annotations {
        let AnnotationKind::Merge(merge) = kind else { continue };
        let warning = |message: &str| Diagnostic::warning(DiagnosticKind::NoEffect, *span, message);
        let [key] = &path[..] else {
            let warning = warning("`@merge` has an effect only above a key directly below `data`");
            diagnostics.push(warning.with_hint("write the annotation above the first key of the path"));
            continue;
        };
        if let Some(first) = spans.insert(path, *span) {
            let warning = warning("this key has a `@merge` already, and this one has no effect");
            diagnostics.push(warning.with_label(first, "the first"));
            spans.insert(path, first);
            continue;
        }
        if !has_levels && *merge != LevelMerge::Unique {
            diagnostics.push(warning("this has no effect, because there is no `hierarchy`"));
        }
        merges.insert(Arc::clone(key), *merge);
    }
    merges
}

/// Checks the final data against its annotations. `validate` evaluates an expression for a value. Missing
/// values and nulls are not validated. Returns the failures in the order of the text, each with its annotation.
pub fn check<'a>(
    data: &Value,
    annotations: &'a [Annotation],
    validate: &dyn Fn(&str, &Value) -> Result<bool, EvaluationError>,
) -> Vec<(&'a Annotation, Diagnostic)> {
    let mut failures = Vec::new();
    let mut missing: HashSet<&[Arc<str>]> = HashSet::new();
    for annotation in annotations.iter().filter(|annotation| annotation.kind == AnnotationKind::Require) {
        let value = at(data, &annotation.path);
        let is_missing = match value {
            None | Some(Value::Null) => true,
            Some(Value::Text(text)) => text.is_empty(),
            Some(_) => false,
        };
        if is_missing && missing.insert(&annotation.path) {
            let failure = failure(DiagnosticKind::Missing, annotation, "is required and has no value")
                .with_label(annotation.span, "required here")
                .with_hint("set the value in `data`, in an override, or with `--data`");
            failures.push((annotation, failure));
        }
    }
    let is_sensitive = sensitive_paths(annotations);
    for annotation in annotations {
        let AnnotationKind::Validate { expression, span } = &annotation.kind else { continue };
        let value = match at(data, &annotation.path) {
            None | Some(Value::Null) => continue,
            Some(value) => value,
        };
        // The missing value is reported already.
        if missing.contains(annotation.path.as_slice()) {
            continue;
        }
        match validate(expression, value) {
            Ok(true) => {}
            Ok(false) => {
                let shown = if is_sensitive(&annotation.path) { None } else { shown(value) };
                let what = format!("is not valid: `{}` is false", escape_control(expression));
                let failure = failure(DiagnosticKind::ValidationFailed, annotation, &what)
                    .labelled(shown.map_or_else(String::new, |shown| format!("its value is {shown}")))
                    .with_label(*span, "validated by this");
                failures.push((annotation, failure));
            }
            Err(error) => {
                failures.push((annotation, evaluation_failure(annotation, expression, *span, &error)));
            }
        }
    }
    failures.sort_by_key(|(annotation, _)| annotation.key_span.start);
    failures
}

/// Returns the texts and numbers below sensitive keys as text, each once, and also as JSON escapes them:
/// a list or map may become part of a text.
pub fn sensitive_texts(data: &Value, annotations: &[Annotation]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut seen = HashSet::new();
    let mut keep = |text: String| {
        if !text.is_empty() && seen.insert(text.clone()) {
            texts.push(text);
        }
    };
    for annotation in annotations.iter().filter(|annotation| annotation.kind == AnnotationKind::Sensitive) {
        if let Some(value) = at(data, &annotation.path) {
            leaves(value, &mut keep);
        }
    }
    texts
}

/// Warns of sensitive values that are too short to be redacted.
pub fn warn_of_short_secrets(data: &Value, annotations: &[Annotation]) -> Vec<Diagnostic> {
    let is_sensitive = |annotation: &&Annotation| annotation.kind == AnnotationKind::Sensitive;
    let mut warnings = Vec::new();
    for annotation in annotations.iter().filter(is_sensitive) {
        let mut is_short = false;
        if let Some(value) = at(data, &annotation.path) {
            leaves(value, &mut |text| is_short |= (1..MIN_SECRET_LENGTH).contains(&text.len()));
        }
        if is_short {
            let path = annotation.path.join(".");
            let message =
                format!("`{}` is sensitive, but too short to be redacted everywhere", escape_control(&path));
            let warning = Diagnostic::warning(DiagnosticKind::ExposedSecret, annotation.key_span, message);
            warnings.push(warning.with_hint(format!("use a value of at least {MIN_SECRET_LENGTH} bytes")));
        }
    }
    warnings
}

fn leaves(value: &Value, keep: &mut dyn FnMut(String)) {
    match value {
        Value::Null | Value::Bool(_) => {}
        Value::Int(_) | Value::Float(_) => keep(printed::to_text(value).into_owned()),
        Value::Text(text) => {
            keep(text.to_string());
            let json = printed::to_json(value).to_string();
            keep(json.trim_matches('"').to_owned());
        }
        Value::List(elements) => elements.iter().for_each(|element| leaves(element, keep)),
        Value::Map(map) => map.values().for_each(|value| leaves(value, keep)),
        Value::Groups(entries) => entries.iter().for_each(|(_, value)| leaves(value, keep)),
        Value::Bytes(_) | Value::Duration(_) | Value::DateTime(_) | Value::Calendar(_) => {
            keep(printed::to_text(value).into_owned());
        }
    }
}

/// Returns a test for paths that are sensitive, or have a sensitive key above or below.
fn sensitive_paths(annotations: &[Annotation]) -> impl Fn(&[Arc<str>]) -> bool {
    let is_sensitive = |annotation: &&Annotation| annotation.kind == AnnotationKind::Sensitive;
    let mut sensitive: HashSet<&[Arc<str>]> = HashSet::new();
    let mut above: HashSet<&[Arc<str>]> = HashSet::new();
    for Annotation { path, .. } in annotations.iter().filter(is_sensitive) {
        sensitive.insert(path);
        above.extend((1..path.len()).map(|length| &path[..length]));
    }
    move |path| above.contains(path) || (1..=path.len()).any(|length| sensitive.contains(&path[..length]))
}

fn at<'a>(data: &'a Value, path: &[Arc<str>]) -> Option<&'a Value> {
    path.iter().try_fold(data, |value, key| value.get(key))
}

fn failure(kind: DiagnosticKind, annotation: &Annotation, what: &str) -> Diagnostic {
    let path = annotation.path.join(".");
    Diagnostic::error(kind, annotation.key_span, format!("`{}` {what}", escape_control(&path)))
}

/// Formats a value for a message; `None` for a long one.
fn shown(value: &Value) -> Option<String> {
    const MAX_LENGTH: usize = 60;
    if !has_fewer_parts(value, &mut (MAX_LENGTH + 1)) {
        return None;
    }
    let text = printed::to_text(value);
    let text = escape_control(&text);
    (text.chars().count() <= MAX_LENGTH).then(|| match value {
        Value::Text(text) if text.is_empty() => "empty".to_owned(),
        _ => format!("`{text}`"),
    })
}

/// Returns `true` if a value has fewer elements and entries than `left`, each of which takes a character.
fn has_fewer_parts(value: &Value, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    match value {
        _ if *left == 0 => false,
        Value::List(elements) => elements.iter().all(|element| has_fewer_parts(element, left)),
        Value::Map(map) => map.values().all(|value| has_fewer_parts(value, left)),
        Value::Groups(entries) => entries.iter().all(|(_, value)| has_fewer_parts(value, left)),
        _ => true,
    }
}

fn evaluation_failure(
    annotation: &Annotation,
    expression: &str,
    span: Span,
    error: &EvaluationError,
) -> Diagnostic {
    let within = |range: &Range<usize>| {
        let end = range.end.min(expression.len());
        let start = range.start.min(end);
        Span::new(span.source, span.start as usize + start, span.start as usize + end)
    };
    let error_span = error.range.as_ref().map_or(span, within);
    let mut failure = failure(error.kind, annotation, &format!("can't be validated: {}", error.message))
        .with_label(error_span, "validated by this");
    for hint in &error.hints {
        failure = failure.with_hint(hint);
    }
    failure
}

#[cfg(test)]
mod tests;
