//! The way to a path, from directory to directory by descriptor, past no stranger's link.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, StatxAttributes, StatxFlags, fstat, open,
    openat, openat2, readlinkat, statat, statx,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{FileError, Step};

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// To name a thing without opening it: nothing a device or a pipe would notice.
const NAME_ONLY: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Place {
    /// The path, for messages.
    pub path: PathBuf,
    /// The directory it is in; good for naming things in it only.
    pub parent: OwnedFd,
    /// Its name there.
    pub name: OsString,
    /// What is there.
    pub entry: Option<Entry>,
    links: Vec<Link>,
}

/// Something that exists.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// Its state.
    pub stat: Stat,
}

#[derive(Debug)]
struct Link {
    path: PathBuf,
    owner: u32,
}

impl Entry {
    /// Tells whether it is the same thing, whatever became of its state.
    pub(super) fn is(&self, stat: &Stat) -> bool {
        (self.stat.st_dev, self.stat.st_ino) == (stat.st_dev, stat.st_ino)
    }

    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    pub(super) fn is_link(&self) -> bool {
        self.kind() == FileType::Symlink
    }

    /// The permissions and the special bits.
    pub(super) fn mode(&self) -> u32 {
        self.stat.st_mode & 0o7777
    }

    /// What it is, with its article, if it is not a regular file.
    pub(super) fn what(&self) -> Option<&'static str> {
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

impl Place {
    /// Walks to a path. Its last part is what it is, link or not.
    pub(super) fn find(path: &Path) -> Result<Self, FileError> {
        let place = walk(path, false)?;
        place.check_links()?;
        Ok(place)
    }

