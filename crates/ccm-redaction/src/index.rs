//! The search for secrets in a text.

use std::ops::Range;

use super::parts::Parts;
use super::trie::{CHUNK, Reach, Trie};

/// Limit that leaves out no part.
pub(super) const ALL: u32 = u32::MAX;

/// Secrets, and where a text holds them. To add a secret costs what its own size costs, however many there
/// are, and so does to search a text.
#[derive(Default)]
pub(super) struct FormIndex {
    parts: Parts,
    trie: Trie,
}

/// Secrets in a text.
pub(super) struct FoundForms {
    /// Ranges of forms, in order. Ranges that overlap are united.
    pub hidden: Vec<Range<usize>>,
    /// For each given end, the begin of the longest unfinished form before it. The end itself if there is
    /// none.
    pub unfinished: Vec<usize>,
}

impl FormIndex {
    pub(super) fn add(&mut self, secret: &str) {
        let new = self.parts.add(secret);
        self.trie.add(&self.parts, new);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.trie.is_empty()
    }

    /// Number greater than those of all known parts.
    pub(super) fn limit(&self) -> u32 {
        self.parts.next_id()
    }

    /// Returns `true` if there is a form of the parts before `limit` in the text.
    pub(super) fn finds(&mut self, limit: u32, text: &[u8]) -> bool {
        let mut places = self.trie.candidates(text).into_iter();
        places.any(|place| self.reach(limit, text, place..text.len(), false).complete > 0)
    }

    /// Finds forms of the parts before `limit` in a text, and beginnings of forms before the `ends`, which
    /// are in order.
    pub(super) fn search(&mut self, limit: u32, text: &[u8], ends: &[usize]) -> FoundForms {
        let mut hidden: Vec<Range<usize>> = Vec::new();
        let mut unfinished = ends.to_vec();
        for place in self.trie.candidates(text) {
            let reach = self.reach(limit, text, place..text.len(), false);
            if reach.complete > 0 {
                let end = place + reach.complete;
                match hidden.last_mut() {
                    Some(last) if place < last.end => last.end = last.end.max(end),
                    _ => hidden.push(place..end),
                }
            }
            let first = ends.partition_point(|end| *end < place + CHUNK);
            for (end, begin) in ends.iter().zip(&mut unfinished).skip(first) {
                if *end > place + reach.compared {
                    break;
                }
                if begin == end && self.reach(limit, text, place..*end, true).is_unfinished {
                    *begin = place;
                }
            }
        }
        for (end, begin) in ends.iter().zip(&mut unfinished) {
            if begin == end {
                let begins = |place: &usize| {
                    let before = text.get(*place..*end);
                    before.is_some_and(|before| self.trie.begins_with(before))
                };
                *begin = (end.saturating_sub(CHUNK - 1)..*end).find(begins).unwrap_or(*end);
            }
        }
        FoundForms { hidden, unfinished }
    }

    fn reach(&mut self, limit: u32, text: &[u8], range: Range<usize>, at_end: bool) -> Reach {
        self.trie.reach(&self.parts, limit, text.get(range).unwrap_or_default(), at_end)
    }

    /// Number of chunks that were encoded.
    #[cfg(test)]
    pub(super) fn encoded(&self) -> usize {
        self.trie.encoded
    }

    /// Number of bytes that are compared to search a text.
    #[cfg(test)]
    pub(super) fn compared(&mut self, text: &[u8]) -> usize {
        let places = self.trie.candidates(text).into_iter();
        places.map(|place| self.reach(ALL, text, place..text.len(), false).compared).sum()
    }
}

#[cfg(test)]
mod tests;
