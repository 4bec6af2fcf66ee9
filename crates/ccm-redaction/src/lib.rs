//! Hiding values that must not be shown.
//!
//! A [`Redactor`] knows what has to be hidden and every form in which ccm may write it. It works on texts, on
//! streams that come in pieces ([`StreamRedactor`]) and on events. [`Secrets`] is what a run shares: values
//! may be added while it goes on.

mod event;
mod forms;
mod search;
mod secrets;
mod stream;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use search::Search;

pub use event::is_untold;
pub use secrets::Secrets;
pub use stream::StreamRedactor;

/// What stands in the place of a value that is not shown.
pub const REDACTED: &str = "[redacted]";

/// What cut a text short; a value before it may have lost its end.
const CUTS: [&str; 2] = ["…", "..."];

/// Replaces what must not be shown by [`REDACTED`].
///
/// A value of less than 4 bytes is in too many texts that have nothing to do with it, and is not looked for.
#[derive(Default)]
pub struct Redactor {
    search: Search,
}

impl Redactor {
    /// Builds one for these values.
    pub fn new<'v>(values: impl IntoIterator<Item = &'v str>) -> Self {
        let mut patterns = BTreeSet::new();
        for value in values {
            forms::of(value, &mut |form| {
                // What the mark itself says can't be hidden by it.
                if !REDACTED.contains(&form) {
                    patterns.insert(form.into_boxed_str());
                }
            });
        }
        let patterns: Vec<Box<str>> = patterns.into_iter().collect();
        Self { search: Search::new(&patterns) }
    }

    /// Tells whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.search.is_empty()
    }

    /// Tells whether there is something to hide in these bytes.
    pub fn finds(&self, bytes: &[u8]) -> bool {
        self.search.finds(bytes)
    }

    /// The parts of these bytes that have to be hidden, in order, each whole even where values overlap.
    pub fn hidden(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.search.matches(bytes)
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
        let mut hidden = self.search.matches(text.as_bytes());
        let cuts = CUTS.iter().flat_map(|cut| text.match_indices(cut));
        let mut beginnings: Vec<Range<usize>> = cuts
            .filter_map(|(at, _)| self.search.beginning_before(&text.as_bytes()[..at]).map(|from| from..at))
            .filter(|range| text.is_char_boundary(range.start))
            .collect();
        if !beginnings.is_empty() {
            hidden.append(&mut beginnings);
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

/// Says nothing of the values.
impl fmt::Debug for Redactor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Redactor").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
