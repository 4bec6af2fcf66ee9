//! The home directory of a user, and the keys in it.

use std::path::Path;

use ccm_engine::Context;
use ccm_host::{FileAttributes, FileError, Files, NewContent, NewFile, TreeEntryKind, WalkStep, temp_path};
use ccm_model::{Failure, FailureKind};

use crate::parts::accounts::PasswdLine;
use crate::support::file_failure::file_failure;

const SKELETON: &str = "/etc/skel";

/// Hint for a home directory whose parent directory does not exist.
pub(crate) const PARENT_HINT: &str = "manage the directory with a file resource and `ensure: directory`";

/// Cause of every failure to make a home directory.
pub(crate) const NOT_MADE: &str = "the home directory can't be made";

/// Permissions of a home directory.
const MODE: u32 = 0o700;

/// Makes the home directory of an existing user, with the files of `/etc/skel`. Until everything is in it, it has a
/// temporary name, because a killed run would leave a part of it, and belongs to the user who runs ccm, so that nobody can
/// put a link in the way.
pub(crate) fn make(user: &PasswdLine, files: &dyn Files) -> Result<(), Failure> {
    let home = Path::new(&user.home);
    let not_made = |error: &FileError| {
        let failure = file_failure(error).because_of(NOT_MADE);
        match error {
            FileError::ParentMissing(_) => failure.with_hint(PARENT_HINT),
            _ => failure,
        }
    };
    let made = temp_path(home);
    if files.exists(&made).unwrap_or_default() || matches!(files.link_target(&made), Ok(Some(_))) {
        files.remove(&made, true).map_err(|error| not_made(&error))?;
    }
    files
        .make_directory(&made, FileAttributes { mode: Some(MODE), ..FileAttributes::default() })
        .map_err(|error| not_made(&error))?;
    let owner = FileAttributes { uid: Some(user.uid), gid: Some(user.gid), mode: None };
    let filled = fill(&made, owner, files).and_then(|()| files.set_attributes(&made, owner));
    filled.and_then(|()| files.rename_directory(&made, home)).map_err(|error| {
        let removed = files.remove(&made, true);
        Failure { changed: removed.is_err(), ..not_made(&error) }
    })
}

fn fill(home: &Path, owner: FileAttributes, files: &dyn Files) -> Result<(), FileError> {
    let skeleton = Path::new(SKELETON);
    let entries = files.walk(skeleton, &|_, _| WalkStep::Enter)?.unwrap_or_default();
    for entry in entries {
        let path = home.join(&entry.path);
        let attributes = FileAttributes { mode: Some(entry.mode & 0o777), ..owner };
        match entry.kind {
            // The owner of a directory could put links in it, so the owner is set last.
            TreeEntryKind::Directory { .. } => files.make_directory(
                &path,
                FileAttributes { mode: Some(entry.mode & 0o777), ..FileAttributes::default() },
            )?,
            TreeEntryKind::File => {
                let content = NewContent::CopyOf(&skeleton.join(&entry.path));
                files.write(&path, &NewFile { content, attributes }).map(drop)?;
            }
            TreeEntryKind::Link(target) => files.make_link(&path, &target, false)?,
            TreeEntryKind::Special(_) => {}
        }
    }
    let directories = files.walk(home, &|_, _| WalkStep::Enter)?.unwrap_or_default();
    for entry in
        directories.iter().rev().filter(|entry| matches!(entry.kind, TreeEntryKind::Directory { .. }))
    {
        files.set_attributes(&home.join(&entry.path), owner)?;
    }
    Ok(())
}

/// Returns a process of a user.
pub(crate) fn process_of(uid: u32, context: &Context<'_>) -> Result<Option<u32>, Failure> {
    let number = |path: &Path| path.to_str().and_then(|name| name.parse::<u32>().ok());
    let list = |path: &Path, _| if number(path).is_some() { WalkStep::List } else { WalkStep::Skip };
    let processes = context.host.files.walk(Path::new("/proc"), &list).map_err(|error| {
        Failure::from_error(FailureKind::Read, &error).because_of("the processes of the user can't be listed")
    })?;
    Ok(processes.into_iter().flatten().find(|entry| entry.uid == uid).and_then(|entry| number(&entry.path)))
}
