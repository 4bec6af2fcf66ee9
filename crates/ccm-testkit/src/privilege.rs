//! Privileges of the user who runs the tests.

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

/// Returns `true` if the tests run as root.
pub fn is_root() -> bool {
    let own = std::fs::metadata("/proc/self").unwrap_or_else(|error| panic!("/proc/self: {error}"));
    own.uid() == 0
}

/// Returns `true` if a test can make private mounts. An ordinary user can't, nor can root in some containers.
pub fn can_mount() -> bool {
    let script = "mount -t tmpfs tmpfs /mnt";
    let unshare = Command::new("unshare").args(["--mount", "/bin/sh", "-c", script]).output();
    unshare.is_ok_and(|output| output.status.success())
}

/// Prints the reason why a test, or the rest of it, is skipped.
#[expect(clippy::print_stderr, reason = "readers of the test output should see it")]
pub fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}
