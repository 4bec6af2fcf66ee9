//! Checkouts with the git of this machine, from repositories in a directory of the test.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]
#![expect(clippy::disallowed_methods, reason = "the tests write files and repositories themselves")]

#[path = "../support/build.rs"]
mod build;
mod checkouts;
mod errors;
mod hostile;
mod machine;
#[path = "../support/run.rs"]
mod run;
