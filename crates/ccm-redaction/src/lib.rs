//! Hiding values that must not be shown.
//!
//! A [`Redactor`] knows what has to be hidden and every form in which ccm may write it. It works on texts, on
//! streams that come in pieces ([`StreamRedactor`]) and on events. [`Secrets`] is what a run shares: values
//! may be added while it goes on.

mod class;
mod encoder;
mod encodings;
mod event;
mod filter;
mod index;
mod parts;
mod prefixes;
#[cfg(test)]
mod reference;
mod secrets;
mod stream;
mod trie;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ccm_model::SHORTEST_SECRET;

use index::{Found, Index};

pub use secrets::Secrets;
pub use stream::StreamRedactor;

/// What stands in the place of a value that is not shown.
pub const REDACTED: &str = "[redacted]";

/// What cut a text short; a value before it may have lost its end.
const CUTS: [&str; 2] = ["…", "..."];

/// Replaces what must not be shown by [`REDACTED`].
///
/// A value of less than 4 bytes is in too many texts that have nothing to do with it, and is not looked for.
pub struct Redactor {
    /// Shared with redactors for fewer values, and for more.
    index: Arc<Mutex<Index>>,
    /// Those of the index that are hidden.
    limit: u32,
}

impl Redactor {
    /// Builds one for these values.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        Self::default().with(values).unwrap_or_default()
    }

    /// Builds one that hides these values as well, which costs no more the more are known. Returns none if all of them
    /// are known.
    fn with<'v>(&self, values: impl IntoIterator<Item = &'v str>) -> Option<Self> {
        let mut index = self.index();
        values.into_iter().for_each(|value| index.add(value));
        let limit = index.limit();
        (limit > self.limit).then(|| Self { index: Arc::clone(&self.index), limit })
    }

    /// It is held for one text at a time, never while something is shown.
    fn index(&self) -> MutexGuard<'_, Index> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns `true` if there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.limit == 0
    }

    /// Returns `true` if there is something to hide in these bytes.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.index().finds(self.limit, bytes)
    }

    /// The parts of these bytes that have to be hidden, in order, each whole even where values overlap.
    pub fn hidden(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.index().search(self.limit, bytes, &[]).hidden
    }

    /// The text without what has to be hidden. Where a text was cut short (`…`, `...`), the beginning of a
    /// value is hidden as well.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replace(text, self.hidden_in_text(text))
    }

    /// The text without what has to be hidden, for text that nobody has cut.
    pub(crate) fn redact_uncut<'t>(&self, text: &'t str) -> Cow<'t, str> {
        replace(text, self.hidden(text.as_bytes()))
    }

    /// The parts of a text that [`Self::redact`] hides, in order.
    pub fn hidden_in_text(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut cuts: Vec<usize> =
            CUTS.iter().flat_map(|cut| text.match_indices(cut)).map(|(at, _)| at).collect();
        cuts.sort_unstable();
        let Found { mut hidden, unfinished } = self.index().search(self.limit, text.as_bytes(), &cuts);
        let beginnings = unfinished.into_iter().zip(cuts).map(|(from, cut)| from..cut);
        let whole = beginnings.filter(|range| range.len() >= SHORTEST_SECRET);
        let before = hidden.len();
        hidden.extend(whole.filter(|range| text.is_char_boundary(range.start)));
        if hidden.len() > before {
            hidden = united(hidden);
        }
        hidden
    }

    /// The text without the lines that hold something to hide: only the first character of such a line is
    /// kept, which in a diff says what becomes of it.
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
        // What goes over several lines is not found in one.
        Cow::Owned(self.redact(&shown).into_owned())
    }
}

/// Replaces parts of a text.
fn replace(text: &str, hidden: Vec<Range<usize>>) -> Cow<'_, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut at = 0;
    for range in hidden {
        // Values are whole characters, and so are the forms they are written in.
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

/// Hides nothing.
impl Default for Redactor {
    fn default() -> Self {
        Self { index: Arc::default(), limit: 0 }
    }
}

/// Shows nothing of the values.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
