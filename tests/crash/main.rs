//! What is left of a run that was killed at any moment, or whose disk failed it, and what the next run makes of that.
//!
//! A program of its own, because it adopts what killed runs leave.
#![expect(clippy::disallowed_methods, reason = "tests look at the machine themselves")]
#![expect(clippy::expect_used, reason = "a test that can't be set up should fail loudly")]

mod accounts;
mod approvals;
#[cfg(feature = "archive")]
mod archives;
mod audit;
mod batch;
mod broken_disk;
mod case;
mod definitions;
mod kernel;
mod killed;
mod points;
#[cfg(feature = "archive")]
mod sources;
