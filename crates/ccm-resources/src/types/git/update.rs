//! Resolving a revision, and updating a checkout to it.

use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::{FileAttributes, Files, NewContent, NewFile, WalkStep, temp_path};
use ccm_model::{Failure, FailureKind, MissingPrerequisite};

use super::checkout::account;
use super::decide::{CheckoutDifference, CheckoutEffect};
use super::desired::DesiredCheckout;
use super::git_tool::GitTool;
use super::remote::GitUrl;
use super::revision::{GitRevision, is_short_commit};
use super::stale_references::{TRACKED, is_conflict, remove_branches, remove_stale};
use super::state::{CheckoutState, RevisionTarget, TargetKind};
use crate::support::file_failure::file_failure;

/// File in a repository that exists during an update, and while it is cloned into an existing directory. If a run dies,
/// the next one does not take the half of the work for local changes.
const MARKER: &str = "ccm-update";

/// Content of the marker.
const UNFINISHED: &[u8] = b"ccm updates this checkout, or was killed while it did\n";

/// What makes a directory a repository for git.
const PARTS: [&str; 4] = ["HEAD", "config", "objects", "refs"];

/// Returns `true` if a run died during an update of this repository.
pub(crate) fn is_interrupted(repository: &Path, files: &dyn Files) -> bool {
    files.exists(&repository.join(MARKER)).unwrap_or_default()
}

/// Returns `true` if a run died before git had made this repository, perhaps while it wrote the marker.
pub(crate) fn is_begun(repository: &Path, files: &dyn Files) -> bool {
    let exists = |path: &Path| files.exists(path).unwrap_or_default();
    let marker = repository.join(MARKER);
    let is_ours = exists(&marker) || exists(&temp_path(&marker));
    is_ours && !PARTS.into_iter().all(|name| exists(&repository.join(name)))
}

/// Writes the marker into a repository.
pub(super) fn mark(repository: &Path, attributes: FileAttributes, files: &dyn Files) -> Result<(), Failure> {
    let new = NewFile { content: NewContent::Bytes(UNFINISHED), attributes };
    files.write(&repository.join(MARKER), &new).map(drop).map_err(|error| file_failure(&error))
}

/// Removes the marker from a repository.
pub(super) fn unmark(repository: &Path, files: &dyn Files) -> Result<(), Failure> {
    files.remove(&repository.join(MARKER), false).map_err(|error| file_failure(&error))
}

/// Asks the repository for the commit of a branch or tag.
pub(crate) async fn resolve(
    desired: &DesiredCheckout,
    tool: &GitTool,
    context: &Context<'_>,
) -> Result<Option<RevisionTarget>, Failure> {
    let url = desired.url.as_ref().map(|url| &*url.0).unwrap_or_default();
    let (name, is_branch, is_tag) = match &desired.revision {
        None => {
            let printed = ask_repository(desired, tool, &["--symref", "--", url, "HEAD"], context).await?;
            return default_branch(&printed).map(Some).ok_or_else(|| {
                let message = format!("the repository {url} has no default branch");
                Failure::conflict(message).with_hint("push a branch, or set `revision`")
            });
        }
        Some(GitRevision::Commit(commit)) => {
            return Ok(Some(RevisionTarget { kind: TargetKind::Commit, commit: commit.clone() }));
        }
        Some(GitRevision::Branch(name)) => (name, true, false),
        Some(GitRevision::Tag(name)) => (name, false, true),
        Some(GitRevision::Named(name)) => (name, true, true),
    };
    let (branch, tag) = (format!("refs/heads/{name}"), format!("refs/tags/{name}"));
    let peeled = format!("{tag}^{{}}");
    let printed = ask_repository(desired, tool, &["--", url, &branch, &tag, &peeled], context).await?;
    let find = |reference: &str| {
        let mut lines = printed.lines().filter_map(|line| line.split_once('\t'));
        lines.find(|(_, found)| *found == reference).map(|(commit, _)| commit.to_owned())
    };
    if let Some(commit) = find(&branch).filter(|_| is_branch) {
        return Ok(Some(RevisionTarget { kind: TargetKind::Branch(name.clone()), commit }));
    }
    if let Some(commit) = find(&peeled).or_else(|| find(&tag)).filter(|_| is_tag) {
        return Ok(Some(RevisionTarget { kind: TargetKind::Tag(name.clone()), commit }));
    }
    let what = match (is_branch, is_tag) {
        (true, true) => "neither a branch nor a tag",
        (true, false) => "no branch",
        _ => "no tag",
    };
    let message = format!("the repository {url} has {what} `{name}`");
    let hint = if is_short_commit(name) {
        "write all digits of the hash of a commit"
    } else {
        "check the name with `git ls-remote`"
    };
    Err(Failure::conflict(message).of_property("revision").with_hint(hint))
}

