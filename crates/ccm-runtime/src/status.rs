//! Recorded runs and owed refreshes.

use ccm_engine::{LedgerError, PendingLedger, damaged, pending};
use ccm_host::state::{Lock, StateError};
use ccm_report::{History, StoreError, StoredRun};

use crate::session::Session;

/// Refreshes that are owed to later runs.
#[derive(Debug)]
pub struct Pending {
    /// Ledgers that owe something.
    pub ledgers: Vec<PendingLedger>,
    /// Names of damaged ledgers that were put aside.
    pub damaged: Vec<String>,
    /// `true` while a run holds the lock of the state directory.
    pub is_locked: bool,
}

/// Last run and owed refreshes.
#[derive(Debug)]
pub struct Status {
    /// Recorded runs, the newest first.
    pub history: History,
    /// Owed refreshes.
    pub pending: Pending,
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

impl Status {
    /// Returns `true` while the last run goes on.
    pub fn is_going_on(&self) -> bool {
        self.pending.is_locked && self.history.runs().first().is_some_and(StoredRun::is_unfinished)
    }
}

impl Session {
    /// Reads what is owed to later runs. It takes no lock: a ledger is replaced as a whole.
    pub fn pending(&self) -> Result<Pending, StatusError> {
        let state = self.state_path()?;
        let ledgers = pending(&state)?;
        let damaged = damaged(&state)?;
        Ok(Pending { ledgers, damaged, is_locked: Lock::is_held(&state) })
    }

    /// Reads the recorded runs.
    pub fn history(&self) -> Result<History, StatusError> {
        Ok(History::open(&self.state_path()?)?)
    }

    /// Reads the recorded runs and what is owed to later ones.
    pub fn status(&self) -> Result<Status, StatusError> {
        let pending = self.pending()?;
        Ok(Status { history: self.history()?, pending })
    }
}
