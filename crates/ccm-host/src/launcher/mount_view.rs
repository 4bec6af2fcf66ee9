//! View of the file system that holds only the paths of the allowlist.
//!
//! The view is a small file system in memory, in which each path of the allowlist is mounted at its own path.
//! The old root is removed from it. The kernel removes the view with the last process in it, and nothing is
//! left behind.

use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::{io, mem};

use rustix::fs::{CWD, Dir, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree, unmount,
};
use rustix::process::{chdir, fchdir, pivot_root, umask};

use super::allowlist::{AllowedPath, Allowlist, PathAccess};
use super::root::{Root, inside, memory};
use super::shared_directories::{self, SharedDirectory};
use super::step;
use crate::{StartError, raw};

/// Directory with files of the kernel about processes.
pub(super) const PROCESSES: &str = "/proc";
/// Private directories that the command may write.
const PRIVATE: [&str; 2] = ["/dev/shm", "/tmp"];
/// Files about the kernel, its memory and keys that no program needs. They are empty in the view. Most of them
/// may be read by root only, but root in a sandbox is still the user with number 0.
const HIDDEN: [&str; 11] = [
    "/proc/kallsyms",
    "/proc/kcore",
    "/proc/key-users",
    "/proc/keys",
    "/proc/kpagecgroup",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/pagetypeinfo",
    "/proc/slabinfo",
    "/proc/timer_list",
    "/proc/vmallocinfo",
];
/// File with a secret of the network. Each network has its own, so that it is hidden once the network is entered.
const NETWORK_SECRET: &str = "/proc/sys/net/ipv4/tcp_fastopen_key";
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

/// View that has the directories of the system.
#[derive(Debug)]
pub(super) struct BegunView {
    root: Root,
    shared: Vec<SharedDirectory>,
}

/// Builds the view and enters it, beginning with one that has the directories of the system if there is one. Adds the private
/// directories to the allowlist.
pub(super) fn enter(allowlist: &mut Allowlist, begun: Option<BegunView>) -> Result<(), StartError> {
    with_open_directories(|| build(allowlist, begun))
}

/// Makes the directories of the system, below a root that is mounted nowhere and can't be written.
pub(super) fn of_system(allowlist: &Allowlist) -> Result<Root, StartError> {
    with_open_directories(|| {
        let trees = trees(allowlist)?;
        let root = empty_root()?;
        mount_allowed(&root, allowlist, &trees)?;
        for path in PRIVATE.map(Path::new) {
            root.make_place(path, true).map_err(failed(path))?;
        }
        hide_all(&root, HIDDEN.map(PathBuf::from))?;
        make_links(&root, allowlist, &[])?;
        make_read_only(&root).map_err(step("sandbox", "its root can't be made read-only"))?;
        Ok(root)
    })
}

/// Begins a view with the directories of the system, without entering it.
pub(super) fn begin(system: &Root, allowlist: &Allowlist) -> Result<BegunView, StartError> {
    with_open_directories(|| {
        let root = empty_root()?;
        // The directories of the system cover the places where these are made.
        let tree = |path| Ok((path, private_tree(&root, path).map_err(failed(path))?));
        let private: Vec<(&Path, OwnedFd)> =
            PRIVATE.map(Path::new).into_iter().map(tree).collect::<Result<_, _>>()?;
        let shared = shared_directories::mount(&root, system, allowlist)?;
        for (path, tree) in private {
            mount_inside(&root, inside(path), &tree).map_err(failed(path))?;
        }
        Ok(BegunView { root, shared })
    })
}

/// Lets every user pass through the directories that are made, whatever the umask.
fn with_open_directories<T>(build: impl FnOnce() -> T) -> T {
    let former = umask(Mode::from_raw_mode(0o022));
    let result = build();
    umask(former);
    result
}

pub(super) fn failed(path: &Path) -> impl Fn(io::Error) -> StartError {
    move |source| StartError::Step {
        property: "sandbox".to_owned(),
        step: format!("\"{}\" can't be mounted in the sandbox", path.display()),
        source,
    }
}

