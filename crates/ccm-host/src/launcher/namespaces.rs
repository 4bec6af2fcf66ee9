//! Namespaces of a sandbox: mounts, shared memory and network.

use std::os::fd::OwnedFd;
use std::{fs, io};

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};
use rustix::mount::{MountPropagationFlags, mount_change};

/// Enters new namespaces. An error means that the kernel or its configuration does not allow them.
///
/// An ordinary user needs a user namespace around them, and so does root without the right to mount, as in
/// many containers. A user namespace has only one user, so that a process in it can't become another one.
///
/// Without `network`, the network is the `empty` one that was handed in, because making one takes as long as
/// all other steps; without `empty`, a new one is made.
pub(super) fn enter(network: bool, empty: Option<&OwnedFd>, becomes_another: bool) -> io::Result<()> {
    let mut flags = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    let has_network = network || empty.is_some_and(|empty| setns(empty, CloneFlags::CLONE_NEWNET).is_ok());
    flags.set(CloneFlags::CLONE_NEWNET, !has_network);
    let (user, group) = (geteuid(), getegid());
    let entered = if user.is_root() { unshare(flags) } else { Err(nix::errno::Errno::EPERM) };
    if let Err(error) = entered {
        if becomes_another {
            return Err(error.into());
        }
        unshare(flags | CloneFlags::CLONE_NEWUSER)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // Mounts made here must not appear outside. If mounting is refused after all, this fails first.
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}
