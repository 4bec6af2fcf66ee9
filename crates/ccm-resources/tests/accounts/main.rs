//! Users, groups and keys with the tools of this machine, on copies of its files in a mount namespace.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]
#![expect(clippy::disallowed_methods, reason = "the tests write the files of accounts themselves")]

#[path = "../support/build.rs"]
mod build;
mod converging;
mod errors;
mod groups;
mod keys;
mod machine;
#[path = "../support/run.rs"]
mod run;
mod users;
