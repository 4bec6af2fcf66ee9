//! Search for secrets in a text.

use std::ops::Range;

use super::parts::Parts;
use super::trie::{CHUNK, Reach, Trie};

/// Limit that includes all parts.
pub(super) const ALL: u32 = u32::MAX;

/// Secrets, and the search for their forms. The cost of adding a secret, or of searching a text, depends
/// on its own size and not on the number of secrets.
#[derive(Default)]
pub(super) struct FormIndex {
    parts: Parts,
    trie: Trie,
}

pub(super) struct FoundForms {
    /// Ranges of forms, in order. Ranges that overlap are united.
    pub hidden: Vec<Range<usize>>,
    /// For each given end, the beginning of the longest unfinished form before it; the end itself if there is
    /// no such form.
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

    /// Returns a number above those of all known parts.
    pub(super) fn limit(&self) -> u32 {
        self.parts.next_id()
    }

    /// Returns `true` if the text holds a form of a part before `limit`.
    pub(super) fn finds(&mut self, limit: u32, text: &[u8]) -> bool {
        let mut offsets = self.trie.candidates(text).into_iter();
        offsets.any(|offset| self.reach(limit, text, offset..text.len(), false).complete > 0)
    }

    /// Finds forms of the parts before `limit` in a text, and unfinished forms before each of the sorted
    /// `ends`.
    pub(super) fn search(&mut self, limit: u32, text: &[u8], ends: &[usize]) -> FoundForms {
        let mut hidden: Vec<Range<usize>> = Vec::new();
        let mut unfinished = ends.to_vec();
        for offset in self.trie.candidates(text) {
            let reach = self.reach(limit, text, offset..text.len(), false);
            if reach.complete > 0 {
                let end = offset + reach.complete;
                match hidden.last_mut() {
                    Some(last) if offset < last.end => last.end = last.end.max(end),
                    _ => hidden.push(offset..end),
                }
            }
            let first = ends.partition_point(|end| *end < offset + CHUNK);
            for (end, begin) in ends.iter().zip(&mut unfinished).skip(first) {
                if *end > offset + reach.compared {
                    break;
                }
                if begin == end && self.reach(limit, text, offset..*end, true).is_unfinished {
                    *begin = offset;
                }
            }
        }
        for (end, begin) in ends.iter().zip(&mut unfinished) {
            if begin == end {
                let begins = |offset: &usize| {
                    let before = text.get(*offset..*end);
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

    /// Returns the number of bytes that a search compares.
    #[cfg(test)]
    pub(super) fn compared(&mut self, text: &[u8]) -> usize {
        let offsets = self.trie.candidates(text).into_iter();
        offsets.map(|offset| self.reach(ALL, text, offset..text.len(), false).compared).sum()
    }
}

#[cfg(test)]
mod tests;
