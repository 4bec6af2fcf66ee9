//! Text of a template with checks in its expressions, and the way back to its locations.
//!
//! minijinja orders values of any kinds and takes every text for true. The text that it compiles is therefore another
//! one: `a < b` becomes `a|__lt(b)`, a filter of ccm that refuses what has no meaning (see `operators`).

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// Replacement of bytes of a template.
#[derive(Debug)]
pub(super) struct SourceEdit {
    pub(super) replaced: Range<usize>,
    pub(super) with: Cow<'static, str>,
    /// Expression that an error of the new text is about.
    pub(super) expression: Option<Range<usize>>,
}

/// Template as it is written, and as minijinja compiles it.
#[derive(Debug)]
pub(super) struct CheckedSource {
    pub(super) original: Arc<str>,
    pub(super) compiled: Arc<str>,
    /// Number of bytes at the start of the original that are not compiled.
    skipped: usize,
    /// Edits in the order of the text.
    edits: Vec<SourceEdit>,
}

impl CheckedSource {
    /// Applies edits to a template whose first `skipped` bytes are settings.
    pub(super) fn new(original: Arc<str>, skipped: usize, edits: Vec<SourceEdit>) -> Self {
        if skipped == 0 && edits.is_empty() {
            return Self { compiled: Arc::clone(&original), original, skipped, edits };
        }
        let mut compiled = String::with_capacity(original.len() + edits.len() * 16);
        let mut copied = skipped;
        for edit in &edits {
            compiled += &original[copied..edit.replaced.start];
            compiled += &edit.with;
            copied = edit.replaced.end;
        }
        compiled += &original[copied..];
        Self { original, compiled: compiled.into(), skipped, edits }
    }

    pub(super) fn without_checks(&self) -> Self {
        Self::new(Arc::clone(&self.original), self.skipped, Vec::new())
    }

    /// Returns the bytes of the original that bytes of the compiled text stand for.
    pub(super) fn original_range(&self, compiled: Range<usize>) -> Range<usize> {
        let (start, edit) = self.original_offset(compiled.start);
        if let Some(expression) = edit.and_then(|edit| edit.expression.clone()) {
            return expression;
        }
        let end = match self.original_offset(compiled.end) {
            (_, Some(edit)) => edit.replaced.end,
            (end, None) => end,
        };
        start..end.max(start)
    }

    /// Returns the offset in the original, and the edit if the offset lies in its new text.
    fn original_offset(&self, compiled: usize) -> (usize, Option<&SourceEdit>) {
        let (mut in_compiled, mut in_original) = (0, self.skipped);
        for edit in &self.edits {
            let start = in_compiled + edit.replaced.start - in_original;
            if compiled <= start {
                break;
            }
            if compiled < start + edit.with.len() {
                return (edit.replaced.start, Some(edit));
            }
            in_compiled = start + edit.with.len();
            in_original = edit.replaced.end;
        }
        (compiled - in_compiled + in_original, None)
    }

    /// Returns an expression of the compiled text as it is written in the original.
    pub(super) fn original_expression<'t>(&'t self, compiled: &'t str) -> &'t str {
        let Some(start) = self.compiled.find(compiled) else { return compiled };
        let (from, _) = self.original_offset(start);
        let (to, _) = self.original_offset(start + compiled.len());
        self.original.get(from..to).unwrap_or(compiled)
    }
}
