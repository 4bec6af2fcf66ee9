//! Lines, blocks and settings in real files.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

mod applying;
#[path = "../support/build.rs"]
mod build;
mod errors;
mod links;
mod machine;
#[path = "../support/run.rs"]
mod run;
mod sensitive;
mod validating;
