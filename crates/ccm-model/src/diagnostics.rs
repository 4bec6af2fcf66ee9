//! Collection of errors and warnings.

use std::collections::HashSet;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::{Diagnostic, DiagnosticKind, Label, Severity};

/// Maximum number of errors, and of warnings. More would not be read.
pub(crate) const MAX_PER_SEVERITY: usize = 10_000;

/// What diagnostics are found in, such as an item of a list.
pub trait DiagnosticContext: fmt::Debug + Send + Sync {
    /// Returns the label for diagnostics in this context.
    fn label(&self) -> Label;
}

/// Errors and warnings, each once. After 10000 errors, or warnings, a last one reports that the others are
/// dropped.
#[derive(Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    /// Hashes of the location and message of each diagnostic.
    seen: HashSet<u64>,
    hasher: RandomState,
    found: usize,
    errors: usize,
    warnings: usize,
    /// Context whose label each added diagnostic gets.
    context: Option<Arc<dyn DiagnosticContext>>,
}

impl Diagnostics {
    /// Builds an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the context whose label each diagnostic with a location gets from now on, and returns the context before.
    /// In a context, a warning is dropped if there is one of its kind at its location.
    pub fn set_context(
        &mut self,
        context: Option<Arc<dyn DiagnosticContext>>,
    ) -> Option<Arc<dyn DiagnosticContext>> {
        std::mem::replace(&mut self.context, context)
    }

    /// Adds a diagnostic, unless it is known or the limit is reached.
    pub fn push(&mut self, mut found: Diagnostic) {
        self.found += 1;
        let (count, what) = match found.severity {
            Severity::Error => (&mut self.errors, "errors"),
            Severity::Warning | Severity::Note => (&mut self.warnings, "warnings"),
        };
        // The items of a list have most warnings in common, but for the name of the resource.
        let is_common = self.context.is_some() && found.severity != Severity::Error;
        let identity = if is_common {
            self.hasher.hash_one((found.span(), found.kind))
        } else {
            identity(&self.hasher, &found)
        };
        if *count > MAX_PER_SEVERITY || !self.seen.insert(identity) {
            return;
        }
        *count += 1;
        if *count <= MAX_PER_SEVERITY {
            if let Some(context) = self.context.as_deref().filter(|_| !found.labels.is_empty()) {
                found.labels.push(context.label());
            }
            self.kept.push(found);
            return;
        }
        let message = format!("more than {MAX_PER_SEVERITY} {what}: the others are not reported");
        self.kept.push(Diagnostic {
            kind: DiagnosticKind::LimitExceeded,
            message,
            hints: Vec::new(),
            ..found
        });
    }

    /// Moves all diagnostics of a list into this one.
    pub fn append(&mut self, others: &mut Vec<Diagnostic>) {
        self.extend(others.drain(..));
    }

    /// Removes all diagnostics that do not match.
    pub fn retain(&mut self, mut matches: impl FnMut(&Diagnostic) -> bool) {
        let Self { kept, seen, hasher, .. } = self;
        kept.retain(|found| {
            let is_kept = matches(found);
            if !is_kept {
                seen.remove(&identity(hasher, found));
            }
            is_kept
        });
        if !self.is_full() {
            self.errors = self.kept.iter().filter(|found| found.severity == Severity::Error).count();
        }
    }

    /// Returns the number of diagnostics that were pushed, including dropped ones.
    pub fn found(&self) -> usize {
        self.found
    }

    /// Returns `true` if further errors are dropped.
    pub fn is_full(&self) -> bool {
        self.errors > MAX_PER_SEVERITY
    }

    /// Returns `true` if there is an error.
    pub fn has_errors(&self) -> bool {
        self.kept.iter().any(|found| found.severity == Severity::Error)
    }

    /// Returns the errors that were kept, for further hints.
    pub fn errors_mut(&mut self) -> impl Iterator<Item = &mut Diagnostic> {
        self.kept.iter_mut().filter(|found| found.severity == Severity::Error)
    }

    /// Returns all diagnostics that were kept.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }
}

/// Returns the hash that identifies a diagnostic.
fn identity(hasher: &RandomState, found: &Diagnostic) -> u64 {
    hasher.hash_one((found.span(), &found.message))
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<T: IntoIterator<Item = Diagnostic>>(&mut self, found: T) {
        found.into_iter().for_each(|found| self.push(found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SourceId, Span};

    #[derive(Debug)]
    struct Item(Span);

    impl DiagnosticContext for Item {
        fn label(&self) -> Label {
            Label { span: self.0, text: "in an item".to_owned() }
        }
    }

    #[test]
    fn a_context_labels_located_diagnostics_only() {
        let at = |place| Span::new(SourceId::default(), place, place + 1);
        let context = |place| Arc::new(Item(at(place)));
        let mut found = Diagnostics::new();
        assert!(found.set_context(Some(context(1))).is_none());
        found.push(Diagnostic::error(DiagnosticKind::InvalidValue, at(7), "wrong"));
        found.push(Diagnostic::without_location(DiagnosticKind::InvalidValue, "wrong"));
        let before = found.set_context(Some(context(2)));
        assert_eq!(before.map(|before| before.label().span), Some(at(1)));
        // The same error in another context is no other error.
        found.push(Diagnostic::error(DiagnosticKind::InvalidValue, at(7), "wrong"));
        for name in ["a", "b"] {
            found.push(Diagnostic::warning(DiagnosticKind::NoEffect, at(9), format!("{name} has no effect")));
        }
        found.set_context(None);
        found.push(Diagnostic::error(DiagnosticKind::InvalidValue, at(8), "wrong"));
        let labels: Vec<Vec<u32>> = found
            .into_vec()
            .iter()
            .map(|one| one.labels.iter().map(|label| label.span.start).collect())
            .collect();
        assert_eq!(labels, [vec![7, 1], vec![], vec![9, 2], vec![8]]);
    }

    #[test]
    fn duplicates_and_errors_past_the_limit_are_dropped() {
        let at = |place| Span::new(SourceId::default(), place, place + 1);
        let mut found = Diagnostics::new();
        for place in 0..MAX_PER_SEVERITY + 5 {
            found.push(Diagnostic::warning(DiagnosticKind::InvalidValue, at(place), "odd"));
            found.push(Diagnostic::error(DiagnosticKind::InvalidValue, at(0), "wrong"));
        }
        found.retain(|one| one.severity == Severity::Warning);
        found.push(Diagnostic::error(DiagnosticKind::InvalidValue, at(0), "wrong"));
        assert!(!found.is_full() && found.has_errors());
        for place in 0..2 * MAX_PER_SEVERITY {
            found.push(
                Diagnostic::error(DiagnosticKind::InvalidValue, at(place), "wrong").with_hint("do it right"),
            );
        }
        assert!(found.is_full() && found.has_errors());
        let found = found.into_vec();
        assert_eq!(found.len(), 2 * (MAX_PER_SEVERITY + 1));
        let last = found.last().expect("an error");
        assert_eq!(last.message, "more than 10000 errors: the others are not reported");
        assert_eq!((last.span(), last.hints.len()), (Some(at(MAX_PER_SEVERITY)), 0));
    }
}
