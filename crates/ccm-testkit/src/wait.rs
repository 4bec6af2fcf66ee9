//! Waiting for a condition without an event.

use std::time::{Duration, Instant};

/// Returns a limit of time for this machine: ten times as long where `CCM_TEST_SLOW` is set, because its
/// processor is emulated.
pub fn on_this_machine(limit: Duration) -> Duration {
    if std::env::var_os("CCM_TEST_SLOW").is_some() { limit * 10 } else { limit }
}

/// Polls a condition without events, such as the state of another process, until it holds. Fails the test if
/// it never does.
pub fn wait_until(condition: &str, mut holds: impl FnMut() -> bool) {
    // Only a hanging process takes this long, even on a busy machine.
    const LIMIT: Duration = Duration::from_secs(60);
    const PAUSE: Duration = Duration::from_millis(1);
    let limit = on_this_machine(LIMIT);
    let end = Instant::now() + limit;
    while !holds() {
        assert!(Instant::now() < end, "waited {limit:?} in vain: {condition}");
        std::thread::sleep(PAUSE);
    }
}
