//! Summary of a run in its record.

use std::time::{Duration, SystemTime};

use ccm_model::{
    CheckCounts, Counts, HealthCheckResult, Nanoseconds, OutcomeName, RunSummary, StopCause, StopRecord,
    Transaction, display_timestamp, known,
};
use serde::{Deserialize, Deserializer, Serialize};

use crate::json::RunIdentity;

/// Maximum size of the recorded errors of a refused manifest.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// Minimum duration of a recorded slow resource.
const SLOW: Duration = Duration::from_millis(10);
/// Maximum number of recorded slow resources.
const MAX_SLOW_RESOURCES: usize = 20;

/// Result of a whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOutcome {
    /// Everything was in the desired state.
    Unchanged,
    /// Something was changed, and nothing failed.
    Changed,
    /// Something failed, the time limit ended the run, or its record is not complete.
    Failed,
    /// A signal ended the run.
    Stopped,
    /// The manifest was refused before the run.
    Refused,
}

impl RunOutcome {
    /// Returns the word for the outcome, which is also its name in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
            Self::Refused => "refused",
        }
    }

    pub(crate) fn of(counts: &Counts, stopped: Option<&StopCause>, exit_code: u8) -> Self {
        match stopped {
            Some(StopCause::Signal { .. }) => Self::Stopped,
            Some(_) => Self::Failed,
            None if counts.failed + counts.unmet > 0 || !matches!(exit_code, 0 | 2) => Self::Failed,
            None if counts.any_change() => Self::Changed,
            None => Self::Unchanged,
        }
    }
}

/// Result of a health check, with its resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedCheck {
    /// Type and name of the resource.
    pub resource: String,
    /// Result.
    #[serde(flatten)]
    pub result: HealthCheckResult,
}

impl RecordedCheck {
    /// Returns the results of a resource.
    pub(super) fn of(transaction: &Transaction) -> impl Iterator<Item = Self> {
        let resource = transaction.id.to_string();
        transaction
            .health_checks
            .iter()
            .map(move |result| Self { resource: resource.clone(), result: result.clone() })
    }
}

/// Reads the results of health checks; those of another form are left out.
fn known_checks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<RecordedCheck>, D::Error> {
    let found: Option<Vec<RecordedCheck>> = known(deserializer)?;
    Ok(found.unwrap_or_default())
}

/// Resource that took long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowResource {
    /// Type and name.
    pub resource: String,
    /// Duration of the work.
    #[serde(with = "Nanoseconds")]
    pub duration: Duration,
    /// Outcome.
    pub outcome: OutcomeName,
}

/// Slowest resources of a run, the slowest first.
#[derive(Clone, Debug, Default)]
pub(super) struct SlowResources(Vec<SlowResource>);

impl SlowResources {
    /// Adds a resource if it is among the slowest.
    pub(super) fn add(&mut self, transaction: &Transaction) {
        let Transaction { id, duration, outcome, .. } = transaction;
        if *duration < SLOW {
            return;
        }
        let at = self.0.partition_point(|slow| slow.duration >= *duration);
        if at < MAX_SLOW_RESOURCES {
            let slow = SlowResource {
                resource: id.to_string(),
                duration: *duration,
                outcome: OutcomeName::from(outcome),
            };
            self.0.insert(at, slow);
            self.0.truncate(MAX_SLOW_RESOURCES);
        }
    }

    pub(super) fn into_vec(self) -> Vec<SlowResource> {
        self.0
    }
}

/// Summary of a run in its record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredSummary {
    /// Name of the run.
    pub run_id: String,
    /// Absolute path of the manifest, or `standard input`.
    pub manifest: String,
    /// Version of ccm.
    pub version: String,
    /// `true` if the run changed nothing on purpose.
    pub noop: bool,
    /// Time of the beginning.
    pub begin: String,
    /// Time of the end.
    pub end: String,
    /// Duration of the run.
    #[serde(with = "Nanoseconds")]
    pub duration: Duration,
    /// Number of resources with each outcome.
    pub counts: Counts,
    /// `true` if nothing but health checks ran.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub monitor_only: bool,
    /// Number of health checks with each status.
    #[serde(skip_serializing_if = "CheckCounts::is_empty")]
    pub checks: CheckCounts,
    /// Results of the health checks, also of unchanged resources.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "known_checks")]
    pub health_checks: Vec<RecordedCheck>,
    /// Cause of the early end of the run.
    #[serde(deserialize_with = "known")]
    pub stopped: Option<StopRecord>,
    /// Exit code of ccm.
    pub exit_code: u8,
    /// Result of the run. Records of earlier versions have none; [`StoredSummary::outcome`] derives it.
    #[serde(deserialize_with = "known")]
    pub outcome: Option<RunOutcome>,
    /// Errors of a refused manifest, as text.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub errors: String,
    /// Slowest resources, the slowest first.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub slowest: Option<Vec<SlowResource>>,
}

