//! View of the file system that holds only the paths of the allowlist.
//!
//! The view is a small file system in memory, in which each path of the allowlist is mounted at its own path.
//! The old root is removed from it. The kernel removes the view with the last process in it, and nothing is
//! left behind.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RawMode, ResolveFlags, chmodat, fstat, mkdirat, mknodat,
    openat, openat2, symlinkat,
};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root, umask};

use super::allowlist::{AllowedPath, Allowlist, PathAccess};
use super::step;
use crate::{StartError, raw};

/// Size of the private `/tmp` and `/dev/shm` together, and of the private directory of the command.
const MEMORY: &str = "1g";
/// Private directories that the command may write.
const PRIVATE: [&str; 2] = ["/dev/shm", "/tmp"];
/// Files about the kernel, its memory and keys that no program needs. They are empty in the view. Most of them
/// may be read by root only, but root in a sandbox is still the user with number 0.
const HIDDEN: [&str; 12] = [
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/pagetypeinfo",
    "/proc/slabinfo",
    "/proc/sys/net/ipv4/tcp_fastopen_key",
    "/proc/timer_list",
    "/proc/vmallocinfo",
];
/// Directory with a directory for each network interface.
const INTERFACES: &str = "/proc/sys/net/ipv6/conf";
/// File of an interface with the secret that its addresses are derived from.
const INTERFACE_SECRET: &str = "stable_secret";
/// Links to private files and directories.
const LINKS: [(&str, &str); 5] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
    ("/var/tmp", "/tmp"),
];

/// Flags for devices. A read-only mount keeps mode, owner and times of a device from changes; the device
/// itself can be written.
const OF_DEVICES: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC;

/// Builds the view and enters it. Adds the private directories to the allowlist.
pub(super) fn enter(allowlist: &mut Allowlist) -> Result<(), StartError> {
    // Every user may pass through the directories of the view, whatever the umask.
    let former = umask(Mode::from_raw_mode(0o022));
    let entered = build(allowlist);
    umask(former);
    entered
}

fn build(allowlist: &mut Allowlist) -> Result<(), StartError> {
    let failed = |path: &Path| {
        let step = format!("\"{}\" can't be mounted in the sandbox", path.display());
        move |source| StartError::Step { property: "sandbox".to_owned(), step: step.clone(), source }
    };
    // All mounts are copied first, because the new root will cover a part of the old view.
    let mut trees = Vec::with_capacity(allowlist.paths.len());
    for allowed in &allowlist.paths {
        trees.push(tree(allowed).map_err(failed(&allowed.path))?);
    }
    let root = root().map_err(step("sandbox", "its root can't be created"))?;
    for path in PRIVATE.map(Path::new) {
        private(&root, path).map_err(failed(path))?;
    }
    // Allowed paths above the next one. A path comes after those above it.
    let mut above: Vec<&Path> = Vec::new();
    for (allowed, tree) in allowlist.paths.iter().zip(trees) {
        while above.last().is_some_and(|path| !allowed.path.starts_with(path)) {
            above.pop();
        }
        let is_inside_another = !above.is_empty();
        mount_at(&root, allowed, &tree, is_inside_another).map_err(failed(&allowed.path))?;
        above.push(&allowed.path);
    }
    let mut cover = None;
    for path in HIDDEN.map(PathBuf::from).into_iter().chain(interface_secrets(&root)) {
        hide(&root, &path, &mut cover).map_err(failed(&path))?;
    }
    let fixed = LINKS.map(|(link, target)| (PathBuf::from(link), PathBuf::from(target)));
    for (link, target) in allowlist.links.iter().chain(&fixed) {
        link_at(&root, link, target).map_err(failed(link))?;
    }
    enter_root(&root).map_err(step("sandbox", "its root can't be entered"))?;

    for path in PRIVATE.map(PathBuf::from) {
        let file = open(CWD, &path).map_err(failed(&path))?;
        allowlist.paths.push(AllowedPath { path, file, access: PathAccess::Write, is_directory: true });
    }
    // The view may have others than those that were opened outside.
    let is_of_view = |allowed: &&mut AllowedPath| {
        allowed.access == PathAccess::Private || allowed.path == Path::new("/proc")
    };
    for allowed in allowlist.paths.iter_mut().filter(is_of_view) {
        allowed.file = open(CWD, &allowed.path).map_err(failed(&allowed.path))?;
    }
    Ok(())
}

