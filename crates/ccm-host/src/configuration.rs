//! Configuration directories. Only files that no other user can have written are read.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fgetxattr, fstat, openat, statat};
use rustix::io::Errno;
use thiserror::Error;

use crate::access_list::ACCESS_LIST as ACL;
use crate::files::is_absence;

/// Flags for reading. They refuse a link, and do not wait for the other end of a pipe.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

const WRITABLE_BY_ALL: u32 = 0o002;
const WRITABLE_BY_GROUP: u32 = 0o020;

/// Open configuration directory. Its files are read through the descriptor, so that a replaced path has no
/// effect, and no link is followed. As root, a file or directory that belongs to another user or that
/// others may write is an error, because its writer would decide what root does.
#[derive(Debug)]
pub struct ConfigurationDirectory {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// Error of reading a configuration directory.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// The path is a link.
    #[error("\"{}\" is a symbolic link", .0.display())]
    Link(PathBuf),
    /// The path is of another kind than expected.
    #[error("\"{}\" is {found}", path.display())]
    Kind {
        /// The path.
        path: PathBuf,
        /// Kind that was found, with its article.
        found: &'static str,
    },
    /// ccm runs as root, and the path belongs to another user.
    #[error("\"{}\" belongs to uid {owner}, not to root", path.display())]
    Foreign {
        /// The path.
        path: PathBuf,
        /// UID of the owner.
        owner: u32,
    },
    /// ccm runs as root, and everybody may write the path.
    #[error("\"{}\" may be written by everybody (mode {mode:04o})", path.display())]
    Exposed {
        /// The path.
        path: PathBuf,
        /// Mode of the path.
        mode: u32,
    },
    /// ccm runs as root, and a group other than root's, or an access control list, lets others write the path.
    #[error("\"{}\" may be written by {writers} (mode {mode:04o})", path.display())]
    Shared {
        /// The path.
        path: PathBuf,
        /// Users who may write it, as a group or a list names them.
        writers: String,
        /// Mode of the path.
        mode: u32,
    },
    /// The file is too long.
    #[error("\"{}\" is longer than {limit} bytes", path.display())]
    TooLong {
        /// The path.
        path: PathBuf,
        /// Maximum length in bytes.
        limit: u64,
    },
    /// The directory has too many entries.
    #[error("\"{}\" holds more than {limit} entries", path.display())]
    TooMany {
        /// The path.
        path: PathBuf,
        /// Maximum number of entries.
        limit: usize,
    },
    /// The system refused the read.
    #[error("\"{}\" can't be read", path.display())]
    Read {
        /// The path.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl ConfigurationDirectory {
    /// Opens a directory; `None` if it does not exist.
    pub fn open(path: &Path) -> Result<Option<Self>, ConfigurationError> {
        let descriptor = match openat(CWD, path, READ | OFlags::DIRECTORY, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(error) => {
                return convert_open_error(error, path, || statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW));
            }
        };
        Self::of(descriptor, path.to_owned()).map(Some)
    }

    /// Opens a subdirectory; `None` if it does not exist.
    pub fn enter(&self, name: &OsStr) -> Result<Option<Self>, ConfigurationError> {
        let path = self.path.join(name);
        let descriptor = match openat(&self.descriptor, name, READ | OFlags::DIRECTORY, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(error) => return convert_open_error(error, &path, || self.inspect(name)),
        };
        Self::of(descriptor, path).map(Some)
    }

    fn of(descriptor: OwnedFd, path: PathBuf) -> Result<Self, ConfigurationError> {
        check_open(&path, &descriptor, FileType::Directory, is_root())?;
        Ok(Self { descriptor, path })
    }

