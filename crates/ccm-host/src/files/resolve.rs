//! Resolving a path, directory by directory, without following links of untrusted users.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, StatxAttributes, StatxFlags, fstat, mkdirat,
    open, openat, openat2, readlinkat, statat, statx,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::parent::{OpenParents, ParentDirectory};
use super::write::sync;
use super::{FileError, FileStep, PathTrust, TrustedPath};
use crate::access_list;
use crate::account::AccountDatabases;
use crate::trusted::{HIDDEN_OWNER, shows_all_owners};
use crate::writers::Writer;

/// Maximum number of links to follow, as in the kernel.
const MAX_LINKS: usize = 40;

const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Mode of missing parents.
const PARENT: Mode = Mode::RWXU.union(Mode::RGRP).union(Mode::XGRP).union(Mode::ROTH).union(Mode::XOTH);

/// Flags for a descriptor that only names a file: opening a device or a pipe could have an effect.
const NAME_ONLY: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

#[derive(Debug)]
pub(crate) struct ResolvedPath {
    pub path: PathBuf,
    pub parent: Arc<ParentDirectory>,
    /// Name in the parent directory; empty for the root directory.
    pub name: OsString,
    pub entry: Option<PathEntry>,
    /// Path of the parent directory, without links.
    directory: PathBuf,
    /// Directories between the parent directory and the name that do not exist.
    missing: Vec<OsString>,
    links: Vec<FollowedLink>,
    /// True if a link at the path itself was followed.
    is_followed: bool,
}

/// Existing file of any kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathEntry {
    pub stat: Stat,
}

#[derive(Debug)]
struct FollowedLink {
    path: PathBuf,
    owner: u32,
    /// Everybody can create files in its directory.
    is_shared: bool,
}

impl PathEntry {
    /// Returns `true` if `stat` is of the same file.
    pub(super) fn is_same_file(&self, stat: &Stat) -> bool {
        (self.stat.st_dev, self.stat.st_ino) == (stat.st_dev, stat.st_ino)
    }

    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    pub(crate) fn is_link(&self) -> bool {
        self.kind() == FileType::Symlink
    }

    pub(super) fn mode(&self) -> u32 {
        self.stat.st_mode & 0o7777
    }

    /// Returns the kind with its article; `None` for a regular file.
    pub(super) fn kind_with_article(&self) -> Option<&'static str> {
        match self.kind() {
            FileType::RegularFile => None,
            FileType::Directory => Some("a directory"),
            FileType::Symlink => Some("a symbolic link"),
            FileType::Fifo => Some("a pipe"),
            FileType::Socket => Some("a socket"),
            FileType::CharacterDevice | FileType::BlockDevice => Some("a device"),
            FileType::Unknown => Some("neither a file nor a directory"),
        }
    }
}

impl ResolvedPath {
    /// Resolves a path. A link as its last part is not followed.
    pub(crate) fn find(path: &Path) -> Result<Self, FileError> {
        let resolved = resolve(path, ResolveRules::default())?;
        resolved.check_links()?;
        Ok(resolved)
    }

