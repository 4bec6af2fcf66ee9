//! Patterns of included files: `*`, `?` and `[a-z]`, none of which matches a slash.

use std::path::{Path, PathBuf};

/// Pattern of paths.
#[derive(Debug)]
pub(super) struct IncludePattern {
    /// Directory above everything that may match.
    directory: PathBuf,
    parts: Vec<Vec<char>>,
}

impl IncludePattern {
    /// Reads a pattern; `None` for a path without a character of patterns.
    pub(super) fn parse(path: &Path) -> Option<Self> {
        let is_pattern = |part: &str| part.contains(['*', '?', '[']);
        let parts: Vec<_> = path.components().collect();
        let texts: Vec<String> =
            parts.iter().map(|part| part.as_os_str().to_string_lossy().into_owned()).collect();
        let first = texts.iter().position(|part| is_pattern(part))?;
        let above: PathBuf = parts[..first].iter().collect();
        let directory = if above.as_os_str().is_empty() { PathBuf::from(".") } else { above };
        let parts = texts[first..].iter().map(|part| part.chars().collect()).collect();
        Some(Self { directory, parts })
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns `true` if a path below the directory matches.
    pub(super) fn matches(&self, path: &Path) -> bool {
        let Ok(below) = path.strip_prefix(&self.directory) else { return false };
        let names: Vec<Vec<char>> =
            below.components().map(|part| part.as_os_str().to_string_lossy().chars().collect()).collect();
        names.len() == self.parts.len()
            && self.parts.iter().zip(&names).all(|(part, name)| is_match(part, name))
    }
}

/// Returns `true` if a name matches a part. Goes back to the last `*` alone, so that the time is bounded.
fn is_match(pattern: &[char], name: &[char]) -> bool {
    let (mut at, mut rest) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while rest < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, rest));
                at += 1;
                continue;
            }
            Some(_) => {
                if let Some(length) = one(&pattern[at..], name[rest]) {
                    at += length;
                    rest += 1;
                    continue;
                }
            }
            None => {}
        }
        let Some((before, taken)) = star else { return false };
        star = Some((before, taken + 1));
        (at, rest) = (before + 1, taken + 1);
    }
    pattern[at..].iter().all(|part| *part == '*')
}

/// Matches one character with the beginning of a pattern. Returns the length of that.
fn one(pattern: &[char], character: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['[', behind @ ..] => {
            let end = behind.iter().skip(1).position(|part| *part == ']').map(|end| end + 1);
            // A bracket that nothing closes is itself.
            let Some(end) = end else { return (character == '[').then_some(1) };
            let (is_negated, set) = match &behind[..end] {
                ['!' | '^', set @ ..] => (true, set),
                set => (false, set),
            };
            (is_in(set, character) != is_negated).then_some(end + 2)
        }
        [part, ..] => (*part == character).then_some(1),
        [] => None,
    }
}

fn is_in(set: &[char], character: char) -> bool {
    match set {
        [first, '-', last, rest @ ..] => (*first..=*last).contains(&character) || is_in(rest, character),
        [first, rest @ ..] => *first == character || is_in(rest, character),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_match_patterns() {
        for (pattern, path, is_matched) in [
            ("d/*.yaml", "d/a.yaml", true),
            ("d/*.yaml", "d/.yaml", true),
            ("d/*.yaml", "d/e/a.yaml", false),
            ("d/*/a.yaml", "d/e/a.yaml", true),
            ("*.yaml", "./a.yaml", true),
            ("/etc/g?ss.d/[a-c]*.yaml", "/etc/goss.d/b1.yaml", true),
            ("/etc/goss.d/[a-c]*.yaml", "/etc/goss.d/d1.yaml", false),
            ("d/[!a]x", "d/bx", true),
            ("d/[!a]x", "d/ax", false),
            ("d/[x", "d/[x", true),
            ("d/a*b*c", "d/aXbYbZc", true),
            ("d/a*b*c", "d/aXbYbZ", false),
            ("d/*", "d/ä", true),
        ] {
            let parsed = IncludePattern::parse(Path::new(pattern)).expect(pattern);
            assert_eq!(parsed.matches(Path::new(path)), is_matched, "{pattern} {path}");
        }
        assert!(IncludePattern::parse(Path::new("d/a.yaml")).is_none());
    }

    #[test]
    fn hostile_patterns_end() {
        let path = format!("d/{}b", "a".repeat(200));
        let pattern = format!("d/{}c", "a*".repeat(100));
        assert!(!IncludePattern::parse(Path::new(&pattern)).expect("a pattern").matches(Path::new(&path)));
    }
}
