//! Making directories.

use std::os::fd::AsFd as _;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, RenameFlags, mkdirat, renameat_with, unlinkat};
use rustix::process::geteuid;

use super::attributes::{apply, inherits, with_own_group};
use super::labels::{FileLabels, LabelledKind};
use super::resolve::ResolvedPath;
use super::write::sync;
use super::{FileAttributes, FileError, FileStep};

const MODE: u32 = 0o755;

const SET_GROUP_ID: u32 = 0o2000;

/// Makes a directory. Until it has its attributes, only the user who runs ccm can use it.
pub(super) fn make(path: &Path, attributes: FileAttributes, labels: &FileLabels) -> Result<(), FileError> {
    let resolved = ResolvedPath::find(path)?;
    mkdirat(&resolved.parent, &resolved.name, Mode::RWXU).map_err(FileError::at(path, FileStep::Create))?;
    let made = finish(&resolved, attributes, labels);
    if made.is_err() {
        // The error that led here is the one to report.
        let _ = unlinkat(&resolved.parent, &resolved.name, AtFlags::REMOVEDIR);
    }
    made?;
    sync(&resolved.open_parent()?, &resolved.parent_path()).map_err(FileError::after_change)
}

/// Renames a directory within its parent, unless the new name exists.
pub(super) fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    let (old, new) = (ResolvedPath::find(from)?, ResolvedPath::find(to)?);
    if old.parent_path() != new.parent_path() {
        return Err(FileError::Changed(from.to_owned()));
    }
    renameat_with(&old.parent, &old.name, &old.parent, &new.name, RenameFlags::NOREPLACE)
        .map_err(FileError::at(to, FileStep::Create))?;
    sync(&new.open_parent()?, &new.parent_path()).map_err(FileError::after_change)
}

fn finish(resolved: &ResolvedPath, attributes: FileAttributes, labels: &FileLabels) -> Result<(), FileError> {
    let path = &resolved.path;
    let entry = resolved.entry_again()?;
    if entry.kind() != FileType::Directory || entry.stat.st_uid != geteuid().as_raw() {
        return Err(FileError::Changed(path.clone()));
    }
    // A directory inherits the set-group-id bit from its parent.
    let (attributes, inherited) = if inherits(resolved.parent_stat()?, &entry.stat, attributes) {
        (attributes, entry.mode() & SET_GROUP_ID)
    } else {
        (with_own_group(attributes), 0)
    };
    let mode = Some(attributes.mode.unwrap_or(MODE | inherited));
    let named = resolved.pin(&entry)?;
    if let Some(label) = labels.of_new(resolved, LabelledKind::Directory) {
        label.set_on_named(named.as_fd());
    }
    apply(resolved, named.as_fd(), FileAttributes { mode, ..attributes })
}
