//! The policy of a run before the first question to its gate.

use std::sync::Arc;

use ccm_audit::SealReceiver;
use ccm_policy::PolicyFiles;

use super::intended::digest_of_files;
use super::loading::{CheckedPolicy, PolicyError};
use crate::audit::{requires_record, seal_receivers};
use crate::governance::Governance;

/// Settings of the policy that a run needs from the start. The rules are read with the first question to the gate, unless
/// something needs them before.
#[derive(Clone, Copy)]
pub struct RunPolicy<'s> {
    files: &'s PolicyFiles,
    /// The policy, unless its files have none of the settings.
    checked: Option<&'s CheckedPolicy>,
}

impl Governance {
    /// Returns the policy of runs; `None` without a policy.
    pub fn run_policy(&self) -> Result<Option<RunPolicy<'_>>, Arc<PolicyError>> {
        let found = self.found_policy()?;
        if found.is_absent() {
            return Ok(None);
        }
        let is_unread = self.policy.get().is_none() && found.has_no_run_settings();
        let checked = if is_unread { None } else { self.policy()? };
        Ok(Some(RunPolicy { files: &found.files, checked }))
    }
}

impl RunPolicy<'_> {
    /// Returns `true` if only signed manifests are applied.
    pub fn requires_signed(self) -> bool {
        self.checked.is_some_and(|checked| checked.policy.apply_settings().signed.is_some())
    }

    /// Returns `true` if only approved plans are applied.
    pub fn requires_plan(self) -> bool {
        self.checked.is_some_and(|checked| checked.policy.apply_settings().plan.is_some())
    }

    /// Returns `true` if nothing may happen without a record.
    pub fn requires_record(self) -> bool {
        self.checked.is_some_and(|checked| requires_record(&checked.policy))
    }

    /// Returns the receivers of seals.
    pub fn seal_receivers(self) -> Vec<SealReceiver> {
        self.checked.map_or_else(Vec::new, |checked| seal_receivers(&checked.policy))
    }

    /// Returns the SHA-256 of the files.
    pub fn digest(self) -> String {
        let PolicyFiles { main, fragments, own } = self.files;
        let files = main.iter().chain(fragments).chain(own);
        digest_of_files(files.map(|file| (&*file.name, &*file.text)))
    }
}
