//! Resource types of ccm.
//!
//! - `types` has a folder for each type: properties, state, decision and a file for each provider. No type
//!   imports another one.
//! - `parts` has what several types share, such as trees of files, accounts and units of systemd.
//! - `support` has helpers of both: programs, files of the system, plans of objects, values of properties.
//!
//! Adding a type touches its own folder and the list in `types`.

#[cfg(test)]
mod layers;
mod notes;
mod parts;
mod support;
mod types;

pub use notes::notes;
pub use parts::schedule::{Schedule, ScheduleError};
pub use parts::systemd::words::systemd_word;
pub use parts::tree::glob::IgnoredPaths;
pub use types::types;
