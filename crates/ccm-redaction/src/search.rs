//! Finding many patterns in one pass.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::{Anchored, Input, dfa, nfa::contiguous};

use ccm_model::SHORTEST_SECRET;

/// Patterns of so many bytes together are searched by the fastest automaton; more would take too much memory.
const FASTEST_UP_TO: usize = 128 << 10;

/// Finds patterns.
#[derive(Default)]
pub(super) enum Search {
    /// There are none.
    #[default]
    Nothing,
    /// A few.
    Few(Patterns<dfa::DFA>),
    /// Many.
    Many(Patterns<contiguous::NFA>),
    /// There are more than can be searched for, so that all of a text is taken for one.
    Everything,
}

/// Patterns, and what they begin with.
pub(super) struct Patterns<A> {
    automaton: A,
    start: StateID,
    /// How many of the last bytes a pattern may begin with that goes on, by the state after them, in order.
    unfinished: Vec<(StateID, u32)>,
    longest: usize,
}

impl Search {
    /// Prepares the search for patterns, none of them empty.
    pub(super) fn new(patterns: &[Box<str>]) -> Self {
        if patterns.is_empty() {
            return Self::Nothing;
        }
        let size: usize = patterns.iter().map(|pattern| pattern.len()).sum();
        let bytes = patterns.iter().map(|pattern| pattern.as_bytes());
        let search = if size <= FASTEST_UP_TO {
            let automaton = dfa::DFA::builder().prefilter(false).build(bytes).ok();
            automaton.and_then(|automaton| Patterns::new(automaton, patterns)).map(Self::Few)
        } else {
            let automaton = contiguous::NFA::builder().prefilter(false).build(bytes).ok();
            automaton.and_then(|automaton| Patterns::new(automaton, patterns)).map(Self::Many)
        };
        search.unwrap_or(Self::Everything)
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Nothing)
    }

    pub(super) fn finds(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Nothing => false,
            Self::Few(patterns) => patterns.finds(bytes),
            Self::Many(patterns) => patterns.finds(bytes),
            Self::Everything => !bytes.is_empty(),
        }
    }

    /// Where patterns are, in order; patterns that overlap are one.
    pub(super) fn matches(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        match self {
            Self::Few(patterns) => patterns.matches(bytes),
            Self::Many(patterns) => patterns.matches(bytes),
            Self::Everything if !bytes.is_empty() => everything(bytes),
            Self::Everything | Self::Nothing => Vec::new(),
        }
    }

    /// Where the longest end begins that a pattern may begin with, which what follows may complete.
    pub(super) fn unfinished(&self, bytes: &[u8]) -> usize {
        let length = match self {
            Self::Few(patterns) => patterns.unfinished(patterns.end(bytes)),
            Self::Many(patterns) => patterns.unfinished(patterns.end(bytes)),
            Self::Everything | Self::Nothing => 0,
        };
        bytes.len() - length
    }

    /// Where the end begins that is the beginning of a pattern, if it is long enough to tell of it.
    pub(super) fn beginning_before(&self, bytes: &[u8]) -> Option<usize> {
        let from = self.unfinished(bytes);
        (bytes.len() - from >= SHORTEST_SECRET).then_some(from)
    }
}

fn everything(bytes: &[u8]) -> Vec<Range<usize>> {
    std::iter::once(0..bytes.len()).collect()
}

impl<A: Automaton> Patterns<A> {
    /// None if it can't be searched from any place, which every automaton allows that is built here.
    fn new(automaton: A, patterns: &[Box<str>]) -> Option<Self> {
        let start = automaton.start_state(Anchored::No).ok()?;
        let longest = patterns.iter().map(|pattern| pattern.len()).max().unwrap_or_default();
        let mut this = Self { automaton, start, unfinished: Vec::new(), longest };
        this.unfinished = this.unfinished_by_state(patterns);
        Some(this)
    }

    fn unfinished_by_state(&self, patterns: &[Box<str>]) -> Vec<(StateID, u32)> {
        let mut goes_on = Vec::new();
        for pattern in patterns {
            let mut state = self.start;
            for (byte, length) in pattern.bytes().zip(1..).take(pattern.len() - 1) {
                state = self.next(state, byte);
                goes_on.push((state, length));
            }
        }
        goes_on.sort_unstable();
        goes_on.dedup();
        // Behind a pattern that none goes on from, an end of it may be what another one begins with, and that may
        // be a shorter pattern of this kind.
        let mut by_length: Vec<&str> = patterns.iter().map(|pattern| &**pattern).collect();
        by_length.sort_unstable_by_key(|pattern| pattern.len());
        let mut complete = BTreeMap::new();
        for pattern in by_length {
            let state = pattern.bytes().fold(self.start, |state, byte| self.next(state, byte));
            if of_state(&goes_on, state).is_none() {
                let behind = pattern.bytes().skip(1).fold(self.start, |state, byte| self.next(state, byte));
                let length = of_state(&goes_on, behind).or_else(|| complete.get(&behind).copied());
                complete.insert(state, length.unwrap_or_default());
            }
        }
        goes_on.extend(complete);
        goes_on.sort_unstable();
        goes_on
    }

