//! Evaluates `control`, which decides whether a resource is managed.

use std::ops::Range;

use ccm_expr::Value;
use ccm_model::{Control, Diagnostic, DiagnosticKind, Diagnostics, Node, ResourceId, Span, closest};
use ccm_properties::{IF, UNLESS};

use crate::resolve::expand::diagnostic;
use crate::resolve::hint_literals::ExpectedKind;
use crate::resolve::messages::{expected, shown};
use crate::resolve::scope::{DeferredOn, EvalError, ManifestEvaluator, Phase};

#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
struct Condition {
    /// `true` for `if`, `false` for `unless`.
    desired: bool,
    node: Node,
    manifest: usize,
    /// The `apply` resource that the condition belongs to, if not to the resource itself.
    apply: Option<String>,
}

#[derive(Debug)]
pub(crate) struct ControlDecision {
    pub(crate) control: Control,
    pub(crate) deferred_on: Vec<(DeferredOn, Span)>,
    /// A condition read a file before the managed files were known.
    pub(crate) needs_recheck: bool,
    /// Errors about files that do not exist yet. The conditions are late if an earlier resource may write files.
    pub(crate) missing_files: Vec<Diagnostic>,
}

pub(crate) fn read(node: &Node, manifest: usize, diagnostics: &mut Diagnostics) -> Conditions {
    let mut conditions = Conditions::default();
    let Some(map) = node.as_map() else {
        let error = expected("a map with `if` or `unless`", node);
        let hint = node.as_text().map(|text| format!("write `control: {{{IF}: \"{}\"}}`", as_operand(text)));
        diagnostics.push(hint.into_iter().fold(error, Diagnostic::with_hint));
        return conditions;
    };
    for entry in map.entries().iter().filter(|entry| !entry.value.is_null()) {
        let key = &*entry.key.text;
        if ![IF, UNLESS].contains(&key) {
            let error = Diagnostic::error(
                DiagnosticKind::UnknownKey,
                entry.key.span,
                format!("unknown key `{}`", shown(key)),
            );
            diagnostics.push(match closest(key, [IF, UNLESS]) {
                None => error.with_hint(format!("use `{IF}` or `{UNLESS}`")),
                suggestion => error.with_suggestion(suggestion),
            });
            continue;
        }
        let Some(text) = entry.value.as_text() else {
            let error = expected("an expression", &entry.value);
            let parts: Option<Vec<&str>> =
                entry.value.as_list().and_then(|parts| parts.iter().map(Node::as_text).collect());
            // Each part of `unless` prevents the resource.
            let word = if key == IF { " and " } else { " or " };
            let hint = parts.filter(|parts| parts.len() > 1).map(|parts| {
                let parts: Vec<String> = parts.into_iter().map(as_operand).collect();
                format!("write `{key}: \"{}\"`", parts.join(word))
            });
            diagnostics.push(hint.into_iter().fold(error, Diagnostic::with_hint));
            continue;
        };
        let trimmed = text.trim();
        if trimmed.starts_with("{{") || trimmed.starts_with("${") {
            let error = Diagnostic::error(
                DiagnosticKind::ExpressionSyntax,
                entry.value.span,
                "a condition is an expression without braces",
            );
            let inner = trimmed.trim_start_matches(['{', '$']).trim_end_matches('}').trim();
            diagnostics.push(error.with_hint(format!("write `{key}: {}`", shown(inner))));
            continue;
        }
        let desired = key == IF;
        conditions.conditions.push(Condition { desired, node: entry.value.clone(), manifest, apply: None });
    }
    conditions
}

/// Returns `true` if an expression compares values, so that its names need not be booleans.
fn has_comparison(expression: &str) -> bool {
    let words = ["==", "!=", "<", ">", " in ", " matches ", " contains ", " startsWith ", " endsWith "];
    words.iter().any(|word| expression.contains(word))
}

/// Returns the text of a value that other programs take for a boolean, with the boolean.
fn boolean_word(expression: &str, text: &str) -> Option<(&'static str, bool)> {
    if !["Data.", "Facts."].iter().any(|root| expression.trim_start().starts_with(root)) {
        return None;
    }
    let words =
        [("yes", true), ("on", true), ("true", true), ("no", false), ("off", false), ("false", false)];
    words.into_iter().find(|(word, _)| word.eq_ignore_ascii_case(text))
}

/// Returns an expression for a place between double quotes, and within parentheses if it has operators of low precedence.
fn as_operand(expression: &str) -> String {
    let expression = shown(expression.trim()).replace('"', "'");
    let is_low = [" or ", " and ", "||", "&&", "?"].iter().any(|operator| expression.contains(operator));
    if is_low { format!("({expression})") } else { expression }
}

impl Conditions {
    /// Returns `true` if the conditions of the resource itself have the same text as those of another one. Those of the
    /// manifests around it do not count.
    pub(crate) fn is_written_like(&self, other: &Self) -> bool {
        let own = |conditions: &Self| {
            let own = conditions.conditions.iter().filter(|condition| condition.apply.is_none());
            own.map(|condition| (condition.desired, condition.node.as_text().map(str::to_owned)))
                .collect::<Vec<_>>()
        };
        own(self) == own(other)
    }

    /// Prepends the conditions of the outer manifests.
    pub(crate) fn with_outer(mut self, outer: &Self) -> Self {
        self.conditions.splice(0..0, outer.conditions.iter().cloned());
        self
    }

