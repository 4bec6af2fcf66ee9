//! Globs of `ignore`: patterns of names and relative paths in a directory, which need not be UTF-8.
//!
//! The globs of a policy are others, in `ccm-policy`: they match words and absolute paths, and have braces and escapes.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ccm_model::{DiagnosticKind, Node, Resource};
use ccm_properties::{OneOrMany, PropertyError, Text};

/// Patterns, any of which may match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Globs(Vec<Glob>);

/// Pattern of a path: `*` and `?` match within a name, `[a-z]` one of these characters, `**` any number of
/// directories. A pattern without a slash matches the name of an entry at any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Glob {
    parts: Vec<Vec<u8>>,
    is_name: bool,
}

/// Paths in a directory that a resource does not copy.
#[derive(Clone, Debug, Default)]
pub struct IgnoredPaths(Globs);

impl IgnoredPaths {
    /// Reads the property `ignore` of a resource. Patterns with errors match nothing: the type reports them.
    pub fn of(resource: &Resource) -> Self {
        let Some(node) = resource.properties.get("ignore") else { return Self::default() };
        let nodes = node.as_list().unwrap_or(std::slice::from_ref(node));
        let globs = nodes.iter().filter_map(Node::as_text).filter_map(|text| Glob::parse(text).ok());
        Self(Globs(globs.collect()))
    }

    /// Returns `true` for a path relative to the directory that is not copied.
    pub fn matches(&self, path: &Path) -> bool {
        self.0.matches(path)
    }
}

impl Globs {
    /// Checks the patterns of a property.
    pub(crate) fn build(
        property: &'static str,
        written: Option<OneOrMany<Text>>,
        errors: &mut Vec<PropertyError>,
    ) -> Self {
        let texts = written.map(|OneOrMany(texts)| texts).unwrap_or_default();
        let is_list = texts.len() > 1;
        let mut globs = Vec::new();
        for (number, text) in texts.into_iter().enumerate() {
            match Glob::parse(&text.0) {
                Ok(glob) => globs.push(glob),
                Err((message, hint)) => errors.push(
                    PropertyError::new(DiagnosticKind::InvalidValue, property, message)
                        .with_hint(hint)
                        .at_element(is_list.then_some(number)),
                ),
            }
        }
        Self(globs)
    }

    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.0.iter().any(|glob| glob.matches(path))
    }
}

impl Glob {
    pub(crate) fn parse(text: &str) -> Result<Self, (String, &'static str)> {
        let shown = text.escape_debug();
        let invalid = |reason: &str, hint| Err((format!("the pattern `{shown}` {reason}"), hint));
        let parts: Vec<Vec<u8>> = text.split('/').map(|part| part.as_bytes().to_vec()).collect();
        if text.is_empty() {
            return invalid("is empty", "write a pattern such as `*.swp`");
        }
        if parts.iter().any(Vec::is_empty) || parts.iter().any(|part| matches!(&**part, b"." | b"..")) {
            return invalid("matches no path", "write it relative to the directory, without `/` at its ends");
        }
        if parts.iter().any(|part| !is_closed(part)) {
            return invalid("has an open `[`", "close it, or write `[[]` for the character itself");
        }
        Ok(Self { is_name: parts.len() == 1 && parts[0] != b"**", parts })
    }

    pub(crate) fn matches(&self, path: &Path) -> bool {
        if self.is_name {
            return path.file_name().is_some_and(|name| matches_name(&self.parts[0], name.as_bytes()));
        }
        let names: Vec<&[u8]> = path.iter().map(OsStrExt::as_bytes).collect();
        matches_path(&self.parts, &names)
    }
}

fn matches_path(parts: &[Vec<u8>], names: &[&[u8]]) -> bool {
    match (parts.split_first(), names.split_first()) {
        (None, None) => true,
        (Some((part, rest)), _) if part == b"**" => {
            (0..=names.len()).any(|skipped| matches_path(rest, &names[skipped..]))
        }
        (Some((part, rest)), Some((name, names))) => matches_name(part, name) && matches_path(rest, names),
        _ => false,
    }
}

