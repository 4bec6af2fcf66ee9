//! Privileges of the user who runs the tests.

use std::os::unix::fs::MetadataExt as _;
use std::process::Command;

use crate::skipped;

/// Returns `true` if the tests run as root.
pub fn is_root() -> bool {
    let own = std::fs::metadata("/proc/self").unwrap_or_else(|error| panic!("/proc/self: {error}"));
    own.uid() == 0
}

/// Records a skip if a requirement of the current test is not met, and returns `true` if it is.
fn require(met: bool, reason: &str) -> bool {
    if !met {
        skipped(reason);
    }
    met
}

/// Returns `true` if the tests run as root. Records a skip otherwise.
#[must_use]
pub fn needs_root() -> bool {
    require(is_root(), "root is needed")
}

/// Returns `true` if the tests run as another user than root. Records a skip otherwise.
#[must_use]
pub fn needs_ordinary_user() -> bool {
    require(!is_root(), "root may do everything")
}

/// Returns `true` if a test can make private mounts. Records a skip otherwise: an ordinary user can't, nor can root in
/// some containers.
#[must_use]
pub fn needs_own_mounts() -> bool {
    needs_root() && require(can_mount(), "private mounts are not possible here")
}

fn can_mount() -> bool {
    let script = "mount -t tmpfs tmpfs /mnt";
    let unshare = Command::new("unshare").args(["--mount", "/bin/sh", "-c", script]).output();
    unshare.is_ok_and(|output| output.status.success())
}
