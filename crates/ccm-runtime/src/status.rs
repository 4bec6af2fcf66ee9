//! Recorded runs and pending refreshes.

use ccm_engine::{LedgerError, PendingLedger, damaged, pending};
use ccm_host::state::{Lock, StateError};
use ccm_report::{History, StoreError, StoredRun};

use crate::session::Session;

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
    /// Returns `true` if the last run is still running.
    pub fn is_going_on(&self) -> bool {
        self.pending.is_locked && self.history.runs().first().is_some_and(StoredRun::is_unfinished)
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
        Ok(SessionStatus { history: self.history()?, pending })
    }
}
