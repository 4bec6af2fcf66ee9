//! Tree of all forms of all parts, searched from the beginning of a text.
//!
//! A form is a part in one encoding; the nodes of the tree are chunks of 8 bytes. The tree is only built as
//! deep as a text matches: until then, forms wait at a node. Where only one part is left, its forms are
//! encoded for each comparison.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::encoder::{FormEncoder, encoders};
use super::encodings::{self, EncodingSet};
use super::filter::{Filter, KeyHash};
use super::parts::Parts;
use super::prefixes::Prefixes;

pub(super) const CHUNK: usize = 8;
/// The node at which every form begins.
const ROOT: u32 = 0;

/// Continuation of the forms with the same beginning.
#[derive(Clone, Copy)]
enum Branch {
    SecretPart(u32, EncodingSet),
    /// Forms of several parts, which continue at a node.
    TrieNode(u32),
}

/// Node with forms of several parts that are equal up to here.
#[derive(Default)]
struct TrieNode {
    /// Lengths of the tails at the node, as bits.
    tails: u8,
    /// Forms that are not below the node yet.
    waiting: Vec<(u32, EncodingSet)>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Reach {
    /// Length of the longest form at the beginning of the text, or zero.
    pub complete: usize,
    /// The whole text is the beginning of a longer form.
    pub is_unfinished: bool,
    /// Number of compared bytes; at least the number of equal ones.
    pub compared: usize,
}

#[derive(Default)]
pub(super) struct Trie {
    roots: HashMap<u64, Branch, KeyHash>,
    branches: HashMap<(u32, u64), Branch, KeyHash>,
    /// Ends of forms at a node or within the chunk below it, each with its length in the last byte, and the
    /// first part with such an end.
    tails: HashMap<(u32, u64), u32, KeyHash>,
    nodes: Vec<TrieNode>,
    /// First chunk of every form.
    first_chunks: Filter,
    /// First half of the chunk of forms that are shorter than a chunk.
    first_halves: Filter,
    prefixes: Prefixes,
    /// Number of chunks that were encoded to build the tree.
    #[cfg(test)]
    pub encoded: usize,
}

impl Trie {
    pub(super) fn is_empty(&self) -> bool {
        self.first_chunks.is_empty() && self.first_halves.is_empty()
    }

    pub(super) fn add(&mut self, parts: &Parts, ids: Range<u32>) {
        if self.nodes.is_empty() {
            self.nodes.push(TrieNode::default());
        }
        for id in ids {
            if let Some(set) = encodings::distinct(parts.get(id)) {
                self.move_below(parts, ROOT, 0, id, set);
            }
        }
    }

    /// Moves forms of one part from a node to the next level.
    fn move_below(&mut self, parts: &Parts, node: u32, depth: usize, id: u32, set: EncodingSet) {
        let part = parts.get(id);
        let mut chunks = [(0, 0); encodings::COUNT];
        let mut count = 0;
        let mut rest = Some(set);
        if depth == 0
            && let Some((head, copied)) = encodings::copied_head(part, set)
        {
            chunks[0] = (head, copied);
            count = usize::from(copied != 0);
            rest = EncodingSet::new(set.get() & !copied);
        }
        for form in rest.into_iter().flat_map(|set| encoders(part, set)) {
            let mut form = form.skip_bytes(depth);
            if form.is_complete() {
                self.add_tail(node, 0, 0, id);
            }
            let Some(chunk) = self.next_chunk(node, id, &mut form) else { continue };
            let known = chunks.iter().take(count).position(|(known, _)| *known == chunk);
            if let Some((slot, set)) = chunks.get_mut(known.unwrap_or(count)) {
                *slot = chunk;
                *set |= form.set();
            }
            count += usize::from(known.is_none());
        }
        for (chunk, set) in chunks.iter().take(count) {
            if let Some(set) = EncodingSet::new(*set) {
                self.put(node, *chunk, id, set);
            }
        }
    }

