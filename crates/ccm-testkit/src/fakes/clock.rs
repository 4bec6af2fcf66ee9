//! A clock that a test sets.

use std::cell::Cell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::{Clock, Local};

/// A clock that a test sets. Who waits moves it on, and does not wait.
#[derive(Debug, Default)]
pub struct FakeClock {
    elapsed: Cell<Duration>,
}

impl FakeClock {
    /// Lets time pass.
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
