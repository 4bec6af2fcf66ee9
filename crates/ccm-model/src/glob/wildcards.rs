//! Matching of wildcards, the core of every pattern.

use super::CharacterClass;

/// Sequence of wildcards that matches all of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wildcards {
    /// Characters before the first wildcard.
    prefix: String,
    /// The rest, from the first wildcard on.
    rest: Vec<Wildcard>,
}

/// Element of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wildcard {
    /// The character itself.
    Character(char),
    /// Any character.
    AnyCharacter,
    /// Any number of characters.
    AnyCharacters,
    /// A character of a class.
    OneOf(CharacterClass),
}

impl FromIterator<Wildcard> for Wildcards {
    fn from_iter<T: IntoIterator<Item = Wildcard>>(wildcards: T) -> Self {
        let mut found = Self::default();
        for wildcard in wildcards {
            match wildcard {
                Wildcard::Character(character) if found.rest.is_empty() => found.prefix.push(character),
                // Two stars match what one of them does.
                Wildcard::AnyCharacters if found.rest.last() == Some(&Wildcard::AnyCharacters) => {}
                wildcard => found.rest.push(wildcard),
            }
        }
        found
    }
}

impl Wildcards {
    /// Returns `true` if the wildcards match all of the text.
    pub fn matches(&self, text: impl AsRef<[u8]>) -> bool {
        match text.as_ref().strip_prefix(self.prefix.as_bytes()) {
            Some(rest) if self.rest.is_empty() => rest.is_empty(),
            // Most patterns end with their only star.
            Some(_) if self.rest == [Wildcard::AnyCharacters] => true,
            Some(rest) => self.reached(rest).ends_with(&[true]),
            None => false,
        }
    }

    /// Returns `true` if the wildcards may match a text that begins so.
    pub(super) fn may_match_prefix(&self, prefix: &[u8]) -> bool {
        match prefix.strip_prefix(self.prefix.as_bytes()) {
            Some(rest) => self.reached(rest).contains(&true),
            None => self.prefix.as_bytes().starts_with(prefix),
        }
    }

    /// Returns the only text that matches, if there are no wildcards.
    pub(super) fn literal(&self) -> Option<&str> {
        self.rest.is_empty().then_some(&*self.prefix)
    }

    /// Returns the maximum number of steps that a match with a text takes.
    pub fn steps(&self, text: impl AsRef<[u8]>) -> usize {
        text.as_ref().len().saturating_mul(self.rest.len() + 1)
    }

    fn reached(&self, text: &[u8]) -> Vec<bool> {
        let characters = text
            .utf8_chunks()
            .flat_map(|chunk| chunk.valid().chars().map(Some).chain(chunk.invalid().iter().map(|_| None)));
        matched_beginnings(
            &self.rest,
            characters,
            |wildcard| *wildcard == Wildcard::AnyCharacters,
            |wildcard, found| match wildcard {
                Wildcard::Character(character) => found == Some(*character),
                Wildcard::OneOf(class) => class.contains(found),
                Wildcard::AnyCharacter | Wildcard::AnyCharacters => true,
            },
        )
    }
}

/// Returns for each number of elements, from 0 on, if that many elements of the pattern match all items.
///
/// A star stands for any number of items, and `fits` is asked about the other elements. All ways through the pattern are
/// followed at once, so that each element meets each item at most once.
pub(super) fn matched_beginnings<P, T: Copy>(
    pattern: &[P],
    items: impl Iterator<Item = T>,
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, T) -> bool,
) -> Vec<bool> {
    let mut matched = vec![true];
    for element in pattern {
        matched.push(matched.ends_with(&[true]) && is_star(element));
    }
    for item in items {
        // Beginning that is one element shorter, with all items before this one.
        let mut shorter = std::mem::replace(&mut matched[0], false);
        let mut is_any_matched = false;
        for (at, element) in pattern.iter().enumerate() {
            let before = matched[at + 1];
            matched[at + 1] =
                if is_star(element) { before || matched[at] } else { shorter && fits(element, item) };
            is_any_matched |= matched[at + 1];
            shorter = before;
        }
        if !is_any_matched {
            break;
        }
    }
    matched
}
