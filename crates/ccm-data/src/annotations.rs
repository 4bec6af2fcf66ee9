//! What comments ask of the keys below them: `# @require`, `# @validate EXPRESSION` and `# @sensitive`.
//!
//! [`collect`] finds them in the text of `data`, [`check`] holds the final data against them, and
//! [`sensitive_texts`] lists what has to be hidden.

mod collect;
mod comments;
mod mask;

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use ccm_expr::Value;
use ccm_model::SHORTEST_SECRET;
use ccm_model::{Diagnostic, Span, escape_control};

use crate::printed;

pub use collect::{collect, places};
pub use mask::sensitive_parts;

/// What a comment asks of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The keys that lead to the one it stands above, that one included.
    pub path: Vec<Arc<str>>,
    /// Where that key was written.
    pub key_span: Span,
    /// Where the annotation was written: from its `@` to the end of what it says.
    pub span: Span,
    /// What it asks for.
    pub kind: Kind,
}

/// What an annotation asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A value: not null and not an empty text.
    Require,
    /// A value for which an expression over `value` is true.
    Validate {
        /// The expression.
        expression: String,
        /// Where it was written, byte for byte.
        span: Span,
    },
    /// That its value is shown nowhere.
    Sensitive,
}

/// Why an expression gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct EvaluationError {
    /// What is wrong; shows no value.
    pub message: String,
    /// Bytes of the expression that it is about, if not about all of them.
    pub range: Option<Range<usize>>,
    /// What to do about it.
    pub hints: Vec<String>,
}

/// Holds the final data against its annotations and names every failure. `validate` evaluates an expression
/// for a value. A value that is missing or null is not validated.
pub fn check(
    data: &Value,
    annotations: &[Annotation],
    validate: &dyn Fn(&str, &Value) -> Result<bool, EvaluationError>,
) -> Vec<Diagnostic> {
    let mut failures = Vec::new();
    let mut missing: HashSet<&[Arc<str>]> = HashSet::new();
    for annotation in annotations.iter().filter(|annotation| annotation.kind == Kind::Require) {
        let value = at(data, &annotation.path);
        let is_missing = match value {
            None | Some(Value::Null) => true,
            Some(Value::Text(text)) => text.is_empty(),
            Some(_) => false,
        };
        if is_missing && missing.insert(&annotation.path) {
            failures.push(
                failure(annotation, "is required and has no value")
                    .with_label(annotation.span, "required here")
                    .with_hint("set it in `data`, in an override, or with `--data`"),
            );
        }
    }
    let is_sensitive = sensitive_paths(annotations);
    for annotation in annotations {
        let Kind::Validate { expression, span } = &annotation.kind else { continue };
        let value = match at(data, &annotation.path) {
            None | Some(Value::Null) => continue,
            Some(value) => value,
        };
        // One word about a value that has to be there and is not is enough.
        if missing.contains(annotation.path.as_slice()) {
            continue;
        }
        match validate(expression, value) {
            Ok(true) => {}
            Ok(false) => {
                let shown = if is_sensitive(&annotation.path) { None } else { shown(value) };
                failures.push(
                    failure(annotation, &format!("is not valid: `{}` is false", escape_control(expression)))
                        .labelled(shown.map_or_else(String::new, |shown| format!("its value is {shown}")))
                        .with_label(*span, "asked for here"),
                );
            }
            Err(error) => failures.push(unanswered(annotation, expression, *span, &error)),
        }
    }
    failures.sort_by_key(|failure| failure.span().map(|span| span.start));
    failures
}

/// The texts and numbers below keys that are sensitive, each once, as text. Where JSON would write a text in
/// another way, that form is there too, because a list or map may become part of a text.
pub fn sensitive_texts(data: &Value, annotations: &[Annotation]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut seen = HashSet::new();
    let mut keep = |text: String| {
        if !text.is_empty() && seen.insert(text.clone()) {
            texts.push(text);
        }
    };
    for annotation in annotations.iter().filter(|annotation| annotation.kind == Kind::Sensitive) {
        if let Some(value) = at(data, &annotation.path) {
            leaves(value, &mut keep);
        }
    }
    texts
}

/// Warns of sensitive values that are too short to be hidden wherever they appear.
pub fn too_short(data: &Value, annotations: &[Annotation]) -> Vec<Diagnostic> {
    let is_sensitive = |annotation: &&Annotation| annotation.kind == Kind::Sensitive;
    let mut warnings = Vec::new();
    for annotation in annotations.iter().filter(is_sensitive) {
        let mut is_short = false;
        if let Some(value) = at(data, &annotation.path) {
            leaves(value, &mut |text| is_short |= (1..SHORTEST_SECRET).contains(&text.len()));
        }
        if is_short {
            let path = annotation.path.join(".");
            let message = format!(
                "`{}` is sensitive, and too short to be hidden wherever it appears",
                escape_control(&path)
            );
            let warning = Diagnostic::warning(annotation.key_span, message);
            warnings.push(warning.with_hint(format!("values of {SHORTEST_SECRET} bytes or more are hidden")));
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
        Value::Bytes(_) | Value::Duration(_) | Value::Moment(_) | Value::Calendar(_) => {
            keep(printed::to_text(value).into_owned());
        }
    }
}

/// Tells of a path whether it is sensitive, or a key above or below it.
fn sensitive_paths(annotations: &[Annotation]) -> impl Fn(&[Arc<str>]) -> bool {
    let is_sensitive = |annotation: &&Annotation| annotation.kind == Kind::Sensitive;
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

fn failure(annotation: &Annotation, what: &str) -> Diagnostic {
    let path = annotation.path.join(".");
    Diagnostic::error(annotation.key_span, format!("`{}` {what}", escape_control(&path)))
}

/// A value as a message shows it, unless it is long.
fn shown(value: &Value) -> Option<String> {
    const LONGEST: usize = 60;
    let text = printed::to_text(value);
    let text = escape_control(&text);
    (text.chars().count() <= LONGEST).then(|| match value {
        Value::Text(text) if text.is_empty() => "empty".to_owned(),
        _ => format!("`{text}`"),
    })
}

/// An expression that gave no answer is the mistake, wherever its value came from.
fn unanswered(annotation: &Annotation, expression: &str, span: Span, error: &EvaluationError) -> Diagnostic {
    let within = |range: &Range<usize>| {
        let end = range.end.min(expression.len());
        let start = range.start.min(end);
        Span::new(span.source, span.start as usize + start, span.start as usize + end)
    };
    let place = error.range.as_ref().map_or(span, within);
    let mut mistake = failure(annotation, &format!("can't be validated: {}", error.message))
        .with_label(place, "asked for here");
    for hint in &error.hints {
        mistake = mistake.with_hint(hint);
    }
    mistake
}

#[cfg(test)]
mod tests;
