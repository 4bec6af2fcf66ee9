//! Waiting for a condition without an event.

use std::time::{Duration, Instant};

/// Polls a condition without events, such as the state of another process, until it holds. Fails the test if
/// it never does.
pub fn wait_until(condition: &str, mut holds: impl FnMut() -> bool) {
    // Only a hanging process takes this long, even on a busy machine.
    const LIMIT: Duration = Duration::from_secs(60);
    const PAUSE: Duration = Duration::from_millis(1);
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "waited {LIMIT:?} in vain: {condition}");
        std::thread::sleep(PAUSE);
    }
}