fn build(allowlist: &mut Allowlist, begun: Option<BegunView>) -> Result<(), StartError> {
    let is_new = begun.is_none();
    let view = begun.map_or_else(|| Ok(BegunView { root: empty_root()?, shared: Vec::new() }), Ok)?;
    let BegunView { root, mut shared } = view;
    // All mounts are copied first, because the new root will cover a part of the old view.
    let mut trees = trees(allowlist)?;
    cover_processes(&root).map_err(step("sandbox", "its root can't be mounted"))?;
    let replaced = shared_directories::replace(&root, &mut shared, allowlist, &mut trees)?;
    if is_new {
        mount_private(&root, Path::new("/"))?;
    }
    mount_allowed(&root, allowlist, &trees)?;
    // The start of the program closes them in less time.
    mem::forget(trees);
    if is_new {
        hide_all(&root, HIDDEN.map(PathBuf::from))?;
    }
    hide_all(&root, network_secrets(&root))?;
    make_links(&root, allowlist, &shared)?;
    replaced
        .iter()
        .try_for_each(make_read_only)
        .and_then(|()| enter_root(&root))
        .map_err(step("sandbox", "its root can't be entered"))?;

    for path in PRIVATE.map(PathBuf::from) {
        let file = open(CWD, &path).map_err(failed(&path))?;
        allowlist.paths.push(AllowedPath {
            path,
            file,
            access: PathAccess::Write,
            is_directory: true,
            is_mounted: true,
        });
    }
    // The view may have others than those that were opened outside.
    let is_of_view = |allowed: &&mut AllowedPath| {
        allowed.access == PathAccess::Private || allowed.path == Path::new(PROCESSES)
    };
    for allowed in allowlist.paths.iter_mut().filter(is_of_view) {
        allowed.file = open(CWD, &allowed.path).map_err(failed(&allowed.path))?;
    }
    Ok(())
}

/// Copies the mounts of all allowed paths that are not mounted yet.
fn trees(allowlist: &Allowlist) -> Result<Vec<Option<OwnedFd>>, StartError> {
    let tree_of = |allowed: &AllowedPath| {
        (!allowed.is_mounted).then(|| tree(allowed).map_err(failed(&allowed.path))).transpose()
    };
    allowlist.paths.iter().map(tree_of).collect()
}

fn mount_allowed(root: &Root, allowlist: &Allowlist, trees: &[Option<OwnedFd>]) -> Result<(), StartError> {
    // Allowed paths above the next one. A path comes after those above it.
    let mut above: Vec<&Path> = Vec::new();
    for (allowed, tree) in allowlist.paths.iter().zip(trees) {
        while above.last().is_some_and(|path| !allowed.path.starts_with(path)) {
            above.pop();
        }
        if let Some(tree) = tree {
            mount_at(root, allowed, tree, !above.is_empty()).map_err(failed(&allowed.path))?;
        }
        above.push(&allowed.path);
    }
    Ok(())
}

