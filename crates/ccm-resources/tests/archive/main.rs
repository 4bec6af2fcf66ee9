//! The archive resource on real files in directories of the tests, with servers of the tests.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, clippy::panic, reason = "tests")]

#[path = "../support/build.rs"]
mod build;
mod downloading;
mod errors;
mod extracting;
mod failing;
mod machine;
#[path = "../support/run.rs"]
mod run;
mod secrets;
