//! Names of branches, tags and commits.

use std::path::Path;

/// Returns `true` for the full hash of a commit.
pub fn is_git_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the beginning of a hash, as git shows it.
pub fn short_commit(commit: &str) -> &str {
    const LENGTH: usize = 12;
    commit.get(..LENGTH).filter(|_| is_git_commit(commit)).unwrap_or(commit)
}

/// Returns the error in the name of a reference, by the rules of git.
pub fn git_reference_error(name: &str) -> Option<String> {
    let wrong = |c: &char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(*c);
    if name.is_empty() {
        Some("it is empty".to_owned())
    } else if let Some(wrong) = name.chars().find(wrong) {
        Some(format!("`{}` is not allowed in it", wrong.escape_debug()))
    } else if name.starts_with('-') || name == "@" || name.contains("@{") || name.contains("..") {
        Some("git does not allow it".to_owned())
    } else {
        let is_wrong = |part: &str| {
            part.is_empty()
                || part.starts_with('.')
                || part.ends_with('.')
                || Path::new(part).extension().is_some_and(|ending| ending == "lock")
        };
        name.split('/').any(is_wrong).then(|| "a part of it is not allowed by git".to_owned())
    }
}