/// Matches a name in linear memory, and in time of the product of both lengths.
fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut position) = (0, 0);
    // Where the last `*` was, and up to where it has matched.
    let mut star: Option<(usize, usize)> = None;
    while position < name.len() {
        let matched = match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, position));
                at += 1;
                continue;
            }
            Some(b'?') => Some(1),
            Some(b'[') => class(&pattern[at..])
                .and_then(|(length, class)| is_in(class, name[position]).then_some(length)),
            Some(byte) => (*byte == name[position]).then_some(1),
            None => None,
        };
        if let Some(length) = matched {
            at += length;
            position += 1;
        } else if let Some((star_at, matched_to)) = star {
            star = Some((star_at, matched_to + 1));
            (at, position) = (star_at + 1, matched_to + 1);
        } else {
            return false;
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

fn is_closed(part: &[u8]) -> bool {
    let mut at = 0;
    while at < part.len() {
        at += match part[at] {
            b'[' => match class(&part[at..]) {
                Some((length, _)) => length,
                None => return false,
            },
            _ => 1,
        };
    }
    true
}

/// Returns the length of a class such as `[!a-z]`, and what is between its brackets.
fn class(text: &[u8]) -> Option<(usize, &[u8])> {
    let start = if matches!(text.get(1), Some(b'!' | b'^')) { 2 } else { 1 };
    // A bracket right at the beginning is one of the characters.
    let end = text.iter().skip(start + 1).position(|byte| *byte == b']')? + start + 1;
    Some((end + 1, &text[1..end]))
}

fn is_in(class: &[u8], byte: u8) -> bool {
    let (is_negated, members) = match class {
        [b'!' | b'^', rest @ ..] => (true, rest),
        members => (false, members),
    };
    let mut at = 0;
    let mut found = false;
    while at < members.len() {
        match &members[at..] {
            [from, b'-', to, ..] => {
                found |= (*from..=*to).contains(&byte);
                at += 3;
            }
            [member, ..] => {
                found |= *member == byte;
                at += 1;
            }
            [] => break,
        }
    }
    found != is_negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_and_paths() {
        for (pattern, path, expected) in [
            ("*.swp", ".x.swp", true),
            ("*.swp", "deep/x.swp", true),
            ("*.swp", "x.swp.conf", false),
            (".git", "a/.git", true),
            ("a/*", "a/b", true),
            ("a/*", "a/b/c", false),
            ("a/**", "a/b/c", true),
            ("**/c", "c", true),
            ("**/c", "a/b/c", true),
            ("**", "a/b", true),
            ("a/**/d", "a/d", true),
            ("a/**/d", "a/b/c/d", true),
            ("a/**/d", "a/b/c", false),
            ("x?", "xy", true),
            ("x?", "x", false),
            ("[a-c]1", "b1", true),
            ("[!a-c]1", "b1", false),
            ("[]x]", "]", true),
            ("[[]", "[", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b", "xxaxxbxx", false),
            ("", "", false),
        ] {
            let matched = Glob::parse(pattern).is_ok_and(|glob| glob.matches(Path::new(path)));
            assert_eq!(matched, expected, "{pattern} {path}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let glob = Glob::parse(&"*a".repeat(60)).expect("a pattern");
        assert!(!glob.matches(Path::new(&"a".repeat(59))));
        assert!(!glob.matches(Path::new(&("a".repeat(200) + "b"))));
    }

    #[test]
    fn patterns_that_match_nothing_are_refused() {
        for (pattern, reason) in [
            ("", "the pattern `` is empty"),
            ("/etc/x", "the pattern `/etc/x` matches no path"),
            ("a/", "the pattern `a/` matches no path"),
            ("../a", "the pattern `../a` matches no path"),
            ("a[b", "the pattern `a[b` has an open `[`"),
        ] {
            assert_eq!(Glob::parse(pattern).map_err(|(message, _)| message), Err(reason.to_owned()));
        }
    }
}
