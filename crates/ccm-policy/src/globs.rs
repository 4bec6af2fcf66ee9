//! Globs of words and of absolute paths in a policy. Matching takes time proportional to the lengths of glob and text.
//!
//! The globs of `ignore` are others, in `ccm-resources`: they match relative paths of any bytes, component by component,
//! have no braces, and a name alone matches at any depth. A policy judges decoded words, which are text, and asks
//! whether a glob may match what a part of a path begins.

use std::fmt;

/// Maximum number of alternatives that the braces of a glob make.
const MAX_ALTERNATIVES: usize = 64;
/// Maximum length of a glob in bytes.
const MAX_LENGTH: usize = 1024;
/// Characters with a meaning of their own.
const SPECIAL: [char; 6] = ['\\', '?', '*', '[', '{', '}'];

/// Glob of a word or of a path.
///
/// `*` stands for any characters, `?` for one, `[a-z]` for one of a class and `{a,b}` for alternatives; a backslash
/// makes the next character an ordinary one. In a path, `*` and `?` do not match `/`, and `**` matches any number of
/// components; `/etc/**` matches `/etc` as well.
#[derive(Clone, PartialEq, Eq)]
pub struct PolicyGlob {
    written: String,
    alternatives: Vec<GlobAlternative>,
    kind: GlobKind,
}

/// One of the texts that braces make.
#[derive(Clone, PartialEq, Eq)]
struct GlobAlternative {
    /// Characters before the first wildcard.
    prefix: String,
    /// The rest, from the first wildcard on.
    rest: Vec<GlobToken>,
}

/// Kind of the texts that a glob matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobKind {
    /// Words, in which `/` has no meaning of its own.
    Word,
    /// Paths.
    Path,
}

/// Error in a glob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// A bracket is not closed.
    #[error("`[` is not closed")]
    OpenClass,
    /// A brace is not closed, or not opened.
    #[error("`{{` and `}}` do not match")]
    Braces,
    /// Braces within braces.
    #[error("braces within braces are not supported")]
    NestedBraces,
    /// A range of a class ends before it begins.
    #[error("a range in `[…]` ends before it begins")]
    Range,
    /// A class is empty.
    #[error("`[]` matches nothing")]
    EmptyClass,
    /// A backslash at the end.
    #[error("a backslash at the end has no meaning")]
    Backslash,
    /// The glob is too long or has too many alternatives.
    #[error("the glob is too long")]
    TooLong,
    /// A path does not begin with a slash.
    #[error("a path begins with `/` or `**`")]
    RelativePath,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum GlobToken {
    Character(char),
    Any,
    AnySequence,
    /// `**` in a path: any characters, slashes included.
    AnyPath,
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
}

impl PolicyGlob {
    /// Parses a glob.
    pub fn parse(written: &str, kind: GlobKind) -> Result<Self, GlobError> {
        if written.len() > MAX_LENGTH {
            return Err(GlobError::TooLong);
        }
        if kind == GlobKind::Path && !written.starts_with(['/', '*', '{']) {
            return Err(GlobError::RelativePath);
        }
        if !written.contains(SPECIAL) {
            let only = GlobAlternative { prefix: written.to_owned(), rest: Vec::new() };
            return Ok(Self { written: written.to_owned(), alternatives: vec![only], kind });
        }
        let mut alternatives = Vec::new();
        for text in expand_braces(written)? {
            if kind == GlobKind::Path && !(text.starts_with('/') || text.starts_with("**")) {
                return Err(GlobError::RelativePath);
            }
            // `/etc/**` is about the directory as well.
            if kind == GlobKind::Path
                && let Some(directory) = text.strip_suffix("/**").filter(|directory| !directory.is_empty())
            {
                alternatives.push(GlobAlternative::parse(directory, kind)?);
            }
            alternatives.push(GlobAlternative::parse(&text, kind)?);
        }
        Ok(Self { written: written.to_owned(), alternatives, kind })
    }

    /// Returns the glob as it is written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns `true` if the glob matches all of the text.
    pub fn matches(&self, text: &str) -> bool {
        self.alternatives.iter().any(|alternative| match text.strip_prefix(&*alternative.prefix) {
            Some(rest) if alternative.rest.is_empty() => rest.is_empty(),
            Some(rest) => matches(&alternative.rest, rest, self.kind, false),
            None => false,
        })
    }

    /// Returns `true` if the glob may match a text that begins so.
    pub fn may_match_prefix(&self, prefix: &str) -> bool {
        self.alternatives.iter().any(|alternative| match prefix.strip_prefix(&*alternative.prefix) {
            Some(rest) => matches(&alternative.rest, rest, self.kind, true),
            None => alternative.prefix.starts_with(prefix),
        })
    }

