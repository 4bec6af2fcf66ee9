//! Append-only files.

use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, openat};
use rustix::process::geteuid;

use crate::files::{ResolvedPath, resolution_error};

/// Append-only file. A write that fails half way is undone, so that a full disk leaves no incomplete record.
#[derive(Debug)]
pub struct AppendFile(File);

impl AppendFile {
    /// Opens a file or a pipe to append to, which may not be a link. A missing file is made for its owner alone.
    /// An existing one must belong to root or to this user and have no other name, and others may neither write nor read
    /// it; with a pipe, they may not write. A link among the parents is followed if it belongs to root, to this user or
    /// to the owner of the file.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = Self::open_with(path, OFlags::CREATE)?;
        let found = fstat(&file.0)?;
        if FileType::from_raw_mode(found.st_mode) == FileType::RegularFile && found.st_nlink > 1 {
            let names = found.st_nlink;
            let message = format!("it has {names} names, and could be any file: name a file with one name");
            return Err(io::Error::other(message));
        }
        Ok(file)
    }

    /// Opens a file as [`Self::open`] does, whatever other names it has; `None` if it does not exist.
    pub fn existing(path: &Path) -> io::Result<Option<Self>> {
        match Self::open_with(path, OFlags::empty()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    fn open_with(path: &Path, more: OFlags) -> io::Result<Self> {
        let resolved = ResolvedPath::find(path).map_err(resolution_error)?;
        // Without `NONBLOCK`, opening a pipe without a reader would block.
        let flags = more
            | OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CLOEXEC
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY;
        let file = openat(&resolved.parent, resolved.entry_name(), flags, Mode::RUSR | Mode::WUSR);
        let file = File::from(file.map_err(|error| super::not_a_link(error.into()))?);
        check_is_ours(&file)?;
        let status = fcntl_getfl(&file)?;
        fcntl_setfl(&file, status.difference(OFlags::NONBLOCK))?;
        Ok(Self(file))
    }

    pub(super) fn new(file: File) -> Self {
        Self(file)
    }

    /// Returns `true` for a regular file, and `false` for a pipe or a device, whose reader may block writers.
    pub fn is_regular(&self) -> io::Result<bool> {
        Ok(self.0.metadata()?.is_file())
    }

    /// Syncs the file to the disk.
    pub fn sync(&self) -> io::Result<()> {
        match self.0.sync_data() {
            // A pipe or a device can't be synced.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            result => result,
        }
    }

    /// Returns the size of the file.
    pub fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    /// Cuts the file to a size, and syncs it to the disk.
    pub fn cut(&self, size: u64) -> io::Result<()> {
        self.0.set_len(size)?;
        self.0.sync_data()
    }

    /// Removes the last `written` bytes, unless another process has appended more.
    fn undo(&mut self, written: u64) -> io::Result<()> {
        let end = self.0.stream_position()?;
        let metadata = self.0.metadata()?;
        if written > 0 && metadata.is_file() && metadata.len() == end {
            self.0.set_len(end - written)?;
        }
        Ok(())
    }
}

/// Checks that no other user could have prepared the file to choose or to see what it holds. A device is
/// always one of root.
fn check_is_ours(file: &File) -> io::Result<()> {
    let found = fstat(file)?;
    let (refused, verb) = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => (0o066, "read or write"),
        FileType::CharacterDevice | FileType::BlockDevice => return Ok(()),
        _ => (0o022, "write"),
    };
    let (owner, mode) = (found.st_uid, found.st_mode & 0o7777);
    if ![0, geteuid().as_raw()].contains(&owner) {
        let advice = "use a file of your own, in a directory that only you can write";
        return Err(io::Error::other(format!("it belongs to another user (uid {owner}): {advice}")));
    }
    if mode & refused != 0 {
        let advice = format!("remove the file, or allow only its owner to {verb} it");
        return Err(io::Error::other(format!("others may {verb} it (mode {mode:04o}): {advice}")));
    }
    Ok(())
}

impl AsFd for AppendFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Write for AppendFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let error = match self.0.write(rest) {
                Ok(0) => io::ErrorKind::WriteZero.into(),
                Ok(count) => {
                    rest = &rest[count..];
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error,
            };
            // The first error is the one to report.
            let _ = self.undo((bytes.len() - rest.len()) as u64);
            return Err(error);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
