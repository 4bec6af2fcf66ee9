//! A directory of files that decide what ccm does: only what nobody else can have put there is read.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::Errno;
use thiserror::Error;

use crate::files::is_absence;

/// Opening to read: never a link, and without waiting for the other end of a pipe.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

const WRITABLE_BY_ALL: u32 = 0o002;

/// A directory of configuration that is held open, so that what is read in it can't be exchanged.
///
/// Links are not followed, neither the directory itself nor a name in it. As root, what somebody else owns or
/// everybody may write is refused: whoever can write it would decide what root does.
#[derive(Debug)]
pub struct ConfigurationDirectory {
    descriptor: OwnedFd,
    path: PathBuf,
}

/// Why something in a directory of configuration is not read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// It is a link.
    #[error("\"{}\" is a symbolic link", .0.display())]
    Link(PathBuf),
    /// It is something else than it has to be.
    #[error("\"{}\" is {found}", path.display())]
    Kind {
        /// Where it is.
        path: PathBuf,
        /// What it is, with its article.
        found: &'static str,
    },
    /// Somebody else owns it, and this is root.
    #[error("\"{}\" belongs to the user {owner}, not to root", path.display())]
    Foreign {
        /// Where it is.
        path: PathBuf,
        /// The number of its owner.
        owner: u32,
    },
    /// Everybody may write it, and this is root.
    #[error("\"{}\" may be written by everybody (mode {mode:04o})", path.display())]
    Exposed {
        /// Where it is.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is too long.
    #[error("\"{}\" is longer than {limit} bytes", path.display())]
    TooLong {
        /// Where it is.
        path: PathBuf,
        /// How long it may be.
        limit: u64,
    },
    /// There is too much in it.
    #[error("\"{}\" holds more than {limit} entries", path.display())]
    TooMany {
        /// Where it is.
        path: PathBuf,
        /// How many there may be.
        limit: usize,
    },
    /// The system refused it.
    #[error("\"{}\" can't be read", path.display())]
    Read {
        /// Where it is.
        path: PathBuf,
        /// Why it was refused.
        source: io::Error,
    },
}

impl ConfigurationDirectory {
    /// Opens a directory; none if it is not there.
    pub fn open(path: &Path) -> Result<Option<Self>, ConfigurationError> {
        let descriptor = match openat(CWD, path, READ | OFlags::DIRECTORY, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(error) => return refused(error, path, || statat(CWD, path, AtFlags::SYMLINK_NOFOLLOW)),
        };
        Self::of(descriptor, path.to_owned()).map(Some)
    }

    /// Opens a directory in it; none if it is not there.
    pub fn enter(&self, name: &OsStr) -> Result<Option<Self>, ConfigurationError> {
        let path = self.path.join(name);
        let descriptor = match openat(&self.descriptor, name, READ | OFlags::DIRECTORY, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(error) => return refused(error, &path, || self.look(name)),
        };
        Self::of(descriptor, path).map(Some)
    }

    fn of(descriptor: OwnedFd, path: PathBuf) -> Result<Self, ConfigurationError> {
        let found = fstat(&descriptor).map_err(reading(&path))?;
        check(&path, &found, FileType::Directory, is_root())?;
        Ok(Self { descriptor, path })
    }

    /// Where it was when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The names in it, sorted. More than `limit` are an error, because which of them came first is chance.
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

