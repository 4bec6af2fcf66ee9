//! Status as a monitoring system wants it: one level, and its causes.

use std::path::Path;
use std::time::{Duration, SystemTime};

use ccm_host::STANDARD_INPUT;
use ccm_model::CheckCounts;
use ccm_report::{RunOutcome, StoredRun};

use super::{ManifestState, ManifestStatus, SessionStatus};

/// Level of a check. The greatest level of several findings counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CheckLevel {
    /// The last run of each manifest succeeded.
    Ok,
    /// The result is not known, because no run is recorded.
    Unknown,
    /// Something is incomplete.
    Warning,
    /// A manifest is not applied.
    Critical,
}

impl CheckLevel {
    /// Returns the number that monitoring systems use as exit code.
    pub fn number(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Warning => 1,
            Self::Critical => 2,
            Self::Unknown => 3,
        }
    }

    /// Returns the word that monitoring systems use.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "OK",
            Self::Warning => "WARNING",
            Self::Critical => "CRITICAL",
            Self::Unknown => "UNKNOWN",
        }
    }
}

/// Problem of a manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckProblem {
    /// No run is recorded.
    NeverRun,
    /// The last run did not succeed.
    LastRun(ManifestState),
    /// The last run is too long ago.
    TooOld {
        /// Time since it began.
        age: Duration,
        /// Runs are paused.
        is_paused: bool,
    },
    /// The pending refreshes can't be read, or a run would refuse them.
    BadLedger,
    /// Refreshes are pending.
    PendingRefreshes(usize),
    /// Health checks of the last run that had some have a warning.
    HealthWarnings(usize),
    /// Health checks of the last run that had some are critical or unknown.
    HealthFailures(usize),
}

impl CheckProblem {
    /// Returns the level of the problem.
    pub fn level(self) -> CheckLevel {
        match self {
            Self::NeverRun | Self::LastRun(ManifestState::NeverRun) => CheckLevel::Unknown,
            Self::LastRun(ManifestState::Ended(RunOutcome::Unchanged | RunOutcome::Changed)) => {
                CheckLevel::Ok
            }
            // Somebody stopped the run, and the next one does the rest.
            Self::LastRun(ManifestState::Ended(RunOutcome::Stopped))
            // Somebody knows why there is no run.
            | Self::TooOld { is_paused: true, .. }
            | Self::BadLedger
            | Self::PendingRefreshes(_)
            | Self::HealthWarnings(_) => CheckLevel::Warning,
            Self::LastRun(_) | Self::TooOld { .. } | Self::HealthFailures(_) => CheckLevel::Critical,
        }
    }
}

/// Manifest with a problem.
#[derive(Clone, Debug)]
pub struct CheckFinding<'s> {
    /// The manifest.
    pub status: ManifestStatus<'s>,
    /// Its worst problem.
    pub problem: CheckProblem,
}

/// Result of a check.
#[derive(Clone, Debug)]
pub struct StatusCheck<'s> {
    /// Greatest level.
    pub level: CheckLevel,
    /// Manifests with a problem, the worst first.
    pub findings: Vec<CheckFinding<'s>>,
    /// All checked manifests.
    pub manifests: Vec<ManifestStatus<'s>>,
    /// Manifests that are gone, or were only tried by hand and refused.
    pub not_judged: Vec<ManifestStatus<'s>>,
}

impl SessionStatus {
    /// Checks each manifest that still exists, or one, by its last run that was no refused try by hand. With `max_age`, a run that began before that time is a
    /// problem; not for standard input, which no timer applies.
    pub fn check(&self, only: Option<&Path>, now: SystemTime, max_age: Option<Duration>) -> StatusCheck<'_> {
        let (manifests, not_judged): (Vec<_>, Vec<_>) =
            self.manifests(only).into_iter().partition(ManifestStatus::is_judged);
        let is_paused = self.current_pause().is_some();
        let finding = |status: &ManifestStatus<'_>| {
            let max_age = max_age.filter(|_| status.manifest != STANDARD_INPUT);
            worst(status, now, max_age, is_paused)
        };
        let mut findings: Vec<CheckFinding<'_>> = manifests
            .iter()
            .filter_map(|status| Some(CheckFinding { problem: finding(status)?, status: status.clone() }))
            .collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.problem.level()));
        let level = match (findings.first(), manifests.is_empty()) {
            (Some(worst), _) => worst.problem.level(),
            (None, true) => CheckLevel::Unknown,
            (None, false) => CheckLevel::Ok,
        };
        StatusCheck { level, findings, manifests, not_judged }
    }
}

