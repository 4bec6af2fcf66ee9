//! Globs, which people write, and the wildcards that each glob consists of.
//!
//! Readers of another syntax with wildcards, such as keys of gjson and patterns of OpenSSH, build [`Wildcards`] themselves.

mod class;
mod error;
mod wildcards;

#[cfg(test)]
mod tests;

pub use class::CharacterClass;
pub use error::GlobError;
pub use wildcards::{Wildcard, Wildcards};

use wildcards::matched_beginnings;

/// Maximum length of a glob in bytes.
const MAX_LENGTH: usize = 1024;
/// Maximum number of alternatives that the braces of a glob make.
const MAX_ALTERNATIVES: usize = 64;

/// Pattern that matches all of a text or of a path.
///
/// `*` stands for any characters, `?` for one, `[a-z]` for one of these, `[!a-z]` and `[^a-z]` for one of the others,
/// `[[:alpha:]]` for one of a POSIX class, and `{a,b}` for alternatives. A backslash makes the next character an ordinary
/// one. A byte that is not UTF-8 is a character that `*`, `?` and `[!a-z]` match.
///
/// Matching takes time proportional to the product of the lengths of glob and text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob {
    written: Box<str>,
    alternatives: Vec<GlobAlternative>,
}

/// Kind of the texts that a glob matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobKind {
    /// Texts, in which `/` has no meaning of its own.
    Text,
    /// Paths: no wildcard matches `/`, but the component `**` stands for any number of components, none included.
    Path,
}

