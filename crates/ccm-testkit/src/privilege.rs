//! Who runs the tests, and what they can't show as that user.

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

/// Tells whether the tests run as root.
pub fn is_root() -> bool {
    let own = std::fs::metadata("/proc/self").unwrap_or_else(|error| panic!("/proc/self: {error}"));
    own.uid() == 0
}

/// Tells whether mounts of a test's own can be made: not by an ordinary user, and not in every container.
pub fn can_mount() -> bool {
    let script = "mount -t tmpfs tmpfs /mnt";
    let unshare = Command::new("unshare").args(["--mount", "/bin/sh", "-c", script]).output();
    unshare.is_ok_and(|output| output.status.success())
}

/// Says why a test, or the rest of it, shows nothing here.
#[expect(clippy::print_stderr, reason = "whoever reads the output of the tests should see it")]
pub fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}
