//! Mistakes and warnings while they are found.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::{Diagnostic, Severity};

/// Nobody reads more mistakes than that, nor more warnings.
pub(crate) const MOST: usize = 10_000;

/// Mistakes and warnings, each once; after so many of a kind, one says that there are more, and these are dropped.
#[derive(Debug, Default)]
pub struct Diagnostics {
    kept: Vec<Diagnostic>,
    /// What there was so far, by place and message.
    seen: HashSet<u64>,
    hasher: RandomState,
    found: usize,
    errors: usize,
    warnings: usize,
}

impl Diagnostics {
    /// None so far.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one, if it is new and there are not too many.
    pub fn push(&mut self, found: Diagnostic) {
        self.found += 1;
        let (count, what) = match found.severity {
            Severity::Error => (&mut self.errors, "mistakes"),
            Severity::Warning => (&mut self.warnings, "warnings"),
        };
        if *count > MOST || !self.seen.insert(identity(&self.hasher, &found)) {
            return;
        }
        *count += 1;
        if *count <= MOST {
            self.kept.push(found);
            return;
        }
        let message = format!("after {MOST} {what}, nothing is looked at from here on");
        self.kept.push(Diagnostic { message, hints: Vec::new(), ..found });
    }

    /// Adds those of another list.
    pub fn append(&mut self, others: &mut Vec<Diagnostic>) {
        self.extend(others.drain(..));
    }

    /// Keeps those that match.
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

    /// How many were found so far, with those that were not new or too many.
    pub fn found(&self) -> usize {
        self.found
    }

    /// Tells whether there are so many mistakes that further ones are dropped.
    pub fn is_full(&self) -> bool {
        self.errors > MOST
    }

    /// Tells whether one of them is a mistake.
    pub fn has_errors(&self) -> bool {
        self.kept.iter().any(|found| found.severity == Severity::Error)
    }

    /// All that were kept.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.kept
    }
}

/// What makes one of them unlike another.
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

    #[test]
    fn there_is_an_end_to_them_and_each_is_there_once() {
        let at = |place| Span::new(SourceId::default(), place, place + 1);
        let mut found = Diagnostics::new();
        for place in 0..MOST + 5 {
            found.push(Diagnostic::warning(at(place), "odd"));
            found.push(Diagnostic::error(at(0), "wrong"));
        }
        found.retain(|one| one.severity == Severity::Warning);
        found.push(Diagnostic::error(at(0), "wrong"));
        assert!(!found.is_full() && found.has_errors());
        for place in 0..2 * MOST {
            found.push(Diagnostic::error(at(place), "wrong").with_hint("do it right"));
        }
        assert!(found.is_full() && found.has_errors());
        let found = found.into_vec();
        assert_eq!(found.len(), 2 * (MOST + 1));
        let last = found.last().expect("a mistake");
        assert_eq!(last.message, "after 10000 mistakes, nothing is looked at from here on");
        assert_eq!((last.span(), last.hints.len()), (Some(at(MOST)), 0));
    }
}