/// One of the patterns that braces make.
#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobAlternative {
    /// Pattern of a text, or of one path.
    Text(Wildcards),
    /// Pattern of paths with wildcards.
    Path(Vec<PathComponent>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum PathComponent {
    /// `**`.
    AnyComponents,
    Name(Wildcards),
}

impl Glob {
    /// Parses a glob. Everything that is not in the description of [`Glob`] is an error.
    pub fn parse(written: &str, kind: GlobKind) -> Result<Self, GlobError> {
        if written.len() > MAX_LENGTH {
            return Err(GlobError::TooLong);
        }
        let alternatives = alternatives(written, kind)?.into_iter();
        let alternatives = alternatives.map(|wildcards| GlobAlternative::new(wildcards, kind));
        Ok(Self { written: written.into(), alternatives: alternatives.collect::<Result<_, _>>()? })
    }

    /// Returns the glob as it is written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns `true` if the glob matches all of the text.
    pub fn matches(&self, text: impl AsRef<[u8]>) -> bool {
        let text = text.as_ref();
        self.alternatives.iter().any(|alternative| match alternative {
            GlobAlternative::Text(wildcards) => wildcards.matches(text),
            GlobAlternative::Path(components) => reached(components, names(text)).ends_with(&[true]),
        })
    }

    /// Returns `true` if the glob may match a text that begins so.
    pub fn may_match_prefix(&self, prefix: impl AsRef<[u8]>) -> bool {
        let prefix = prefix.as_ref();
        self.alternatives.iter().any(|alternative| match alternative {
            GlobAlternative::Text(wildcards) => wildcards.may_match_prefix(prefix),
            GlobAlternative::Path(components) => may_match_path_prefix(components, prefix),
        })
    }

    /// Returns the texts that the glob matches, if it has no wildcards.
    pub fn literals(&self) -> Option<Vec<&str>> {
        let literals = self.alternatives.iter().map(|alternative| match alternative {
            GlobAlternative::Text(wildcards) => wildcards.literal(),
            GlobAlternative::Path(_) => None,
        });
        literals.collect()
    }

    /// Returns `true` if each alternative of the glob of a path begins with `/` or with the component `**`.
    pub fn begins_at_root(&self) -> bool {
        self.alternatives.iter().all(|alternative| match alternative {
            GlobAlternative::Text(wildcards) => wildcards.literal().is_some_and(|path| path.starts_with('/')),
            GlobAlternative::Path(components) => match components.first() {
                Some(PathComponent::Name(name)) => name.literal() == Some(""),
                first => first.is_some(),
            },
        })
    }
}

impl GlobAlternative {
    fn new(wildcards: Vec<Wildcard>, kind: GlobKind) -> Result<Self, GlobError> {
        let is_literal = wildcards.iter().all(|wildcard| matches!(wildcard, Wildcard::Character(_)));
        if is_literal || kind == GlobKind::Text {
            return Ok(Self::Text(wildcards.into_iter().collect()));
        }
        let components = wildcards.split(|wildcard| *wildcard == Wildcard::Character('/'));
        components.map(PathComponent::new).collect::<Result<_, _>>().map(Self::Path)
    }
}

impl PathComponent {
    fn new(wildcards: &[Wildcard]) -> Result<Self, GlobError> {
        const STARS: [Wildcard; 2] = [Wildcard::AnyCharacters, Wildcard::AnyCharacters];
        if wildcards == STARS {
            return Ok(Self::AnyComponents);
        }
        if wildcards.windows(2).any(|pair| pair == STARS) {
            return Err(GlobError::StarsInName);
        }
        Ok(Self::Name(wildcards.iter().cloned().collect()))
    }
}

/// Returns the wildcards of each alternative. Braces can't be nested.
fn alternatives(written: &str, kind: GlobKind) -> Result<Vec<Vec<Wildcard>>, GlobError> {
    let mut alternatives = vec![Vec::new()];
    let mut choices: Option<Vec<Vec<Wildcard>>> = None;
    let mut characters = written.chars();
    while let Some(character) = characters.next() {
        let wildcard = match (character, &mut choices) {
            ('{', Some(_)) => return Err(GlobError::NestedBraces),
            ('{', None) => {
                choices = Some(vec![Vec::new()]);
                continue;
            }
            (',', Some(choices)) => {
                choices.push(Vec::new());
                continue;
            }
            ('}', _) => {
                let choices = choices.take().ok_or(GlobError::Braces)?;
                if alternatives.len() * choices.len() > MAX_ALTERNATIVES {
                    return Err(GlobError::TooManyAlternatives);
                }
                let joined =
                    |before: &Vec<_>| choices.iter().map(|choice| [&**before, choice].concat()).collect();
                alternatives = alternatives.iter().flat_map::<Vec<_>, _>(joined).collect();
                continue;
            }
            ('\\', _) => Wildcard::Character(characters.next().ok_or(GlobError::Backslash)?),
            ('?', _) => Wildcard::AnyCharacter,
            ('*', _) => Wildcard::AnyCharacters,
            ('[', _) => Wildcard::OneOf(CharacterClass::parse(&mut characters, kind)?),
            (character, _) => Wildcard::Character(character),
        };
        match choices.as_mut().and_then(|choices| choices.last_mut()) {
            Some(choice) => choice.push(wildcard),
            None => alternatives.iter_mut().for_each(|before| before.push(wildcard.clone())),
        }
    }
    if choices.is_some() { Err(GlobError::Braces) } else { Ok(alternatives) }
}

fn names(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
}

fn reached<'n>(components: &[PathComponent], names: impl Iterator<Item = &'n [u8]>) -> Vec<bool> {
    matched_beginnings(
        components,
        names,
        |component| *component == PathComponent::AnyComponents,
        |component, name| matches!(component, PathComponent::Name(wildcards) if wildcards.matches(name)),
    )
}

fn may_match_path_prefix(components: &[PathComponent], prefix: &[u8]) -> bool {
    let mut names: Vec<&[u8]> = names(prefix).collect();
    let last = names.pop().unwrap_or_default();
    let reached = reached(components, names.into_iter());
    let mut ends =
        (0..).zip(reached).filter(|(_, is_reached)| *is_reached).map(|(end, _)| components.split_at(end));
    ends.any(|(before, rest)| match (before.last(), rest.first()) {
        (Some(PathComponent::AnyComponents), _) => true,
        (_, Some(PathComponent::Name(name))) => name.may_match_prefix(last),
        _ => false,
    })
}
