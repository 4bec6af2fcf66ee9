//! Classes of characters: `[a-z]`, `[!a-z]` and `[[:alpha:]]`.

use std::str::Chars;

use super::{GlobError, GlobKind};

/// Class of characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharacterClass {
    is_negated: bool,
    ranges: Vec<(char, char)>,
}

/// Ranges of the POSIX classes, in ASCII whatever the locale.
pub(super) const CLASSES: [(&str, &[(char, char)]); 12] = [
    ("alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')]),
    ("alpha", &[('A', 'Z'), ('a', 'z')]),
    ("blank", &[(' ', ' '), ('\t', '\t')]),
    ("cntrl", &[('\0', '\x1f'), ('\x7f', '\x7f')]),
    ("digit", &[('0', '9')]),
    ("graph", &[('!', '~')]),
    ("lower", &[('a', 'z')]),
    ("print", &[(' ', '~')]),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')]),
    ("space", &[(' ', ' '), ('\t', '\r')]),
    ("upper", &[('A', 'Z')]),
    ("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')]),
];

impl CharacterClass {
    /// Parses a class, from behind its opening bracket to behind its closing one.
    pub(super) fn parse(characters: &mut Chars<'_>, kind: GlobKind) -> Result<Self, GlobError> {
        let text = characters.as_str();
        let positive = text.strip_prefix(['!', '^']).unwrap_or(text);
        *characters = positive.chars();
        let is_unclosed =
            if positive.starts_with(']') { GlobError::EmptyClass } else { GlobError::OpenClass };
        let mut ranges = Vec::new();
        loop {
            let rest = characters.as_str();
            match characters.next().ok_or_else(|| is_unclosed.clone())? {
                // A bracket right at the beginning is one of the characters.
                ']' if rest.len() < positive.len() => break,
                '[' if characters.as_str().starts_with(':') => {
                    ranges.extend_from_slice(named(characters)?);
                    if begins_range(characters) {
                        return Err(GlobError::ClassInRange);
                    }
                }
                first => {
                    let first = member(first, characters)?;
                    let mut last = first;
                    if begins_range(characters) {
                        let end = characters.nth(1).ok_or(GlobError::OpenClass)?;
                        if end == '[' && characters.as_str().starts_with(':') {
                            return Err(GlobError::ClassInRange);
                        }
                        last = member(end, characters)?;
                    }
                    if last < first {
                        return Err(GlobError::Range);
                    }
                    ranges.push((first, last));
                }
            }
        }
        let colon = (':', ':');
        if ranges.len() > 2 && ranges.first() == Some(&colon) && ranges.last() == Some(&colon) {
            return Err(GlobError::BareClass);
        }
        if kind == GlobKind::Path && ranges.contains(&('/', '/')) {
            return Err(GlobError::SlashInClass);
        }
        Ok(Self { is_negated: positive.len() < text.len(), ranges })
    }

    /// Returns `true` if a character is in the class. `None` is a byte that is not UTF-8.
    pub(super) fn contains(&self, character: Option<char>) -> bool {
        let is_in = |character| self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
        character.is_some_and(is_in) != self.is_negated
    }
}

/// Returns a character that stands for itself, or the one behind a backslash.
fn member(character: char, rest: &mut Chars<'_>) -> Result<char, GlobError> {
    match character {
        '\\' => rest.next().ok_or(GlobError::OpenClass),
        '[' if rest.as_str().starts_with(['.', '=']) => Err(GlobError::Collation),
        character => Ok(character),
    }
}

/// Returns `true` before the `-` of a range. Before the closing bracket, `-` is one of the characters.
fn begins_range(rest: &Chars<'_>) -> bool {
    rest.as_str().strip_prefix('-').is_some_and(|end| !end.starts_with(']'))
}

/// Returns the ranges of a class such as `[:alpha:]`, from behind its `[`.
fn named(characters: &mut Chars<'_>) -> Result<&'static [(char, char)], GlobError> {
    let (name, rest) = characters.as_str()[1..].split_once(":]").ok_or(GlobError::OpenClass)?;
    let found = CLASSES.iter().find(|(known, _)| *known == name);
    *characters = rest.chars();
    found.map(|(_, ranges)| *ranges).ok_or_else(|| GlobError::UnknownClass(name.to_owned()))
}
