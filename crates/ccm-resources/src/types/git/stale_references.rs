//! References of a checkout that are in the way of those of its repository. git can have no branch `a` beside `a/b`, nor
//! such tags.

use std::collections::BTreeSet;

use ccm_engine::Context;
use ccm_model::{Failure, FailureKind};

use super::git_tool::GitTool;

/// Branches of the repository in the checkout.
pub(super) const TRACKED: &str = "refs/remotes/origin/";

const BRANCHES: &str = "refs/heads/";
const TAGS: &str = "refs/tags/";

/// Returns the local branches that are in the way of a branch.
pub(super) async fn blocking_branches(
    branch: &str,
    tool: &GitTool,
    context: &Context<'_>,
) -> Result<Vec<String>, Failure> {
    let first = branch.split('/').next().unwrap_or(branch);
    let wanted = BTreeSet::from([format!("{BRANCHES}{branch}")]);
    let known = list(&[&format!("{BRANCHES}{first}")], tool, context).await?;
    Ok(known.into_iter().filter(|known| is_in_the_way(known, &wanted)).collect())
}

/// Removes local branches. One that is checked out leaves its commit there.
pub(super) async fn remove_branches(
    branches: &[String],
    tool: &GitTool,
    context: &Context<'_>,
) -> Result<(), Failure> {
    if branches.is_empty() {
        return Ok(());
    }
    tool.change(&["checkout", "--quiet", "--detach"], context).await?;
    let names = branches.iter().map(|branch| branch.strip_prefix(BRANCHES).unwrap_or(branch));
    let args: Vec<&str> = ["branch", "--quiet", "-D", "--"].into_iter().chain(names).collect();
    tool.change(&args, context).await
}

/// Returns `true` for the failure of a fetch that could not update a reference.
pub(super) fn is_conflict(failure: &Failure) -> bool {
    let signs = ["some local refs could not be updated", "cannot lock ref"];
    let is_sign = |error: &String| signs.into_iter().any(|sign| error.contains(sign));
    failure.kind == FailureKind::Exit && failure.chain.iter().any(is_sign)
}

/// Removes the references that the repository does not have any more and that are in the way of those it has. Tags count as
/// those of the repository, whose moved tags replace them, too. Returns `true` if something was removed.
pub(super) async fn remove_stale(tool: &GitTool, context: &Context<'_>) -> Result<bool, Failure> {
    let printed = tool.ask(&["ls-remote", "--quiet", "--heads", "--tags", "origin"], context).await?;
    let names = printed.lines().filter_map(|line| line.split_once('\t')).map(|(_, name)| name);
    let theirs: BTreeSet<String> = names.filter_map(local_name).collect();
    let mut stale = list(&[TRACKED, TAGS], tool, context).await?;
    stale.retain(|known| is_in_the_way(known, &theirs));
    for name in &stale {
        tool.change(&["update-ref", "--no-deref", "-d", name], context).await?;
    }
    Ok(!stale.is_empty())
}

/// Returns the name that a reference of the repository gets in the checkout.
fn local_name(name: &str) -> Option<String> {
    match name.strip_prefix(BRANCHES) {
        Some(branch) => Some(format!("{TRACKED}{branch}")),
        // The commit of an annotated tag has a line of its own.
        None => name.starts_with(TAGS).then(|| name.strip_suffix("^{}").unwrap_or(name).to_owned()),
    }
}

async fn list(patterns: &[&str], tool: &GitTool, context: &Context<'_>) -> Result<Vec<String>, Failure> {
    let printed = tool.read(&[&["for-each-ref", "--format=%(refname)"], patterns].concat(), context).await?;
    Ok(printed.lines().map(str::to_owned).collect())
}

/// Returns `true` if one of the names begins with this name as a directory, or the other way round.
fn is_in_the_way(name: &str, wanted: &BTreeSet<String>) -> bool {
    let below = format!("{name}/");
    let is_above = name.match_indices('/').any(|(at, _)| wanted.contains(&name[..at]));
    is_above || wanted.range(below.clone()..).next().is_some_and(|next| next.starts_with(&below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_way_of_those_below_and_above() {
        let wanted = ["refs/heads/a/b", "refs/heads/c", "refs/heads/d-e", "refs/tags/a"].map(str::to_owned);
        let wanted = BTreeSet::from(wanted);
        for (name, expected) in [
            ("refs/heads/a", true),
            ("refs/heads/a/b", false),
            ("refs/heads/a/b/c", true),
            ("refs/heads/a/c", false),
            ("refs/heads/c/x/y", true),
            ("refs/heads/c-x", false),
            ("refs/heads/d", false),
            ("refs/tags/a/b", true),
            ("refs/tags/c/x", false),
        ] {
            assert_eq!(is_in_the_way(name, &wanted), expected, "{name}");
        }
    }
}