    /// Resolves a path as [`ResolvedPath::find`] does. A directory of an earlier path is not opened again.
    pub(super) fn find_among(path: &Path, parents: &mut OpenParents) -> Result<Self, FileError> {
        let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
            return Self::find(path);
        };
        let Some(parent) = parents.get(directory) else {
            let resolved = Self::find(path)?;
            if resolved.links.is_empty() && resolved.directory == directory {
                parents.add(directory, &resolved.parent);
            }
            return Ok(resolved);
        };
        let entry = entry_in(parent, name).map_err(FileError::at(path, FileStep::Inspect))?;
        Ok(Self {
            path: path.to_owned(),
            parent: Arc::clone(parent),
            name: name.to_owned(),
            entry,
            directory: directory.to_owned(),
            missing: Vec::new(),
            links: Vec::new(),
            is_followed: false,
        })
    }

    /// Resolves a path as [`ResolvedPath::find`] does. Makes missing parents, and syncs them to the disk.
    pub(crate) fn find_making_parents(path: &Path) -> Result<Self, FileError> {
        match (Self::find(path), path.parent()) {
            (Err(FileError::ParentMissing(_)), Some(parent)) => {
                Self::find_making_parents(parent)?.make_directory(PARENT)?;
                Self::find(path)
            }
            (found, _) => found,
        }
    }

    /// Makes the directory, unless something exists there, and syncs its parent to the disk.
    pub(crate) fn make_directory(&self, mode: Mode) -> Result<(), FileError> {
        let refused = FileError::at(&self.path, FileStep::Create);
        match mkdirat(&self.parent, &self.name, mode) {
            Ok(()) => {}
            // Another run may have made it meanwhile.
            Err(Errno::EXIST) => return Ok(()),
            Err(error) => return Err(refused(error)),
        }
        match self.open_parent() {
            Ok(parent) => sync(&parent, &self.parent_path()),
            // A directory that may be written but not read can't be synced.
            Err(_) => Ok(()),
        }
    }

    /// Resolves a path, following a link as its last part. Returns `None` if the target does not exist.
    pub(crate) fn find_target(path: &Path) -> Result<Option<Self>, FileError> {
        match resolve(path, ResolveRules { follow_last: true, ..ResolveRules::default() }) {
            Ok(resolved) if resolved.entry.is_none() => Ok(None),
            Ok(resolved) => resolved.check_links().map(|()| Some(resolved)),
            Err(FileError::ParentMissing(_) | FileError::NotADirectory { .. }) => Ok(None),
            // A link to itself has no target.
            Err(FileError::Step { step: FileStep::Inspect, source, .. })
                if source.raw_os_error() == Some(Errno::LOOP.raw_os_error()) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Resolves the path of a file or directory to read, following every link. The path may be relative.
    pub(crate) fn find_source(path: &Path) -> Result<Self, FileError> {
        let resolved = resolve(path, ResolveRules { follow_last: true, ..ResolveRules::default() })?;
        resolved.check_links()?;
        Ok(resolved)
    }

    /// Checks that every followed link belongs to root, to the user who runs ccm or to the owner of the file. A link of
    /// that owner does not count where everybody can create one.
    fn check_links(&self) -> Result<(), FileError> {
        if self.links.is_empty() {
            return Ok(());
        }
        let ours = geteuid().as_raw();
        let owner = self.entry.as_ref().map_or(ours, |entry| entry.stat.st_uid);
        let is_trusted =
            |link: &FollowedLink| [0, ours].contains(&link.owner) || link.owner == owner && !link.is_shared;
        match self.links.iter().find(|link| !is_trusted(link)) {
            None => Ok(()),
            Some(link) => Err(FileError::UntrustedLink {
                path: self.path.clone(),
                link: link.path.clone(),
                owner: link.owner,
            }),
        }
    }

    /// Reads the current state from the same parent directory.
    pub(super) fn entry_again(&self) -> Result<PathEntry, FileError> {
        let stat = statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(FileError::at(&self.path, FileStep::Inspect))?;
        Ok(PathEntry { stat })
    }

    /// Opens the file that was found, only to name it. A file that replaced it is an error.
    pub(super) fn pin(&self, entry: &PathEntry) -> Result<OwnedFd, FileError> {
        pin(&self.parent, self.entry_name(), entry, &self.path)
    }

    /// Returns the name in the parent directory; `.` for the root directory, which is its own parent.
    pub(crate) fn entry_name(&self) -> &OsStr {
        if self.name.is_empty() { OsStr::new(".") } else { &self.name }
    }

    pub(super) fn open_parent(&self) -> Result<OwnedFd, FileError> {
        self.parent.open().map_err(FileError::at(&self.parent_path(), FileStep::Inspect))
    }

    /// Returns the path of the open directory, without links.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// Returns the directories above the parent, and those of the links on the way, with all above these.
    pub(super) fn directories_above(&self) -> impl Iterator<Item = &Path> {
        let of_links = self.links.iter().flat_map(|link| link.path.ancestors().skip(1));
        self.directory.ancestors().skip(1).chain(of_links)
    }

    pub(super) fn parent_path(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("/")).to_owned()
    }

    pub(super) fn parent_stat(&self) -> Result<&Stat, FileError> {
        self.parent.stat().map_err(FileError::at(&self.path, FileStep::Inspect))
    }

    pub(super) fn directory_owner(&self) -> Result<u32, FileError> {
        Ok(self.parent_stat()?.st_uid)
    }

    /// Returns an error for a file of a stranger in a directory where everybody can create files. The stranger
    /// could still write the file, or lead ccm elsewhere. A file of its desired owner is no error.
    pub(super) fn check_shared_directory(&self, desired_owner: Option<u32>) -> Result<(), FileError> {
        let Some(entry) = &self.entry else { return Ok(()) };
        let owner = entry.stat.st_uid;
        if [0, geteuid().as_raw()].contains(&owner) || desired_owner == Some(owner) {
            return Ok(());
        }
        if self.parent_stat()?.st_mode & WRITABLE_BY_ALL == 0 {
            return Ok(());
        }
        Err(FileError::SharedDirectory { path: self.path.clone(), owner })
    }

    /// Returns an error for a mount point.
    pub(super) fn check_mount_point(&self) -> Result<(), FileError> {
        let Some(entry) = &self.entry else { return Ok(()) };
        match is_mount_point(self.pin(entry)?, &entry.stat, self.parent_stat()?) {
            Ok(false) => Ok(()),
            Ok(true) => Err(FileError::MountPoint(self.path.clone())),
            Err(error) => Err(FileError::step(&self.path, FileStep::Inspect, error)),
        }
    }
}

