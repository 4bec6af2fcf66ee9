//! Checks before a change that nothing keeps the file from being changed: neither its file system nor its flags.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, FileType, StatVfsMountFlags, StatxAttributes, StatxFlags, fstatfs, fstatvfs, statx,
};

use super::resolve::{PathEntry, ResolvedPath, without_last};
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
    let (parent, own) = (resolved.parent.as_fd(), own.as_ref().map(AsFd::as_fd));
    let is_own = matches!(part, ChangedPart::Attributes | ChangedPart::Inside);
    let changed = own.filter(|_| is_own).unwrap_or(parent);
    if fstatvfs(changed)
        .map_err(FileError::at(path, FileStep::Inspect))?
        .f_flag
        .contains(StatVfsMountFlags::RDONLY)
    {
        return Err(FileError::ReadOnly(path.to_owned()));
    }
    if let Some(name) = kernel_file_system(&resolved, own, part, path)? {
        return Err(FileError::OfKernel { path: path.to_owned(), file_system: name });
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
    let directory = (parent, resolved.directory(), of_parent);
    for (file, part, forbidden) in std::iter::once(directory).chain(own.map(|own| (own, path, of_own))) {
        let flags = flags_of(file) & forbidden;
        if !flags.is_empty() {
            let is_append_only = !flags.contains(StatxAttributes::IMMUTABLE);
            return Err(FileError::Fixed { path: path.to_owned(), part: part.to_owned(), is_append_only });
        }
    }
    Ok(())
}

/// File system whose files the kernel makes.
struct KernelFileSystem {
    /// Its type, as `statfs` returns it.
    magic: u64,
    name: &'static str,
    /// Directories can be made and removed in it.
    has_directories_of_users: bool,
}

/// File systems in which nobody can make, replace or remove a file.
const KERNEL_FILE_SYSTEMS: [KernelFileSystem; 12] = {
    const fn file_system(magic: u64, name: &'static str) -> KernelFileSystem {
        KernelFileSystem { magic, name, has_directories_of_users: false }
    }
    const fn with_directories(magic: u64, name: &'static str) -> KernelFileSystem {
        KernelFileSystem { magic, name, has_directories_of_users: true }
    }
    [
        file_system(PROC, "proc"),
        file_system(0x6265_6572, "sysfs"),
        file_system(0x1cd1, "devpts"),
        file_system(0x6462_6720, "debugfs"),
        file_system(0x7363_6673, "securityfs"),
        file_system(0xf97c_ff8c, "selinuxfs"),
        file_system(0x6573_5543, "fusectl"),
        file_system(0x4249_4e4d, "binfmt_misc"),
        with_directories(0x7472_6163, "tracefs"),
        with_directories(0x6265_6570, "configfs"),
        with_directories(0x0027_e0eb, "cgroup"),
        with_directories(0x6367_7270, "cgroup2"),
    ]
};

/// Type of the file system with the processes and parameters of the kernel.
const PROC: u64 = 0x9fa0;

/// Returns the name of the file system of the kernel that forbids a change, if one does.
fn kernel_file_system(
    resolved: &ResolvedPath,
    own: Option<BorrowedFd<'_>>,
    part: ChangedPart,
    path: &Path,
) -> Result<Option<&'static str>, FileError> {
    let own_directory =
        own.filter(|_| resolved.entry.as_ref().is_some_and(|entry| entry.kind() == FileType::Directory));
    let changed = match part {
        ChangedPart::Inside => own_directory.unwrap_or(resolved.parent.as_fd()),
        _ => resolved.parent.as_fd(),
    };
    let found = fstatfs(changed).map_err(FileError::at(path, FileStep::Inspect))?;
    let magic = u64::try_from(found.f_type).unwrap_or_default();
    let Some(system) = KERNEL_FILE_SYSTEMS.iter().find(|system| system.magic == magic) else {
        return Ok(None);
    };
    let is_forbidden = match part {
        // Parameters keep their owners and modes.
        ChangedPart::Attributes => magic == PROC && resolved.path.starts_with("/proc/sys"),
        ChangedPart::Entry => !(system.has_directories_of_users && own_directory.is_some()),
        ChangedPart::NewDirectory => !system.has_directories_of_users,
        ChangedPart::Inside => true,
    };
    Ok(is_forbidden.then_some(system.name))
}

fn is_file_or_directory(entry: &PathEntry) -> bool {
    matches!(entry.kind(), FileType::RegularFile | FileType::Directory)
}

/// Returns the flags of an open file; none if they can't be read.
fn flags_of(file: impl AsFd) -> StatxAttributes {
    let found = statx(file, "", AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
    found.map_or(StatxAttributes::empty(), |found| found.stx_attributes)
}
