//! Summary of a run.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::{Nanoseconds, is_false};
use crate::{CheckCounts, Outcome, RefreshSummary, SkipCause, StopCause};

/// Number of resources with each outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "CountsRecord", into = "CountsRecord")]
pub struct Counts {
    /// All resources of the catalog.
    pub total: usize,
    /// Resources in the desired state, or with nothing to do.
    pub unchanged: usize,
    /// Changed resources; in noop, resources that would be changed.
    pub changed: usize,
    /// Refreshed resources; in noop, resources that would be refreshed.
    pub refreshed: usize,
    /// Resources of child manifests in noop that a real run would have changed.
    pub pending_changes: usize,
    /// Resources of child manifests in noop that a real run would have refreshed.
    pub pending_refreshes: usize,
    /// Failed resources.
    pub failed: usize,
    /// Failed resources whose change was made and verified before, which `failed` counts as well.
    pub failed_after_change: usize,
    /// Resources skipped because a dependency failed or is in noop.
    pub unmet: usize,
    /// Resources skipped for any other reason.
    pub skipped: usize,
}

/// Counts as they are recorded, with an earlier name beside the present one.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Counts", deny_unknown_fields)]
struct CountsRecord {
    /// All resources of the catalog.
    total: usize,
    /// Resources in the desired state, or with nothing to do.
    unchanged: usize,
    /// Changed resources; in noop, resources that would be changed.
    changed: usize,
    /// Refreshed resources; in noop, resources that would be refreshed.
    refreshed: usize,
    /// Resources of child manifests in noop that a real run would have changed.
    pending_changes: usize,
    /// Resources of child manifests in noop that a real run would have refreshed.
    pending_refreshes: usize,
    /// Failed resources.
    failed: usize,
    /// Failed resources whose change was made and verified before, which `failed` counts as well.
    failed_after_change: usize,
    /// Resources skipped because a dependency failed or is in noop.
    dependency_failed: usize,
    /// Earlier name of `dependency_failed`, which the next release leaves out.
    unmet: usize,
    /// Resources skipped for any other reason.
    skipped: usize,
}

impl From<CountsRecord> for Counts {
    fn from(record: CountsRecord) -> Self {
        let CountsRecord {
            total,
            unchanged,
            changed,
            refreshed,
            pending_changes,
            pending_refreshes,
            failed,
            failed_after_change,
            dependency_failed,
            unmet,
            skipped,
        } = record;
        let unmet = dependency_failed.max(unmet);
        Self {
            total,
            unchanged,
            changed,
            refreshed,
            pending_changes,
            pending_refreshes,
            failed,
            failed_after_change,
            unmet,
            skipped,
        }
    }
}

impl From<Counts> for CountsRecord {
    fn from(counts: Counts) -> Self {
        let Counts {
            total,
            unchanged,
            changed,
            refreshed,
            pending_changes,
            pending_refreshes,
            failed,
            failed_after_change,
            unmet,
            skipped,
        } = counts;
        Self {
            total,
            unchanged,
            changed,
            refreshed,
            pending_changes,
            pending_refreshes,
            failed,
            failed_after_change,
            dependency_failed: unmet,
            unmet,
            skipped,
        }
    }
}

impl Counts {
    /// Counts an outcome. `noop` is `true` if the whole run is in noop.
    pub fn add(&mut self, outcome: &Outcome, noop: bool) {
        self.total += 1;
        if matches!(outcome, Outcome::Failed(failure) if failure.verified) {
            self.failed_after_change += 1;
        }
        let count = match outcome {
            Outcome::WouldChange { .. } if !noop => &mut self.pending_changes,
            Outcome::WouldRefresh { .. } if !noop => &mut self.pending_refreshes,
            Outcome::Unchanged => &mut self.unchanged,
            Outcome::Changed | Outcome::WouldChange { .. } => &mut self.changed,
            Outcome::Refreshed | Outcome::WouldRefresh { .. } => &mut self.refreshed,
            Outcome::Failed(_) => &mut self.failed,
            Outcome::Skipped {
                cause: SkipCause::DependencyFailed { .. } | SkipCause::DependsOnNoop { .. },
            } => &mut self.unmet,
            Outcome::Skipped { .. } => &mut self.skipped,
        };
        *count += 1;
    }

    /// Returns `true` if a resource was changed or refreshed, whether or not it failed after that, or would be in noop.
    pub fn any_change(&self) -> bool {
        self.changed + self.refreshed + self.failed_after_change > 0
    }
}

/// Summary of a run, from which its exit code is computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// `true` if the run changed nothing on purpose.
    pub noop: bool,
    /// `true` if nothing but health checks ran.
    #[serde(default, skip_serializing_if = "is_false")]
    pub monitor_only: bool,
    /// Duration of the run.
    #[serde(with = "Nanoseconds")]
    pub duration: Duration,
    /// Number of resources with each outcome.
    pub counts: Counts,
    /// Number of health checks with each status.
    #[serde(default)]
    pub checks: CheckCounts,
    /// Cause of the early end of the run.
    pub stopped: Option<StopCause>,
    /// The `post_message` of the manifest.
    pub message: Option<String>,
    /// Pending and cancelled refreshes.
    pub refreshes: RefreshSummary,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noop_changes_count_as_pending_unless_the_run_is_in_noop() {
        let would = [
            Outcome::WouldChange { message: String::new() },
            Outcome::WouldRefresh { message: String::new() },
        ];
        let counted = |noop| {
            let mut counts = Counts::default();
            for outcome in &would {
                counts.add(outcome, noop);
            }
            counts
        };
        assert_eq!(counted(true), Counts { total: 2, changed: 1, refreshed: 1, ..Counts::default() });
        assert_eq!(
            counted(false),
            Counts { total: 2, pending_changes: 1, pending_refreshes: 1, ..Counts::default() }
        );
        assert!(counted(true).any_change() && !counted(false).any_change());
    }
}
