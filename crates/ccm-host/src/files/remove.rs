//! Removing a file, or a directory and everything in it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::read_link;
use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

use super::content::check_cancelled;
use super::read::unescape;
use super::resolve::{ResolvedPath, is_mount_point};
use super::write::{remove_leftover, sync};
use super::{FileError, FileStep, strangers};
use crate::command::Cancellation;

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

pub(super) fn remove(path: &Path, force: bool, cancellation: &Cancellation) -> Result<(), FileError> {
    let resolved = ResolvedPath::find(path)?;
    if resolved.name.is_empty() {
        return Err(FileError::Root);
    }
    let Some(entry) = &resolved.entry else { return Ok(()) };
    resolved.check_mount_point()?;
    strangers::check_above(&resolved)?;
    let refused = |error: Errno| FileError::step(path, FileStep::Remove, error);
    let is_directory = entry.kind() == FileType::Directory;
    let directory = resolved.open_parent()?;
    if is_directory && force {
        let top = openat(&resolved.parent, &resolved.name, DIRECTORY, Mode::empty()).map_err(refused)?;
        check_mounts_below(&top)?;
        empty(top, path, cancellation, &|_| {})?;
    }
    let flags = if is_directory { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    unlinkat(&resolved.parent, &resolved.name, flags).map_err(|error| {
        let error = refused(error);
        if is_directory && force { error.after_change() } else { error }
    })?;
    remove_leftover(&resolved);
    sync(&directory, &resolved.parent_path()).map_err(FileError::after_change)
}

/// Returns an error for a mount point, and with `below` for a directory that holds one.
pub(super) fn check_mounts(path: &Path, below: bool) -> Result<(), FileError> {
    let resolved = ResolvedPath::find(path)?;
    resolved.check_mount_point()?;
    match &resolved.entry {
        Some(entry) if below && entry.kind() == FileType::Directory => {
            check_mounts_below(&resolved.pin(entry)?)
        }
        _ => Ok(()),
    }
}

fn check_mounts_below(directory: &OwnedFd) -> Result<(), FileError> {
    mount_below(directory).map_or(Ok(()), |mount| Err(FileError::MountPoint(mount)))
}

/// Finds a mount point below a directory, so that nothing is removed if not everything can be. If the list of
/// mounts can't be read, the removal stops at the mount point.
fn mount_below(directory: &OwnedFd) -> Option<PathBuf> {
    let here = read_link(format!("/proc/self/fd/{}", directory.as_raw_fd())).ok()?;
    let mounts = std::fs::read("/proc/self/mountinfo").ok()?;
    let points =
        mounts.split(|byte| *byte == b'\n').filter_map(|line| line.split(|byte| *byte == b' ').nth(4));
    points
        .map(|point| PathBuf::from(OsString::from_vec(unescape(point))))
        .find(|point| *point != here && point.starts_with(&here))
}

/// Name of a directory, and the identity of its parent, to check the way back up.
struct ParentDirectory {
    name: CString,
    parent: Stat,
}

/// Removes everything in a directory, with only one directory open at a time. `before` gets each directory
/// before it is read.
pub(crate) fn empty(
    top: OwnedFd,
    path: &Path,
    cancellation: &Cancellation,
    before: &dyn Fn(&OwnedFd),
) -> Result<(), FileError> {
    let mut at = top;
    let mut path = path.to_owned();
    let mut parents: Vec<ParentDirectory> = Vec::new();
    loop {
        let refused =
            |path: &Path, error: Errno| FileError::step(path, FileStep::Remove, error).after_change();
        if let Some(name) = remove_files(&at, &path, cancellation)? {
            let parent = fstat(&at).map_err(|error| refused(&path, error))?;
            path.push(OsStr::from_bytes(name.to_bytes()));
            let named = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            before(&openat(&at, &*name, named, Mode::empty()).map_err(|error| refused(&path, error))?);
            let below =
                openat(&at, &*name, DIRECTORY, Mode::empty()).map_err(|error| refused(&path, error))?;
            let stat = fstat(&below).map_err(|error| refused(&path, error))?;
            if is_mount_point(&below, &stat, &parent).map_err(|error| refused(&path, error))? {
                let mount = io::Error::other(FileError::MountPoint(path.clone()));
                return Err(FileError::step(&path, FileStep::Remove, mount).after_change());
            }
            parents.push(ParentDirectory { name, parent });
            at = below;
            continue;
        }
        let Some(level) = parents.pop() else { return Ok(()) };
        let above = openat(&at, "..", DIRECTORY, Mode::empty()).map_err(|error| refused(&path, error))?;
        let stat = fstat(&above).map_err(|error| refused(&path, error))?;
        if (stat.st_dev, stat.st_ino) != (level.parent.st_dev, level.parent.st_ino) {
            let moved = io::Error::other(FileError::Changed(path.clone()));
            return Err(FileError::step(&path, FileStep::Remove, moved).after_change());
        }
        unlinkat(&above, &*level.name, AtFlags::REMOVEDIR).map_err(|error| refused(&path, error))?;
        at = above;
        path.pop();
    }
}

/// Removes files up to the first directory, and returns its name.
fn remove_files(
    directory: &OwnedFd,
    path: &Path,
    cancellation: &Cancellation,
) -> Result<Option<CString>, FileError> {
    let refused = |error: Errno| FileError::step(path, FileStep::Remove, error).after_change();
    for entry in Dir::read_from(directory).map_err(refused)? {
        check_cancelled(cancellation).map_err(FileError::after_change)?;
        let entry = entry.map_err(refused)?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => {
                let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(refused)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            known => known,
        };
        if kind == FileType::Directory {
            return Ok(Some(name.to_owned()));
        }
        match unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(refused(error)),
        }
    }
    Ok(None)
}
