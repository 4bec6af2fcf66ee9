//! Cloning a repository, beside its path or into a directory that exists.

use std::ffi::OsString;
use std::path::Path;

use ccm_engine::Context;
use ccm_host::{FileAttributes, FileKind, Files, InspectOptions, WalkStep, temp_path};
use ccm_model::Failure;

use super::decide::CheckoutEffect;
use super::desired::DesiredCheckout;
use super::git_tool::GitTool;
use super::state::{CheckoutPresence, CheckoutState, RevisionTarget};
use super::update::{attributes, check_out, fetch, fetched, mark, resolve, switch, unmark};
use crate::support::file_failure::file_failure;

const SET_GROUP_ID: u32 = 0o2000;

/// Clones the repository.
pub(crate) async fn clone(
    desired: &DesiredCheckout,
    state: &CheckoutState,
    context: &Context<'_>,
) -> Result<CheckoutEffect, Failure> {
    let target = resolve(desired, &GitTool::of(desired, Path::new("/")), context).await?;
    if state.presence == CheckoutPresence::Empty {
        clone_in_place(desired, state, target, context).await
    } else {
        clone_beside(desired, target, context).await
    }
}

/// Clones the repository beside its path, and renames it when it is complete.
async fn clone_beside(
    desired: &DesiredCheckout,
    target: Option<RevisionTarget>,
    context: &Context<'_>,
) -> Result<CheckoutEffect, Failure> {
    let files = context.host.files;
    let made = temp_path(&desired.path);
    // A killed run left it.
    if files.exists(&made).unwrap_or_default() || matches!(files.link_target(&made), Ok(Some(_))) {
        files.remove(&made, true).map_err(|error| file_failure(&error))?;
    }
    files.make_directory(&made, attributes(desired, context)?).map_err(|error| file_failure(&error))?;
    let tool = GitTool::of(desired, &made);
    let cloned = async {
        begin(desired, &tool, context).await?;
        let effect = check_out(desired, target, &tool, true, context).await?;
        files.rename_directory(&made, &desired.path).map_err(|error| file_failure(&error))?;
        Ok(effect)
    }
    .await;
    cloned.map_err(|failure| {
        let removed = files.remove(&made, true);
        Failure { changed: removed.is_err(), ..failure }
    })
}

/// Clones the repository into an empty directory, which keeps its attributes and may be a mount point. Like an update
/// that was interrupted, a clone that was is completed by the next run.
async fn clone_in_place(
    desired: &DesiredCheckout,
    state: &CheckoutState,
    target: Option<RevisionTarget>,
    context: &Context<'_>,
) -> Result<CheckoutEffect, Failure> {
    let files = context.host.files;
    let repository = desired.path.join(".git");
    let attributes = attributes_below(desired, context)?;
    if state.is_given {
        // git can only write in a directory of the user who runs it.
        let owner = FileAttributes { uid: attributes.uid, ..FileAttributes::default() };
        files.set_attributes(&desired.path, owner).map_err(|error| file_failure(&error))?;
    }
    let mut made = vec![OsString::from(".git")];
    let cloned = async {
        // A killed run may have left it without its owner.
        if is_empty(&repository, files)? {
            files.remove(&repository, false).map_err(|error| file_failure(&error))?;
        }
        if !files.exists(&repository).unwrap_or_default() {
            files.make_directory(&repository, attributes).map_err(|error| file_failure(&error))?;
        }
        mark(&repository, attributes, files)?;
        let tool = GitTool::of(desired, &desired.path);
        begin(desired, &tool, context).await?;
        if let Some(target) = &target {
            fetch(desired, target, &tool, context).await?;
            let present = entries(&desired.path, files)?;
            let names = top_names(&fetched(target), &tool, context).await?;
            made.splice(..0, names.into_iter().filter(|name| !present.contains(name)));
        }
        // Without force, git overwrites nothing that was put there meanwhile.
        let effect = switch(desired, target, &tool, false, context).await?;
        unmark(&repository, files)?;
        Ok(effect)
    };
    let cloned: Result<CheckoutEffect, Failure> = cloned.await;
    cloned.map_err(|failure| {
        // To take the directory back from the user would cost its access control list.
        let is_undone = empty(&desired.path, &made, files).is_ok() && !state.is_given;
        Failure { changed: !is_undone, ..failure }
    })
}

/// Makes the repository, with its remote.
async fn begin(desired: &DesiredCheckout, tool: &GitTool, context: &Context<'_>) -> Result<(), Failure> {
    let url = desired.url.as_ref().map(|url| &*url.0).unwrap_or_default();
    tool.change(&["init", "--quiet", "--template="], context).await?;
    tool.change(&["remote", "add", "origin", url], context).await
}

/// Returns the attributes of new files in the directory of the checkout, whose group it may pass on.
fn attributes_below(desired: &DesiredCheckout, context: &Context<'_>) -> Result<FileAttributes, Failure> {
    let own = attributes(desired, context)?;
    let found = context.host.files.inspect(&desired.path, InspectOptions::default());
    let directory = found.map_err(|error| file_failure(&error))?.target;
    let passed = directory.filter(|directory| own.gid.is_some() && directory.mode & SET_GROUP_ID != 0);
    Ok(FileAttributes { gid: passed.map(|directory| directory.gid).or(own.gid), ..own })
}

/// Returns the names of the files and directories at the top of a revision.
async fn top_names(revision: &str, tool: &GitTool, context: &Context<'_>) -> Result<Vec<OsString>, Failure> {
    let printed = tool.read(&["ls-tree", "-z", "--name-only", revision], context).await?;
    Ok(printed.split('\0').filter(|name| !name.is_empty()).map(OsString::from).collect())
}

/// Returns the names in a directory.
fn entries(directory: &Path, files: &dyn Files) -> Result<Vec<OsString>, Failure> {
    let found = files.walk(directory, &|_, _| WalkStep::List).map_err(|error| file_failure(&error))?;
    Ok(found.into_iter().flatten().map(|entry| entry.path.into_os_string()).collect())
}

fn is_empty(directory: &Path, files: &dyn Files) -> Result<bool, Failure> {
    let found = files.inspect(directory, InspectOptions::default()).map_err(|error| file_failure(&error))?;
    Ok(found.target.is_some_and(|found| found.kind == FileKind::Directory { empty: Some(true) }))
}

/// Removes from a directory what was made in it. The repository is the last, so that the next run knows what is left of a
/// removal that was interrupted.
fn empty(directory: &Path, made: &[OsString], files: &dyn Files) -> Result<(), Failure> {
    let present = entries(directory, files)?;
    for name in made.iter().filter(|name| present.contains(name)) {
        files.remove(&directory.join(name), true).map_err(|error| file_failure(&error))?;
    }
    Ok(())
}
