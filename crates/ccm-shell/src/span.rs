//! Locations in a shell text.

use std::ops::Range;

/// Range of bytes in a shell text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShellSpan {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl ShellSpan {
    /// Builds a span from byte offsets.
    pub fn new(start: usize, end: usize) -> Self {
        let clamp = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self { start: clamp(start), end: clamp(end) }
    }

    /// Returns the range of bytes, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the smallest span that holds both.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Relation between the offsets of a text and the spans in its results.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SpanOrigin {
    /// The text begins at this offset.
    Offset(usize),
    /// The text is the value of a word, such as the operand of `eval`. Its spans are that of the word.
    Fixed(ShellSpan),
}

impl SpanOrigin {
    pub(crate) fn span(self, start: usize, end: usize) -> ShellSpan {
        match self {
            Self::Offset(offset) => ShellSpan::new(offset + start, offset + end),
            Self::Fixed(span) => span,
        }
    }
}
