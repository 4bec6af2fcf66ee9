//! Failures of work with files.

use std::path::Path;

use ccm_host::{ChangedPart, FileError, Files, WalkStep};
use ccm_model::{Failure, MissingPrerequisite};

/// Returns the failure for an error of the files, with a hint where there is one.
pub(crate) fn file_failure(error: &FileError) -> Failure {
    let failure = error.failure();
    match error {
        FileError::UntrustedDirectory { .. } => {
            failure.with_hint("make root the owner of the directory, or add `content` or `source`")
        }
        FileError::SharedDirectory { .. } => {
            failure.with_hint("move this file away, or manage a file in a directory that only root may write")
        }
        FileError::DanglingLink(path) => failure
            .with_missing(MissingPrerequisite::Path(path.clone()))
            .with_hint("make the directory that the link leads to, or remove the link"),
        FileError::MountPoint(path) => Failure { changed: failure.changed, ..mount_point(path) },
        _ => failure,
    }
}

/// Returns the names in a directory, sorted; none if the directory does not exist.
pub(crate) fn names_in(directory: &Path, files: &dyn Files) -> Result<Vec<String>, Failure> {
    let found = files.walk(directory, &|_, _| WalkStep::List).map_err(|error| file_failure(&error))?;
    let names = found.into_iter().flatten().filter_map(|entry| entry.path.to_str().map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort_unstable();
    Ok(names)
}

/// Returns the failure for a link of a user who is not trusted.
pub(crate) fn untrusted_link(path: &Path, owner: u32) -> Failure {
    let message = format!("\"{}\" is a link owned by uid {owner} and is not followed", path.display());
    Failure::conflict(message)
        .with_hint("use the path that the link leads to, or make root the owner of the link")
}

/// Returns the failure for a mount point that is to be replaced or removed.
pub(crate) fn mount_point(path: &Path) -> Failure {
    let message = format!("can't replace or remove mount point \"{}\"", path.display());
    Failure::conflict(message)
        .with_missing(MissingPrerequisite::NoMount(path.to_owned()))
        .with_hint("unmount the file system, or manage the files in it")
}

/// Returns the failure of making, replacing or removing a path on which a file system is mounted, or that can't be
/// changed. A run fails before it changes anything, and noop with the same words.
pub(crate) fn check_replaceable(path: &Path, files: &dyn Files) -> Result<(), Failure> {
    if files.exists(path).unwrap_or(false)
        && let Some(mount) = files.blocking_mount(path, false).map_err(|error| file_failure(&error))?
    {
        return Err(mount_point(&mount));
    }
    check_writable(path, ChangedPart::Entry, files)
}

/// Returns the failure of a change that the file system or a flag of the file forbids.
pub(crate) fn check_writable(path: &Path, part: ChangedPart, files: &dyn Files) -> Result<(), Failure> {
    files.check_writable(path, part).map_err(|error| file_failure(&error))
}

/// Checks as [`check_replaceable`] does a path that a program changes for ccm. What ccm may not look at is left to the
/// program.
pub(crate) fn check_replaceable_by_program(path: &Path, files: &dyn Files) -> Result<(), Failure> {
    match check_replaceable(path, files) {
        Err(failure) if failure.missing.as_deref().is_some_and(is_obstacle) => Err(failure),
        _ => Ok(()),
    }
}

fn is_obstacle(missing: &MissingPrerequisite) -> bool {
    matches!(missing, MissingPrerequisite::NoMount(_) | MissingPrerequisite::Writable(_))
}
