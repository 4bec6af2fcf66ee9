//! Directories that are used through a descriptor, so that a replaced path has no effect.

use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Gid, Mode, OFlags, Stat, fchmod, fchown, fstat, fsync, linkat, mkdirat, openat,
    renameat, stat, statat, unlinkat,
};
use rustix::io::Errno;

use super::{AppendFile, StateError, not_a_link};
use crate::access_list;
use crate::files::{FileError, ResolvedPath, canonical, resolution_error};
use crate::private::keeps_entries_with;

const PRIVATE_DIRECTORY: Mode = Mode::RWXU;
const PRIVATE_FILE: Mode = Mode::RUSR.union(Mode::WUSR);
const WRITABLE_BY_OTHERS: u32 = 0o022;
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Open directory. Links in it are not followed.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory that only this user can write, and makes a missing one. A link among its parents is
    /// followed if it belongs to root or to this user. No third user may be able to exchange a parent.
    pub fn open_private(path: &Path) -> Result<Self, StateError> {
        let at = || path.to_owned();
        let refused = |error| StateError::of_path(path, error);
        // Before parents are made there. The error of a path that can't be resolved comes next.
        if let Some(parent) = path.ancestors().skip(1).find_map(|parent| canonical(parent).ok()) {
            check_parents(path, &parent)?;
        }
        let mut resolved = ResolvedPath::find_making_parents(path).map_err(refused)?;
        match &resolved.entry {
            // The owner of the link could change its target at any time.
            Some(entry) if entry.is_link() => {
                check_owner(path, &entry.stat)?;
                let target = ResolvedPath::find_target(path).map_err(refused)?;
                let missing = || StateError::Open { path: at(), source: Errno::NOENT.into() };
                resolved = target.ok_or_else(missing)?;
            }
            Some(_) => {}
            None => resolved.make_directory(PRIVATE_DIRECTORY).map_err(refused)?,
        }
        let directory = Self::open_resolved(&resolved)?;
        let found = fstat(&directory.descriptor)
            .map_err(|error| StateError::Open { path: at(), source: error.into() })?;
        check_owner(path, &found)?;
        if found.st_mode & WRITABLE_BY_OTHERS != 0 {
            return Err(StateError::Exposed { path: at(), mode: found.st_mode & 0o7777 });
        }
        let real = std::fs::read_link(format!("/proc/self/fd/{}", directory.descriptor.as_raw_fd()));
        let real = real.map_err(|source| StateError::Open { path: at(), source })?;
        check_parents(path, real.parent().unwrap_or(Path::new("/")))?;
        Ok(directory)
    }

    /// Opens an existing directory that only this user can write; `None` if there is nothing at the path. A link to the
    /// directory is refused. No third user may be able to exchange a parent.
    pub fn open_existing_private(path: &Path) -> Result<Option<Self>, StateError> {
        let at = || path.to_owned();
        let resolved = match ResolvedPath::find(path) {
            Ok(resolved) => resolved,
            Err(FileError::ParentMissing(_)) => return Ok(None),
            Err(error) => return Err(StateError::of_path(path, error)),
        };
        let Some(entry) = &resolved.entry else { return Ok(None) };
        if entry.is_link() {
            return Err(StateError::NotADirectory { path: at() });
        }
        let directory = Self::open_resolved(&resolved)?;
        let found = fstat(&directory.descriptor)
            .map_err(|error| StateError::Open { path: at(), source: error.into() })?;
        check_owner(path, &found)?;
        if found.st_mode & WRITABLE_BY_OTHERS != 0 {
            return Err(StateError::Exposed { path: at(), mode: found.st_mode & 0o7777 });
        }
        let real = std::fs::read_link(format!("/proc/self/fd/{}", directory.descriptor.as_raw_fd()));
        let real = real.map_err(|source| StateError::Open { path: at(), source })?;
        check_parents(path, real.parent().unwrap_or(Path::new("/")))?;
        Ok(Some(directory))
    }

    /// Makes a directory that only this user can enter. Something that exists at the path is an error of kind
    /// [`io::ErrorKind::AlreadyExists`].
    pub fn create_private(path: &Path) -> io::Result<()> {
        Ok(rustix::fs::mkdir(path, PRIVATE_DIRECTORY)?)
    }

    /// Removes an empty directory.
    pub fn remove_empty(path: &Path) -> io::Result<()> {
        Ok(rustix::fs::rmdir(path)?)
    }

    /// Opens a directory to read it; `None` if it does not exist. A link to it or among its parents is followed
    /// if it belongs to root, to this user or to the owner of the directory.
    pub fn open(path: &Path) -> Result<Option<Self>, StateError> {
        match ResolvedPath::find_source(path) {
            Ok(resolved) if resolved.entry.is_some() => Self::open_resolved(&resolved).map(Some),
            Ok(_) | Err(FileError::ParentMissing(_)) => Ok(None),
            Err(error @ FileError::UntrustedLink { .. }) => Err(StateError::of_path(path, error)),
            Err(error) => Err(StateError::Open { path: path.to_owned(), source: resolution_error(error) }),
        }
    }

    fn open_resolved(resolved: &ResolvedPath) -> Result<Self, StateError> {
        let path = resolved.path.clone();
        match openat(&resolved.parent, resolved.entry_name(), DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(descriptor) => Ok(Self { descriptor, path }),
            Err(Errno::NOTDIR) => Err(StateError::NotADirectory { path }),
            Err(error) => Err(StateError::Open { path, source: error.into() }),
        }
    }

    /// Duplicates the descriptor.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self { descriptor: self.descriptor.try_clone()?, path: self.path.clone() })
    }

    /// Returns the path that it was opened with.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a subdirectory. A missing one is made.
    pub fn make(&self, name: &str) -> io::Result<Self> {
        match mkdirat(&self.descriptor, name, PRIVATE_DIRECTORY) {
            Ok(()) | Err(Errno::EXIST) => self.enter(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a subdirectory.
    pub fn enter(&self, name: &str) -> io::Result<Self> {
        let descriptor = openat(&self.descriptor, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
        Ok(Self { descriptor, path: self.path.join(name) })
    }

    /// Checks that an entry belongs to this user and, unless it is a link, that no other user can write it.
    pub fn only_ours(&self, name: &str) -> io::Result<()> {
        let found = statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let owner = found.st_uid;
        if owner != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other(format!("it belongs to another user (uid {owner})")));
        }
        if file_type(&found) != FileType::Symlink && found.st_mode & WRITABLE_BY_OTHERS != 0 {
            let mode = found.st_mode & 0o7777;
            return Err(io::Error::other(format!("it can be written by others (mode {mode:04o})")));
        }
        Ok(())
    }

    /// Makes a file, which must not exist.
    pub fn create(&self, name: &str) -> io::Result<AppendFile> {
        self.create_new(name, OFlags::APPEND).map(AppendFile::new)
    }

    /// Opens an existing regular file to append to.
    pub fn append(&self, name: &str) -> io::Result<AppendFile> {
        let flags = OFlags::WRONLY
            | OFlags::APPEND
            | OFlags::CLOEXEC
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY;
        let file = openat(&self.descriptor, name, flags, Mode::empty());
        regular(File::from(file.map_err(|error| not_a_link(error.into()))?)).map(AppendFile::new)
    }

    fn create_new(&self, name: &str, flags: OFlags) -> io::Result<File> {
        let flags = flags | OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.descriptor, name, flags, PRIVATE_FILE)?))
    }

    /// Opens a regular file to read and write. A missing file is made.
    pub(super) fn open_file(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR
            | OFlags::CREATE
            | OFlags::CLOEXEC
            | OFlags::NOFOLLOW
            | OFlags::NONBLOCK
            | OFlags::NOCTTY;
        let file = openat(&self.descriptor, name, flags, PRIVATE_FILE);
        regular(File::from(file.map_err(|error| not_a_link(error.into()))?))
    }

    /// Returns `true` if the name is still that of the open file.
    pub(super) fn holds(&self, name: &str, file: &File) -> io::Result<bool> {
        let open = fstat(file)?;
        match statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(named) => Ok((named.st_dev, named.st_ino) == (open.st_dev, open.st_ino)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Replaces a file atomically. After a power cut, either the old or the new file exists.
    pub fn replace(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.replace_and(name, content, true)
    }

    /// Replaces a file atomically, as [`Self::replace`] does, by one that a group may read as well.
    pub fn replace_for_group(&self, name: &str, content: &[u8], group: u32) -> io::Result<()> {
        let new = format!(".{name}.new");
        match unlinkat(&self.descriptor, &*new, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = self.create_new(&new, OFlags::empty())?;
        fchown(&file, None, Some(Gid::from_raw(group)))?;
        fchmod(&file, PRIVATE_FILE | Mode::RGRP)?;
        file.write_all(content)?;
        file.sync_all()?;
        renameat(&self.descriptor, &*new, &self.descriptor, name)?;
        self.sync()
    }

    /// Lets a group use the directory, and sets the permissions of everybody.
    pub fn share(&self, group: u32, mode: u32) -> io::Result<()> {
        fchown(&self.descriptor, None, Some(Gid::from_raw(group)))?;
        Ok(fchmod(&self.descriptor, Mode::from_raw_mode(mode))?)
    }

    /// Lets everybody read the directory who can enter those above it.
    pub fn share_with_all(&self) -> io::Result<()> {
        Ok(fchmod(&self.descriptor, PRIVATE_DIRECTORY | Mode::RGRP | Mode::XGRP | Mode::ROTH | Mode::XOTH)?)
    }

    /// Lets the members of a group read a file of this user, unless they may already.
    pub fn share_file(&self, name: &str, group: u32) -> io::Result<()> {
        let found = statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let mode = PRIVATE_FILE | Mode::RGRP;
        if found.st_gid == group && Mode::from_raw_mode(found.st_mode).contains(mode) {
            return Ok(());
        }
        self.only_ours(name)?;
        let file = self.open_plain(name)?;
        fchown(&file, None, Some(Gid::from_raw(group)))?;
        Ok(fchmod(&file, mode)?)
    }

    /// Reads a regular file of any user, and returns the number of its owner. More than `limit` bytes are an error of
    /// kind [`io::ErrorKind::FileTooLarge`].
    pub fn read_foreign(&self, name: &str, limit: u64) -> io::Result<(Vec<u8>, u32)> {
        let file = self.open_plain(name)?;
        let owner = fstat(&file)?.st_uid;
        let mut bytes = Vec::new();
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok((bytes, owner))
    }

    /// Returns the sorted names of at most `limit` entries. Names that are not UTF-8 are left out.
    pub fn some_names(&self, limit: usize) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            if names.len() == limit {
                break;
            }
            if let Ok(name) = entry?.file_name().to_str()
                && name != "."
                && name != ".."
            {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Replaces a file atomically, but does not sync it. A power cut may lose both files.
    pub fn replace_unsynced(&self, name: &str, content: &[u8]) -> io::Result<()> {
        self.replace_and(name, content, false)
    }

    fn replace_and(&self, name: &str, content: &[u8], sync: bool) -> io::Result<()> {
        let new = format!(".{name}.new");
        let written = self.write_beside(&new, name, content, sync);
        if written.is_err() {
            // The new file may be the one that fills the disk.
            let _ = unlinkat(&self.descriptor, &*new, AtFlags::empty());
        }
        written
    }

    fn write_beside(&self, new: &str, name: &str, content: &[u8], sync: bool) -> io::Result<()> {
        match unlinkat(&self.descriptor, new, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        let mut file = self.create_new(new, OFlags::empty())?;
        file.write_all(content)?;
        if sync {
            file.sync_all()?;
        }
        renameat(&self.descriptor, new, &self.descriptor, name)?;
        if sync { self.sync() } else { Ok(()) }
    }

    /// Syncs the directory to the disk.
    pub fn sync(&self) -> io::Result<()> {
        Ok(fsync(&self.descriptor)?)
    }

    /// Opens a regular file to read.
    pub fn read(&self, name: &str) -> io::Result<impl Read + use<>> {
        self.open_plain(name)
    }

    pub(super) fn open_plain(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = openat(&self.descriptor, name, flags, Mode::empty());
        regular(File::from(file.map_err(|error| not_a_link(error.into()))?))
    }

    /// Returns the size of a regular file.
    pub fn size(&self, name: &str) -> io::Result<u64> {
        Ok(self.open_plain(name)?.metadata()?.len())
    }

    /// Reads the end of a regular file, at most `length` bytes of it.
    pub fn read_end(&self, name: &str, length: u64) -> io::Result<Vec<u8>> {
        let mut file = self.open_plain(name)?;
        let size = file.metadata()?.len();
        let length = length.min(size);
        file.seek(SeekFrom::Start(size - length))?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Renames a file, over another one if that exists. The directory is not synced.
    pub fn rename(&self, name: &str, new: &str) -> io::Result<()> {
        Ok(renameat(&self.descriptor, name, &self.descriptor, new)?)
    }

    /// Moves an entry into another directory of the same file system, over a file of that name. Neither directory is synced.
    pub fn rename_into(&self, name: &str, into: &Self, new: &str) -> io::Result<()> {
        Ok(renameat(&self.descriptor, name, &into.descriptor, new)?)
    }

    /// Renames an entry to an unused name. A file, or a link itself, is hard-linked instead, so that its old
    /// name does not disappear before something replaces it.
    pub fn set_aside(&self, name: &str, aside: &str) -> io::Result<()> {
        match linkat(&self.descriptor, name, &self.descriptor, aside, AtFlags::empty()) {
            Err(Errno::PERM) if self.type_of(name)? == FileType::Directory => {
                Ok(renameat(&self.descriptor, name, &self.descriptor, aside)?)
            }
            result => Ok(result?),
        }
    }

    /// Removes a file, and syncs the directory.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        unlinkat(&self.descriptor, name, AtFlags::empty())?;
        self.sync()
    }

    /// Removes a file, if it exists, but does not sync the directory. A power cut may bring the file back.
    pub fn remove_unsynced(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.descriptor, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the names of all entries, in no order. Names that are not UTF-8 are left out.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let entries = Dir::read_from(&self.descriptor)?.map(|entry| Ok(entry?.file_name().to_owned()));
        let names = entries.collect::<io::Result<Vec<_>>>()?;
        let names = names.into_iter().filter_map(|name| name.into_string().ok());
        Ok(names.filter(|name| name != "." && name != "..").collect())
    }

    /// Returns the names of the subdirectories, in no order. Names that are not UTF-8 are left out.
    pub fn directories(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            let is_directory = match entry.file_type() {
                FileType::Directory => true,
                // Some filesystems do not return the type here.
                FileType::Unknown => self.type_of(name)? == FileType::Directory,
                _ => false,
            };
            if is_directory && name != "." && name != ".." {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Removes a subdirectory with everything in it. Links are removed, not followed.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        let directory = self.enter(name)?;
        let names: Vec<_> = Dir::read_from(&directory.descriptor)?
            .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
            .collect::<Result<_, _>>()?;
        for entry in names {
            if matches!(entry.to_bytes(), b"." | b"..") {
                continue;
            }
            match unlinkat(&directory.descriptor, &entry, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error @ (Errno::ISDIR | Errno::PERM)) => match entry.to_str() {
                    Ok(inner) if directory.type_of(inner)? == FileType::Directory => {
                        directory.remove(inner)?;
                    }
                    // The error is about the file itself.
                    Ok(_) => return Err(error.into()),
                    Err(_) => return Err(Errno::ILSEQ.into()),
                },
                Err(error) => return Err(error.into()),
            }
        }
        Ok(unlinkat(&self.descriptor, name, AtFlags::REMOVEDIR)?)
    }

    fn type_of(&self, name: &str) -> io::Result<FileType> {
        Ok(file_type(&statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }
}

fn file_type(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// Checks that a file is regular. A pipe could block ccm, and a device could consume the content.
fn regular(file: File) -> io::Result<File> {
    match file_type(&fstat(&file)?) {
        FileType::RegularFile => Ok(file),
        FileType::Directory => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("not a regular file")),
    }
}

/// Checks that no third user can rename something at or above a parent, a path without links.
fn check_parents(path: &Path, parent: &Path) -> Result<(), StateError> {
    const WRITABLE_BY_GROUP: u32 = 0o020;
    let user = rustix::process::geteuid().as_raw();
    for parent in parent.ancestors() {
        let opening = |error: Errno| StateError::Open { path: path.to_owned(), source: error.into() };
        let mut found = stat(parent).map_err(opening)?;
        let (owner, mode) = (found.st_uid, found.st_mode & 0o7777);
        // By convention, the group with the number of a user is his alone. With an access control list, the bit is that of others.
        let has_list = || !matches!(access_list::of_path(parent), Ok(None));
        if found.st_gid == user && found.st_mode & WRITABLE_BY_GROUP != 0 && !has_list() {
            found.st_mode &= !WRITABLE_BY_GROUP;
        }
        if keeps_entries_with(&found) {
            continue;
        }
        let (path, parent) = (path.to_owned(), parent.to_owned());
        return Err(if [0, user].contains(&owner) {
            StateError::ExposedParent { path, parent, mode }
        } else {
            StateError::ForeignParent { path, parent, owner }
        });
    }
    Ok(())
}

/// Checks that a directory, or the link to it, belongs to this user, also as root: another owner could
/// replace the directory.
fn check_owner(path: &Path, found: &Stat) -> Result<(), StateError> {
    let owner = found.st_uid;
    let link_of_root = file_type(found) == FileType::Symlink && owner == 0;
    if owner == rustix::process::geteuid().as_raw() || link_of_root {
        return Ok(());
    }
    Err(StateError::Foreign { path: path.to_owned(), owner })
}
