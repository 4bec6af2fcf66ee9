//! Who runs the tests, and what they can't show as that user.

use std::os::unix::fs::MetadataExt as _;

/// Tells whether the tests run as root.
pub fn is_root() -> bool {
    let own = std::fs::metadata("/proc/self").unwrap_or_else(|error| panic!("/proc/self: {error}"));
    own.uid() == 0
}

/// Says why a test, or the rest of it, shows nothing here.
#[expect(clippy::print_stderr, reason = "whoever reads the output of the tests should see it")]
pub fn skipped(reason: &str) {
    eprintln!("skipped: {reason}");
}
