//! Resource types of ccm.
//!
//! - `types` has a folder for each type: properties, state, decision and a file for each provider. No type
//!   imports another one.
//! - `parts` has what several types share, such as trees of files, accounts and units of systemd.
//! - `checks` reads the values that rules of Goss judge.
//! - `support` has helpers of both: programs, plans of objects, values of properties.
//!
//! [`judge_rules`] judges the rules of a health check.
//!
//! Adding a type touches its own folder and the list in `types`.
//!
//! [`HealthChecks`] runs the health checks of a resource.
//!
//! [`types()`] returns all types. [`notes()`] are remarks on a whole catalog.
//!
//! No code here may touch the machine except through the `Context` of a step, ask whether a run is in noop, or know the
//! text of a manifest.

mod checks;
mod health;
#[cfg(test)]
mod layers;
mod notes;
mod parts;
mod support;
mod types;

pub use checks::{CheckScope, judge_rules};
pub use health::HealthChecks;
pub use notes::notes;
pub use parts::schedule::{Schedule, ScheduleError};
pub use parts::tree::glob::IgnoredPaths;
pub use types::{edited_text, executor_names, types};

/// Unit files of systemd, and calls of its tools.
pub mod systemd {
    pub use crate::parts::systemd::SYSTEMD_RUNNING;
    pub use crate::parts::systemd::failure_actions::{
        FailureAction, FailureUnit, FailureUnitError, OnFailure, SummaryFormat,
    };
    pub use crate::parts::systemd::systemctl::{Systemctl, UNIT_FILE_TIMEOUT};
    pub use crate::parts::systemd::units::{
        SYSTEM_UNITS, ShownUnit, UNIT_DIRECTORIES, UnitContent, UnitText, read_unit, shown_units,
        timer_units, unit_elsewhere, write_unit,
    };
    pub use crate::support::program::ProgramScope;
}
