//! Removal of old records.

use std::collections::BTreeSet;
use std::io::Read as _;

use ccm_host::state::Directory;

use super::history::read_summary;
use super::{EVENTS, StoreError, is_run_id};

/// File beside the records with the id of a run: all older records that are left changed something or failed. A run
/// therefore need not read their summaries again.
const CHECKED: &str = "checked";
/// Maximum length of an id in bytes.
const MAX_ID: u64 = 64;

/// Keeps the newest runs of any kind and, among older ones, as many that changed something or failed. Returns
/// the errors of the others that remain. Directories that are no records are left alone.
pub(super) fn retain(runs: &Directory, keep: usize) -> Vec<StoreError> {
    let names = match runs.directories() {
        Ok(names) => names,
        Err(source) => return vec![StoreError::Remove { path: runs.path().to_owned(), source }],
    };
    let names: BTreeSet<String> = names.into_iter().filter(|name| is_run_id(name)).collect();
    if names.len() <= keep {
        return Vec::new();
    }
    let checked = checked(runs);
    let is_checked = |name: &String| checked.as_ref().is_some_and(|checked| name <= checked);
    let mut notable = 0;
    let mut newest = None;
    let mut errors = Vec::new();
    for name in names.iter().rev().skip(keep) {
        if notable < keep && (is_checked(name) || is_notable(runs, name)) {
            notable += 1;
            newest = newest.or(Some(name));
        } else if let Err(source) = runs.remove(name) {
            errors.push(StoreError::Remove { path: runs.path().join(name), source });
        }
    }
    if let Some(newest) = newest.filter(|name| errors.is_empty() && !is_checked(name)) {
        // Without the file, the next run reads the summaries again.
        let _ = runs.replace_unsynced(CHECKED, newest.as_bytes());
    }
    errors
}

/// Returns the newest id up to which the records are checked.
fn checked(runs: &Directory) -> Option<String> {
    let mut name = String::new();
    runs.read(CHECKED).ok()?.take(MAX_ID).read_to_string(&mut name).ok()?;
    is_run_id(&name).then_some(name)
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
