//! The clock.

use std::time::{Duration, Instant, SystemTime};

use crate::Local;

/// Returns the time, and waits.
pub trait Clock {
    /// Returns the time of day, which may be set back.
    fn now(&self) -> SystemTime;

    /// Returns the time since a fixed moment. It never goes back.
    fn monotonic(&self) -> Duration;

    /// Waits for a duration.
    fn wait(&self, duration: Duration) -> Local<'_, ()>;
}

/// Clock of this machine.
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

/// Waits for a duration and returns it. Waits for ever if there is none.
pub async fn after(duration: Option<Duration>) -> Duration {
    match duration {
        Some(duration) => {
            tokio::time::sleep(duration).await;
            duration
        }
        None => std::future::pending().await,
    }
}
