//! A view of the file system that holds what is granted and nothing else.
//!
//! It is a small file system in memory, in which everything granted is mounted at its own path. The old root
//! is taken away. All of it ends with the last process that sees it, and leaves nothing behind.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RawMode, ResolveFlags, chmodat, mkdirat, openat, openat2, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root, umask};

use super::grants::{Access, Grant, Grants};
use super::step;
use crate::{StartError, raw};

/// How much its private `/tmp` and `/dev/shm` hold together.
const MEMORY: &str = "256m";
/// Directories of its own that the command may write.
const PRIVATE: [&str; 2] = ["/dev/shm", "/tmp"];
/// What the kernel tells of itself and of the keys of everybody, and no program needs. It is empty inside.
const HIDDEN: [&str; 5] =
    ["/proc/kallsyms", "/proc/kcore", "/proc/key-users", "/proc/keys", "/proc/timer_list"];
/// What finds its place in the private ones.
const LINKS: [(&str, &str); 5] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/var/tmp", "/tmp"),
];

/// A device is written to all the same; what is read-only is its mode, its owner and its times.
const OF_DEVICES: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// Builds the view and enters it. Adds what is private in it to what is granted.
pub(super) fn enter(grants: &mut Grants) -> Result<(), StartError> {
    // The directories of the view are everybody's to walk through, whatever the umask.
    let former = umask(Mode::from_raw_mode(0o022));
    let entered = build(grants);
    umask(former);
    entered
}

fn build(grants: &mut Grants) -> Result<(), StartError> {
    let failed = |path: &Path| {
        let step = format!("\"{}\" can't be mounted in it", path.display());
        move |source| StartError::Step { property: "sandbox".to_owned(), step: step.clone(), source }
    };
    // First all that is taken from the old view, because the new one will cover a part of it.
    let mut trees = Vec::with_capacity(grants.grants.len());
    for grant in &grants.grants {
        trees.push(tree(grant).map_err(failed(&grant.path))?);
    }
    let root = root().map_err(step("sandbox", "its root can't be made"))?;
    for path in PRIVATE.map(Path::new) {
        private(&root, path).map_err(failed(path))?;
    }
    for (grant, tree) in grants.grants.iter().zip(trees) {
        place(&root, &grant.path, &tree, grant.is_directory).map_err(failed(&grant.path))?;
    }
    for path in HIDDEN.map(Path::new) {
        hide(&root, path).map_err(failed(path))?;
    }
    let fixed = LINKS.map(|(link, target)| (PathBuf::from(link), PathBuf::from(target)));
    for (link, target) in grants.links.iter().chain(&fixed) {
        place_link(&root, link, target).map_err(failed(link))?;
    }
    settle(&root).map_err(step("sandbox", "its root can't be entered"))?;

    for path in PRIVATE.map(PathBuf::from) {
        let file = open(CWD, &path).map_err(failed(&path))?;
        grants.grants.push(Grant { path, file, access: Access::Write, is_directory: true });
    }
    // It may be another one than what was opened outside.
    if let Some(grant) = grants.grants.iter_mut().find(|grant| grant.path == Path::new("/proc")) {
        grant.file = open(CWD, &grant.path).map_err(failed(&grant.path))?;
    }
    Ok(())
}

fn open(from: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(from, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// A copy of the mounts at and below what is granted, with no more rights than these.
fn tree(grant: &Grant) -> io::Result<OwnedFd> {
    if grant.path == Path::new("/proc") {
        // Whoever may not mount one has to do with the old one.
        if let Ok(own) = own_processes() {
            return Ok(own);
        }
    }
    let recursive = OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::OPEN_TREE_CLONE;
    let flags = recursive | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(&grant.file, "", flags)?;
    let flags = match grant.access {
        Access::Read => libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        Access::Write => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        Access::Device => OF_DEVICES,
    };
    raw::add_mount_flags(tree.as_fd(), flags, true)?;
    Ok(tree)
}

/// The table of processes, with those only that its reader could look into: none outside.
fn own_processes() -> io::Result<OwnedFd> {
    let context = fsopen("proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(context.as_fd(), "hidepid", "ptraceable")?;
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_RDONLY
        | MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

/// An empty root, mounted where nothing is needed any more.
fn root() -> io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [("size", MEMORY), ("mode", "0755"), ("source", "sandbox")] {
        fsconfig_set_string(context.as_fd(), key, value)?;
    }
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    let root = fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?;
    move_mount(root.as_fd(), "", CWD, "/proc", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(root)
}

/// A directory that everybody may write, mounted by itself so that the root around it can be read-only.
fn private(root: &OwnedFd, path: &Path) -> io::Result<()> {
    const EVERYBODY: RawMode = 0o1777;
    let place = make_place(root, path, true)?;
    let inside = path.strip_prefix("/").unwrap_or(path);
    chmodat(root, inside, Mode::from_raw_mode(EVERYBODY), AtFlags::empty())?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let tree = open_tree(&place, "", flags | OpenTreeFlags::AT_EMPTY_PATH)?;
    mount_on(&tree, &place)
}

fn place(root: &OwnedFd, path: &Path, tree: &OwnedFd, is_directory: bool) -> io::Result<()> {
    mount_on(tree, &make_place(root, path, is_directory)?)
}

/// Covers a file with the null device. What the kernel does not have, or shows nobody, needs no cover.
fn hide(root: &OwnedFd, path: &Path) -> io::Result<()> {
    let inside = path.strip_prefix("/").unwrap_or(path);
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let place = match openat2(root, inside, flags, Mode::empty(), ResolveFlags::IN_ROOT) {
        Err(Errno::NOENT | Errno::ACCESS) => return Ok(()),
        opened => opened?,
    };
    let null =
        open_tree(CWD, "/dev/null", OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    raw::add_mount_flags(null.as_fd(), OF_DEVICES, false)?;
    mount_on(&null, &place)
}

fn mount_on(tree: &OwnedFd, place: &OwnedFd) -> io::Result<()> {
    let by_handles = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", place, "", by_handles)?)
}

/// Makes the file or directory that something is mounted on, with the directories above it.
fn make_place(root: &OwnedFd, path: &Path, is_directory: bool) -> io::Result<OwnedFd> {
    let inside = path.strip_prefix("/").unwrap_or(path);
    let make = || {
        if is_directory {
            return mkdirat(root, inside, Mode::from_raw_mode(0o755));
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(root, inside, flags, Mode::from_raw_mode(0o644)).map(drop)
    };
    make_below(root, inside, &make)?;
    // A link in what was mounted before must not lead out of the new root.
    let inside_only = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
    Ok(openat2(root, inside, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), inside_only)?)
}

/// Makes something unless it is there, and the directories above it if they are not.
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

/// Makes a link, unless something granted has taken its place.
fn place_link(root: &OwnedFd, link: &Path, target: &Path) -> io::Result<()> {
    let inside = link.strip_prefix("/").unwrap_or(link);
    match make_below(root, inside, &|| symlinkat(target, root, inside)) {
        Err(error) if error.raw_os_error() == Some(libc::EROFS) => Ok(()),
        placed => placed,
    }
}

/// Makes the root unchangeable, enters it, and lets the old one go.
fn settle(root: &OwnedFd) -> io::Result<()> {
    raw::add_mount_flags(root.as_fd(), libc::MOUNT_ATTR_RDONLY, false)?;
    fchdir(root)?;
    // The old root lies on the new one then, from where it is taken off.
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir("/")?)
}