/// Returns the worst problem of a manifest.
fn worst(
    status: &ManifestStatus<'_>,
    now: SystemTime,
    max_age: Option<Duration>,
    is_paused: bool,
) -> Option<CheckProblem> {
    let age = status.judged.and_then(StoredRun::began).and_then(|began| now.duration_since(began).ok());
    let is_too_old = |age: &Duration| max_age.is_some_and(|max_age| *age > max_age);
    let state = status.judged_state;
    let checks = status.checked.and_then(|run| run.summary.as_ref()).map(|summary| summary.checks);
    let CheckCounts { warning, critical, unknown, .. } = checks.unwrap_or_default();
    let failed = critical + unknown;
    let problems = [
        (state == ManifestState::NeverRun).then_some(CheckProblem::NeverRun),
        Some(CheckProblem::LastRun(state)),
        // A run that is going on is not too old; `--timeout` limits it.
        age.filter(|age| status.current.is_none() && is_too_old(age))
            .map(|age| CheckProblem::TooOld { age, is_paused }),
        status.has_bad_ledger.then_some(CheckProblem::BadLedger),
        (status.pending > 0 && status.current.is_none())
            .then_some(CheckProblem::PendingRefreshes(status.pending)),
        (failed > 0).then_some(CheckProblem::HealthFailures(failed)),
        (warning > 0).then_some(CheckProblem::HealthWarnings(warning)),
    ];
    let bad = problems.into_iter().flatten().filter(|problem| problem.level() > CheckLevel::Ok);
    // The first of several problems with one level.
    bad.rev().max_by_key(|problem| problem.level())
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use ccm_model::display_timestamp;
    use ccm_report::{StoredRun, StoredSummary};

    use super::*;

    #[test]
    fn health_checks_are_problems_of_their_manifest() {
        let now = UNIX_EPOCH + Duration::from_secs(100_000);
        for (warning, unknown, outcome, expected) in [
            (0, 0, RunOutcome::Changed, None),
            (2, 0, RunOutcome::Changed, Some(CheckProblem::HealthWarnings(2))),
            (2, 1, RunOutcome::Changed, Some(CheckProblem::HealthFailures(1))),
            (2, 1, RunOutcome::Failed, Some(CheckProblem::LastRun(ManifestState::Ended(RunOutcome::Failed)))),
        ] {
            let checks = CheckCounts { warning, unknown, ..CheckCounts::default() };
            let summary = Some(StoredSummary { checks, ..StoredSummary::default() });
            let run = StoredRun { id: String::new(), start: None, summary, ended: true };
            let status = ManifestStatus {
                manifest: "/etc/ccm/site.yaml",
                last: Some(&run),
                state: ManifestState::Ended(outcome),
                judged: Some(&run),
                checked: Some(&run),
                judged_state: ManifestState::Ended(outcome),
                is_gone: false,
                current: None,
                succeeded: None,
                pending: 0,
                has_bad_ledger: false,
            };
            assert_eq!(worst(&status, now, None, false), expected, "{outcome:?}");
        }
    }

    #[test]
    fn the_worst_problem_of_a_manifest_counts() {
        use ManifestState::{Ended, Killed, NeverRun, Unreadable};
        let now = UNIX_EPOCH + Duration::from_secs(100_000);
        let hour = Duration::from_secs(3600);
        let too_old = Some((CheckProblem::TooOld { age: 3 * hour, is_paused: false }, 2));
        for (state, hours, pending, expected) in [
            (Ended(RunOutcome::Unchanged), 1, 0, None),
            (Ended(RunOutcome::Changed), 2, 0, None),
            (Ended(RunOutcome::Unchanged), 3, 0, too_old),
            (Ended(RunOutcome::Unchanged), 3, 7, too_old),
            (Ended(RunOutcome::Changed), 1, 7, Some((CheckProblem::PendingRefreshes(7), 1))),
            (Ended(RunOutcome::Stopped), 1, 7, Some((CheckProblem::LastRun(Ended(RunOutcome::Stopped)), 1))),
            (Ended(RunOutcome::Failed), 3, 7, Some((CheckProblem::LastRun(Ended(RunOutcome::Failed)), 2))),
            (Ended(RunOutcome::Refused), 1, 0, Some((CheckProblem::LastRun(Ended(RunOutcome::Refused)), 2))),
            (Killed, 1, 0, Some((CheckProblem::LastRun(Killed), 2))),
            (Unreadable, 1, 0, Some((CheckProblem::LastRun(Unreadable), 2))),
            (NeverRun, 1, 0, Some((CheckProblem::NeverRun, 3))),
        ] {
            let begin = display_timestamp(now - hours * hour, 2);
            let summary = Some(StoredSummary { begin, ..StoredSummary::default() });
            let run = StoredRun { id: String::new(), start: None, summary, ended: true };
            let status = ManifestStatus {
                manifest: "/etc/ccm/site.yaml",
                last: Some(&run),
                state,
                judged: Some(&run),
                checked: Some(&run),
                judged_state: state,
                is_gone: false,
                current: None,
                succeeded: None,
                pending,
                has_bad_ledger: false,
            };
            let found = worst(&status, now, Some(2 * hour), false);
            assert_eq!(found.map(|problem| (problem, problem.level().number())), expected, "{state:?}");
            // A pause explains only the age.
            let level = |found: Option<CheckProblem>| found.map_or(0, |problem| problem.level().number());
            let is_age = matches!(found, Some(CheckProblem::TooOld { .. }));
            let expected = if is_age { 1 } else { level(found) };
            assert_eq!(level(worst(&status, now, Some(2 * hour), true)), expected, "{state:?}");
        }
    }
}
