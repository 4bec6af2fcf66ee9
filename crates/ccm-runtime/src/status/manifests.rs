//! Status of each manifest: its last run and its pending refreshes.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use ccm_report::{RunOutcome, StoredRun};

use super::{PendingRefreshes, SessionStatus};
use crate::ensure::RECORD_PREFIX;

/// State of a manifest, according to its last run that is not going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManifestState {
    /// No run is recorded, or only one that is going on.
    NeverRun,
    /// The last run ended.
    Ended(RunOutcome),
    /// The last run was killed.
    Killed,
    /// The last run ended, but its summary is missing or damaged.
    Unreadable,
}

impl ManifestState {
    /// Returns the word for the state, which is also its name in JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::NeverRun => "never run",
            Self::Ended(outcome) => outcome.word(),
            Self::Killed => "killed",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Status of a manifest.
#[derive(Clone, Debug)]
pub struct ManifestStatus<'s> {
    /// Absolute path of the manifest, or `standard input`.
    pub manifest: &'s str,
    /// Last run that is not going on.
    pub last: Option<&'s StoredRun>,
    /// State after that run.
    pub state: ManifestState,
    /// Last run that is not going on and no refused try by hand.
    pub judged: Option<&'s StoredRun>,
    /// State after that run.
    pub judged_state: ManifestState,
    /// Last run that is not going on and ran health checks, maybe nothing else.
    pub checked: Option<&'s StoredRun>,
    /// `true` if there is no file at the path any more.
    pub is_gone: bool,
    /// Run that is going on.
    pub current: Option<&'s StoredRun>,
    /// End of the last recorded run without a failure.
    pub succeeded: Option<SystemTime>,
    /// Number of pending refreshes.
    pub pending: usize,
    /// `true` if the pending refreshes can't be read, or a run would refuse them.
    pub has_bad_ledger: bool,
}

impl ManifestStatus<'_> {
    /// Returns the time at which the last run began.
    pub fn began(&self) -> Option<SystemTime> {
        self.last.and_then(StoredRun::began)
    }

    /// Returns `true` if a check judges the manifest: it still exists, and not every run was a refused try by hand.
    pub fn is_judged(&self) -> bool {
        !self.is_gone && (self.judged.is_some() || self.last.is_none())
    }
}

impl SessionStatus {
    /// Returns the status of each manifest that has a recorded run or a pending refresh and is not forgotten, sorted by
    /// path. With `only`, of that manifest: a relative path matches the end of the recorded path.
    pub fn manifests(&self, only: Option<&Path>) -> Vec<ManifestStatus<'_>> {
        let current = self.current_run();
        let mut manifests = BTreeMap::new();
        for run in self.history.runs() {
            // What was ensured without a manifest is no manifest that has a state.
            if run.manifest().starts_with(RECORD_PREFIX) {
                continue;
            }
            let status = manifests.entry(run.manifest()).or_insert_with(|| empty(run.manifest()));
            if current.is_some_and(|current| current.id == run.id) {
                status.current = Some(run);
                continue;
            }
            // The newest run comes first.
            let has_checks =
                |run: &StoredRun| run.summary.as_ref().is_some_and(|found| !found.checks.is_empty());
            if status.checked.is_none() && has_checks(run) {
                status.checked = Some(run);
            }
            if run.is_monitor_only() {
                continue;
            }
            if status.last.is_none() {
                status.last = Some(run);
                status.state = state_of(run);
            }
            if status.judged.is_none() && !is_refused_try(run) {
                status.judged = Some(run);
                status.judged_state = state_of(run);
            }
            if status.succeeded.is_none() && is_success(run) {
                status.succeeded = run.ended_at();
            }
        }
        for ledger in &self.pending.ledgers {
            for refresh in &ledger.refreshes {
                let manifest = &*refresh.manifest;
                manifests.entry(manifest).or_insert_with(|| empty(manifest)).pending += 1;
            }
            let is_bad = ledger.unreadable.is_some() || !ledger.untrusted.is_empty();
            for manifest in ledger.manifests.iter().chain(&ledger.key).filter(|_| is_bad) {
                if let Some(status) = manifests.get_mut(&**manifest) {
                    status.has_bad_ledger = true;
                }
            }
        }
        for (manifest, status) in &mut manifests {
            status.is_gone = self.gone.contains(*manifest);
        }
        manifests.retain(|manifest, status| {
            let newest = status.current.or(status.last).map(|run| &*run.id);
            !self.forgotten.covers(manifest, newest)
        });
        manifests.into_values().filter(|status| is_selected(status.manifest, only)).collect()
    }
}

impl PendingRefreshes {
    /// Leaves out what belongs to other manifests than the one that is asked for. A ledger that names none may be that of each.
    #[must_use]
    pub fn of_manifest(mut self, only: Option<&Path>) -> Self {
        for ledger in &mut self.ledgers {
            ledger.refreshes.retain(|refresh| is_selected(&refresh.manifest, only));
        }
        self.ledgers.retain(|ledger| {
            let mut named = ledger.manifests.iter().chain(&ledger.key).peekable();
            let is_unnamed = named.peek().is_none();
            is_unnamed || !ledger.refreshes.is_empty() || named.any(|manifest| is_selected(manifest, only))
        });
        self
    }
}

/// Returns `true` if a manifest is asked for: a relative path matches the end of the recorded path.
fn is_selected(manifest: &str, only: Option<&Path>) -> bool {
    let manifest = Path::new(manifest);
    only.is_none_or(|only| manifest == only || only.is_relative() && manifest.ends_with(only))
}

fn empty(manifest: &str) -> ManifestStatus<'_> {
    ManifestStatus {
        manifest,
        last: None,
        state: ManifestState::NeverRun,
        judged: None,
        checked: None,
        judged_state: ManifestState::NeverRun,
        is_gone: false,
        current: None,
        succeeded: None,
        pending: 0,
        has_bad_ledger: false,
    }
}

fn state_of(run: &StoredRun) -> ManifestState {
    match &run.summary {
        Some(summary) => ManifestState::Ended(summary.outcome()),
        None if run.ended => ManifestState::Unreadable,
        None => ManifestState::Killed,
    }
}

/// Returns `true` for a manifest that was refused when a person tried it. A record without the origin of the run may be
/// one of a timer.
fn is_refused_try(run: &StoredRun) -> bool {
    state_of(run) == ManifestState::Ended(RunOutcome::Refused)
        && run.started_by().is_some_and(|started_by| started_by.unit.is_none())
}

fn is_success(run: &StoredRun) -> bool {
    matches!(state_of(run), ManifestState::Ended(RunOutcome::Unchanged | RunOutcome::Changed))
}
