//! Checks before a change that nothing keeps the file from being changed: neither its file system nor its flags.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, StatVfsMountFlags, StatxAttributes, StatxFlags, fstatvfs, statx};

use super::resolve::{PathEntry, without_last};
use super::{ChangedPart, FileError, FileStep};

/// Flags that forbid to replace or remove a file, and to change its attributes.
const FIXED: StatxAttributes = StatxAttributes::IMMUTABLE.union(StatxAttributes::APPEND);

/// Returns an error if the file system or a flag forbids a change of a path. Directories above need not exist.
pub(super) fn check(path: &Path, part: ChangedPart) -> Result<(), FileError> {
    let resolved = without_last(path)?;
    let own = match &resolved.entry {
        // A device, a pipe or a socket could do something when it is opened, and a link has no flags.
        Some(entry) if is_file_or_directory(entry) => Some(resolved.pin(entry)?),
        _ => None,
    };
    let is_own = matches!(part, ChangedPart::Attributes | ChangedPart::Inside);
    let changed = own.as_ref().filter(|_| is_own).unwrap_or(&resolved.parent);
    if fstatvfs(changed)
        .map_err(FileError::at(path, FileStep::Inspect))?
        .f_flag
        .contains(StatVfsMountFlags::RDONLY)
    {
        return Err(FileError::ReadOnly(path.to_owned()));
    }
    // Entries can be added to a directory that is append-only, and neither replaced nor removed.
    let of_directory = match part {
        ChangedPart::Entry => FIXED,
        ChangedPart::NewDirectory | ChangedPart::Inside => StatxAttributes::IMMUTABLE,
        ChangedPart::Attributes => StatxAttributes::empty(),
    };
    let (of_parent, of_own) = match (&own, part) {
        (Some(_), ChangedPart::Inside) => (StatxAttributes::empty(), of_directory),
        _ => (of_directory, FIXED),
    };
    let directory = (&resolved.parent, resolved.directory(), of_parent);
    for (file, part, forbidden) in
        std::iter::once(directory).chain(own.as_ref().map(|own| (own, path, of_own)))
    {
        let flags = flags_of(file) & forbidden;
        if !flags.is_empty() {
            let is_append_only = !flags.contains(StatxAttributes::IMMUTABLE);
            return Err(FileError::Fixed { path: path.to_owned(), part: part.to_owned(), is_append_only });
        }
    }
    Ok(())
}

fn is_file_or_directory(entry: &PathEntry) -> bool {
    matches!(entry.kind(), FileType::RegularFile | FileType::Directory)
}

/// Returns the flags of an open file; none if they can't be read.
fn flags_of(file: impl AsFd) -> StatxAttributes {
    let found = statx(file, "", AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
    found.map_or(StatxAttributes::empty(), |found| found.stx_attributes)
}
