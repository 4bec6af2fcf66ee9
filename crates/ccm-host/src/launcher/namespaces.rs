//! Namespaces: mounts, shared memory and a network of its own.

use std::os::fd::OwnedFd;
use std::{fs, io};

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};
use rustix::mount::{MountPropagationFlags, mount_change};

/// Enters fresh namespaces. An error means that this kernel, or whoever set it up, does not allow them.
///
/// An ordinary user needs a user namespace around them, and so does a root without the right to mount, as in
/// many containers. In it there is only the user itself, so that nobody else can be become there.
///
/// Without a network of its own, that is the empty one if there is one: to make one takes as long as all the rest.
pub(super) fn enter(network: bool, empty: Option<&OwnedFd>, becomes_another: bool) -> io::Result<()> {
    let mut wanted = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWIPC;
    let is_elsewhere = network || empty.is_some_and(|empty| setns(empty, CloneFlags::CLONE_NEWNET).is_ok());
    wanted.set(CloneFlags::CLONE_NEWNET, !is_elsewhere);
    let (user, group) = (geteuid(), getegid());
    let entered = if user.is_root() { unshare(wanted) } else { Err(nix::errno::Errno::EPERM) };
    if let Err(error) = entered {
        if becomes_another {
            return Err(error.into());
        }
        unshare(wanted | CloneFlags::CLONE_NEWUSER)?;
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    }
    // What is mounted here must not appear outside. Where mounting is refused after all, this fails first.
    Ok(mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?)
}
