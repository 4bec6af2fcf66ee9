//! Results of expanding texts, and which texts have no value yet.

use std::collections::BTreeSet;

use ccm_model::{Diagnostic, DiagnosticKind, ResourceId, Span};

use crate::resolve::messages::shown;
use crate::resolve::scope::DeferredOn;

/// Spans of keys and texts, none within another.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpanSet(BTreeSet<Span>);

impl SpanSet {
    pub(crate) fn covers(&self, span: Span) -> bool {
        let before = self.0.range(..=Span { end: u32::MAX, ..span }).next_back();
        before.is_some_and(|other| other.contains(span))
    }

    /// Returns `true` if one of the spans covers this span, or lies within it.
    pub(crate) fn touches(&self, span: Span) -> bool {
        let within = self.0.range(Span { end: span.start, ..span }..).next();
        self.covers(span) || within.is_some_and(|other| span.contains(*other))
    }

    /// Adds spans.
    pub(crate) fn extend(&mut self, spans: impl IntoIterator<Item = Span>) {
        self.0.extend(spans);
    }

    /// Adds a span.
    pub(crate) fn insert(&mut self, span: Span) {
        self.0.insert(span);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn explains(&self, error: &Diagnostic) -> bool {
        error.span().is_some_and(|span| self.covers(span))
    }
}

/// Result of expanding texts.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    pub(crate) refused: SpanSet,
    /// Texts that use inputs that were left out.
    pub(crate) unchecked: SpanSet,
    /// Texts that wait for resources.
    pub(crate) late: SpanSet,
    pub(crate) deferred_on: Vec<(DeferredOn, Span)>,
    /// Errors about files that do not exist yet. The texts are late if an earlier resource may write files.
    pub(crate) missing_files: Vec<Diagnostic>,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Expansion {
    /// Turns late texts into errors, where values must be known before the run.
    pub(crate) fn refuse_late(&mut self) {
        self.diagnostics.append(&mut self.missing_files);
        for (on, span) in std::mem::take(&mut self.deferred_on) {
            self.diagnostics.push(needed_before_run(&on, None, span));
        }
    }

    /// Marks a text as unknown because of a reported error.
    pub(crate) fn refuse(&mut self, span: Span) {
        self.refused.insert(span);
    }

    /// Adds earlier results.
    pub(crate) fn add(&mut self, before: Self) {
        self.refused.0.extend(before.refused.0);
        self.unchecked.0.extend(before.unchecked.0);
        self.late.0.extend(before.late.0);
        self.deferred_on.extend(before.deferred_on);
        self.missing_files.extend(before.missing_files);
        self.diagnostics.extend(before.diagnostics);
    }

    pub(crate) fn explains(&self, error: &Diagnostic) -> bool {
        error.span().is_some_and(|span| self.is_unknown(span))
    }

    pub(crate) fn is_unknown(&self, span: Span) -> bool {
        self.refused.covers(span) || self.late.covers(span) || self.unchecked.covers(span)
    }
}

/// Returns the error for a late value that must be known before the run. `manager` is the resource that manages the
/// file, if the value is the content of one.
pub(crate) fn needed_before_run(on: &DeferredOn, manager: Option<&ResourceId>, span: Span) -> Diagnostic {
    let what = match (on, manager) {
        (DeferredOn::File(_), Some(id)) => format!("the content of `{}`", shown(&id.to_string())),
        (DeferredOn::File(_), None) => "the content of a managed file".to_owned(),
        (DeferredOn::Capture { name: Some(name), .. }, _) => format!("`Captures.{}`", shown(name)),
        _ => "a captured value".to_owned(),
    };
    let message =
        format!("this value is needed before the run, but {what} is known only after its resource has run");
    Diagnostic::error(DiagnosticKind::LateValue, span, message)
        .with_hint("use a value that is known before the run, such as data or a fact")
}
