//! Removal of old records.

use std::collections::BTreeSet;

use ccm_host::state::Directory;

use super::history::read_summary;
use super::{EVENTS, StoreError, is_run_id};

/// Keeps the newest runs of any kind and, among older ones, as many that changed something or failed. Returns
/// the errors of the others that remain. Directories that are no records are left alone.
pub(super) fn retain(runs: &Directory, keep: usize) -> Vec<StoreError> {
    let names = match runs.directories() {
        Ok(names) => names,
        Err(source) => return vec![StoreError::Remove { path: runs.path().to_owned(), source }],
    };
    let names: BTreeSet<String> = names.into_iter().filter(|name| is_run_id(name)).collect();
    let mut notable = 0;
    let mut errors = Vec::new();
    for name in names.iter().rev().skip(keep) {
        if notable < keep && is_notable(runs, name) {
            notable += 1;
        } else if let Err(source) = runs.remove(name) {
            errors.push(StoreError::Remove { path: runs.path().join(name), source });
        }
    }
    errors
}

/// Returns `true` for a run that changed something or failed. A run without a readable summary was killed; a
/// directory without events is no run.
fn is_notable(runs: &Directory, name: &str) -> bool {
    let Ok(run) = runs.enter(name) else { return false };
    match read_summary(&run).summary {
        Some(summary) => summary.is_notable(),
        None => run.read(EVENTS).is_ok(),
    }
}
