//! Waiting for something that no event tells of.

use std::time::{Duration, Instant};

/// Waits until something is so, and fails the test if it never is.
///
/// For what only asking shows: the state of another process, a file that it makes.
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    // Only what hangs takes so long, also on a machine with much else to do.
    const LIMIT: Duration = Duration::from_secs(60);
    const PAUSE: Duration = Duration::from_millis(1);
    let end = Instant::now() + LIMIT;
    while !is_so() {
        assert!(Instant::now() < end, "waited {LIMIT:?} in vain: {what}");
        std::thread::sleep(PAUSE);
    }
}
