//! Fake clock.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::{Clock, Local};

/// Fake clock. A wait advances it and returns at once.
#[derive(Debug, Default)]
pub struct FakeClock {
    elapsed: Cell<Duration>,
}

impl FakeClock {
    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        self.elapsed.set(self.elapsed.get() + by);
    }
}

impl Clock for FakeClock {
    fn now(&self) -> SystemTime {
        UNIX_EPOCH + self.elapsed.get()
    }

    fn monotonic(&self) -> Duration {
        self.elapsed.get()
    }

    fn wait(&self, duration: Duration) -> Local<'_, ()> {
        self.advance(duration);
        Box::pin(std::future::ready(()))
    }
}
