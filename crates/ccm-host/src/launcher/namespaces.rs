//! Namespaces of a sandbox: mounts, shared memory, network and users.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::{fs, io};

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};
use rustix::fs::{Mode, OFlags, openat};
use rustix::io::retry_on_intr;
use rustix::mount::{MountPropagationFlags, mount_change};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{WaitId, WaitIdOptions, getpid, waitid};

use crate::raw;

/// Namespace of users of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Users {
    /// The namespace of ccm.
    Shared,
    /// A separate namespace.
    Own,
}

/// Enters new namespaces. An error means that the kernel or its configuration does not allow them.
///
/// An ordinary user needs a user namespace around them, and so does root without the right to mount, as in
/// many containers. A user namespace has only one user, so that a process in it can't become another one.
///
/// Without `network`, the network is the `empty` one that was handed in, because making one takes as long as
/// all other steps; without `empty`, a new one is made. A process that `has_own_memory` keeps its shared memory.
///
/// Returns the namespace of users.
pub(super) fn enter(
    network: bool,
    empty: Option<&OwnedFd>,
    becomes_another: bool,
    has_own_memory: bool,
) -> io::Result<Users> {
    let mut flags = CloneFlags::CLONE_NEWNS;
    flags.set(CloneFlags::CLONE_NEWIPC, !has_own_memory);
    let has_network = network || empty.is_some_and(|empty| setns(empty, CloneFlags::CLONE_NEWNET).is_ok());
    flags.set(CloneFlags::CLONE_NEWNET, !has_network);
    let (user, group) = (geteuid(), getegid());
    let entered = if user.is_root() { unshare(flags) } else { Err(nix::errno::Errno::EPERM) };
    let users = if entered.is_ok() { Users::Shared } else { Users::Own };
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
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    Ok(users)
}

/// Returns `true` if the limit of processes of a user counts those in the user namespace alone, as Linux does
/// since 5.14. Root has no such limit.
pub(super) fn count_processes(users: Option<Users>) -> bool {
    users == Some(Users::Own) && !geteuid().is_root() && is_linux_since(5, 14)
}

/// Returns `true` if the kernel has this version of Linux or a later one.
pub(super) fn is_linux_since(first: u32, second: u32) -> bool {
    let release = rustix::system::uname();
    let release = release.release().to_string_lossy();
    let mut numbers = release.split(['.', '-']).map(|number| number.parse::<u32>().unwrap_or_default());
    (numbers.next(), numbers.next()) >= (Some(first), Some(second))
}

/// Enters a user namespace in which every user and group has the same number as outside. Without a capability
/// outside, processes in it can't look into those outside, whatever their users.
///
/// The view has to be entered before: in a user namespace, no new `/proc` can be mounted. `proc` is the
/// directory `/proc` from outside of the view.
pub(super) fn separate_users(proc: &OwnedFd) -> io::Result<()> {
    let own = format!("{}", getpid().as_raw_nonzero());
    let maps = ["uid_map", "gid_map"].map(|name| Path::new(&own).join(name));
    let [users, groups] = maps.each_ref().map(|path| identity_map(proc, path));
    let contents = [users?, groups?];
    // Only a process outside of the new namespace may write maps of more than one user. It waits until the
    // namespace exists: the pipe is closed then, and also if this process ends.
    let (exists, not_yet) = pipe_with(PipeFlags::CLOEXEC)?;
    let Some(helper) = raw::fork()? else {
        drop(not_yet);
        let _end = File::from(exists).read(&mut [0]);
        let mut maps = maps.iter().zip(&contents);
        let written = maps.try_for_each(|(path, content)| write_at(proc, path, content));
        std::process::exit(written.map_or(1, |()| 0));
    };
    let entered = unshare(CloneFlags::CLONE_NEWUSER);
    drop(not_yet);
    let ended = retry_on_intr(|| waitid(WaitId::Pid(helper), WaitIdOptions::EXITED))?;
    entered?;
    match ended.and_then(|status| status.exit_status()) {
        Some(0) => Ok(()),
        _ => Err(io::Error::other("its users can't be mapped")),
    }
}

/// Returns a map with the same numbers inside as outside, for all that exist here.
fn identity_map(proc: &OwnedFd, path: &Path) -> io::Result<String> {
    let mut own = String::new();
    let file = openat(proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    File::from(file).read_to_string(&mut own)?;
    Ok(own.lines().filter_map(same_numbers).collect())
}

/// Returns the line of a map with the numbers outside replaced by those inside.
fn same_numbers(line: &str) -> Option<String> {
    let mut fields = line.split_ascii_whitespace();
    let (inside, _outside, count) = (fields.next()?, fields.next()?, fields.next()?);
    Some(format!("{inside} {inside} {count}\n"))
}

fn write_at(proc: &OwnedFd, path: &Path, content: &str) -> io::Result<()> {
    let file = openat(proc, path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    // The kernel takes a map in one piece.
    let written = rustix::io::write(&file, content.as_bytes())?;
    if written == content.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn map_keeps_every_number() {
        for (line, expected) in [
            ("         0          0 4294967295", Some("0 0 4294967295\n")),
            ("0 100000 65536", Some("0 0 65536\n")),
            ("65536 7 1", Some("65536 65536 1\n")),
            ("0 1", None),
        ] {
            assert_eq!(same_numbers(line).as_deref(), expected, "{line}");
        }
    }
}