    /// Returns the texts that the glob matches, if it has no wildcards.
    pub(crate) fn literals(&self) -> Option<Vec<&str>> {
        let has_wildcard = self.alternatives.iter().any(|alternative| !alternative.rest.is_empty());
        (!has_wildcard).then(|| self.alternatives.iter().map(|alternative| &*alternative.prefix).collect())
    }

    /// Returns the only text that the glob matches, if it has no wildcards.
    pub fn literal(&self) -> Option<String> {
        match &*self.alternatives {
            [only] if only.rest.is_empty() => Some(only.prefix.clone()),
            _ => None,
        }
    }
}

impl GlobAlternative {
    fn parse(text: &str, kind: GlobKind) -> Result<Self, GlobError> {
        if !text.contains(SPECIAL) {
            return Ok(Self { prefix: text.to_owned(), rest: Vec::new() });
        }
        let mut prefix = String::new();
        let mut rest = Vec::new();
        for token in tokens(text, kind)? {
            match token {
                GlobToken::Character(character) if rest.is_empty() => prefix.push(character),
                token => rest.push(token),
            }
        }
        Ok(Self { prefix, rest })
    }
}

impl fmt::Debug for PolicyGlob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PolicyGlob({:?})", self.written)
    }
}

impl fmt::Display for PolicyGlob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.written)
    }
}

/// Returns the texts that braces make. Escapes are kept.
fn expand_braces(written: &str) -> Result<Vec<String>, GlobError> {
    if !written.contains(SPECIAL) {
        return Ok(vec![written.to_owned()]);
    }
    let mut texts = vec![String::new()];
    let mut choices: Option<Vec<String>> = None;
    let mut characters = written.chars();
    let mut in_class = false;
    while let Some(character) = characters.next() {
        let mut piece = String::from(character);
        match character {
            '\\' => piece.push(characters.next().ok_or(GlobError::Backslash)?),
            '[' => in_class = true,
            ']' => in_class = false,
            '{' if !in_class => {
                if choices.is_some() {
                    return Err(GlobError::NestedBraces);
                }
                choices = Some(vec![String::new()]);
                continue;
            }
            ',' if !in_class && choices.is_some() => {
                if let Some(choices) = &mut choices {
                    choices.push(String::new());
                }
                continue;
            }
            '}' if !in_class => {
                let choices = choices.take().ok_or(GlobError::Braces)?;
                if texts.len() * choices.len() > MAX_ALTERNATIVES {
                    return Err(GlobError::TooLong);
                }
                texts = texts
                    .iter()
                    .flat_map(|text| choices.iter().map(move |choice| format!("{text}{choice}")))
                    .collect();
                continue;
            }
            _ => {}
        }
        match &mut choices {
            Some(choices) => {
                if let Some(last) = choices.last_mut() {
                    last.push_str(&piece);
                }
            }
            None => texts.iter_mut().for_each(|text| text.push_str(&piece)),
        }
    }
    if choices.is_some() { Err(GlobError::Braces) } else { Ok(texts) }
}

fn tokens(text: &str, kind: GlobKind) -> Result<Vec<GlobToken>, GlobError> {
    let mut tokens = Vec::new();
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        tokens.push(match character {
            '\\' => GlobToken::Character(characters.next().ok_or(GlobError::Backslash)?),
            '?' => GlobToken::Any,
            '*' => {
                let mut stars = 1;
                while characters.next_if_eq(&'*').is_some() {
                    stars += 1;
                }
                if stars > 1 && kind == GlobKind::Path { GlobToken::AnyPath } else { GlobToken::AnySequence }
            }
            '[' => class(&mut characters)?,
            character => GlobToken::Character(character),
        });
    }
    Ok(tokens)
}

