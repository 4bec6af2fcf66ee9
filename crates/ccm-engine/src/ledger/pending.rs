//! What all manifests owe, for who asks.

use std::collections::BTreeSet;
use std::path::Path;

use ccm_host::state::Directory;
use ccm_model::{KeptBy, OwedRefresh, ResourceId, error_layers};

use super::file::{DIRECTORY, ENDING, read};
use super::record::{Remains, Unreadable, parse, remains};
use super::{LedgerError, enter, untrusted};

/// The ledger of a manifest, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingLedger {
    /// The name of its file.
    pub file: String,
    /// The key of the manifest, if it can be read.
    pub key: Option<String>,
    /// What is owed.
    pub refreshes: Vec<PendingRefresh>,
    /// Why nobody knows what is owed; none if it is known.
    pub unreadable: Option<String>,
    /// A newer ccm wrote it, and a run of this one refuses it.
    pub is_newer: bool,
    /// The files of manifests that the records name which can be read of one that is damaged.
    pub manifests: BTreeSet<String>,
    /// Why no run acts on it: somebody else can have written it. One layer each; empty if that is not so.
    pub untrusted: Vec<String>,
}

/// A refresh that is owed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingRefresh {
    /// The resource that has to be refreshed.
    pub subscriber: ResourceId,
    /// What it owes.
    pub refresh: OwedRefresh,
    /// The file of the manifest.
    pub manifest: String,
    /// What the last run found to keep further ones from doing it.
    pub kept_by: Option<KeptBy>,
}

/// Reads the ledgers of a state directory, and changes nothing. Those that owe nothing are left out, but not those
/// that no run would act on.
pub fn pending(state: &Path) -> Result<Vec<PendingLedger>, LedgerError> {
    let failed = |source| LedgerError::Directory { path: state.join(DIRECTORY), source };
    let Some(state) = Directory::open(state).map_err(failed)? else { return Ok(Vec::new()) };
    let Some(directory) = enter(&state)? else { return Ok(Vec::new()) };
    let mut names = directory.names().map_err(failed)?;
    names.retain(|name| name.ends_with(ENDING) && !name.starts_with('.'));
    names.sort_unstable();
    let one = |name: String| {
        let untrusted = untrusted(&state, Some(&directory), &name);
        let layers = untrusted.map_or_else(Vec::new, |error| error_layers(&error));
        one(&directory, name, layers)
    };
    Ok(names.into_iter().filter_map(one).collect())
}

/// The names of damaged ledgers that runs have kept.
pub fn damaged(state: &Path) -> Result<Vec<String>, LedgerError> {
    let failed = |source| LedgerError::Directory { path: state.join(DIRECTORY), source };
    let Some(state) = Directory::open(state).map_err(failed)? else { return Ok(Vec::new()) };
    let Some(directory) = enter(&state)? else { return Ok(Vec::new()) };
    let mut names = directory.names().map_err(failed)?;
    names.retain(|name| name.contains(&format!("{ENDING}.damaged-")));
    names.sort_unstable();
    Ok(names)
}

/// One of them; none if it owes nothing, or was removed by now.
fn one(directory: &Directory, file: String, untrusted: Vec<String>) -> Option<PendingLedger> {
    let unreadable = |error: Unreadable, Remains { key, manifests }: Remains| PendingLedger {
        file: file.clone(),
        key,
        refreshes: Vec::new(),
        is_newer: matches!(error, Unreadable::Newer { .. }),
        unreadable: Some(match error {
            Unreadable::Newer { version } => format!("written by a newer ccm (its version is {version})"),
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
    let refreshes = content.debts.into_iter().map(|(pair, debt)| PendingRefresh {
        subscriber: pair.subscriber.shown,
        refresh: OwedRefresh {
            source: pair.source.shown,
            run_id: debt.run_id,
            since: debt.since,
            is_assumed: debt.is_assumed,
        },
        manifest: debt.manifest,
        kept_by: debt.kept_by,
    });
    let refreshes: Vec<PendingRefresh> = refreshes.collect();
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
