//! Changing owner, group and mode in place.

use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, Stat, chmodat, chownat, fstat};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};

use super::resolve::ResolvedPath;
use super::write::{attribute_error, changed_owners, owner_names, remove_leftover};
use super::{FileAttributes, FileError, FileStep, extended, strangers};

pub(super) const SET_ID: u32 = 0o6000;

pub(super) fn set_attributes(path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
    let (resolved, named) = checked(path, attributes)?;
    apply(&resolved, named.as_fd(), attributes)?;
    remove_leftover(&resolved);
    Ok(())
}

/// Returns the error that [`set_attributes`] would return before a change.
pub(super) fn check_attributes(path: &Path, attributes: FileAttributes) -> Result<(), FileError> {
    checked(path, attributes).map(drop)
}

/// Opens a file, only to name it, whose attributes may be changed.
fn checked(path: &Path, attributes: FileAttributes) -> Result<(ResolvedPath, OwnedFd), FileError> {
    let resolved = ResolvedPath::find(path)?;
    let entry =
        resolved.entry.as_ref().ok_or_else(|| FileError::step(path, FileStep::Inspect, Errno::NOENT))?;
    resolved.check_shared_directory(attributes.uid)?;
    if entry.is_link() {
        return Err(FileError::IsLink(path.to_owned()));
    }
    let named = resolved.pin(entry)?;
    let stat = fstat(&named).map_err(FileError::at(path, FileStep::Inspect))?;
    let directory_owner = resolved.directory_owner()?;
    let is_trusted = [0, geteuid().as_raw(), stat.st_uid].contains(&directory_owner);
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let has_several_names = !is_directory && stat.st_nlink > 1;
    let gives_rights = gives_rights(&stat, attributes);
    if !is_trusted && (gives_rights || has_several_names) {
        return Err(FileError::UntrustedDirectory {
            path: path.to_owned(),
            owner: stat.st_uid,
            directory_owner,
        });
    }
    if has_several_names {
        strangers::check_names(&resolved, &stat)?;
    }
    if gives_rights {
        strangers::check_above(&resolved)?;
    }
    Ok((resolved, named))
}

/// Returns `true` if a change gives somebody more rights. Others are no danger to a file of another user that the owner
/// of a directory has moved to the path; a file with several names could be any file of the system.
fn gives_rights(stat: &Stat, attributes: FileAttributes) -> bool {
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let (uid, gid) = changed_owners(stat, attributes.uid, attributes.gid);
    let adds_rights = attributes.mode.is_some_and(|mode| mode & !stat.st_mode & 0o7777 != 0);
    // A user can move another user's directory only within its parent, and ccm changes directories in place.
    uid.is_some() || !is_directory && (gid.is_some() || adds_rights)
}

/// Changes attributes through a descriptor that only names the file. Other attributes are kept, but for those
/// that [`chownat`] removes (capabilities and, except from a directory, the set-id bits), and for an access
/// control list that a stranger may have set.
pub(super) fn apply(
    resolved: &ResolvedPath,
    named: BorrowedFd<'_>,
    attributes: FileAttributes,
) -> Result<(), FileError> {
    let path = &resolved.path;
    let stat = fstat(named).map_err(FileError::at(path, FileStep::Inspect))?;
    let directory_owner = resolved.directory_owner()?;
    let (uid, gid) = changed_owners(&stat, attributes.uid, attributes.gid);
    // No call changes mode and extended attributes through this descriptor, but its path in /proc can be
    // used.
    let descriptor = format!("/proc/self/fd/{}", named.as_raw_fd());
    let changes_owner = (uid, gid) != (None, None);
    if changes_owner {
        let step = FileStep::Owner(owner_names(&stat, uid, gid));
        chownat(named, "", uid, gid, AtFlags::EMPTY_PATH).map_err(FileError::at(path, step))?;
    }
    let after_change = |error: FileError| if changes_owner { error.after_change() } else { error };
    if !acl_is_kept(stat.st_uid, directory_owner, attributes.uid.unwrap_or(stat.st_uid)) {
        extended::remove_acls_at(&descriptor)
            .map_err(|refused| after_change(attribute_error(path, refused)))?;
    }
    let is_directory = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
    let kept = stat.st_mode & 0o7777 & if is_directory { 0o7777 } else { !SET_ID };
    match attributes.mode.or(changes_owner.then_some(kept)) {
        Some(mode) => apply_mode(named, &descriptor, path, mode).map_err(after_change),
        None => Ok(()),
    }
}

/// Returns `true` if an access control list stays. Neither the owner of the file, who could have set it, nor
/// that of its directory, from which it may be inherited, may be a stranger to the new owner.
pub(super) fn acl_is_kept(owner: u32, directory_owner: u32, new_owner: u32) -> bool {
    let trusted = [0, geteuid().as_raw(), new_owner];
    trusted.contains(&owner) && trusted.contains(&directory_owner)
}

/// Returns `true` if a new file takes group, set-group-id bit and access control list from its directory.
pub(super) fn inherits(directory: &Stat, new: &Stat, attributes: FileAttributes) -> bool {
    acl_is_kept(new.st_uid, directory.st_uid, attributes.uid.unwrap_or(new.st_uid))
}

/// Returns the attributes of a new file in a directory of a stranger, whose group could be one of his.
pub(super) fn with_own_group(attributes: FileAttributes) -> FileAttributes {
    FileAttributes { gid: attributes.gid.or_else(|| Some(getegid().as_raw())), ..attributes }
}

fn apply_mode(named: BorrowedFd<'_>, descriptor: &str, path: &Path, mode: u32) -> Result<(), FileError> {
    let has_mode = || {
        let stat = fstat(named).map_err(FileError::at(path, FileStep::Mode))?;
        Ok(stat.st_mode & 0o7777 == mode)
    };
    if has_mode()? {
        return Ok(());
    }
    chmodat(CWD, descriptor, Mode::from_raw_mode(mode), AtFlags::empty())
        .map_err(FileError::at(path, FileStep::Mode))?;
    // The kernel drops the set-group-id bit without an error if the user is not in the group.
    let dropped = || FileError::step(path, FileStep::Mode, Errno::PERM).after_change();
    if has_mode()? { Ok(()) } else { Err(dropped()) }
}
