//! Reading the repository of a checkout.

use std::path::Path;

use ccm_host::Files;
use ccm_model::Failure;

use crate::support::file_failure::file_failure;

/// Maximum size of the configuration of a repository.
const MAX_CONFIGURATION: u64 = 4 << 20;

/// Reads the address of the remote `origin` from the configuration of a repository.
pub(crate) fn origin(repository: &Path, files: &dyn Files) -> Result<Option<String>, Failure> {
    let path = repository.join("config");
    let content = files.content(&path, MAX_CONFIGURATION).map_err(|error| file_failure(&error))?;
    Ok(content.and_then(|content| origin_in(&String::from_utf8_lossy(&content))))
}

/// Returns the address of the remote `origin`: the first, as `git remote get-url` does.
fn origin_in(configuration: &str) -> Option<String> {
    let mut is_origin = false;
    for line in configuration.lines().map(str::trim) {
        if line.starts_with('[') {
            is_origin = line == "[remote \"origin\"]";
        } else if is_origin
            && let Some((key, value)) = line.split_once('=')
            && key.trim().eq_ignore_ascii_case("url")
        {
            return Some(unquoted(value.trim()));
        }
    }
    None
}

/// Returns a value without its quotes, escapes and comment.
fn unquoted(value: &str) -> String {
    let mut text = String::new();
    let mut is_quoted = false;
    let mut rest = value.chars();
    while let Some(next) = rest.next() {
        match next {
            '"' => is_quoted = !is_quoted,
            '\\' => text.extend(rest.next()),
            '#' | ';' if !is_quoted => break,
            next => text.push(next),
        }
    }
    if is_quoted || value.ends_with('"') { text } else { text.trim_end().to_owned() }
}

/// What `git status` prints about a checkout.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PorcelainStatus {
    pub commit: Option<String>,
    pub branch: Option<String>,
    pub changed_files: usize,
}

/// Arguments of `git status`; what it prints does not depend on the configuration.
pub(crate) const STATUS: [&str; 4] = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"];

impl PorcelainStatus {
    pub(crate) fn parse(printed: &str) -> Self {
        let mut status = Self::default();
        for line in printed.lines() {
            if let Some(commit) = line.strip_prefix("# branch.oid ") {
                status.commit = Some(commit.to_owned()).filter(|commit| commit != "(initial)");
            } else if let Some(branch) = line.strip_prefix("# branch.head ") {
                status.branch = Some(branch.to_owned()).filter(|branch| branch != "(detached)");
            } else if !line.starts_with('#') && !is_other_commit_of_submodule(line) {
                status.changed_files += 1;
            }
        }
        status
    }
}

/// Returns `true` for a submodule without changes that is at another commit.
fn is_other_commit_of_submodule(line: &str) -> bool {
    let mut fields = line.split(' ');
    let submodule = fields.nth(2).unwrap_or_default();
    // The index has the commit of HEAD.
    line.starts_with("1 .M ") && submodule.starts_with("SC.")
}

/// Returns the submodules that `git submodule status` shows as not checked out, or at another commit.
pub(crate) fn outdated_submodules(printed: &str) -> Vec<String> {
    let outdated = printed.lines().filter(|line| line.starts_with(['-', '+', 'U']));
    outdated.filter_map(|line| line.split_whitespace().nth(1)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origin_is_read_from_a_configuration() {
        let text = "[core]\n\turl = no\n[remote \"other\"]\n\turl = no\n[remote \"origin\"]\n\tfetch = +a:b\n\
                    \tURL = /srv/a \n\turl = /srv/b\n[branch \"main\"]\n\turl = no\n";
        assert_eq!(origin_in(text).as_deref(), Some("/srv/a"));
        assert_eq!(origin_in("[remote \"origin\"]\nurl = \"/srv/a;b\" # it\n").as_deref(), Some("/srv/a;b"));
        assert_eq!(origin_in("[remote \"origin\"]\nurl = a\\\\b\\\"c ; it\n").as_deref(), Some("a\\b\"c"));
        assert_eq!(origin_in("[core]\n"), None);
    }

    #[test]
    fn status_counts_changed_files() {
        let printed = "# branch.oid 0123\n# branch.head main\n# branch.upstream origin/main\n\
                       1 .M N... 100644 100644 100644 a a f\n1 .M SC.. 160000 160000 160000 a a s\n\
                       1 .M S.M. 160000 160000 160000 a a t\nu UU N... 1 2 3 4 a b c d\n";
        let status = PorcelainStatus::parse(printed);
        assert_eq!((status.commit.as_deref(), status.branch.as_deref()), (Some("0123"), Some("main")));
        assert_eq!(status.changed_files, 3);
        let empty = PorcelainStatus::parse("# branch.oid (initial)\n# branch.head (detached)\n");
        assert_eq!(empty, PorcelainStatus::default());
        let submodules = "-0123 a\n+0124 b/c (heads/main)\n 0125 d (heads/main)\n";
        assert_eq!(outdated_submodules(submodules), ["a", "b/c"]);
    }
}
