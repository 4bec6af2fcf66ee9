//! Redaction of secret values.
//!
//! A [`Redactor`] finds values in every form in which programs may write them: in texts, in streams that come
//! in pieces ([`StreamRedactor`]) and in events. All parts of a run share [`Secrets`].
//!
//! This crate must never show a value in an error, a log message or a debug output, and errs on the side of redacting
//! too much.

mod class;
mod encoder;
mod encodings;
mod event;
mod filter;
mod index;
mod parts;
mod prefixes;
mod probable;
#[cfg(test)]
mod reference;
mod secrets;
mod stream;
mod trie;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ccm_model::MIN_SECRET_LENGTH;

use index::{FormIndex, FoundForms};

pub use probable::is_probably_secret;
pub use secrets::Secrets;
pub use stream::StreamRedactor;

pub use ccm_model::REDACTED;

/// Marks at the end of a shortened text. A value before the mark may lack its end.
const CUTS: [&str; 2] = ["…", "..."];

/// Replaces secret values by [`REDACTED`], except for those of less than 4 bytes, which too many words
/// contain.
pub struct Redactor {
    /// Index, shared with redactors of earlier and later values.
    index: Arc<Mutex<FormIndex>>,
    /// Parts of the index that are redacted.
    limit: u32,
}

impl Redactor {
    /// Builds a redactor for values.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        Self::default().with(values).unwrap_or_default()
    }

    /// Builds a redactor for more values, at a cost that does not depend on the known ones. `None` if all are
    /// known.
    fn with<'v>(&self, values: impl IntoIterator<Item = &'v str>) -> Option<Self> {
        let mut index = self.index();
        values.into_iter().for_each(|value| index.add(value));
        let limit = index.limit();
        (limit > self.limit).then(|| Self { index: Arc::clone(&self.index), limit })
    }

    /// Locks the index. The lock is held for one text at a time, never during output.
    fn index(&self) -> MutexGuard<'_, FormIndex> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if there are no values.
    pub fn is_empty(&self) -> bool {
        self.limit == 0
    }

    /// Returns `true` if bytes contain a value.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        !self.is_empty() && self.index().finds(self.limit, bytes)
    }

    /// Returns the ranges of the values in bytes, in order. Ranges that overlap are united.
    pub fn hidden(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.index().search(self.limit, bytes, &[]).hidden
    }

    /// Returns a text with redacted values, and without the beginning of a value at a cut (`…`, `...`).
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replace(text, self.hidden_in_text(text))
    }

    pub(crate) fn redact_uncut<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replace(text, self.hidden(text.as_bytes()))
    }

    /// Returns the ranges of a text that [`Self::redact`] replaces, in order.
    pub fn hidden_in_text(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        let cuts = cuts(text);
        let FoundForms { mut hidden, unfinished } = self.index().search(self.limit, text.as_bytes(), &cuts);
        let beginnings = unfinished.into_iter().zip(cuts).map(|(from, cut)| from..cut);
        let whole = beginnings.filter(|range| range.len() >= MIN_SECRET_LENGTH);
        let before = hidden.len();
        hidden.extend(whole.filter(|range| text.is_char_boundary(range.start)));
        if hidden.len() > before {
            hidden = united(hidden);
        }
        hidden
    }

    /// Returns a text in which every line with a value is replaced, except its first character, which may be
    /// the mark of the line in a diff.
    pub fn redact_lines<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.hidden_in_text(text).is_empty() {
            return Cow::Borrowed(text);
        }
        let mut shown = String::with_capacity(text.len());
        for line in text.split_inclusive('\n') {
            if self.hidden_in_text(line).is_empty() {
                shown += line;
            } else {
                shown.extend(line.chars().next());
                shown += REDACTED;
                shown += if line.ends_with('\n') { "\n" } else { "" };
            }
        }
        // A value over several lines is not found line by line.
        Cow::Owned(self.redact(&shown).into_owned())
    }
}

/// Returns the positions of the marks of shortened texts, in order.
fn cuts(text: &str) -> Vec<usize> {
    // Most texts have not even the first byte of a mark, which shows faster than a search.
    let is_first = |byte: u8| CUTS.iter().any(|cut| cut.as_bytes().first() == Some(&byte));
    if !text.bytes().any(is_first) {
        return Vec::new();
    }
    let mut cuts: Vec<usize> =
        CUTS.iter().flat_map(|cut| text.match_indices(cut)).map(|(at, _)| at).collect();
    cuts.sort_unstable();
    cuts
}

fn replace(text: &str, hidden: Vec<Range<usize>>) -> Cow<'_, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for range in hidden {
        // Values and their forms consist of whole characters.
        shown += text.get(at..range.start).unwrap_or_default();
        shown += REDACTED;
        at = range.end;
    }
    shown += text.get(at..).unwrap_or_default();
    Cow::Owned(shown)
}

/// Unites ranges that overlap.
fn united(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| range.start);
    let mut united: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match united.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => united.push(range),
        }
    }
    united
}

/// A redactor without values.
impl Default for Redactor {
    fn default() -> Self {
        Self { index: Arc::default(), limit: 0 }
    }
}

/// Prints no value.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