/// Lists references of the repository. An earlier resource may make a local repository that does not exist.
async fn ask_repository(
    desired: &DesiredCheckout,
    tool: &GitTool,
    args: &[&str],
    context: &Context<'_>,
) -> Result<String, Failure> {
    let asked = tool.ask(&[&["ls-remote", "--quiet"], args].concat(), context).await;
    let path = desired.url.as_ref().and_then(GitUrl::local_path);
    asked.map_err(|failure| match path.filter(|path| !context.host.files.exists(path).unwrap_or(true)) {
        Some(path) => failure.with_missing(MissingPrerequisite::Path(path.to_owned())),
        None => failure,
    })
}

/// Reads the branch that HEAD of a repository names.
fn default_branch(printed: &str) -> Option<RevisionTarget> {
    let mut lines = printed.lines();
    let name = lines.find_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"))?;
    let commit = lines.find_map(|line| line.strip_suffix("\tHEAD"))?;
    Some(RevisionTarget { kind: TargetKind::Branch(name.to_owned()), commit: commit.to_owned() })
}

/// Brings an existing checkout to the desired revision.
pub(crate) async fn update(
    desired: &DesiredCheckout,
    state: &CheckoutState,
    differences: &[CheckoutDifference],
    context: &Context<'_>,
) -> Result<CheckoutEffect, Failure> {
    let files = context.host.files;
    let repository = desired.path.join(".git");
    let tool = GitTool::of(desired, &desired.path);
    if state.is_interrupted {
        remove_locks(&repository, files)?;
    }
    mark(&repository, attributes(desired, context)?, files)?;
    let has_url = |found: &CheckoutDifference| matches!(found, CheckoutDifference::Url { .. });
    let updated = async {
        if let Some(url) = desired.url.as_ref().filter(|_| differences.iter().any(has_url)) {
            let verb = if state.url.is_some() { "set-url" } else { "add" };
            tool.change(&["remote", verb, "origin", &url.0], context).await?;
        }
        if state.is_interrupted && state.commit.is_none() {
            // A killed git may have added a half of the remote.
            let all = format!("+refs/heads/*:{TRACKED}*");
            tool.change(&["config", "--replace-all", "remote.origin.fetch", &all], context).await?;
        }
        remove_branches(&state.blocking_branches, &tool, context).await?;
        check_out(desired, state.target.clone(), &tool, desired.force || state.is_interrupted, context).await
    }
    .await;
    match updated {
        Ok(effect) => {
            unmark(&repository, files)?;
            Ok(effect)
        }
        Err(failure) => {
            // A stopped git may have changed a part of the files, and a clone without a commit is still half of one.
            if failure.kind == FailureKind::Exit && !(state.is_interrupted && state.commit.is_none()) {
                let _ = unmark(&repository, files);
            }
            let is_changed = failure.kind != FailureKind::Exit || !state.blocking_branches.is_empty();
            Err(Failure { changed: is_changed, ..failure })
        }
    }
}

/// Fetches a revision, and checks it out.
pub(super) async fn check_out(
    desired: &DesiredCheckout,
    target: Option<RevisionTarget>,
    tool: &GitTool,
    force: bool,
    context: &Context<'_>,
) -> Result<CheckoutEffect, Failure> {
    if let Some(target) = &target {
        fetch(desired, target, tool, context).await?;
    }
    switch(desired, target, tool, force, context).await
}