fn class(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<GlobToken, GlobError> {
    let is_negated = characters.next_if(|character| matches!(character, '!' | '^')).is_some();
    let mut ranges = Vec::new();
    loop {
        let first = match characters.next().ok_or(GlobError::OpenClass)? {
            ']' if ranges.is_empty() => return Err(GlobError::EmptyClass),
            ']' => return Ok(GlobToken::Class { is_negated, ranges }),
            '\\' => characters.next().ok_or(GlobError::OpenClass)?,
            first => first,
        };
        let mut last = first;
        let mut ahead = characters.clone();
        if ahead.next() == Some('-') && ahead.peek().is_some_and(|next| *next != ']') {
            characters.next();
            last = match characters.next().ok_or(GlobError::OpenClass)? {
                '\\' => characters.next().ok_or(GlobError::OpenClass)?,
                last => last,
            };
        }
        if last < first {
            return Err(GlobError::Range);
        }
        ranges.push((first, last));
    }
}

/// Follows all ways through the tokens at once.
fn matches(tokens: &[GlobToken], text: &str, kind: GlobKind, is_prefix: bool) -> bool {
    let mut reached = vec![false; tokens.len() + 1];
    let mut next = reached.clone();
    reached[0] = true;
    skip_empty(tokens, &mut reached);
    for character in text.chars() {
        next.fill(false);
        let is_slash = kind == GlobKind::Path && character == '/';
        for (at, token) in tokens.iter().enumerate().filter(|(at, _)| reached[*at]) {
            match token {
                GlobToken::Character(expected) => next[at + 1] |= *expected == character,
                GlobToken::Any => next[at + 1] |= !is_slash,
                GlobToken::AnySequence => next[at] |= !is_slash,
                GlobToken::AnyPath => next[at] = true,
                GlobToken::Class { is_negated, ranges } => {
                    let is_in = ranges.iter().any(|(first, last)| (*first..=*last).contains(&character));
                    next[at + 1] |= is_in != *is_negated && !is_slash;
                }
            }
        }
        skip_empty(tokens, &mut next);
        std::mem::swap(&mut reached, &mut next);
        if !reached.contains(&true) {
            return false;
        }
    }
    is_prefix || reached[tokens.len()]
}

/// Marks what a wildcard reaches without a character.
fn skip_empty(tokens: &[GlobToken], reached: &mut [bool]) {
    for (at, token) in tokens.iter().enumerate() {
        if reached[at] && matches!(token, GlobToken::AnySequence | GlobToken::AnyPath) {
            reached[at + 1] = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_match(kind: GlobKind, glob: &str, text: &str) -> bool {
        PolicyGlob::parse(glob, kind).expect("a glob").matches(text)
    }

    #[test]
    fn words_match() {
        for (glob, text, expected) in [
            ("feature-*", "feature-x", true),
            ("feature-*", "feature-x/y", true),
            ("feature-*", "feature", false),
            ("feature-*", "main", false),
            ("*", "", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[a-c]x", "bx", true),
            ("[!a-c]x", "bx", false),
            ("{nginx,app}", "app", true),
            ("{nginx,app}", "apps", false),
            ("service#{nginx,app}", "service#nginx", true),
            (r"\*", "*", true),
            (r"\*", "x", false),
            ("*a*b*c*", "xxaxxbxxcxx", true),
            ("*a*b*c*", "xxaxxcxxbxx", false),
            ("**", "anything/at all", true),
            ("größe-?", "größe-ß", true),
        ] {
            assert_eq!(is_match(GlobKind::Word, glob, text), expected, "{glob} {text}");
        }
    }

    #[test]
    fn paths_match_by_component() {
        for (glob, text, expected) in [
            ("/etc/**", "/etc/nginx/nginx.conf", true),
            ("/etc/**", "/etc", true),
            ("/etc/**", "/etcetera", false),
            ("/etc/*", "/etc/nginx/nginx.conf", false),
            ("/etc/*.conf", "/etc/a.conf", true),
            ("/**/secret", "/a/b/secret", true),
            ("/**", "/", true),
            ("/srv/?", "/srv/a", true),
            ("/srv/?", "/srv//", false),
            ("/{etc,usr}/**", "/usr/bin/x", true),
        ] {
            assert_eq!(is_match(GlobKind::Path, glob, text), expected, "{glob} {text}");
        }
    }

    #[test]
    fn a_prefix_may_match() {
        let glob = PolicyGlob::parse("/etc/**", GlobKind::Path).expect("a glob");
        assert!(glob.may_match_prefix("/e") && glob.may_match_prefix("/etc/x/"));
        assert!(!glob.may_match_prefix("/srv/"));
    }

    #[test]
    fn bad_globs_are_errors() {
        for (glob, kind, error) in [
            ("[a", GlobKind::Word, GlobError::OpenClass),
            ("[]", GlobKind::Word, GlobError::EmptyClass),
            ("[b-a]", GlobKind::Word, GlobError::Range),
            ("{a", GlobKind::Word, GlobError::Braces),
            ("a}", GlobKind::Word, GlobError::Braces),
            ("{a,{b,c}}", GlobKind::Word, GlobError::NestedBraces),
            ("a\\", GlobKind::Word, GlobError::Backslash),
            ("etc/x", GlobKind::Path, GlobError::RelativePath),
            ("{/a,b}", GlobKind::Path, GlobError::RelativePath),
        ] {
            assert_eq!(PolicyGlob::parse(glob, kind), Err(error), "{glob}");
        }
        assert_eq!(PolicyGlob::parse(&"{a,b}".repeat(20), GlobKind::Word), Err(GlobError::TooLong));
        assert_eq!(PolicyGlob::parse(&"a".repeat(2000), GlobKind::Word), Err(GlobError::TooLong));
    }

    #[test]
    fn hostile_globs_take_no_time() {
        let glob = PolicyGlob::parse(&"*a".repeat(500), GlobKind::Word).expect("a glob");
        assert!(!glob.matches(&format!("{}b", "a".repeat(2000))));
    }
}
