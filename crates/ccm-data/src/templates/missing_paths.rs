//! Paths of templates that lead to nothing: what to write for a default of all their keys, and for a fact of another program.

use crate::fact_words;

/// Roots of paths, as `lookup` has them.
const ROOTS: [&str; 3] = ["data", "facts", "environ"];

/// Path in the text of a template.
pub(super) struct MissingPath<'t> {
    keys: Vec<&'t str>,
    /// Text behind the path.
    behind: &'t str,
}

impl<'t> MissingPath<'t> {
    /// Finds the path at an offset of a text.
    pub(super) fn at(text: &'t str, offset: usize) -> Option<Self> {
        let before = text.get(..offset)?;
        let is_part = |part: char| is_word(part) || matches!(part, '.' | '[' | ']' | '\'' | '"');
        let start = before.trim_end_matches(is_part).len();
        let start = start + text[start..].find(is_word)?;
        let mut rest = &text[start..];
        let first = rest.find(|part| !is_word(part)).unwrap_or(rest.len());
        let mut keys = vec![&rest[..first]];
        rest = &rest[first..];
        while let Some((key, behind)) = next_key(rest) {
            keys.push(key);
            rest = behind;
        }
        // A method is no key.
        if rest.starts_with('(') {
            keys.pop();
        }
        Some(Self { keys, behind: rest })
    }

    /// Returns `true` if the path begins with these keys.
    pub(super) fn has_start(&self, path: &[String]) -> bool {
        let pairs = || self.keys.iter().zip(path);
        !path.is_empty()
            && self.keys.len() >= path.len()
            && pairs().all(|(key, of)| key.eq_ignore_ascii_case(of))
    }

    /// Returns what to write for a fact that another program has under this path.
    pub(super) fn fact_of_other_program(&self) -> Option<String> {
        let keys = match self.keys.split_first()? {
            (root, keys) if matches!(*root, "Facts" | "facts" | "ansible_facts" | "grains") => keys,
            (root, _) if root.starts_with("ansible_") => &self.keys[..],
            _ => return None,
        };
        fact_words::advice_on_other_program(&keys.join("."))
    }

    /// Returns what to write for a path of which a key before the last one is missing, for which a filter and a test come
    /// too late. `missing` is the path that leads to nothing.
    pub(super) fn with_default(&self, missing: &[String]) -> Option<String> {
        let root = self.keys.first()?.to_lowercase();
        if !ROOTS.contains(&&*root) || self.keys.len() <= missing.len() {
            return None;
        }
        let path = format!("{root}.{}", self.keys[1..].join("."));
        let behind = self.behind.trim_start();
        let is_test = |test: &str| behind.strip_prefix(test).is_some_and(|rest| !rest.starts_with(is_word));
        Some(if is_test("is defined") {
            format!("write `lookup(\"{path}\", none) is not none`")
        } else if is_test("is not defined") || is_test("is undefined") {
            format!("write `lookup(\"{path}\", none) is none`")
        } else {
            format!("if it may be missing, write `lookup(\"{path}\", {})`", default(behind).unwrap_or("\"\""))
        })
    }
}

/// Returns the key at the start of a text, in brackets or behind a dot, and the text behind it.
fn next_key(text: &str) -> Option<(&str, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(|part| !is_word(part)).unwrap_or(rest.len());
        return (end > 0).then(|| rest.split_at(end));
    }
    let rest = text.strip_prefix('[')?;
    let quote = rest.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    let (key, behind) = rest[1..].split_once(quote)?;
    let is_key = !key.is_empty() && key.chars().all(is_word);
    Some((key, behind.strip_prefix(']')?)).filter(|_| is_key)
}

/// Returns the argument of the filter `default` at the start of a text, if it is simple.
fn default(behind: &str) -> Option<&str> {
    let filter = behind.strip_prefix('|')?.trim_start();
    let arguments = ["default(", "d("].into_iter().find_map(|name| filter.strip_prefix(name))?;
    let argument = arguments[..arguments.find(')')?].trim();
    let is_simple =
        !argument.is_empty() && argument.chars().all(|part| is_word(part) || "-.[]{} '\"".contains(part));
    is_simple.then_some(argument)
}

fn is_word(part: char) -> bool {
    part.is_alphanumeric() || part == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_the_text() {
        for (marked, keys) in [
            ("{{ Data¦.a.b.c }}", "Data a b c"),
            ("{{ Facts¦['os'][\"family\"] }}", "Facts os family"),
            ("{{ Facts['os']¦['family'].lower() }}", "Facts os family"),
            ("{% if 'x' in Facts¦.os.family %}", "Facts os family"),
            ("¦Data", "Data"),
            ("{{ x[¦0] }}", "x"),
        ] {
            let at = marked.find('¦').unwrap();
            let text = marked.replace('¦', "");
            assert_eq!(MissingPath::at(&text, at).unwrap().keys.join(" "), keys, "{marked}");
        }
    }

    #[test]
    fn a_default_for_all_keys_is_one_of_lookup() {
        let missing = ["data".to_owned(), "a".to_owned()];
        for (text, expected) in [
            ("Data.a.b | default('z') }}", Some("if it may be missing, write `lookup(\"data.a.b\", 'z')`")),
            ("Data.a.b|d(5)", Some("if it may be missing, write `lookup(\"data.a.b\", 5)`")),
            ("Data.a.b | default(f(1))", Some("if it may be missing, write `lookup(\"data.a.b\", \"\")`")),
            ("Data.a.b is defined %}", Some("write `lookup(\"data.a.b\", none) is not none`")),
            ("Data.a.b is not defined", Some("write `lookup(\"data.a.b\", none) is none`")),
            ("Data.a.b }}", Some("if it may be missing, write `lookup(\"data.a.b\", \"\")`")),
            ("Data.a }}", None),
        ] {
            let path = MissingPath::at(text, 4).unwrap();
            assert!(path.has_start(&missing), "{text}");
            assert_eq!(path.with_default(&missing).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn facts_of_ansible_have_no_root() {
        for (text, expected) in [
            ("ansible_os_family", Some("write `Facts.host.info.platformFamily`")),
            ("ansible_default_ipv4.address", Some("write `Facts.network.default_ipv4`")),
            ("ansible_facts['distribution']", Some("write `Facts.host.info.platform`")),
            ("Facts.os.family", Some("write `Facts.host.info.platformFamily`")),
            ("Facts.role", None),
            ("role", None),
        ] {
            let path = MissingPath::at(text, 1).unwrap();
            assert_eq!(path.fact_of_other_program().as_deref(), expected, "{text}");
        }
    }
}
