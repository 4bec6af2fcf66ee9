//! Pending refreshes of all manifests of a state directory.

use std::collections::BTreeSet;
use std::path::Path;

use ccm_host::state::Directory;
use ccm_model::{PendingRefresh, RefreshBlocker, ResourceId, error_layers};

use super::file::{DIRECTORY, ENDING, read};
use super::record::{Remains, Unreadable, VERSION, parse, remains};
use super::{LedgerError, open_ledgers, trust_error};

/// Ledger of a manifest, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingLedger {
    /// Name of its file.
    pub file: String,
    /// Key of the manifest, if it can be read.
    pub key: Option<String>,
    /// Pending refreshes.
    pub refreshes: Vec<RecordedRefresh>,
    /// Reason why the refreshes are unknown. `None` if they are known.
    pub unreadable: Option<String>,
    /// A newer version of ccm wrote it, so that a run of this version refuses it.
    pub is_newer: bool,
    /// Files of manifests that are named in the readable records of a damaged ledger.
    pub manifests: BTreeSet<String>,
    /// Reason why no run trusts the ledger, with its causes: another user may have written it. Empty if a run
    /// trusts it.
    pub untrusted: Vec<String>,
}

/// A pending refresh of a ledger, with its subscriber and its manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedRefresh {
    /// Resource that has to be refreshed.
    pub subscriber: ResourceId,
    /// The refresh.
    pub refresh: PendingRefresh,
    /// File of the manifest.
    pub manifest: String,
    /// Setting of the manifest that blocks the refresh, as the last run found.
    pub blocked_by: Option<RefreshBlocker>,
}

/// Reads the ledgers of a state directory, and changes nothing. Ledgers without pending refreshes are left
/// out, unless no run would trust them.
pub fn pending(state: &Path) -> Result<Vec<PendingLedger>, LedgerError> {
    let failed = |source| LedgerError::Directory { path: state.join(DIRECTORY), source };
    let Some(state) = Directory::open(state)? else { return Ok(Vec::new()) };
    let Some(directory) = open_ledgers(&state)? else { return Ok(Vec::new()) };
    let mut names = directory.names().map_err(failed)?;
    names.retain(|name| name.ends_with(ENDING) && !name.starts_with('.'));
    names.sort_unstable();
    let one = |name: String| {
        let untrusted = trust_error(&state, Some(&directory), &name);
        let layers = untrusted.map_or_else(Vec::new, |error| error_layers(&error));
        read_ledger(&directory, name, layers)
    };
    Ok(names.into_iter().filter_map(one).collect())
}

/// Returns the names of damaged ledgers that runs have kept.
pub fn damaged(state: &Path) -> Result<Vec<String>, LedgerError> {
    let failed = |source| LedgerError::Directory { path: state.join(DIRECTORY), source };
    let Some(state) = Directory::open(state)? else { return Ok(Vec::new()) };
    let Some(directory) = open_ledgers(&state)? else { return Ok(Vec::new()) };
    let mut names = directory.names().map_err(failed)?;
    names.retain(|name| name.contains(&format!("{ENDING}.damaged-")));
    names.sort_unstable();
    Ok(names)
}

/// Reads one ledger. Returns `None` if it has no pending refreshes, or was removed in the meantime.
fn read_ledger(directory: &Directory, file: String, untrusted: Vec<String>) -> Option<PendingLedger> {
    let unreadable = |error: Unreadable, Remains { key, manifests }: Remains| PendingLedger {
        file: file.clone(),
        key,
        refreshes: Vec::new(),
        is_newer: matches!(error, Unreadable::Newer { .. }),
        unreadable: Some(match error {
            Unreadable::Newer { version } => {
                format!("written by a newer ccm (format version {version}; this ccm reads version {VERSION})")
            }
            Unreadable::Damaged { reason } => format!("damaged: {reason}"),
        }),
        manifests,
        untrusted: untrusted.clone(),
    };
    let bytes = match read(directory, &file) {
        Ok(bytes) => bytes?,
        Err(error) => {
            let damaged = Unreadable::Damaged { reason: error.to_string() };
            return Some(unreadable(damaged, Remains::default()));
        }
    };
    let content = match parse(&bytes) {
        Ok(content) => content,
        Err(error) => return Some(unreadable(error, remains(&bytes))),
    };
    let refreshes = content.pending.into_iter().map(|(pair, pending)| RecordedRefresh {
        subscriber: pair.subscriber.shown,
        refresh: PendingRefresh {
            source: pair.source.shown,
            run_id: pending.run_id,
            since: pending.since,
            is_assumed: pending.is_assumed,
        },
        manifest: pending.manifest,
        blocked_by: pending.blocked_by,
    });
    let refreshes: Vec<RecordedRefresh> = refreshes.collect();
    let is_shown = !refreshes.is_empty() || !untrusted.is_empty();
    is_shown.then_some(PendingLedger {
        file,
        key: Some(content.key),
        refreshes,
        unreadable: None,
        is_newer: false,
        manifests: BTreeSet::new(),
        untrusted,
    })
}
