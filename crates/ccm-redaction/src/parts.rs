//! Secrets, and the parts of them that are searched for.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::ops::Range;

use super::MIN_SECRET_LENGTH;
use super::encodings::SecretPart;
use super::filter::KeyHash;

/// Minimum length of a line of a secret that is hidden by itself.
const MIN_LINE_LENGTH: usize = 8;
/// Length of a piece of a value. A value of less than twice this length is not cut.
const PIECE_LENGTH: usize = 1024;
/// Length of a piece of repetitive text. Longer pieces would be compared again at each byte of such a text.
const REPETITIVE_PIECE_LENGTH: usize = 64;
/// Number of bytes that two neighbouring pieces share, so that no base64 digit is missed between them.
const OVERLAP: usize = 4;
/// Maximum number of trailing blank bytes that belong to a value.
const MAX_BLANKS: usize = 64;

#[derive(Default)]
pub(super) struct Parts {
    secrets: Vec<Box<str>>,
    stored: Vec<StoredPart>,
    /// Ids of parts, by the hashes of their values, and of their values with the trailing blanks.
    by_text: HashMap<u64, u32, KeyHash>,
    hasher: KeyHash,
}

#[derive(Clone, Copy)]
struct StoredPart {
    secret: usize,
    start: usize,
    body: u16,
    length: u16,
}

impl Parts {
    /// Adds a secret, and returns the ids of its new parts.
    pub(super) fn add(&mut self, secret: &str) -> Range<u32> {
        let before = self.next_id();
        self.secrets.push(secret.into());
        cut_into_parts(secret, &mut |part, body| self.store(part, body));
        let new = before..self.next_id();
        if new.is_empty() {
            self.secrets.pop();
        }
        new
    }

    pub(super) fn get(&self, id: u32) -> SecretPart<'_> {
        let part = usize::try_from(id).ok().and_then(|id| self.stored.get(id));
        part.map_or(SecretPart { text: "", body: 0 }, |part| self.read(*part))
    }

    fn read(&self, part: StoredPart) -> SecretPart<'_> {
        let end = part.start + usize::from(part.length);
        let text = self.secrets.get(part.secret).and_then(|secret| secret.get(part.start..end));
        SecretPart { text: text.unwrap_or_default(), body: usize::from(part.body) }
    }

    pub(super) fn next_id(&self) -> u32 {
        // Memory runs out before the ids do.
        u32::try_from(self.stored.len()).unwrap_or(u32::MAX)
    }

    /// Stores a part of the last secret, unless it is known.
    fn store(&mut self, part: Range<usize>, body: usize) {
        let length = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
        let secret = self.secrets.len().saturating_sub(1);
        let stored = StoredPart { secret, start: part.start, body: length(body), length: length(part.len()) };
        let SecretPart { text, body } = self.read(stored);
        let value = text.get(..body).unwrap_or_default();
        let [of_text, of_value] = [text, value].map(|part| self.hasher.hash_one(part));
        // A form ends with the value or with all of its blanks, so that other blanks are another part.
        let is_known = |known: SecretPart<'_>| {
            known.text.get(..known.body) == Some(value) && (text == value || known.text == text)
        };
        if self.by_text.get(&of_text).is_some_and(|id| is_known(self.get(*id))) {
            return;
        }
        let id = self.next_id();
        self.by_text.extend([(of_text, id), (of_value, id)]);
        self.stored.push(stored);
    }
}

/// Cuts a secret into ranges of parts, each with the length of its value without trailing blanks.
fn cut_into_parts(secret: &str, store: &mut dyn FnMut(Range<usize>, usize)) {
    let leading = secret.len() - secret.trim_start().len();
    cut_from(secret, 0, store);
    if leading > 0 {
        cut_from(secret, leading, store);
    }
    if !secret.contains('\n') {
        return;
    }
    let mut start = 0;
    for line in secret.split_inclusive('\n') {
        let end = start + line.len();
        let value = line.trim();
        if value.len() >= MIN_LINE_LENGTH {
            let value_start = start + line.len() - line.trim_start().len();
            let value_end = value_start + value.len();
            cut_pieces(secret, value_start..value_end, value_end, store);
        } else if !value.is_empty() {
            let line = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
            if line.len() >= MIN_LINE_LENGTH {
                cut_pieces(secret, start..start + line.len(), start + line.len(), store);
            }
        }
        start = end;
    }
}

/// Cuts the secret from an offset to its end.
fn cut_from(secret: &str, start: usize, store: &mut dyn FnMut(Range<usize>, usize)) {
    let text = secret.get(start..).unwrap_or_default();
    if text.len() < MIN_SECRET_LENGTH {
        return;
    }
    let trimmed = text.trim_end().len();
    if trimmed < MIN_SECRET_LENGTH {
        cut_pieces(secret, start..secret.len(), secret.len(), store);
    } else {
        let end = floor_char_boundary(secret, (start + trimmed + MAX_BLANKS).min(secret.len()));
        cut_pieces(secret, start..start + trimmed, end, store);
    }
}

/// Cuts a long value into pieces, none of them short. The last piece includes the blanks up to `end`.
fn cut_pieces(secret: &str, value: Range<usize>, end: usize, store: &mut dyn FnMut(Range<usize>, usize)) {
    let is_repetitive = secret.as_bytes().get(value.clone()).is_some_and(is_repetitive);
    let length = if is_repetitive { REPETITIVE_PIECE_LENGTH } else { PIECE_LENGTH };
    let mut start = value.start;
    while value.end - start >= 2 * length {
        let end = floor_char_boundary(secret, start + length);
        store(start..end, end - start);
        start = floor_char_boundary(secret, end - OVERLAP);
    }
    store(start..end, value.end - start);
}

/// Rounds an offset down to the boundary of a character.
fn floor_char_boundary(text: &str, offset: usize) -> usize {
    (0..=offset).rev().find(|offset| text.is_char_boundary(*offset)).unwrap_or_default()
}

/// Returns `true` if a text begins with repetitions of a few bytes.
fn is_repetitive(text: &[u8]) -> bool {
    [128, 512].into_iter().filter_map(|length| text.get(..length)).any(|beginning| {
        (1..=beginning.len() / 8).any(|period| beginning[period..] == beginning[..beginning.len() - period])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_parts_are_kept_once() {
        let mut parts = Parts::default();
        assert_eq!(parts.add("first line\nsecond line"), 0..3);
        for known in ["first line\nsecond line", "second line", "  first line"] {
            let new = parts.add(known);
            assert_eq!(new.len(), usize::from(known.starts_with(' ')), "only the blanks before it are new");
        }
        assert_eq!(parts.secrets.len(), 2);
    }

    #[test]
    fn a_line_becomes_a_part_with_its_trailing_blanks() {
        let mut parts = Parts::default();
        parts.add("first line\nsecond line\n");
        let new = parts.add("first line\n \n");
        let SecretPart { text, body } = parts.get(new.start);
        assert_eq!((text, body, new.len()), ("first line\n \n", 10, 1));
        assert_eq!(parts.add("first line\n").len(), 1, "fewer blanks are another part");
        for known in ["first line", "first line\n", "first line\n \n"] {
            assert!(parts.add(known).is_empty(), "{known:?}");
        }
    }
}
