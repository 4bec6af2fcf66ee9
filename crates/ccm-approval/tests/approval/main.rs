//! Approvals with real keys: `ssh-keygen` makes and signs, and is the oracle of what ccm reads.
#![expect(clippy::disallowed_methods, reason = "tests make keys and files themselves")]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod devices;
mod ends;
mod forged;
mod grants;
mod intents;
mod keys;
mod room;
mod samples;
mod screens;
mod signatures;
mod signers;
mod store;