/// Resolves a path without its last part being followed. Directories above need not exist.
pub(super) fn without_last(path: &Path) -> Result<ResolvedPath, FileError> {
    let resolved = resolve(path, ResolveRules { allow_missing: true, ..ResolveRules::default() })?;
    resolved.check_links()?;
    Ok(resolved)
}

/// Returns the path without links. A link of an untrusted user is an error.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let resolved = ResolvedPath::find_source(path).map_err(as_io)?;
    if resolved.entry.is_none() {
        return Err(Errno::NOENT.into());
    }
    // The path may have changed since. The descriptor is of the directory that was resolved.
    let parent = std::fs::read_link(format!("/proc/self/fd/{}", resolved.parent.as_raw_fd()))?;
    Ok(if resolved.name.is_empty() { parent } else { parent.join(&resolved.name) })
}

/// Resolves a path for [`Files::trusted_path`](super::Files::trusted_path).
pub(super) fn trusted_path(path: &Path, trust: PathTrust) -> Result<TrustedPath, FileError> {
    let PathTrust { follow_last, directories, user } = trust;
    let ours = geteuid().as_raw();
    let trusted = directories.then(|| [0, ours, user.unwrap_or(ours)]);
    let resolved = resolve(path, ResolveRules { follow_last, allow_missing: true, trusted })?;
    if !directories {
        resolved.check_links()?;
    }
    let mut path = resolved.directory;
    let mut missing = Vec::with_capacity(resolved.missing.len());
    for name in resolved.missing {
        path.push(name);
        missing.push(path.clone());
    }
    enter(&mut path, &resolved.name);
    Ok(TrustedPath { path, missing, is_followed: resolved.is_followed })
}

/// Returns the path of an existing directory without links and `..`, in one call if there are none in its path.
pub(super) fn real_directory(path: &Path) -> Option<PathBuf> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        Ok(_) if path.components().all(|part| part != Component::ParentDir) => return Some(path.to_owned()),
        // Without a link before it.
        Err(Errno::NOENT | Errno::NOTDIR) => return None,
        Ok(_) | Err(_) => {}
    }
    let trust = PathTrust { follow_last: true, directories: true, user: None };
    let resolved = trusted_path(path, trust).ok()?;
    let found = statat(CWD, &resolved.path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    let is_directory = FileType::from_raw_mode(found.st_mode) == FileType::Directory;
    is_directory.then_some(resolved.path)
}

/// Returns an error only for a link of an untrusted user, or for a path that changes meanwhile.
pub(super) fn check_links(path: &Path) -> io::Result<()> {
    match ResolvedPath::find_source(path) {
        Err(error @ (FileError::UntrustedLink { .. } | FileError::Changed(_))) => Err(as_io(error)),
        _ => Ok(()),
    }
}

/// Returns the error of a resolution without the path, which the caller names.
pub(crate) fn as_io(error: FileError) -> io::Error {
    match error {
        FileError::ParentMissing(_) => Errno::NOENT.into(),
        FileError::NotADirectory { .. } => Errno::NOTDIR.into(),
        FileError::Step { source, .. } => source,
        FileError::UntrustedLink { link, owner, .. } => io::Error::other(format!(
            "it leads through \"{}\", a symbolic link of another user (uid {owner})",
            link.display()
        )),
        other => io::Error::other(other),
    }
}

