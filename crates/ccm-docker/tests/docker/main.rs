//! The executor of containers, against a fake Engine and a real Docker daemon.
#![expect(clippy::expect_used, clippy::panic, reason = "a test that can't be set up should fail loudly")]

mod fake;
mod real;
