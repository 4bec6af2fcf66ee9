//! Moving extracted files into their places.

use std::ffi::{CStr, CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Dir, FileType, Mode, fstat, fsync, openat, renameat, statat};
use rustix::io::Errno;

use super::ExtractError;
use super::staging::{DIRECTORY, Staging};
use ccm_host::{FileError, FileStep, is_mount_point};

/// Checks that everything can be moved into place: a directory never takes the place of a file, nor a file that of
/// a directory.
pub(super) fn check(staging: &Staging) -> Result<(), ExtractError> {
    check_directory(&staging.directory, &staging.target, &staging.target_path)
}

/// Moves everything into place. `last` is moved after everything else.
pub(super) fn place(staging: &Staging, last: Option<&Path>) -> Result<(), ExtractError> {
    let last = last.and_then(|last| last.strip_prefix(&staging.target_path).ok());
    let last: Vec<&OsStr> = last.map(names_of).unwrap_or_default();
    let mut placement = Placement { changed: false };
    let placed = placement.place(&staging.directory, &staging.target, &staging.target_path, &last);
    placed.map_err(|error| if placement.changed { error.after_change() } else { error }.into())
}

fn names_of(path: &Path) -> Vec<&OsStr> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    names.collect()
}

fn check_directory(staged: &OwnedFd, target: &OwnedFd, path: &Path) -> Result<(), ExtractError> {
    for (name, is_directory) in entries(staged, path)? {
        let path = path.join(OsStr::from_bytes(name.to_bytes()));
        let Some(kind) = kind_of(target, &name, &path)? else { continue };
        let wanted = if is_directory { "a directory" } else { "a file or link" };
        match (is_directory, kind) {
            (true, FileType::Directory) => {
                check_directory(&open(staged, &name, &path)?, &open(target, &name, &path)?, &path)?;
            }
            (false, FileType::RegularFile | FileType::Symlink) => check_no_mount(target, &name, &path)?,
            (_, kind) => {
                let what = match kind {
                    FileType::Directory => "a directory",
                    FileType::RegularFile => "a file",
                    FileType::Symlink => "a symbolic link",
                    _ => "a special file",
                };
                return Err(ExtractError::Obstacle { path, what, wanted });
            }
        }
    }
    Ok(())
}

fn check_no_mount(target: &OwnedFd, name: &CStr, path: &Path) -> Result<(), FileError> {
    let refused = |error| FileError::step(path, FileStep::Inspect, error);
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::CLOEXEC;
    let found = openat(target, name, flags, Mode::empty()).map_err(refused)?;
    let stats = (fstat(&found).map_err(refused)?, fstat(target).map_err(refused)?);
    if is_mount_point(&found, &stats.0, &stats.1).map_err(refused)? {
        return Err(FileError::MountPoint(path.to_owned()));
    }
    Ok(())
}

struct Placement {
    changed: bool,
}

impl Placement {
    fn place(
        &mut self,
        staged: &OwnedFd,
        target: &OwnedFd,
        path: &Path,
        last: &[&OsStr],
    ) -> Result<(), FileError> {
        let (first_of_last, below_last) = match last {
            [] => (None, last),
            [first, below @ ..] => (Some(*first), below),
        };
        let is_last = |name: &CString| first_of_last == Some(OsStr::from_bytes(name.to_bytes()));
        let (late, early): (Vec<_>, Vec<_>) =
            entries(staged, path)?.into_iter().partition(|(name, _)| is_last(name));
        for (name, is_directory) in early {
            self.place_entry((staged, target), &name, is_directory, path, &[])?;
        }
        if !late.is_empty() {
            // Everything else has to be on the disk before the sign that the extraction is complete.
            sync(target, path)?;
        }
        for (name, is_directory) in late {
            self.place_entry((staged, target), &name, is_directory, path, below_last)?;
        }
        sync(target, path)
    }

    fn place_entry(
        &mut self,
        (staged, target): (&OwnedFd, &OwnedFd),
        name: &CString,
        is_directory: bool,
        path: &Path,
        last: &[&OsStr],
    ) -> Result<(), FileError> {
        let path = path.join(OsStr::from_bytes(name.to_bytes()));
        if is_directory && kind_of(target, name, &path)?.is_some() {
            return self.place(&open(staged, name, &path)?, &open(target, name, &path)?, &path, last);
        }
        renameat(staged, name, target, name).map_err(FileError::at(&path, FileStep::Rename))?;
        self.changed = true;
        Ok(())
    }
}

/// Returns the names in a directory, and whether each is a directory itself.
fn entries(directory: &OwnedFd, path: &Path) -> Result<Vec<(CString, bool)>, FileError> {
    let refused = |error| FileError::step(path, FileStep::Inspect, error);
    let mut entries = Vec::new();
    for entry in Dir::read_from(directory).map_err(refused)? {
        let entry = entry.map_err(refused)?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        let kind = match entry.file_type() {
            FileType::Unknown => kind_of(directory, name, path)?.unwrap_or(FileType::Unknown),
            known => known,
        };
        entries.push((name.to_owned(), kind == FileType::Directory));
    }
    entries.sort_unstable();
    Ok(entries)
}

fn kind_of(directory: &OwnedFd, name: &CStr, path: &Path) -> Result<Option<FileType>, FileError> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(FileError::step(path, FileStep::Inspect, error)),
    }
}

fn open(directory: &OwnedFd, name: &CStr, path: &Path) -> Result<OwnedFd, FileError> {
    openat(directory, name, DIRECTORY, Mode::empty()).map_err(FileError::at(path, FileStep::Inspect))
}

/// Syncs a directory and those below it.
pub(super) fn sync_directories(directory: &OwnedFd, path: &Path) -> Result<(), FileError> {
    for (name, _) in entries(directory, path)?.iter().filter(|(_, is_directory)| *is_directory) {
        let path = path.join(OsStr::from_bytes(name.to_bytes()));
        match openat(directory, name, DIRECTORY, Mode::empty()) {
            Ok(below) => sync_directories(&below, &path)?,
            // A directory that this user may not read can't be synced, and holds nothing.
            Err(Errno::ACCESS) => {}
            Err(error) => return Err(FileError::step(&path, FileStep::Inspect, error)),
        }
    }
    sync(directory, path)
}

fn sync(directory: &OwnedFd, path: &Path) -> Result<(), FileError> {
    match fsync(directory) {
        // Some filesystems have nothing to sync for a directory.
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(error) => Err(FileError::step(path, FileStep::Sync, error)),
    }
}