impl StoredSummary {
    /// Builds the summary of a run.
    pub fn of(identity: &RunIdentity, began: SystemTime, summary: &RunSummary, exit_code: u8) -> Self {
        let ended = began.checked_add(summary.duration).unwrap_or(began);
        Self {
            run_id: identity.run_id.clone(),
            manifest: identity.manifest.clone(),
            version: identity.version.to_owned(),
            noop: summary.noop,
            begin: display_timestamp(began, 2),
            end: display_timestamp(ended, 2),
            duration: summary.duration,
            counts: summary.counts,
            checks: summary.checks,
            monitor_only: summary.monitor_only,
            stopped: summary.stopped.as_ref().map(StopRecord::from),
            exit_code,
            outcome: Some(RunOutcome::of(&summary.counts, summary.stopped.as_ref(), exit_code)),
            ..Self::default()
        }
    }

    /// Builds the summary of a run whose manifest was refused.
    pub fn refused(identity: &RunIdentity, at: SystemTime, errors: &str, exit_code: u8) -> Self {
        let mut end = errors.len().min(MAX_ERROR_BYTES);
        while !errors.is_char_boundary(end) {
            end -= 1;
        }
        Self {
            run_id: identity.run_id.clone(),
            manifest: identity.manifest.clone(),
            version: identity.version.to_owned(),
            begin: display_timestamp(at, 2),
            end: display_timestamp(at, 2),
            exit_code,
            outcome: Some(RunOutcome::Refused),
            errors: errors[..end].to_owned(),
            ..Self::default()
        }
    }

    /// Returns the result of the run.
    pub fn outcome(&self) -> RunOutcome {
        let cause = self.stopped.as_ref().map(|stopped| &stopped.cause);
        self.outcome.unwrap_or_else(|| RunOutcome::of(&self.counts, cause, self.exit_code))
    }

    /// Returns `true` if the run changed something or did not succeed.
    pub fn is_notable(&self) -> bool {
        self.outcome() != RunOutcome::Unchanged
    }

    /// Returns `true` if nothing was done. Such a record is not synced, so that a sleeping disk stays asleep.
    pub(super) fn is_quiet(&self) -> bool {
        let Counts { changed, refreshed, failed, .. } = self.counts;
        self.exit_code == 0 && changed + refreshed + failed == 0
    }
}

#[cfg(test)]
mod tests {
    use ccm_model::ResourceId;

    use super::*;

    #[test]
    fn a_run_has_an_outcome() {
        let signal = Some(StopCause::Signal { name: "SIGTERM".to_owned(), number: 15 });
        let timeout = Some(StopCause::Timeout { after: Duration::from_secs(1) });
        let culprit = Some(StopCause::Failed { culprit: ResourceId::new("exec", "a") });
        for (changed, failed, stopped, exit_code, expected) in [
            (0, 0, None, 0, RunOutcome::Unchanged),
            (1, 0, None, 0, RunOutcome::Changed),
            (1, 0, None, 2, RunOutcome::Changed),
            (1, 1, None, 4, RunOutcome::Failed),
            // The record could not be written.
            (0, 0, None, 4, RunOutcome::Failed),
            (1, 0, signal, 143, RunOutcome::Stopped),
            (0, 0, timeout, 4, RunOutcome::Failed),
            (0, 1, culprit, 4, RunOutcome::Failed),
        ] {
            let counts = Counts { changed, failed, ..Counts::default() };
            assert_eq!(RunOutcome::of(&counts, stopped.as_ref(), exit_code), expected);
            // A record of an earlier version has no outcome.
            let stopped = stopped.as_ref().map(StopRecord::from);
            let summary = StoredSummary { counts, stopped, exit_code, ..StoredSummary::default() };
            assert_eq!(summary.outcome(), expected);
        }
    }

    #[test]
    fn long_errors_are_cut() {
        let identity = RunIdentity { run_id: String::new(), manifest: String::new(), version: "" };
        let errors = "ä".repeat(MAX_ERROR_BYTES);
        let summary = StoredSummary::refused(&identity, SystemTime::UNIX_EPOCH, &errors, 1);
        assert_eq!((summary.errors.len(), summary.outcome()), (MAX_ERROR_BYTES, RunOutcome::Refused));
        let odd = format!("a{errors}");
        assert_eq!(
            StoredSummary::refused(&identity, SystemTime::UNIX_EPOCH, &odd, 1).errors.len(),
            MAX_ERROR_BYTES - 1
        );
    }
}