/// Returns `true` if an open file is a mount point. `stat` is of the file, `parent` of the directory that holds it.
pub fn is_mount_point(descriptor: impl AsFd, stat: &Stat, parent: &Stat) -> Result<bool, Errno> {
    let result = statx(descriptor, "", AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
    match result {
        Ok(found) if found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT) => {
            Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
        }
        // Kernels before 5.8 do not return the attribute. Then only a mount of another filesystem is found.
        Ok(_) | Err(Errno::NOSYS) => Ok(stat.st_dev != parent.st_dev),
        Err(error) => Err(error),
    }
}

/// Rules of a resolution.
#[derive(Clone, Copy, Default)]
struct ResolveRules {
    /// Follows a link as the last part of the path.
    follow_last: bool,
    /// Directories on the way need not exist.
    allow_missing: bool,
    /// Users to whom every directory and every link on the way has to belong; `None` leaves the check of links to
    /// [`ResolvedPath::check_links`].
    trusted: Option<[u32; 3]>,
}

fn resolve(path: &Path, rules: ResolveRules) -> Result<ResolvedPath, FileError> {
    let refused = |error: Errno| FileError::step(path, FileStep::Inspect, error);
    let root = || open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(refused);
    let mut ahead: Vec<OsString> = Vec::new();
    let mut links = Vec::new();
    let direct = if rules.trusted.is_none() { without_links(path) } else { None };
    let (mut at, mut behind) = if let Some(parent) = direct {
        ahead.extend(path.file_name().map(OsStr::to_owned));
        (parent, path.parent().unwrap_or(Path::new("/")).to_owned())
    } else {
        push(&mut ahead, path);
        let start = if path.is_absolute() { "/" } else { "." };
        (open(start, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(refused)?, PathBuf::from(start))
    };
    if let Some(trusted) = rules.trusted {
        check_directory(path, &behind, &at, trusted)?;
    }
    // Number of parts that are not of the text of a link.
    let mut written = ahead.len();
    let mut is_followed = false;
    let (name, entry, missing) = loop {
        let Some(name) = ahead.pop() else {
            // The path is `/`, or the last link leads to it.
            let entry = PathEntry { stat: fstat(&at).map_err(refused)? };
            break (OsString::new(), Some(entry), Vec::new());
        };
        let is_last = ahead.is_empty();
        let is_of_link = ahead.len() >= written;
        written = written.min(ahead.len());
        if let Some(trusted) = rules.trusted.filter(|_| is_last && !rules.follow_last) {
            check_entry(path, &at, (&behind, &name), trusted)?;
            // A look at the root of a file system whose server is gone would never end.
            break (name, None, Vec::new());
        }
        let entry = entry_in(&at, &name).map_err(refused)?;
        match entry {
            Some(entry) if entry.is_link() && (rules.follow_last || !is_last) => {
                if links.len() == MAX_LINKS {
                    return Err(refused(Errno::LOOP));
                }
                let (link, owner) = (behind.join(&name), entry.stat.st_uid);
                if rules.trusted.is_some_and(|trusted| !trusted.contains(&owner)) {
                    return Err(FileError::UntrustedLink { path: path.to_owned(), link, owner });
                }
                is_followed |= is_last && !is_of_link;
                let is_shared = fstat(&at).map_err(refused)?.st_mode & WRITABLE_BY_ALL != 0;
                links.push(FollowedLink { path: link, owner, is_shared });
                let target = readlinkat(pin(&at, &name, &entry, path)?, "", Vec::new()).map_err(refused)?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    at = root()?;
                    behind = PathBuf::from("/");
                }
                push(&mut ahead, &target);
            }
            entry if is_last => break (name, entry, Vec::new()),
            Some(entry) if entry.kind() == FileType::Directory => {
                at = pin(&at, &name, &entry, path)?;
                enter(&mut behind, &name);
                if let Some(trusted) = rules.trusted {
                    check_directory(path, &behind, &at, trusted)?;
                }
            }
            Some(_) => {
                return Err(FileError::NotADirectory { path: path.to_owned(), part: behind.join(name) });
            }
            None if rules.allow_missing && !is_of_link && ahead.iter().all(|name| name != "..") => {
                let last = std::mem::take(&mut ahead[0]);
                let missing = std::iter::once(name).chain(ahead.drain(1..).rev()).collect();
                break (last, None, missing);
            }
            None => {
                let parent = path.parent().unwrap_or(Path::new("/"));
                return Err(FileError::ParentMissing(parent.to_owned()));
            }
        }
    };
    let (path, at) = (path.to_owned(), Arc::new(ParentDirectory::new(at)));
    Ok(ResolvedPath { path, parent: at, name, entry, directory: behind, missing, links, is_followed })
}

