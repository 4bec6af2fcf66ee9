//! Calls of tools: their inputs, and the broker with real processes.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod broker;
mod normalisation;