    /// Encodes the next chunk of a form, and records ends of the form within it; `None` if there is no
    /// further chunk.
    fn next_chunk(&mut self, node: u32, id: u32, form: &mut FormEncoder<'_>) -> Option<u64> {
        #[cfg(test)]
        {
            self.encoded += 1;
        }
        if let Some(chunk) = form.chunk() {
            return Some(chunk);
        }
        let mut chunk = 0;
        for length in 0..8_u8 {
            if length > 0 && form.is_complete() {
                self.add_tail(node, chunk, length, id);
            }
            chunk |= u64::from(form.next()?) << (8 * length);
        }
        Some(chunk)
    }

    /// Puts forms of one part with the same chunk below a node, or lets them wait with other forms there.
    fn put(&mut self, node: u32, chunk: u64, id: u32, set: EncodingSet) {
        // Memory runs out before the numbers do.
        let next = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let (branch, is_new) = if node == ROOT {
            entry(self.roots.entry(chunk), id, set)
        } else {
            entry(self.branches.entry((node, chunk)), id, set)
        };
        match *branch {
            Branch::SecretPart(..) if is_new => self.add_chunk(node, chunk),
            Branch::SecretPart(other, others) => {
                *branch = Branch::TrieNode(next);
                self.nodes.push(TrieNode { tails: 0, waiting: vec![(other, others), (id, set)] });
            }
            Branch::TrieNode(next) => {
                if let Some(next) = self.nodes.get_mut(next as usize) {
                    next.waiting.push((id, set));
                }
            }
        }
    }

    /// Moves the waiting forms of a node to the next level.
    fn move_waiting(&mut self, parts: &Parts, node: u32, depth: usize) {
        let waiting = self.nodes.get_mut(node as usize).map(|node| std::mem::take(&mut node.waiting));
        for (id, set) in waiting.unwrap_or_default() {
            self.move_below(parts, node, depth, id, set);
        }
    }

    fn branch(&self, node: u32, chunk: u64) -> Option<Branch> {
        if node == ROOT { self.roots.get(&chunk) } else { self.branches.get(&(node, chunk)) }.copied()
    }

    fn add_chunk(&mut self, node: u32, chunk: u64) {
        self.prefixes.add((node, chunk, 8));
        if node == ROOT {
            self.first_chunks.add(chunk, || self.roots.keys().copied());
        }
    }

    fn add_tail(&mut self, node: u32, bytes: u64, length: u8, id: u32) {
        // Parts reach a node in the order of their ids, so the first one is kept.
        let Entry::Vacant(entry) = self.tails.entry((node, tail(bytes, length))) else { return };
        entry.insert(id);
        if let Some(node) = self.nodes.get_mut(node as usize) {
            node.tails |= 1 << length;
        }
        self.prefixes.add((node, bytes, length));
        if node == ROOT {
            let all = || self.tails.keys().filter(|(node, _)| *node == ROOT).map(|(_, tail)| half(*tail));
            self.first_halves.add(half(bytes), all);
        }
    }

    /// Compares a text with every form of the parts before `limit`; `at_end` also with forms longer than the
    /// text.
    pub(super) fn reach(&mut self, parts: &Parts, limit: u32, text: &[u8], at_end: bool) -> Reach {
        let mut reach = Reach::default();
        let mut node = ROOT;
        let mut at = 0;
        loop {
            let rest = text.get(at..).unwrap_or_default();
            self.move_waiting(parts, node, at);
            let tails = self.nodes.get(node as usize).map_or(0, |node| node.tails);
            for length in 0..8_u8 {
                let Some(end) = rest.get(..usize::from(length)) else { break };
                let is_tail =
                    || self.tails.get(&(node, tail(read(end), length))).is_some_and(|id| *id < limit);
                if tails >> length & 1 == 1 && is_tail() {
                    reach.complete = at + end.len();
                }
            }
            reach.compared += rest.len().min(CHUNK);
            let Some(chunk) = rest.first_chunk() else {
                reach.is_unfinished = at_end && self.has_prefix(node, rest);
                return reach;
            };
            match self.branch(node, u64::from_le_bytes(*chunk)) {
                Some(Branch::TrieNode(next)) => node = next,
                Some(Branch::SecretPart(id, set)) if id < limit => {
                    for form in encoders(parts.get(id), set) {
                        compare(form, text, &mut reach);
                    }
                    return reach;
                }
                Some(Branch::SecretPart(..)) | None => return reach,
            }
            at += CHUNK;
        }
    }

