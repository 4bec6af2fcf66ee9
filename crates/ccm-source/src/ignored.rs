//! What a bundle leaves out.

use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use ccm_model::{Glob, GlobError, GlobKind};

/// File of globs in the directory of a bundle.
pub(crate) const IGNORE_FILE: &str = ".ccmignore";

/// Paths in a directory that a bundle leaves out: those of `.ccmignore`, and what git keeps.
#[derive(Debug, Default)]
pub(crate) struct IgnoredPaths(Vec<IgnoredPath>);

#[derive(Debug)]
struct IgnoredPath {
    glob: Glob,
    /// The glob matches the name of an entry at any depth.
    is_name: bool,
}

/// Error of a line of `.ccmignore`.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of {IGNORE_FILE}: {pattern:?}: {source}")]
pub struct IgnoreError {
    line: usize,
    pattern: String,
    source: GlobError,
}

impl IgnoredPaths {
    /// Reads the lines of `.ccmignore`: a glob each, relative to the directory. Empty lines and those that begin with `#`
    /// say nothing.
    pub(crate) fn parse(text: &str) -> Result<Self, IgnoreError> {
        let mut paths = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let pattern = line.trim_end();
            if pattern.is_empty() || pattern.starts_with('#') {
                continue;
            }
            // A slash at the end is how git names a directory.
            let is_name = !pattern.trim_end_matches('/').contains('/') && pattern != "**";
            let relative = pattern.trim_matches('/');
            let failed = |source| IgnoreError { line: index + 1, pattern: pattern.to_owned(), source };
            paths.push(IgnoredPath { glob: Glob::parse(relative, GlobKind::Path).map_err(failed)?, is_name });
        }
        Ok(Self(paths))
    }

    /// Returns `true` for a path, relative to the directory, that the bundle leaves out with everything below it.
    pub(crate) fn matches(&self, path: &Path) -> bool {
        let Some(name) = path.file_name() else { return false };
        if name == ".git" || path == Path::new(IGNORE_FILE) {
            return true;
        }
        self.0.iter().any(|ignored| {
            let text = if ignored.is_name { name } else { path.as_os_str() };
            ignored.glob.matches(text.as_bytes())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_match_names_and_paths() {
        let ignored =
            IgnoredPaths::parse("# editors\n*.swp\n\ntarget/\n/notes\ndocs/*.txt \n").expect("globs");
        for (path, expected) in [
            (".git", true),
            ("sub/.git", true),
            (".gitignore", false),
            (".ccmignore", true),
            ("a.swp", true),
            ("sub/a.swp", true),
            ("target", true),
            ("sub/target", true),
            ("notes", true),
            ("docs/a.txt", true),
            ("docs/sub/a.txt", false),
            ("site.yaml", false),
        ] {
            assert_eq!(ignored.matches(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn an_error_names_its_line() {
        let error = IgnoredPaths::parse("ok\n[a\n").expect_err("an open class");
        assert!(error.to_string().starts_with("line 2 of .ccmignore: \"[a\": "), "{error}");
    }
}
