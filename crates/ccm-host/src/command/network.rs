//! The empty network of sandboxes.

use std::fs::File;
use std::os::fd::OwnedFd;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;
use rustix::io::fcntl_dupfd_cloexec;

use super::launch_protocol::LOWEST_OWN_DESCRIPTOR;

/// Makes an empty network for all sandboxes of a run, because making one takes longer than the rest of a
/// sandbox. No sandbox has a socket in the network, so sandboxes can't communicate through it. Returns `None` if
/// this process may make a network only in a user namespace; each sandbox then makes its own.
pub(super) fn empty() -> Option<OwnedFd> {
    if !geteuid().is_root() {
        return None;
    }
    // Only this thread enters the new network.
    let made = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).ok()?;
        let network = File::open("/proc/thread-self/ns/net").ok()?;
        fcntl_dupfd_cloexec(&network, LOWEST_OWN_DESCRIPTOR).ok()
    });
    made.join().ok().flatten()
}