    /// Walks to a path and, where it is a link, to what that leads to, if there is something.
    pub(super) fn find_behind_link(path: &Path) -> Result<Option<Self>, FileError> {
        match walk(path, true) {
            Ok(place) if place.entry.is_none() => Ok(None),
            Ok(place) => place.check_links().map(|()| Some(place)),
            Err(FileError::ParentMissing(_) | FileError::NotADirectory { .. }) => Ok(None),
            // A link that leads to itself leads nowhere.
            Err(FileError::Step { step: Step::Look, source, .. })
                if source.raw_os_error() == Some(Errno::LOOP.raw_os_error()) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Walks to what is to be read, behind every link. The path may be a relative one.
    pub(super) fn find_source(path: &Path) -> Result<Self, FileError> {
        let place = walk(path, true)?;
        place.check_links()?;
        Ok(place)
    }

    /// Checks that every link on the way is root's, ours, or of the owner of what is here.
    fn check_links(&self) -> Result<(), FileError> {
        if self.links.is_empty() {
            return Ok(());
        }
        let ours = geteuid().as_raw();
        let trusted = [0, ours, self.entry.as_ref().map_or(ours, |entry| entry.stat.st_uid)];
        match self.links.iter().find(|link| !trusted.contains(&link.owner)) {
            None => Ok(()),
            Some(link) => Err(FileError::UntrustedLink {
                path: self.path.clone(),
                link: link.path.clone(),
                owner: link.owner,
            }),
        }
    }

    /// What is here now, in the same directory whatever became of the way to it.
    pub(super) fn entry_now(&self) -> Result<Entry, FileError> {
        let stat = statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let stat = stat.map_err(FileError::at(&self.path, Step::Look))?;
        Ok(Entry { stat })
    }

    /// Gets hold of what was found here, and of nothing that took its place. Good for naming it only, not for
    /// reading.
    pub(super) fn hold(&self, entry: &Entry) -> Result<OwnedFd, FileError> {
        // The root has no name and is its own parent.
        let name = if self.name.is_empty() { OsStr::new(".") } else { &self.name };
        hold(&self.parent, name, entry, &self.path)
    }

    /// Opens the directory it is in so that it can be synced.
    pub(super) fn open_parent(&self) -> Result<OwnedFd, FileError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(&self.parent, ".", flags, Mode::empty())
            .map_err(FileError::at(&self.parent_path(), Step::Look))
    }

    /// The path of the directory it is in.
    pub(super) fn parent_path(&self) -> PathBuf {
        self.path.parent().unwrap_or(Path::new("/")).to_owned()
    }

    /// Refuses what something is mounted on.
    pub(super) fn refuse_mount_point(&self) -> Result<(), FileError> {
        let Some(entry) = &self.entry else { return Ok(()) };
        let parent = fstat(&self.parent).map_err(FileError::at(&self.path, Step::Look))?;
        match is_mount_point(self.hold(entry)?, &entry.stat, &parent) {
            Ok(false) => Ok(()),
            Ok(true) => Err(FileError::MountPoint(self.path.clone())),
            Err(error) => Err(FileError::step(&self.path, Step::Look, error)),
        }
    }
}

/// The path of what is there, with every link followed that may be.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let gone = || io::Error::from(Errno::NOENT);
    let place = Place::find_source(path).map_err(|error| match error {
        FileError::ParentMissing(_) => gone(),
        FileError::NotADirectory { .. } => Errno::NOTDIR.into(),
        FileError::Step { source, .. } => source,
        FileError::UntrustedLink { link, owner, .. } => io::Error::other(format!(
            "it leads over \"{}\", a symbolic link of another user (uid {owner})",
            link.display()
        )),
        other => io::Error::other(other),
    })?;
    if place.entry.is_none() {
        return Err(gone());
    }
    // The way there may have changed; where the descriptor is, is where it led.
    let parent = std::fs::read_link(format!("/proc/self/fd/{}", place.parent.as_raw_fd()))?;
    Ok(if place.name.is_empty() { parent } else { parent.join(&place.name) })
}

/// Tells whether something is mounted there.
pub(super) fn is_mount_point(descriptor: impl AsFd, stat: &Stat, parent: &Stat) -> Result<bool, Errno> {
    let asked = statx(descriptor, "", AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW, StatxFlags::TYPE);
    match asked {
        Ok(found) if found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT) => {
            Ok(found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
        }
        // Kernels before 5.8 do not say; a mount of another filesystem shows itself at least.
        Ok(_) | Err(Errno::NOSYS) => Ok(stat.st_dev != parent.st_dev),
        Err(error) => Err(error),
    }
}

fn walk(path: &Path, behind_link: bool) -> Result<Place, FileError> {
    let refused = |error: Errno| FileError::step(path, Step::Look, error);
    let root = || open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(refused);
    let mut ahead: Vec<OsString> = Vec::new();
    let mut links = Vec::new();
    let (mut at, mut behind) = if let Some(parent) = without_links(path) {
        ahead.extend(path.file_name().map(OsStr::to_owned));
        (parent, path.parent().unwrap_or(Path::new("/")).to_owned())
    } else {
        push(&mut ahead, path);
        let start = if path.is_absolute() { "/" } else { "." };
        (open(start, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).map_err(refused)?, PathBuf::from(start))
    };
    while let Some(name) = ahead.pop() {
        let is_last = ahead.is_empty();
        let entry = match statat(&at, &name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(Entry { stat }),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(refused(error)),
        };
        match entry {
            Some(entry) if entry.is_link() && (behind_link || !is_last) => {
                if links.len() == MOST_LINKS {
                    return Err(refused(Errno::LOOP));
                }
                links.push(Link { path: behind.join(&name), owner: entry.stat.st_uid });
                let target = readlinkat(hold(&at, &name, &entry, path)?, "", Vec::new()).map_err(refused)?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                if target.is_absolute() {
                    at = root()?;
                    behind = PathBuf::from("/");
                }
                push(&mut ahead, &target);
            }
            entry if is_last => return Ok(Place { path: path.to_owned(), parent: at, name, entry, links }),
            Some(entry) if entry.kind() == FileType::Directory => {
                at = hold(&at, &name, &entry, path)?;
                behind.push(name);
            }
            Some(_) => {
                return Err(FileError::NotADirectory { path: path.to_owned(), part: behind.join(name) });
            }
            None => {
                let parent = path.parent().unwrap_or(Path::new("/"));
                return Err(FileError::ParentMissing(parent.to_owned()));
            }
        }
    }
    // The path is `/`, or the last link led there.
    let stat = fstat(&at).map_err(refused)?;
    Ok(Place { path: path.to_owned(), parent: at, name: OsString::new(), entry: Some(Entry { stat }), links })
}

/// Opens what was found at a name, and nothing that took its place.
fn hold(parent: &OwnedFd, name: &OsStr, entry: &Entry, path: &Path) -> Result<OwnedFd, FileError> {
    let held = openat(parent, name, NAME_ONLY, Mode::empty());
    let held = held.map_err(FileError::at(path, Step::Look))?;
    let stat = fstat(&held).map_err(FileError::at(path, Step::Look))?;
    if entry.is(&stat) { Ok(held) } else { Err(FileError::Changed(path.to_owned())) }
}

/// The directory of a path in one step, if there are no links on the way. Whatever keeps the kernel from it,
/// the long way finds out.
fn without_links(path: &Path) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat2(CWD, path.parent()?, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS).ok()
}

/// Puts the parts of a path before what is still ahead, the next one last.
fn push(ahead: &mut Vec<OsString>, path: &Path) {
    ahead.extend(path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    }));
}
