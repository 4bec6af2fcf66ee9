//! What of ccm reads what others wrote, given anything.
//!
//! A [`Target`] takes any bytes and panics if something that always holds does not. Two things feed it: `cargo
//! fuzz` with its knowledge of what was covered (`tests/fuzz`), and [`endure`], a plain loop that changes what is
//! in the corpus and that every `cargo test` runs for a moment.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests read their corpus and watch the clock themselves"
)]
#![expect(clippy::expect_used, clippy::panic, reason = "what does not hold is told by a panic")]
#![expect(clippy::missing_panics_doc, reason = "panics are what this is for")]
#![expect(clippy::print_stderr, reason = "whoever watches wants to know the seed")]

mod corpus;
mod endurance;
mod mutation;
mod targets;
mod watch;

pub use corpus::corpus;
pub use endurance::{Effort, changed, endure};
pub use targets::{TARGETS, Target, mistakes_of_manifest, target};
