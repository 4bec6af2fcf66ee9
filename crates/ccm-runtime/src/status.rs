//! Recorded runs and pending refreshes.

mod check;
mod document;
mod forgotten;
mod manifests;

use std::collections::BTreeSet;

use ccm_engine::{LedgerError, PendingLedger, damaged, pending};
use ccm_host::state::{Lock, StateError};
use ccm_report::{History, RunOutcome, StoreError, StoredRun};

use crate::ensure::RECORD_PREFIX;
use crate::pause::{Pause, PauseError};
use crate::session::Session;

use forgotten::Forgotten;

pub use check::{CheckFinding, CheckLevel, CheckProblem, StatusCheck};
pub use forgotten::ForgetError;
pub use manifests::{ManifestState, ManifestStatus};

/// Refreshes that are left for later runs.
#[derive(Debug)]
pub struct PendingRefreshes {
    /// Ledgers with pending refreshes.
    pub ledgers: Vec<PendingLedger>,
    /// Names of damaged ledgers that were set aside.
    pub damaged: Vec<String>,
    /// `true` while a run holds the lock of the state directory.
    pub is_locked: bool,
}

/// Recorded runs and pending refreshes.
#[derive(Debug)]
pub struct SessionStatus {
    /// Recorded runs, the newest first.
    pub history: History,
    /// Pending refreshes.
    pub pending: PendingRefreshes,
    /// Resource that the current run waits for.
    pub current_resource: Option<String>,
    /// Pause of unattended runs.
    pub pause: Result<Option<Pause>, PauseError>,
    forgotten: Forgotten,
    /// Paths of recorded manifests that do not exist any more.
    gone: BTreeSet<String>,
}

/// Error of reading the state directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StatusError {
    /// The state directory can't be found.
    #[error(transparent)]
    State(#[from] StateError),
    /// The ledgers can't be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The recorded runs can't be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl SessionStatus {
    /// Returns the run that is going on.
    pub fn current_run(&self) -> Option<&StoredRun> {
        // A manifest is refused without the lock, also while a run is going on.
        let is_refused = |run: &&StoredRun| {
            run.summary.as_ref().is_some_and(|summary| summary.outcome() == RunOutcome::Refused)
        };
        let newest = self.history.runs().iter().find(|run| !is_refused(run));
        newest.filter(|run| self.pending.is_locked && run.is_unfinished())
    }

    /// Returns the pause that is going on. One that can't be read is none.
    pub fn current_pause(&self) -> Option<&Pause> {
        self.pause.as_ref().ok().and_then(Option::as_ref)
    }

    /// Returns `true` if no run of a manifest is recorded.
    pub fn has_no_manifest(&self) -> bool {
        self.history.runs().iter().all(|run| run.manifest().starts_with(RECORD_PREFIX))
    }

    /// Returns `true` if the last run is still running.
    pub fn is_going_on(&self) -> bool {
        self.current_run().is_some()
    }
}

impl Session {
    /// Reads the pending refreshes. No lock is needed, because a ledger is replaced as a whole.
    pub fn pending(&self) -> Result<PendingRefreshes, StatusError> {
        let state = self.state_path()?;
        let ledgers = pending(&state)?;
        let damaged = damaged(&state)?;
        Ok(PendingRefreshes { ledgers, damaged, is_locked: Lock::is_held(&state) })
    }

    /// Reads the recorded runs.
    pub fn history(&self) -> Result<History, StatusError> {
        Ok(History::open(&self.state_path()?)?)
    }

    /// Reads the recorded runs and the pending refreshes.
    pub fn status(&self) -> Result<SessionStatus, StatusError> {
        let pending = self.pending()?;
        let state = self.state_path()?;
        let current_resource = if pending.is_locked { Lock::activity(&state) } else { None };
        let (history, pause, forgotten) = (self.history()?, self.pause(), Forgotten::read(&state));
        let refreshes = pending.ledgers.iter().flat_map(|ledger| &ledger.refreshes);
        let manifests = history.runs().iter().map(StoredRun::manifest);
        let manifests = manifests.chain(refreshes.map(|refresh| &*refresh.manifest));
        let paths: BTreeSet<&str> = manifests.filter(|manifest| manifest.starts_with('/')).collect();
        let gone = paths.into_iter().filter(|path| !self.exists(path)).map(str::to_owned).collect();
        Ok(SessionStatus { history, pending, current_resource, pause, forgotten, gone })
    }
}
