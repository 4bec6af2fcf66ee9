//! A network in which there is nothing.

use std::fs::File;
use std::os::fd::OwnedFd;

use nix::sched::{CloneFlags, unshare};
use nix::unistd::geteuid;
use rustix::io::fcntl_dupfd_cloexec;

/// Makes one for all sandboxes of a run, because making one takes longer than all the rest of a sandbox: in it they
/// have no socket, and so nothing to do with one another. None where only a user namespace could bring one, which
/// each has to make for itself.
pub(super) fn empty() -> Option<OwnedFd> {
    /// Behind the places that a launcher finds its descriptors in.
    const LOWEST: i32 = 16;
    if !geteuid().is_root() {
        return None;
    }
    // A thread can be in another network than its process.
    let made = std::thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).ok()?;
        let network = File::open("/proc/thread-self/ns/net").ok()?;
        fcntl_dupfd_cloexec(&network, LOWEST).ok()
    });
    made.join().ok().flatten()
}