fn open(from: impl std::os::fd::AsFd, path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(from, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Copies the mounts at and below an allowed path, with no more rights than its access.
fn tree(allowed: &AllowedPath) -> io::Result<OwnedFd> {
    if allowed.path == Path::new("/proc") {
        // Without the right to mount a new /proc, the old one is used.
        if let Ok(own) = own_processes() {
            return Ok(own);
        }
    }
    if allowed.access == PathAccess::Private {
        let outside = fstat(&allowed.file)?;
        let (user, group) = (outside.st_uid.to_string(), outside.st_gid.to_string());
        return memory(&[("mode", "0700"), ("uid", &user), ("gid", &group)]);
    }
    let recursive = OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::OPEN_TREE_CLONE;
    let flags = recursive | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(&allowed.file, "", flags)?;
    let flags = match allowed.access {
        PathAccess::Read => libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        PathAccess::Write | PathAccess::Private => libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV,
        PathAccess::Device => OF_DEVICES,
    };
    raw::add_mount_flags(tree.as_fd(), flags, true)?;
    Ok(tree)
}

/// Makes a `/proc` that shows a process only the processes that it may trace: none outside.
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

/// Makes an empty root, mounted over `/proc`, which is not needed any more.
fn root() -> io::Result<OwnedFd> {
    let root = memory(&[("mode", "0755")])?;
    move_mount(root.as_fd(), "", CWD, "/proc", MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?;
    Ok(root)
}

/// Makes an empty file system in memory.
fn memory(options: &[(&str, &str)]) -> io::Result<OwnedFd> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options.iter().chain(&[("size", MEMORY), ("source", "sandbox")]) {
        fsconfig_set_string(context.as_fd(), *key, *value)?;
    }
    fsconfig_create(context.as_fd())?;
    let flags = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(context.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, flags)?)
}

/// Makes a directory that every user may write. It is a mount of its own, so that the root around it can be
/// read-only.
fn private(root: &OwnedFd, path: &Path) -> io::Result<()> {
    const EVERYBODY: RawMode = 0o1777;
    let inside = make_mount_point(root, path, true)?;
    chmodat(root, inside, Mode::from_raw_mode(EVERYBODY), AtFlags::empty())?;
    let tree = open_tree(root, inside, OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?;
    mount_inside(root, inside, &tree)
}

/// Mounts an allowed path in its place. In another allowed path, somebody may have put a link that must not lead out of
/// the new root. Elsewhere, there is only what this process made.
fn mount_at(
    root: &OwnedFd,
    allowed: &AllowedPath,
    tree: &OwnedFd,
    is_inside_another: bool,
) -> io::Result<()> {
    let inside = make_mount_point(root, &allowed.path, allowed.is_directory)?;
    if !is_inside_another {
        return mount_inside(root, inside, tree);
    }
    let inside_only = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
    let mount_point = openat2(root, inside, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), inside_only)?;
    let by_handles = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", &mount_point, "", by_handles)?)
}

/// Mounts at a path inside of the root that leads over no link.
fn mount_inside(root: &OwnedFd, inside: &Path, tree: &OwnedFd) -> io::Result<()> {
    Ok(move_mount(tree, "", root, inside, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Returns the paths of the secrets of all network interfaces.
fn interface_secrets(root: &OwnedFd) -> Vec<PathBuf> {
    let interfaces = Path::new(INTERFACES);
    let inside = interfaces.strip_prefix("/").unwrap_or(interfaces);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat2(root, inside, flags, Mode::empty(), ResolveFlags::IN_ROOT);
    // A kernel without IPv6 has no such directory.
    let Ok(entries) = opened.and_then(Dir::new) else { return Vec::new() };
    let names = entries.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    let names = names.filter(|name| name != "." && name != "..");
    names.map(|name| interfaces.join(name).join(INTERFACE_SECRET)).collect()
}

/// Covers a file of the kernel with the null device. A file that does not exist or that nobody may read needs no cover,
/// which remains for the next one.
fn hide(root: &OwnedFd, path: &Path, cover: &mut Option<OwnedFd>) -> io::Result<()> {
    let inside = path.strip_prefix("/").unwrap_or(path);
    let next = if let Some(cover) = cover.take() {
        cover
    } else {
        // The null device of the view has its flags already.
        open_tree(root, "dev/null", OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC)?
    };
    match mount_inside(root, inside, &next) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EACCES)) => {
            *cover = Some(next);
            Ok(())
        }
        mounted => mounted,
    }
}

/// Makes a file or directory to mount on, with the directories above it. Returns its path inside of the root.
fn make_mount_point<'p>(root: &OwnedFd, path: &'p Path, is_directory: bool) -> io::Result<&'p Path> {
    let inside = path.strip_prefix("/").unwrap_or(path);
    let make = || {
        if is_directory {
            mkdirat(root, inside, Mode::from_raw_mode(0o755))
        } else {
            mknodat(root, inside, FileType::RegularFile, Mode::from_raw_mode(0o644), 0)
        }
    };
    make_below(root, inside, &make)?;
    Ok(inside)
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

/// Makes a link, unless an allowed path has its place.
fn link_at(root: &OwnedFd, link: &Path, target: &Path) -> io::Result<()> {
    let inside = link.strip_prefix("/").unwrap_or(link);
    match make_below(root, inside, &|| symlinkat(target, root, inside)) {
        Err(error) if error.raw_os_error() == Some(libc::EROFS) => Ok(()),
        placed => placed,
    }
}

/// Makes the root read-only, enters it, and removes the old one.
fn enter_root(root: &OwnedFd) -> io::Result<()> {
    raw::add_mount_flags(root.as_fd(), libc::MOUNT_ATTR_RDONLY, false)?;
    fchdir(root)?;
    // The old root is now mounted over the new one.
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir("/")?)
}
