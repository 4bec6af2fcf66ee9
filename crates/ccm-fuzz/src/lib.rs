//! Fuzz targets for every reader of untrusted input.
//!
//! A [`Target`] takes any bytes and panics if an invariant does not hold. `cargo fuzz` calls it, guided by
//! coverage (`tests/fuzz`), and [`endure`], a plain loop over mutations of the corpus in every `cargo test`.
//! [`TARGETS`] lists all targets, and [`corpus()`] returns the texts to start from.
//!
//! No crate of ccm may depend on this one, and no target may change the machine.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read their corpus and watch the clock themselves"
)]
#![expect(clippy::expect_used, clippy::panic, reason = "a broken invariant is reported by a panic")]
#![expect(clippy::missing_panics_doc, reason = "every function here panics on purpose")]
#![expect(clippy::print_stderr, reason = "the seed is needed to repeat a run")]

mod corpus;
mod endurance;
mod mutation;
mod shell_texts;
mod targets;
mod watch;

pub use corpus::corpus;
pub use endurance::{Effort, endure, mutations};
pub use shell_texts::{SHELL_PROGRAMS, shell_text};
pub use targets::{TARGETS, Target, manifest_errors, target};
