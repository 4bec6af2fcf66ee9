//! Globs of names and relative paths in a directory, which need not be UTF-8.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ccm_model::{Glob, GlobError, GlobKind, Node, Resource};
use ccm_properties::{OneOrMany, PropertyError, Text};

/// Globs, any of which may match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeGlobs(Vec<TreeGlob>);

/// Glob of paths in a directory. A glob without a slash matches the name of an entry at any depth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TreeGlob {
    glob: Glob,
    is_name: bool,
}

/// Paths in a directory that a resource does not copy.
#[derive(Clone, Debug, Default)]
pub struct IgnoredPaths(TreeGlobs);

impl IgnoredPaths {
    /// Reads the property `ignore` of a resource. Globs with errors match nothing: the type reports them.
    pub fn of(resource: &Resource) -> Self {
        let Some(node) = resource.properties.get("ignore") else { return Self::default() };
        let nodes = node.as_list().unwrap_or(std::slice::from_ref(node));
        let globs =
            nodes.iter().filter_map(Node::as_text).filter_map(|text| TreeGlob::parse("ignore", text).ok());
        Self(TreeGlobs(globs.collect()))
    }

    /// Returns `true` for a path relative to the directory that is not copied.
    pub fn matches(&self, path: &Path) -> bool {
        self.0.matches(path)
    }
}

impl TreeGlobs {
    /// Checks the globs of a property.
    pub(crate) fn build(
        property: &'static str,
        written: Option<OneOrMany<Text>>,
        errors: &mut Vec<PropertyError>,
    ) -> Self {
        let texts = written.map(|OneOrMany(texts)| texts).unwrap_or_default();
        let is_list = texts.len() > 1;
        let mut globs = Vec::new();
        for (number, text) in texts.into_iter().enumerate() {
            match TreeGlob::parse(property, &text.0) {
                Ok(glob) => globs.push(glob),
                Err(error) => errors.push(error.at_element(is_list.then_some(number))),
            }
        }
        Self(globs)
    }

    pub(crate) fn matches(&self, path: &Path) -> bool {
        self.0.iter().any(|glob| glob.matches(path))
    }
}

impl TreeGlob {
    pub(crate) fn parse(property: &'static str, text: &str) -> Result<Self, PropertyError> {
        let invalid = |reason: &str, hint: &str| {
            let message = format!("the pattern `{}` {reason}", text.escape_debug());
            Err(PropertyError::invalid(property, message, hint))
        };
        if text.is_empty() {
            return invalid("is empty", "write a pattern such as `*.swp`");
        }
        if text.split('/').any(|name| matches!(name, "" | "." | "..")) {
            return invalid("matches no path", "write it relative to the directory, without `/` at its ends");
        }
        match Glob::parse(text, GlobKind::Path) {
            Ok(glob) => Ok(Self { glob, is_name: !text.contains('/') && text != "**" }),
            Err(error @ GlobError::OpenClass) => invalid("has an open `[`", &error.hint()),
            Err(error) => invalid(&format!("is invalid: {error}"), &error.hint()),
        }
    }

    pub(crate) fn matches(&self, path: &Path) -> bool {
        let matched = if self.is_name { path.file_name() } else { Some(path.as_os_str()) };
        matched.is_some_and(|path| self.glob.matches(path.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glob(text: &str) -> TreeGlob {
        TreeGlob::parse("ignore", text).unwrap()
    }

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
            ("[[:digit:]]*", "a/10-x.conf", true),
            ("[[:digit:]]*", "a/x.conf", false),
            (r"\[a\]", "[a]", true),
            (r"\[a\]", "a", false),
            ("*.{bak,swp}", "a/x.bak", true),
        ] {
            assert_eq!(glob(pattern).matches(Path::new(path)), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn many_stars_take_no_time() {
        let stars = glob(&"*a".repeat(60));
        assert!(!stars.matches(Path::new(&"a".repeat(59))));
        assert!(!stars.matches(Path::new(&("a".repeat(200) + "b"))));
        let deep = vec!["a"; 200].join("/");
        for times in [7, 50] {
            assert!(!glob(&("**/a/".repeat(times) + "x")).matches(Path::new(&deep)));
        }
    }

    #[test]
    fn patterns_that_match_nothing_are_refused() {
        for (pattern, reason) in [
            ("", "the pattern `` is empty"),
            ("/etc/x", "the pattern `/etc/x` matches no path"),
            ("a/", "the pattern `a/` matches no path"),
            ("../a", "the pattern `../a` matches no path"),
            ("a[b", "the pattern `a[b` has an open `[`"),
            ("a**", "the pattern `a**` is invalid: `**` is only allowed as a whole component of a path"),
            ("[[:alhpa:]]", "the pattern `[[:alhpa:]]` is invalid: unknown class `[:alhpa:]`"),
        ] {
            let error = TreeGlob::parse("ignore", pattern).unwrap_err().without_location();
            assert_eq!(error.message, reason);
            assert!(!error.hints.is_empty(), "{pattern}");
        }
    }
}