    /// Attributes the conditions to an `apply` resource, for the resources in its manifest.
    pub(crate) fn attributed_to(mut self, resource: &ResourceId) -> Self {
        for condition in self.conditions.iter_mut().filter(|condition| condition.apply.is_none()) {
            condition.apply = Some(resource.to_string());
        }
        self
    }

    /// Evaluates the conditions. `evaluator` returns the evaluator of a manifest.
    pub(crate) fn decide<'a, 's: 'a>(
        &self,
        evaluator: impl Fn(usize) -> ManifestEvaluator<'a, 's>,
        diagnostics: &mut Diagnostics,
    ) -> ControlDecision {
        let mut deferred_on = Vec::new();
        let mut missing_files = Vec::new();
        let mut needs_recheck = false;
        for condition in &self.conditions {
            let evaluator = evaluator(condition.manifest);
            let is_before_run = matches!(evaluator.phase, Phase::BeforeRun(_));
            if is_before_run {
                evaluator.context.take_missing_file();
            }
            let result = condition.holds(&evaluator, diagnostics);
            if evaluator.context.take_early_reads() {
                needs_recheck = true;
                continue;
            }
            match result {
                // The resource counts as managed here, so that its other errors are reported too.
                Ok(true) | Err(ConditionError::Unknown) => {}
                Ok(false) => {
                    let (word, answer) = if condition.desired { (IF, false) } else { (UNLESS, true) };
                    let of = condition.apply.as_ref().map_or_else(String::new, |of| format!(" of {of}"));
                    let reason = format!("`{word}`{of} is {answer}");
                    let control = Control::NotManaged { reason };
                    let (deferred_on, missing_files) = (Vec::new(), Vec::new());
                    return ControlDecision { control, deferred_on, needs_recheck: false, missing_files };
                }
                Err(ConditionError::Deferred(late)) => {
                    deferred_on.extend(late.into_iter().map(|on| (on, condition.node.span)));
                }
                Err(ConditionError::Invalid(error))
                    if is_before_run
                        && error.kind == DiagnosticKind::Unreadable
                        && evaluator.context.take_missing_file().is_some() =>
                {
                    missing_files.push(error);
                }
                Err(ConditionError::Invalid(error)) => diagnostics.push(error),
            }
        }
        let is_late = needs_recheck || !deferred_on.is_empty() || !missing_files.is_empty();
        let control = if is_late { Control::Late } else { Control::Managed };
        ControlDecision { control, deferred_on, needs_recheck, missing_files }
    }

    /// Returns each condition: `true` for `if`, the expression, the manifest index.
    pub(crate) fn expressions(&self) -> impl Iterator<Item = (bool, &str, usize)> {
        self.conditions.iter().map(|condition| {
            (condition.desired, condition.node.as_text().unwrap_or_default(), condition.manifest)
        })
    }
}

/// Reason why a condition has no result.
enum ConditionError {
    Deferred(Vec<DeferredOn>),
    /// A value is unavailable, which was reported, or an input was left out.
    Unknown,
    Invalid(Diagnostic),
}

impl Condition {
    /// Returns `true` if the condition allows managing the resource.
    fn holds(
        &self,
        evaluator: &ManifestEvaluator<'_, '_>,
        diagnostics: &mut Diagnostics,
    ) -> Result<bool, ConditionError> {
        let text = self.node.as_text().unwrap_or_default();
        let written = &evaluator.manifest.text[self.node.span.range().start..];
        let mut evaluator = evaluator.within(written);
        if !has_comparison(text) {
            evaluator.literals = evaluator.literals.of(ExpectedKind::Boolean);
        }
        let evaluated = evaluator.evaluate(text);
        for doubt in evaluator.context.take_doubts() {
            let place = self.node.locate(&evaluator.manifest.text, doubt.range.start, doubt.range.end);
            diagnostics.push(doubt.warning(place));
        }
        match evaluated {
            Ok(Value::Bool(value)) => Ok(value == self.desired),
            Ok(other) => {
                let message = format!("a condition must be true or false, found {}", other.kind());
                let error = Diagnostic::error(DiagnosticKind::WrongType, self.node.span, message);
                let hint = match &other {
                    Value::Text(value) => boolean_word(text, value).map_or_else(
                        || {
                            let value = evaluator.literals.text("VALUE");
                            Some(format!("compare it with a text: `{} == {value}`", as_operand(text)))
                        },
                        |(word, meant)| {
                            Some(format!("its value is the text `{word}`: write `{meant}` for the value"))
                        },
                    ),
                    _ => None,
                };
                Err(ConditionError::Invalid(hint.into_iter().fold(error, Diagnostic::with_hint)))
            }
            Err(EvalError::Deferred(on)) => Err(ConditionError::Deferred(on)),
            Err(EvalError::Reported) => Err(ConditionError::Unknown),
            Err(EvalError::Unchecked) => {
                evaluator.context.record_unchecked(self.node.span);
                Err(ConditionError::Unknown)
            }
            Err(EvalError::Invalid(error)) => {
                let at =
                    |range: Range<usize>| self.node.locate(&evaluator.manifest.text, range.start, range.end);
                Err(ConditionError::Invalid(diagnostic(error, at)))
            }
        }
    }
}
