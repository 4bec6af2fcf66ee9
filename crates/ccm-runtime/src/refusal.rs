//! Record of a manifest that was refused before its run.

use std::time::Duration;

use ccm_host::state::{Directory, Lock, LockHolder, StateError};
use ccm_report::{Recorded, RunStore, StoreError};

use crate::exit::ExitCode;
use crate::input::ManifestSource;
use crate::record::RunRecord;
use crate::run::RunOptions;
use crate::session::Session;

/// Error of recording that a manifest was refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RefusalError {
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The record is not complete.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Session {
    /// Records that a manifest was refused, with its errors as text. The record does not wait for another run.
    pub async fn record_refusal(
        &self,
        source: &ManifestSource,
        errors: &str,
        keep_runs: usize,
    ) -> Result<(), RefusalError> {
        let state = Directory::open_private(&self.state_path()?)?;
        let (manifest, clock) = (source.full_name(&*self.doors.files), &*self.doors.clock);
        let holder = LockHolder { manifest: manifest.clone(), since: clock.now() };
        let lock = Lock::take(&state, &holder, Duration::ZERO, &mut |_| {}).await;
        // Another run removes old records at its end.
        let keep_runs = if lock.is_ok() { keep_runs } else { usize::MAX };
        let mut record = RunRecord::new((&manifest, source.version()), RunStore::newest(&state), clock);
        record.begin(Some(&state), &RunOptions { keep_runs, ..RunOptions::default() });
        match record.refuse(&self.secrets.redact(errors), ExitCode::NothingRun.number()) {
            Some(Recorded { record, .. }) => Ok(record?),
            None => Ok(()),
        }
    }
}
