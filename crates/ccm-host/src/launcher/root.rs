//! Root of the view: a small file system in memory, with the places that the allowed paths are mounted on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, RawMode, chmodat, mkdirat, mknodat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, fsconfig_create, fsconfig_set_string, fsmount, fsopen,
};

/// Size of the private `/tmp` and `/dev/shm` together, and of the private directory of the command.
const MEMORY: &str = "1g";

/// Root that is mounted nowhere yet.
#[derive(Debug)]
pub(super) struct Root(OwnedFd);

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Root {
    /// Makes an empty root.
    pub(super) fn empty() -> io::Result<Self> {
        memory(&[("mode", "0755")]).map(Self)
    }

    /// Makes a directory that every user may write. Returns its path inside of the root.
    pub(super) fn make_private<'p>(&self, path: &'p Path) -> io::Result<&'p Path> {
        const EVERYBODY: RawMode = 0o1777;
        let inside = self.make_place(path, true)?;
        chmodat(&self.0, inside, Mode::from_raw_mode(EVERYBODY), AtFlags::empty())?;
        Ok(inside)
    }

    /// Makes a file or directory to mount on, with the directories above it. Returns its path inside of the root.
    pub(super) fn make_place<'p>(&self, path: &'p Path, is_directory: bool) -> io::Result<&'p Path> {
        let inside = inside(path);
        let make = || {
            if is_directory {
                mkdirat(&self.0, inside, Mode::from_raw_mode(0o755))
            } else {
                mknodat(&self.0, inside, FileType::RegularFile, Mode::from_raw_mode(0o644), 0)
            }
        };
        make_below(&self.0, inside, &make)?;
        Ok(inside)
    }

    /// Makes a link, unless an allowed path has its place.
    pub(super) fn make_link(&self, link: &Path, target: &Path) -> io::Result<()> {
        let inside = inside(link);
        match make_below(&self.0, inside, &|| symlinkat(target, &self.0, inside)) {
            Err(error) if error.raw_os_error() == Some(libc::EROFS) => Ok(()),
            placed => placed,
        }
    }
}

/// Returns an absolute path as one inside of the root.
pub(super) fn inside(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// Makes an empty file system in memory.
pub(super) fn memory(options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options.iter().chain(&[("size", MEMORY), ("source", "sandbox")]) {
        fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

/// Makes a path unless it exists, with the missing directories above it.
fn make_below(root: &OwnedFd, inside: &Path, make: &dyn Fn() -> Result<(), Errno>) -> io::Result<()> {
    let mut result = make();
    let parent = inside.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let (Err(Errno::NOENT), Some(parent)) = (result, parent) {
        make_below(root, parent, &|| mkdirat(root, parent, Mode::from_raw_mode(0o755)))?;
        result = make();
    }
    match result {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
