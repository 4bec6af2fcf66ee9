//! Revisions that a checkout can have.

use ccm_fetch::{git_reference_error, is_git_commit, short_commit};
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

const BRANCHES: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";

/// Revision, as a manifest writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GitRevision {
    /// The full hash of a commit.
    Commit(String),
    Branch(String),
    Tag(String),
    /// Branch or tag; if both exist, the branch.
    Named(String),
}

impl GitRevision {
    /// Returns the revision as messages show it.
    pub(crate) fn shown(&self) -> &str {
        match self {
            Self::Commit(commit) => short_commit(commit),
            Self::Branch(name) | Self::Tag(name) | Self::Named(name) => name,
        }
    }
}

impl TextValue for GitRevision {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::ANY.matching("^[^-\\s~^:?*\\[\\\\][^\\s~^:?*\\[\\\\]*$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if let Some(wrong) = git_reference_error(text) {
            return Err(ValueError::new(format!(
                "`{}` is not the name of a branch, tag or commit: {wrong}",
                text.escape_debug()
            )));
        }
        if text == "HEAD" {
            return Err(ValueError::new("`HEAD` is not a revision")
                .with_hint("remove `revision` for the default branch of the repository"));
        }
        if let Some(name) = text.strip_prefix(BRANCHES) {
            return Ok(Self::Branch(name.to_owned()));
        }
        if let Some(name) = text.strip_prefix(TAGS) {
            return Ok(Self::Tag(name.to_owned()));
        }
        if text.starts_with("refs/") {
            return Err(ValueError::new(format!("`{text}` is neither a branch nor a tag"))
                .with_hint("write `refs/heads/NAME` or `refs/tags/NAME`"));
        }
        Ok(if is_git_commit(text) {
            Self::Commit(text.to_ascii_lowercase())
        } else {
            Self::Named(text.to_owned())
        })
    }
}

/// Returns `true` for what may be the beginning of a hash.
pub(crate) fn is_short_commit(text: &str) -> bool {
    (7..40).contains(&text.len()) && is_hexadecimal(text)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revisions_are_told_apart() {
        let commit = "0123456789ABCDEF0123456789abcdef01234567";
        for (text, expected) in [
            ("main", GitRevision::Named("main".to_owned())),
            ("feature/a-b", GitRevision::Named("feature/a-b".to_owned())),
            ("v1.0", GitRevision::Named("v1.0".to_owned())),
            ("refs/heads/1.0", GitRevision::Branch("1.0".to_owned())),
            ("refs/tags/1.0", GitRevision::Tag("1.0".to_owned())),
            (commit, GitRevision::Commit(commit.to_ascii_lowercase())),
            ("0123456", GitRevision::Named("0123456".to_owned())),
        ] {
            assert_eq!(GitRevision::from_text(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "-f",
            "--upload-pack=id",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a..b",
            "@",
            "a@{1}",
            ".a",
            "a/.b",
            "a.lock",
            "a//b",
            "/a",
            "a/",
            "HEAD",
            "refs/notes/a",
            "a\\b",
            "a*",
        ] {
            assert!(GitRevision::from_text(text).is_err(), "{text}");
        }
        assert!(is_short_commit("0123456") && !is_short_commit(commit) && !is_short_commit("v12345678"));
        assert_eq!((short_commit(commit), short_commit("main")), ("0123456789AB", "main"));
    }
}
