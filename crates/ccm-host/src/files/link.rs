//! Symbolic links.

use std::ffi::OsString;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, readlinkat, renameat, symlinkat, unlinkat};
use rustix::io::Errno;

use super::labels::{FileLabel, FileLabels, LabelledKind};
use super::resolve::{PathEntry, ResolvedPath};
use super::write::{free_temp_name, sync};
use super::{FileError, FileStep};

/// Returns the text of the link at a path; `None` if there is no link.
pub(super) fn target(path: &Path) -> Result<Option<PathBuf>, FileError> {
    let resolved = match ResolvedPath::find(path) {
        Err(FileError::ParentMissing(_)) => return Ok(None),
        resolved => resolved?,
    };
    if !resolved.entry.as_ref().is_some_and(PathEntry::is_link) {
        return Ok(None);
    }
    match readlinkat(&resolved.parent, &resolved.name, Vec::new()) {
        Ok(text) => Ok(Some(OsString::from_vec(text.into_bytes()).into())),
        // Something else has taken its place.
        Err(Errno::INVAL | Errno::NOENT) => Err(FileError::Changed(path.to_owned())),
        Err(error) => Err(FileError::step(path, FileStep::Read, error)),
    }
}

/// Makes a link, or replaces a link by it in one step; with `replaces_file` also a file.
pub(super) fn make(
    path: &Path,
    target: &Path,
    replaces_file: bool,
    labels: &FileLabels,
) -> Result<(), FileError> {
    let resolved = ResolvedPath::find(path)?;
    if resolved.name.is_empty() {
        return Err(FileError::Root);
    }
    resolved.check_mount_point()?;
    resolved.check_shared_directory(None)?;
    match resolved.entry.as_ref().map(PathEntry::kind) {
        None | Some(FileType::Symlink) => {}
        Some(FileType::RegularFile) if replaces_file => {}
        Some(_) => return Err(FileError::Changed(path.to_owned())),
    }
    let name = free_temp_name(&resolved.parent, &resolved.name);
    let directory = resolved.open_parent()?;
    symlinkat(target, &resolved.parent, &name).map_err(FileError::at(&resolved.path, FileStep::Create))?;
    let parent = resolved.parent.as_fd();
    let kept = resolved.entry.as_ref().filter(|entry| entry.is_link());
    let label = match kept {
        Some(_) => FileLabel::of_link(parent, &resolved.name),
        None => labels.of_new(&resolved, LabelledKind::Link),
    };
    if let Some(label) = label {
        label.set_on_link(parent, &name);
    }
    if let Err(error) = renameat(&resolved.parent, &name, &resolved.parent, &resolved.name) {
        // The error that led here is the one to report.
        let _ = unlinkat(&resolved.parent, &name, AtFlags::empty());
        return Err(FileError::step(path, FileStep::Rename, error));
    }
    sync(&directory, &resolved.parent_path()).map_err(FileError::after_change)
}
