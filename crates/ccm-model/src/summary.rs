//! What a run amounted to.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{Outcome, SkipCause, StopCause};

/// How many resources had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// All resources of the catalog.
    pub total: usize,
    /// In the desired state, or with nothing to do.
    pub unchanged: usize,
    /// Changed, or in noop would have been.
    pub changed: usize,
    /// Refreshed, or in noop would have been.
    pub refreshed: usize,
    /// Failed.
    pub failed: usize,
    /// Skipped because something they depend on failed.
    pub unmet: usize,
    /// Skipped for any other reason.
    pub skipped: usize,
}

impl Counts {
    /// Counts one more.
    pub fn add(&mut self, outcome: &Outcome) {
        self.total += 1;
        let count = match outcome {
            Outcome::Unchanged => &mut self.unchanged,
            Outcome::Changed | Outcome::WouldChange { .. } => &mut self.changed,
            Outcome::Refreshed | Outcome::WouldRefresh { .. } => &mut self.refreshed,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::Skipped { cause: SkipCause::Unmet { .. } } => &mut self.unmet,
            Outcome::Skipped { .. } => &mut self.skipped,
        };
        *count += 1;
    }

    /// Tells whether anything changed, or in noop would have.
    pub fn any_change(&self) -> bool {
        self.changed + self.refreshed > 0
    }
}

/// What a run amounted to; exit codes are computed from it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Whether nothing was changed on purpose.
    pub noop: bool,
    /// How long the run took.
    pub duration: Duration,
    /// Outcomes, counted.
    pub counts: Counts,
    /// What ended the run before its end.
    pub stopped: Option<StopCause>,
    /// What the manifest wants to be shown after the run.
    pub message: Option<String>,
}
