//! Timers and jobs of cron, on a copy of `/etc` in a mount namespace, with fakes of systemctl and crontab.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]
#![expect(clippy::disallowed_methods, reason = "the tests read and write the files themselves")]

#[path = "../support/build.rs"]
mod build;
mod jobs;
mod machine;
mod reboots;
#[path = "../support/run.rs"]
mod run;
mod timers;