pub(super) fn open(from: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(from, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Copies the mounts at and below an allowed path, with no more rights than its access.
fn tree(allowed: &AllowedPath) -> io::Result<OwnedFd> {
    if allowed.path == Path::new(PROCESSES) {
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
    // What is mounted in the view must not appear outside.
    raw::make_private_mount(tree.as_fd(), flags)?;
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

/// Mounts the root over `/proc`, which is not needed any more.
fn cover_processes(root: &Root) -> io::Result<()> {
    Ok(move_mount(root.as_fd(), "", CWD, PROCESSES, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

fn empty_root() -> Result<Root, StartError> {
    Root::empty().map_err(step("sandbox", "its root can't be created"))
}

/// Mounts the private directories at and below a directory.
pub(super) fn mount_private(root: &Root, directory: &Path) -> Result<(), StartError> {
    PRIVATE.map(Path::new).into_iter().filter(|path| path.starts_with(directory)).try_for_each(|path| {
        let mounted = private_tree(root, path).and_then(|tree| mount_inside(root, inside(path), &tree));
        mounted.map_err(failed(path))
    })
}

/// Makes a directory that every user may write. It is a mount of its own, so that the root around it can be
/// read-only.
fn private_tree(root: &Root, path: &Path) -> io::Result<OwnedFd> {
    let inside = root.make_private(path)?;
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    Ok(open_tree(root.as_fd(), inside, flags)?)
}

/// Makes the links of the system outside of the directories that have theirs.
fn make_links(root: &Root, allowlist: &Allowlist, shared: &[SharedDirectory]) -> Result<(), StartError> {
    let fixed = LINKS.map(|(link, target)| (PathBuf::from(link), PathBuf::from(target)));
    // Links are made last: what is below one would be made where the link leads to.
    let links = allowlist.links.iter().chain(&fixed);
    links
        .filter(|(link, _)| shared.iter().all(|shared| !link.starts_with(&shared.path)))
        .try_for_each(|(link, target)| root.make_link(link, target).map_err(failed(link)))
}

fn make_read_only(mount: impl AsFd) -> io::Result<()> {
    raw::add_mount_flags(mount.as_fd(), libc::MOUNT_ATTR_RDONLY)
}

/// Mounts an allowed path in its place. In another allowed path, somebody may have put a link that must not lead out of
/// the new root. Elsewhere, there is only what this process made.
fn mount_at(root: &Root, allowed: &AllowedPath, tree: &OwnedFd, is_inside_another: bool) -> io::Result<()> {
    let inside = root.make_place(&allowed.path, allowed.is_directory)?;
    if !is_inside_another {
        return mount_inside(root, inside, tree);
    }
    let inside_only = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS;
    let mount_point =
        openat2(root.as_fd(), inside, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), inside_only)?;
    let by_handles = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", &mount_point, "", by_handles)?)
}

/// Mounts at a path inside of the root that leads over no link.
pub(super) fn mount_inside(root: &Root, inside: &Path, tree: &OwnedFd) -> io::Result<()> {
    Ok(move_mount(tree, "", root.as_fd(), inside, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Returns the paths of the secrets of the network and of all its interfaces.
fn network_secrets(root: &Root) -> Vec<PathBuf> {
    let mut secrets = vec![PathBuf::from(NETWORK_SECRET)];
    let interfaces = Path::new(INTERFACES);
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat2(root.as_fd(), inside(interfaces), flags, Mode::empty(), ResolveFlags::IN_ROOT);
    // A kernel without IPv6 has no such directory.
    let Ok(entries) = opened.and_then(Dir::new) else { return secrets };
    let names = entries.flatten().map(|entry| OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
    let names = names.filter(|name| name != "." && name != "..");
    secrets.extend(names.map(|name| interfaces.join(name).join(INTERFACE_SECRET)));
    secrets
}

fn hide_all(root: &Root, paths: impl IntoIterator<Item = PathBuf>) -> Result<(), StartError> {
    let mut cover = None;
    paths.into_iter().try_for_each(|path| hide(root, &path, &mut cover).map_err(failed(&path)))
}

/// Covers a file of the kernel with the null device. A file that does not exist or that nobody may read needs no cover,
/// which remains for the next one.
fn hide(root: &Root, path: &Path, cover: &mut Option<OwnedFd>) -> io::Result<()> {
    let next = if let Some(cover) = cover.take() {
        cover
    } else {
        // The null device of the view has its flags already.
        open_tree(
            root.as_fd(),
            "dev/null",
            OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC,
        )?
    };
    match mount_inside(root, inside(path), &next) {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EACCES)) => {
            *cover = Some(next);
            Ok(())
        }
        mounted => mounted,
    }
}

/// Makes the root read-only, enters it, and removes the old one.
fn enter_root(root: &Root) -> io::Result<()> {
    make_read_only(root)?;
    fchdir(root.as_fd())?;
    // The old root is now mounted over the new one.
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    Ok(chdir("/")?)
}
