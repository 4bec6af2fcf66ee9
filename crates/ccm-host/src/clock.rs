//! The clock.

use std::time::{Duration, Instant, SystemTime};

use crate::Local;

/// Tells the time.
pub trait Clock {
    /// The time of day, which may be set back.
    fn now(&self) -> SystemTime;

    /// The time since some fixed moment, which never goes back.
    fn monotonic(&self) -> Duration;

    /// Waits for that long.
    fn wait(&self, duration: Duration) -> Local<'_, ()>;
}

/// The clock of this machine.
#[derive(Debug)]
pub struct SystemClock {
    started: Instant,
}

impl SystemClock {
    /// Starts counting.
    pub fn new() -> Self {
        Self { started: Instant::now() }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn monotonic(&self) -> Duration {
        self.started.elapsed()
    }

    fn wait(&self, duration: Duration) -> Local<'_, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Waits for that long and returns it; for ever, if there is no such time.
pub async fn after(duration: Option<Duration>) -> Duration {
    match duration {
        Some(duration) => {
            tokio::time::sleep(duration).await;
            duration
        }
        None => std::future::pending().await,
    }
}