    /// Returns the path that it was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the sorted names of the entries. More than `limit` are an error: their order is random.
    pub fn names(&self, limit: usize) -> Result<Vec<OsString>, ConfigurationError> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor).map_err(reading(&self.path))? {
            let entry = entry.map_err(reading(&self.path))?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            if names.len() == limit {
                return Err(ConfigurationError::TooMany { path: self.path.clone(), limit });
            }
            names.push(OsStr::from_bytes(name).to_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Reads a regular file; `None` if it does not exist.
    pub fn read(&self, name: &OsStr, limit: u64) -> Result<Option<Vec<u8>>, ConfigurationError> {
        let path = self.path.join(name);
        let root = is_root();
        // The check comes before opening, because opening a device could have an effect.
        match self.inspect(name) {
            Ok(found) => check(&path, &found, FileType::RegularFile, root)?,
            Err(error) => return convert_open_error(error, &path, || Err(error)),
        }
        let descriptor = match openat(&self.descriptor, name, READ, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(error) => return convert_open_error(error, &path, || self.inspect(name)),
        };
        content(descriptor, &path, limit, root).map(Some)
    }

    fn inspect(&self, name: &OsStr) -> Result<Stat, Errno> {
        statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// Reads a regular file that was not named to ccm; `None` if it does not exist. A link is followed if it
/// belongs to root or to the user who runs ccm. As root, a file or link of another user or that others may
/// write is an error, because its writer would decide what root does.
pub fn read_unnamed(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ConfigurationError> {
    let user = rustix::process::geteuid();
    let absent = |error: Errno| convert_open_error(error, path, || Err(error));
    let found = match statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => found,
        Err(error) => return absent(error),
    };
    let is_own = found.st_uid == user.as_raw();
    // A pipe or device of another user is left alone like a file.
    if user.is_root() && !is_own {
        return Err(ConfigurationError::Foreign { path: path.to_owned(), owner: found.st_uid });
    }
    if FileType::from_raw_mode(found.st_mode) == FileType::Symlink && !is_own && found.st_uid != 0 {
        return Err(ConfigurationError::Link(path.to_owned()));
    }
    let descriptor = match statat(CWD, path, AtFlags::empty()) {
        Ok(found) => {
            check(path, &found, FileType::RegularFile, user.is_root())?;
            openat(CWD, path, READ.difference(OFlags::NOFOLLOW), Mode::empty())
        }
        Err(error) => Err(error),
    };
    match descriptor {
        Ok(descriptor) => content(descriptor, path, limit, user.is_root()).map(Some),
        Err(error) => absent(error),
    }
}

/// Reads an open file. It may have been replaced before it was opened, so it is checked again.
fn content(descriptor: OwnedFd, path: &Path, limit: u64, root: bool) -> Result<Vec<u8>, ConfigurationError> {
    let found = check_open(path, &descriptor, FileType::RegularFile, root)?;
    let too_long = || ConfigurationError::TooLong { path: path.to_owned(), limit };
    if u64::try_from(found.st_size).unwrap_or_default() > limit {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    let read = File::from(descriptor).take(limit.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|source| ConfigurationError::Read { path: path.to_owned(), source })?;
    if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(bytes) }
}

/// Converts an error of opening. A path that does not exist is no error.
fn convert_open_error<T>(
    error: Errno,
    path: &Path,
    inspect: impl FnOnce() -> Result<Stat, Errno>,
) -> Result<Option<T>, ConfigurationError> {
    // The kernel returns NOTDIR for a link as well.
    let found = matches!(error, Errno::LOOP | Errno::NOTDIR).then(inspect).and_then(Result::ok);
    match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
        Some(FileType::Symlink) => Err(ConfigurationError::Link(path.to_owned())),
        Some(found) => {
            Err(ConfigurationError::Kind { path: path.to_owned(), found: kind_with_article(found) })
        }
        None if is_absence(&error.into()) => Ok(None),
        None => Err(reading(path)(error)),
    }
}

fn reading(path: &Path) -> impl FnOnce(Errno) -> ConfigurationError {
    move |source| ConfigurationError::Read { path: path.to_owned(), source: source.into() }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Checks the kind, and for root that no other user can have written the file or directory.
fn check(path: &Path, found: &Stat, kind: FileType, root: bool) -> Result<(), ConfigurationError> {
    let path = || path.to_owned();
    let found_kind = FileType::from_raw_mode(found.st_mode);
    let mode = found.st_mode & 0o7777;
    match found_kind {
        FileType::Symlink => Err(ConfigurationError::Link(path())),
        _ if found_kind != kind => {
            Err(ConfigurationError::Kind { path: path(), found: kind_with_article(found_kind) })
        }
        _ if root && found.st_uid != 0 => {
            Err(ConfigurationError::Foreign { path: path(), owner: found.st_uid })
        }
        _ if root && mode & WRITABLE_BY_ALL != 0 => Err(ConfigurationError::Exposed { path: path(), mode }),
        _ if root && mode & WRITABLE_BY_GROUP != 0 && found.st_gid != 0 => {
            let writers = format!("the group with gid {}", found.st_gid);
            Err(ConfigurationError::Shared { path: path(), writers, mode })
        }
        _ => Ok(()),
    }
}

/// Checks an open file or directory as [`check`] does, with its access control list.
fn check_open(
    path: &Path,
    descriptor: &OwnedFd,
    kind: FileType,
    root: bool,
) -> Result<Stat, ConfigurationError> {
    let found = fstat(descriptor).map_err(reading(path))?;
    check(path, &found, kind, root)?;
    let mode = found.st_mode & 0o7777;
    // With a list, this bit is the limit of all its users and groups.
    if root && mode & WRITABLE_BY_GROUP != 0 && fgetxattr(descriptor, ACL, &mut [0_u8; 0]).is_ok() {
        let writers = "others, through an access control list".to_owned();
        return Err(ConfigurationError::Shared { path: path.to_owned(), writers, mode });
    }
    Ok(found)
}

fn kind_with_article(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => "a file",
        FileType::Directory => "a directory",
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "neither a file nor a directory",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(mode: u32, owner: u32, group: u32) -> Stat {
        let mut state = rustix::fs::stat("/").expect("the root");
        state.st_mode = mode;
        state.st_uid = owner;
        state.st_gid = group;
        state
    }

    #[test]
    fn root_reads_only_files_that_root_has_written() {
        let file = |mode: u32| 0o100_000 | mode;
        for (mode, (owner, group), root, expected) in [
            (file(0o644), (0, 0), true, None),
            (file(0o664), (0, 0), true, None),
            (file(0o600), (1000, 0), true, Some("\"/x\" belongs to uid 1000, not to root")),
            (file(0o664), (0, 12), true, Some("\"/x\" may be written by the group with gid 12 (mode 0664)")),
            (file(0o644), (0, 12), true, None),
            (file(0o664), (0, 12), false, None),
            (file(0o646), (0, 0), true, Some("\"/x\" may be written by everybody (mode 0646)")),
            (file(0o600), (1000, 0), false, None),
            (file(0o666), (0, 0), false, None),
            (0o120_777, (0, 0), true, Some("\"/x\" is a symbolic link")),
            (0o120_777, (0, 0), false, Some("\"/x\" is a symbolic link")),
            (0o040_755, (0, 0), false, Some("\"/x\" is a directory")),
            (0o010_600, (0, 0), true, Some("\"/x\" is a pipe")),
        ] {
            let checked = check(Path::new("/x"), &state(mode, owner, group), FileType::RegularFile, root);
            let message = checked.err().map(|error| error.to_string());
            assert_eq!(message.as_deref(), expected, "{mode:o} of {owner}, root: {root}");
        }
    }

    #[test]
    fn list_that_lets_others_write_is_found() {
        // Owner, another user, group, limit, others.
        let entries =
            |limit| [(1_u16, 6_u16, u32::MAX), (2, 6, 54_321), (4, 4, u32::MAX), limit, (0x20, 0, u32::MAX)];
        for (rights, expected) in [
            (6, Some("\"/x\" may be written by others, through an access control list (mode 0660)")),
            (4, None),
        ] {
            let mut list = 2_u32.to_le_bytes().to_vec();
            for (tag, rights, id) in entries((0x10, rights, u32::MAX)) {
                list.extend(
                    tag.to_le_bytes().into_iter().chain(rights.to_le_bytes()).chain(id.to_le_bytes()),
                );
            }
            let file = tempfile::tempfile().expect("a file");
            match rustix::fs::fsetxattr(&file, ACL, &list, rustix::fs::XattrFlags::empty()) {
                Ok(()) => {}
                Err(error) => return ccm_testkit::skipped(&format!("a list can't be set here: {error}")),
            }
            if !ccm_testkit::needs_root() {
                return;
            }
            let checked = check_open(Path::new("/x"), &file.into(), FileType::RegularFile, true);
            let message = checked.err().map(|error| error.to_string());
            assert_eq!(message.as_deref(), expected, "{rights}");
        }
    }
}