/// Returns the entry of a name in a directory; `None` if there is none.
fn entry_in(directory: impl AsFd, name: &OsStr) -> Result<Option<PathEntry>, Errno> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(PathEntry { stat })),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Adds a name to the path of a directory without links. An empty name is that of the root directory.
fn enter(directory: &mut PathBuf, name: &OsStr) {
    if name == ".." && directory.is_absolute() {
        directory.pop();
    } else if !name.is_empty() {
        directory.push(name);
    }
}

/// Returns an error for a directory in which a stranger could replace an entry. The sticky bit protects the entries of
/// others.
fn check_directory(
    path: &Path,
    directory: &Path,
    opened: &OwnedFd,
    trusted: [u32; 3],
) -> Result<(), FileError> {
    let refused = |error: Errno| FileError::step(path, FileStep::Inspect, error);
    let stat = fstat(opened).map_err(refused)?;
    let owner = stat.st_uid;
    let paths = || (path.to_owned(), directory.to_owned());
    // A process can't tell root from others among the owners that its user namespace hides, and has rights on none.
    if !trusted.contains(&owner) && (owner != HIDDEN_OWNER || shows_all_owners()) {
        let (path, directory) = paths();
        return Err(FileError::StrangersDirectory { path, directory, owner });
    }
    if stat.st_mode & STICKY != 0 {
        return Ok(());
    }
    let list = || access_list::of_open(opened);
    for writer in access_list::writers((stat.st_mode, stat.st_gid), list).map_err(refused)? {
        let is_other = match writer {
            Writer::Everybody => {
                let (path, directory) = paths();
                return Err(FileError::OpenDirectory { path, directory });
            }
            // Who shares a directory with others decides that for themselves.
            _ if !geteuid().is_root() => false,
            Writer::Owner(uid) | Writer::Listed(uid) => !trusted.contains(&uid),
            Writer::Group(gid) => {
                gid != 0 && AccountDatabases::of_this_machine().has_other_member(gid, &trusted)
            }
        };
        if is_other {
            let (path, directory) = paths();
            return Err(FileError::WritableDirectory { path, directory, writer });
        }
    }
    Ok(())
}

/// Returns an error for an entry of a stranger in a directory where everybody makes entries: its owner can replace it.
fn check_entry(
    path: &Path,
    parent: &OwnedFd,
    (directory, name): (&Path, &OsStr),
    trusted: [u32; 3],
) -> Result<(), FileError> {
    let refused = FileError::at(path, FileStep::Inspect);
    let found = fstat(parent).map_err(refused)?;
    if found.st_mode & (WRITABLE_BY_ALL | STICKY) != WRITABLE_BY_ALL | STICKY {
        return Ok(());
    }
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(entry) if !trusted.contains(&entry.st_uid) => Err(FileError::StrangersDirectory {
            path: path.to_owned(),
            directory: directory.join(name),
            owner: entry.st_uid,
        }),
        _ => Ok(()),
    }
}

/// Opens the file that was found, as [`ResolvedPath::pin`] does.
fn pin(parent: impl AsFd, name: &OsStr, entry: &PathEntry, path: &Path) -> Result<OwnedFd, FileError> {
    let held = openat(parent, name, NAME_ONLY, Mode::empty());
    let held = held.map_err(FileError::at(path, FileStep::Inspect))?;
    let stat = fstat(&held).map_err(FileError::at(path, FileStep::Inspect))?;
    if entry.is_same_file(&stat) { Ok(held) } else { Err(FileError::Changed(path.to_owned())) }
}

/// Opens the parent directory in one call, if there are no links in its path. Returns `None` on any error.
fn without_links(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, path.parent()?, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()
}

/// Pushes the parts of a path on the stack of parts to resolve, the first part last.
fn push(ahead: &mut Vec<OsString>, path: &Path) {
    ahead.extend(path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    }));
}