    /// Reads a regular file in it; none if it is not there.
    pub fn read(&self, name: &OsStr, limit: u64) -> Result<Option<Vec<u8>>, ConfigurationError> {
        let path = self.path.join(name);
        let root = is_root();
        // Looked at before it is opened: a device may notice that it is opened.
        match self.look(name) {
            Ok(found) => check(&path, &found, FileType::RegularFile, root)?,
            Err(error) => return refused(error, &path, || Err(error)),
        }
        let descriptor = match openat(&self.descriptor, name, READ, Mode::empty()) {
            Ok(descriptor) => descriptor,
            Err(error) => return refused(error, &path, || self.look(name)),
        };
        // What was opened decides, whatever was there before.
        let found = fstat(&descriptor).map_err(reading(&path))?;
        check(&path, &found, FileType::RegularFile, root)?;
        let too_long = || ConfigurationError::TooLong { path: path.clone(), limit };
        if u64::try_from(found.st_size).unwrap_or_default() > limit {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let read = File::from(descriptor).take(limit.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| ConfigurationError::Read { path: path.clone(), source })?;
        if bytes.len() as u64 > limit { Err(too_long()) } else { Ok(Some(bytes)) }
    }

    fn look(&self, name: &OsStr) -> Result<Stat, Errno> {
        statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)
    }
}

/// Turns the error of opening into what is to be said of it. A name that nothing has is no error.
fn refused<T>(
    error: Errno,
    path: &Path,
    look: impl FnOnce() -> Result<Stat, Errno>,
) -> Result<Option<T>, ConfigurationError> {
    // A link, too, is said not to be a directory; without either, a part of the way is missing.
    let link = matches!(error, Errno::LOOP | Errno::NOTDIR).then(look).and_then(Result::ok);
    match link.map(|found| FileType::from_raw_mode(found.st_mode)) {
        Some(FileType::Symlink) => Err(ConfigurationError::Link(path.to_owned())),
        Some(found) => Err(ConfigurationError::Kind { path: path.to_owned(), found: what(found) }),
        None if is_absence(&error.into()) => Ok(None),
        None => Err(reading(path)(error)),
    }
}

/// For `map_err`: the error of reading what is at the path.
fn reading(path: &Path) -> impl FnOnce(Errno) -> ConfigurationError {
    move |source| ConfigurationError::Read { path: path.to_owned(), source: source.into() }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Refuses what is not of that kind, and as root what somebody else could have written.
fn check(path: &Path, found: &Stat, kind: FileType, root: bool) -> Result<(), ConfigurationError> {
    let path = || path.to_owned();
    let found_kind = FileType::from_raw_mode(found.st_mode);
    let mode = found.st_mode & 0o7777;
    match found_kind {
        FileType::Symlink => Err(ConfigurationError::Link(path())),
        _ if found_kind != kind => Err(ConfigurationError::Kind { path: path(), found: what(found_kind) }),
        _ if root && found.st_uid != 0 => {
            Err(ConfigurationError::Foreign { path: path(), owner: found.st_uid })
        }
        _ if root && mode & WRITABLE_BY_ALL != 0 => Err(ConfigurationError::Exposed { path: path(), mode }),
        _ => Ok(()),
    }
}

fn what(kind: FileType) -> &'static str {
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

    /// The state of something with that kind and mode, that user's.
    fn state(mode: u32, owner: u32) -> Stat {
        let mut state = rustix::fs::stat("/").expect("the root");
        state.st_mode = mode;
        state.st_uid = owner;
        state
    }

    #[test]
    fn root_reads_what_only_root_can_have_written() {
        let file = |mode: u32| 0o100_000 | mode;
        for (mode, owner, root, expected) in [
            (file(0o644), 0, true, None),
            (file(0o664), 0, true, None),
            (file(0o600), 1000, true, Some("\"/x\" belongs to the user 1000, not to root")),
            (file(0o646), 0, true, Some("\"/x\" may be written by everybody (mode 0646)")),
            (file(0o600), 1000, false, None),
            (file(0o666), 0, false, None),
            (0o120_777, 0, true, Some("\"/x\" is a symbolic link")),
            (0o120_777, 0, false, Some("\"/x\" is a symbolic link")),
            (0o040_755, 0, false, Some("\"/x\" is a directory")),
            (0o010_600, 0, true, Some("\"/x\" is a pipe")),
        ] {
            let checked = check(Path::new("/x"), &state(mode, owner), FileType::RegularFile, root);
            let told = checked.err().map(|error| error.to_string());
            assert_eq!(told.as_deref(), expected, "{mode:o} of {owner}, root: {root}");
        }
    }
}
