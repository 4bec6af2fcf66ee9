//! Facts of this machine, and those of users.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests make files and look at the machine themselves"
)]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod custom;
mod live;