    /// Returns `true` if less than a chunk of bytes is the beginning of a form.
    pub(super) fn begins_with(&mut self, bytes: &[u8]) -> bool {
        self.has_prefix(ROOT, bytes)
    }

    fn has_prefix(&mut self, node: u32, bytes: &[u8]) -> bool {
        self.prefixes.has_prefix(node, bytes, || {
            let roots = self.roots.keys().map(|chunk| (ROOT, *chunk, 8));
            let branches = self.branches.keys().map(|(node, chunk)| (*node, *chunk, 8));
            let tails = self.tails.keys().map(|(node, tail)| (*node, bytes_of(*tail), length_of(*tail)));
            roots.chain(branches).chain(tails)
        })
    }

    /// Returns the offsets of a text at which a form may begin.
    pub(super) fn candidates(&self, text: &[u8]) -> Vec<usize> {
        if self.first_halves.is_empty() {
            let mut offsets = Vec::new();
            for (offset, chunk) in text.windows(CHUNK).enumerate() {
                if self.first_chunks.may_hold(read(chunk)) {
                    offsets.push(offset);
                }
            }
            return offsets;
        }
        let may_begin = |offset: &usize| {
            let rest = text.get(*offset..).unwrap_or_default();
            let chunk = read(rest.get(..CHUNK).unwrap_or(rest));
            self.first_halves.may_hold(half(chunk)) || self.first_chunks.may_hold(chunk)
        };
        (0..text.len()).filter(may_begin).collect()
    }
}

/// Returns the branch of an entry, and `true` if it is new.
fn entry<K>(entry: Entry<'_, K, Branch>, id: u32, set: EncodingSet) -> (&mut Branch, bool) {
    match entry {
        Entry::Occupied(entry) => (entry.into_mut(), false),
        Entry::Vacant(entry) => (entry.insert(Branch::SecretPart(id, set)), true),
    }
}

/// Compares a text with one form.
fn compare(mut form: FormEncoder<'_>, text: &[u8], reach: &mut Reach) {
    let mut is_equal = true;
    while is_equal
        && let Some(found) = text.get(form.written..).and_then(<[u8]>::first_chunk)
        && let Some(chunk) = form.chunk()
    {
        is_equal = u64::from_le_bytes(*found) == chunk;
    }
    let mut rest = text.get(form.written..).unwrap_or_default().iter();
    while is_equal {
        if form.is_complete() {
            reach.complete = reach.complete.max(form.written);
        }
        let Some(byte) = form.next() else { break };
        let found = rest.next();
        reach.is_unfinished |= found.is_none();
        is_equal = found == Some(&byte);
    }
    reach.compared += form.written;
}

/// Converts up to 8 bytes to a number, the first byte lowest.
fn read(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)),
    }
}

/// Encodes the end of a form, fewer than 8 bytes, with its length.
fn tail(bytes: u64, length: u8) -> u64 {
    bytes | u64::from(length) << 56
}

fn length_of(tail: u64) -> u8 {
    tail.to_be_bytes()[0]
}

fn bytes_of(tail: u64) -> u64 {
    tail & (u64::MAX >> 8)
}

fn half(chunk: u64) -> u64 {
    chunk & u64::from(u32::MAX)
}
