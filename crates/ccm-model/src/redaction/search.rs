//! Finding many patterns in one pass.

use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind};

use super::forms::SHORTEST;

/// Patterns of so many bytes together are searched by the fastest automaton; more would take too much memory.
const FASTEST_UP_TO: usize = 128 << 10;

/// Finds patterns.
#[derive(Default)]
pub(super) enum Search {
    /// There are none.
    #[default]
    Nothing,
    /// These.
    Patterns(Box<Patterns>),
    /// There are more than can be searched for, so that all of a text is taken for one.
    Everything,
}

/// Patterns, and what they begin with.
pub(super) struct Patterns {
    automaton: AhoCorasick,
    /// All of them, in order.
    sorted: Vec<Box<str>>,
    beginnings: Beginnings,
    longest: usize,
}

impl Search {
    /// Prepares the search for patterns that are sorted and each there once.
    pub(super) fn new(patterns: Vec<Box<str>>) -> Self {
        if patterns.is_empty() {
            return Self::Nothing;
        }
        let size: usize = patterns.iter().map(|pattern| pattern.len()).sum();
        let kind = if size <= FASTEST_UP_TO { AhoCorasickKind::DFA } else { AhoCorasickKind::ContiguousNFA };
        let automaton = AhoCorasickBuilder::new()
            .kind(Some(kind))
            .prefilter(false)
            .build(patterns.iter().map(|pattern| pattern.as_bytes()));
        let Ok(automaton) = automaton else { return Self::Everything };
        let longest = patterns.iter().map(|pattern| pattern.len()).max().unwrap_or_default();
        let beginnings = Beginnings::of(&patterns);
        Self::Patterns(Box::new(Patterns { automaton, sorted: patterns, beginnings, longest }))
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    pub(super) fn finds(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Nothing => false,
            Self::Patterns(patterns) => patterns.automaton.is_match(bytes),
            Self::Everything => !bytes.is_empty(),
        }
    }

    /// Where patterns are, in order; patterns that overlap are one.
    pub(super) fn matches(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let patterns = match self {
            Self::Nothing => return Vec::new(),
            Self::Everything if bytes.is_empty() => return Vec::new(),
            Self::Everything => return std::iter::once(0..bytes.len()).collect(),
            Self::Patterns(patterns) => patterns,
        };
        let mut found: Vec<Range<usize>> = Vec::new();
        // They come in the order of their ends.
        for matched in patterns.automaton.find_overlapping_iter(bytes) {
            let mut start = matched.start();
            while let Some(last) = found.pop_if(|last| start < last.end) {
                start = start.min(last.start);
            }
            found.push(start..matched.end());
        }
        found
    }

    /// Where the longest end begins that a pattern may begin with, which what follows may complete.
    pub(super) fn unfinished(&self, bytes: &[u8]) -> usize {
        let Self::Patterns(patterns) = self else { return bytes.len() };
        let first = bytes.len().saturating_sub(patterns.longest - 1);
        (first..bytes.len()).find(|start| patterns.begin_with(&bytes[*start..])).unwrap_or(bytes.len())
    }

    /// Where the end begins that is the beginning of a pattern, if it is long enough to tell of it.
    pub(super) fn beginning_before(&self, bytes: &[u8]) -> Option<usize> {
        let from = self.unfinished(bytes);
        (bytes.len() - from >= SHORTEST).then_some(from)
    }
}

impl Patterns {
    /// Tells whether a pattern begins with these bytes and goes on.
    fn begin_with(&self, bytes: &[u8]) -> bool {
        if !self.beginnings.may_hold(bytes) {
            return false;
        }
        let at = self.sorted.partition_point(|pattern| pattern.as_bytes() < bytes);
        let candidates = self.sorted.iter().skip(at).take(2);
        candidates
            .into_iter()
            .any(|pattern| pattern.len() > bytes.len() && pattern.as_bytes().starts_with(bytes))
    }
}

/// The first two bytes of all patterns: a quick answer for most of what begins no pattern.
struct Beginnings(Vec<u64>);

impl Beginnings {
    fn of(patterns: &[Box<str>]) -> Self {
        let mut beginnings = Self(vec![0; (1 << 16) / 64]);
        for pattern in patterns {
            if let [first, second, ..] = pattern.as_bytes() {
                let (word, bit) = place(*first, *second);
                beginnings.0[word] |= bit;
            }
        }
        beginnings
    }

    fn may_hold(&self, bytes: &[u8]) -> bool {
        match bytes {
            [first, second, ..] => {
                let (word, bit) = place(*first, *second);
                self.0[word] & bit != 0
            }
            _ => true,
        }
    }
}

fn place(first: u8, second: u8) -> (usize, u64) {
    let number = usize::from(first) << 8 | usize::from(second);
    (number / 64, 1 << (number % 64))
}