/// Checks out a revision that was fetched.
pub(super) async fn switch(
    desired: &DesiredCheckout,
    target: Option<RevisionTarget>,
    tool: &GitTool,
    force: bool,
    context: &Context<'_>,
) -> Result<CheckoutEffect, Failure> {
    let force_option = force.then_some("--force");
    let target = match target {
        None => {
            if force {
                tool.change(&["reset", "--quiet", "--hard"], context).await?;
            }
            None
        }
        Some(target) => {
            if let TargetKind::Tag(_) = target.kind {
                // With it in one file, later runs know the commit of an annotated tag without asking git.
                tool.change(&["pack-refs"], context).await?;
            }
            let reference = fetched(&target);
            // The branch may have moved since it was asked for.
            let peeled = format!("{reference}^{{commit}}");
            let commit = tool.read(&["rev-parse", "--verify", "--quiet", &peeled], context).await?;
            let commit = commit.trim().to_owned();
            let mut args = vec!["checkout", "--quiet"];
            args.extend(force_option);
            match &target.kind {
                TargetKind::Branch(name) => args.extend(["-B", name, "--track", &reference]),
                TargetKind::Tag(_) | TargetKind::Commit => args.extend(["--detach", &commit]),
            }
            tool.change(&args, context).await?;
            Some(RevisionTarget { commit, ..target })
        }
    };
    if desired.submodules {
        tool.change(&["submodule", "--quiet", "sync", "--recursive"], context).await?;
        let depth = desired.depth.map(|depth| format!("--depth={depth}"));
        let mut args = vec!["submodule", "--quiet", "update", "--init", "--recursive"];
        args.extend(depth.as_deref());
        args.extend(force_option);
        tool.change(&args, context).await?;
    }
    Ok(CheckoutEffect { target })
}

/// Returns the name that a revision has in the checkout once it is fetched.
pub(super) fn fetched(target: &RevisionTarget) -> String {
    match &target.kind {
        TargetKind::Branch(name) => format!("{TRACKED}{name}"),
        TargetKind::Tag(name) => format!("refs/tags/{name}"),
        TargetKind::Commit => target.commit.clone(),
    }
}

/// Fetches a revision. What is in the way of new references, because the repository has renamed some, is removed.
pub(super) async fn fetch(
    desired: &DesiredCheckout,
    target: &RevisionTarget,
    tool: &GitTool,
    context: &Context<'_>,
) -> Result<(), Failure> {
    match fetch_once(desired, target, tool, context).await {
        Err(failure) if is_conflict(&failure) => {
            if remove_stale(tool, context).await? {
                fetch_once(desired, target, tool, context).await
            } else {
                Err(failure)
            }
        }
        fetched => fetched,
    }
}

async fn fetch_once(
    desired: &DesiredCheckout,
    target: &RevisionTarget,
    tool: &GitTool,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let commit = format!("{}^{{commit}}", target.commit);
    let has_commit = async || tool.read(&["cat-file", "-e", &commit], context).await.is_ok();
    if target.kind == TargetKind::Commit && has_commit().await {
        return Ok(());
    }
    let quiet = ["fetch", "--quiet", "--force"];
    if let Some(depth) = desired.depth {
        let reference = match &target.kind {
            TargetKind::Branch(name) => format!("+refs/heads/{name}:{TRACKED}{name}"),
            TargetKind::Tag(name) => format!("+refs/tags/{name}:refs/tags/{name}"),
            TargetKind::Commit => target.commit.clone(),
        };
        let depth = format!("--depth={depth}");
        let args = [&quiet[..], &["--no-tags", &depth, "origin", &reference]].concat();
        return tool.change(&args, context).await;
    }
    let all = format!("+refs/heads/*:{TRACKED}*");
    tool.change(&[&quiet[..], &["--tags", "origin", &all]].concat(), context).await?;
    if target.kind == TargetKind::Commit && !has_commit().await {
        // A commit that no branch has. Not every server gives it away.
        tool.change(&[&quiet[..], &["origin", &target.commit]].concat(), context).await?;
    }
    Ok(())
}

/// Removes the lock files that a killed git left.
fn remove_locks(repository: &Path, files: &dyn Files) -> Result<(), Failure> {
    let enter = |path: &Path, is_directory: bool| match path.file_name().and_then(|name| name.to_str()) {
        Some("objects" | "lfs") if is_directory => WalkStep::Skip,
        _ => WalkStep::Enter,
    };
    let found = files.walk(repository, &enter).map_err(|error| file_failure(&error))?;
    let locks = found.into_iter().flatten().map(|entry| repository.join(entry.path));
    let locks: Vec<PathBuf> =
        locks.filter(|path| path.extension().is_some_and(|ending| ending == "lock")).collect();
    for lock in locks {
        files.remove(&lock, false).map_err(|error| file_failure(&error))?;
    }
    Ok(())
}

/// Returns the attributes of new files, with their owner if it is another user than that of ccm.
pub(super) fn attributes(
    desired: &DesiredCheckout,
    context: &Context<'_>,
) -> Result<FileAttributes, Failure> {
    let account = account(desired, context)?;
    Ok(FileAttributes {
        uid: account.as_ref().map(|account| account.identity.uid),
        gid: account.as_ref().map(|account| account.identity.gid),
        mode: None,
    })
}
