//! The ledger of a manifest, and its key.

use std::path::Path;

use ccm_engine::{Ledger, LedgerError, LedgerRun};
use ccm_host::STANDARD_INPUT;
use ccm_host::state::Directory;
use ccm_report::RunIdentity;

use crate::manifest::LoadedManifest;
use crate::session::Notice;

/// Error of a manifest from standard input, a pipe or a descriptor with `subscribe` but without a name, under
/// which pending refreshes would be stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a manifest from {0} that has `subscribe` needs a name")]
pub struct NameMissing(String);

impl LoadedManifest<'_> {
    /// Checks that pending refreshes of the manifest can be stored.
    pub fn check_name(&self) -> Result<(), NameMissing> {
        let is_file = !self.input.is_transient();
        let asks = |catalog: &ccm_model::Catalog| {
            catalog.resources.iter().any(|resource| !resource.subscribe.is_empty())
        };
        if is_file || self.catalog.name.is_some() || !asks(&self.catalog) {
            return Ok(());
        }
        Err(NameMissing(self.input.name().to_owned()))
    }

    /// Opens the ledger; `None` if the manifest can have no pending refresh. Without a state directory, the
    /// ledger at `state_path` is only read.
    pub(crate) fn ledger(
        &self,
        run: &RunIdentity,
        state: Option<&Directory>,
        state_path: Option<&Path>,
    ) -> Result<Option<Ledger>, LedgerError> {
        // The refreshes that the manifest owes are not those of one command.
        if self.input.executor().is_some() {
            return Ok(None);
        }
        let is_file = !self.input.is_transient();
        let manifest = if is_file {
            run.manifest.clone()
        } else {
            // The path of a descriptor would name a file that never existed.
            STANDARD_INPUT.to_owned()
        };
        let key = match &self.catalog.name {
            Some(name) => self.session.secrets.redact(name).into_owned(),
            None if is_file => manifest.clone(),
            None => return Ok(None),
        };
        let run = LedgerRun { key, manifest, run_id: run.run_id.clone() };
        let ledger = match (state, state_path) {
            (Some(directory), _) => Ledger::open(directory, run)?,
            (None, Some(path)) => Ledger::inspect(path, run)?,
            // Without a state path, no refresh was ever stored.
            (None, None) => return Ok(None),
        };
        if let Some(error) = ledger.untrusted() {
            self.session.notices.report(&Notice::UntrustedLedger(error));
        }
        if let Some(damage) = ledger.damage() {
            self.session.notices.report(&Notice::DamagedLedger { damage, is_kept: state.is_some() });
        }
        Ok(Some(ledger))
    }
}