    fn next(&self, state: StateID, byte: u8) -> StateID {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    fn finds(&self, bytes: &[u8]) -> bool {
        let found = self.automaton.try_find(&Input::new(bytes).earliest(true));
        // What can't be searched is taken for one.
        !matches!(found, Ok(None))
    }

    fn matches(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let Ok(matches) = self.automaton.try_find_overlapping_iter(Input::new(bytes)) else {
            return everything(bytes);
        };
        let mut found: Vec<Range<usize>> = Vec::new();
        // They come in the order of their ends.
        for matched in matches {
            let mut start = matched.start();
            while let Some(last) = found.pop_if(|last| start < last.end) {
                start = start.min(last.start);
            }
            found.push(start..matched.end());
        }
        found
    }

    /// The last bytes, as many as a pattern may have that goes on.
    fn end<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = u8> + use<'b, A> {
        bytes[bytes.len().saturating_sub(self.longest - 1)..].iter().copied()
    }

    /// How many of these bytes, the last ones, a pattern may begin with that goes on.
    fn unfinished(&self, bytes: impl Iterator<Item = u8>) -> usize {
        let state = bytes.fold(self.start, |state, byte| self.next(state, byte));
        of_state(&self.unfinished, state).unwrap_or_default() as usize
    }
}

fn of_state(lengths: &[(StateID, u32)], state: StateID) -> Option<u32> {
    let found = lengths.binary_search_by_key(&state, |(state, _)| *state);
    found.ok().map(|at| lengths[at].1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn patterns(patterns: &[&str]) -> Vec<Box<str>> {
        patterns.iter().map(|pattern| Box::from(*pattern)).collect()
    }

    /// What it is meant to be, looked for at every place.
    fn looked_for(patterns: &[Box<str>], bytes: &[u8]) -> usize {
        let goes_on = |end: &[u8]| {
            patterns.iter().any(|pattern| pattern.len() > end.len() && pattern.as_bytes().starts_with(end))
        };
        (0..bytes.len()).find(|start| goes_on(&bytes[*start..])).unwrap_or(bytes.len())
    }

    #[test]
    fn the_longest_unfinished_end_is_found() {
        for (of, bytes, from) in [
            (&["secret"][..], "a sec", 2),
            (&["secret"], "a secret", 8),
            (&["abab"], "xabab", 3),
            (&["abab"], "ab", 0),
            (&["abcd", "bcd", "cdx"], "abcd", 2),
            (&["abcd", "abcdefg"], "abcd", 0),
            (&["aaaa"], "aaaaaaaa", 5),
            (&["aaaa"], "aaab", 4),
            (&["aaaa"], "", 0),
        ] {
            let of = patterns(of);
            assert_eq!(Search::new(&of).unfinished(bytes.as_bytes()), from, "{of:?} in {bytes}");
            assert_eq!(looked_for(&of, bytes.as_bytes()), from, "{of:?} in {bytes}");
        }
    }

    proptest! {
        #[test]
        fn both_automata_find_what_is_looked_for_at_every_place(
            of in prop::collection::btree_set("[abc]{1,7}", 1..9),
            bytes in "[abcd]{0,30}",
        ) {
            let of: Vec<Box<str>> = of.into_iter().map(String::into_boxed_str).collect();
            let expected = looked_for(&of, bytes.as_bytes());
            let each = of.iter().map(|pattern| pattern.as_bytes());
            let fast = Patterns::new(dfa::DFA::new(each.clone()).expect("few"), &of).expect("it is");
            let small = Patterns::new(contiguous::NFA::new(each).expect("few"), &of).expect("it is");
            prop_assert_eq!(bytes.len() - fast.unfinished(fast.end(bytes.as_bytes())), expected);
            prop_assert_eq!(bytes.len() - small.unfinished(small.end(bytes.as_bytes())), expected);
        }
    }

    #[test]
    fn each_byte_of_the_end_is_looked_at_once() {
        let of = patterns(&[&"a".repeat(4096), &"%0A".repeat(4096)]);
        let Search::Few(found) = Search::new(&of) else { panic!("they are few") };
        for (bytes, unfinished) in
            [("a".repeat(65_536), 4095), ("a".repeat(65_535) + "b", 0), ("%0A".repeat(20_000) + "%0", 12_287)]
        {
            let mut steps = 0;
            let end = found.end(bytes.as_bytes()).inspect(|_| steps += 1);
            assert_eq!(found.unfinished(end), unfinished);
            assert_eq!(steps, 12_287, "as many as the longest pattern has before its last one");
        }
    }
}
