//! The exec type on a machine that the test invents.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]

mod build;
mod machine;
mod mistakes;
mod running;
