//! The resource types, on fake machines and on this one.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests change and read the machine themselves"
)]

mod accounts;
#[cfg(feature = "archive")]
mod archive;
mod build;
mod checks;
mod encodings;
mod exec;
mod file;
mod file_part;
mod gate;
mod git;
mod health;
mod kernel;
mod local_run;
mod package;
mod pacman;
mod present_state;
mod properties;
#[cfg(feature = "archive")]
mod repositories;
mod run;
mod sample;
mod scheduled;
mod service;
