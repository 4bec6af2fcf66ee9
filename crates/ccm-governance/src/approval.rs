//! Approvals: people who sign with their SSH keys what a policy asks for.

mod desk;
mod gatekeeper;
mod grants;
mod intents;
mod members;
mod signing;
mod verifying;

use std::path::{Path, PathBuf};

use ccm_host::state::{StateError, default_state_directory};
use ccm_host::{LocalZone, current_user};

pub use ccm_approval::{
    APPROVAL_NAMESPACE, ApprovalScreen, ApprovalState, Approvers, ApproversError, IntentDocument,
    ListedIntent, MANIFEST_NAMESPACE, PLAN_NAMESPACE, ScreenError, SignerRole,
};
pub use ccm_sshsig::{SignatureRefusal, VerifiedSignature};
pub use desk::{ApprovalLimits, ApproveError, ApprovedIntent};
pub(crate) use gatekeeper::{APPLY_TIME, ApprovalAnswer, RunIntents};
pub use gatekeeper::{approvers_hint, unmet_demand};
pub use grants::{ApprovalTerms, GrantedRule, approval_terms};
pub(crate) use intents::apply_caller;
pub use intents::{ApprovalsError, MachineIntents, grant_text, intent_name};
pub use signing::SignError;
pub use verifying::SignatureFailure;

use crate::governance::Governance;
use crate::policy::PolicySource;

/// Path of the file of approvers of the system.
pub const APPROVERS: &str = "/etc/ccm/approvers";
/// End of the path of the file of revoked keys, which begins with that of the file of approvers.
const REVOKED: &str = ".revoked";

impl Governance {
    /// Returns the directory of requests and approvals: that of the machine, whatever the state directory is.
    fn approvals_path(&self) -> Result<PathBuf, StateError> {
        match &self.places.approvals {
            Some(path) => Ok(path.clone()),
            None => Ok(default_state_directory()?.join("approvals")),
        }
    }

    /// Reads the approvers of this machine: those that the policy names.
    pub fn approvers(&self) -> Result<Approvers, ApproversError> {
        let policy = self.policy().ok().flatten();
        let configured = policy.map_or(APPROVERS, |checked| &checked.policy.approval().approvers);
        if configured == APPROVERS {
            return self.default_approvers();
        }
        self.read_approvers(Path::new(configured))
    }

    /// Reads the approvers beside the policy.
    pub(crate) fn default_approvers(&self) -> Result<Approvers, ApproversError> {
        match &self.places.policy {
            PolicySource::Directory(directory) => self.read_approvers(&directory.join("approvers")),
            _ => self.read_approvers(Path::new(APPROVERS)),
        }
    }

    /// Reads a file of allowed signers that the user of this process chose. Keys in the file of the same name that ends
    /// in `.revoked` don't count.
    pub fn signers(&self, path: &Path) -> Result<Approvers, ApproversError> {
        load(SignerRole::Signers, path, current_user())
    }

    fn read_approvers(&self, path: &Path) -> Result<Approvers, ApproversError> {
        let owner = match &self.places.policy {
            PolicySource::Directory(_) => current_user(),
            _ => 0,
        };
        load(SignerRole::Approvers, path, owner)
    }
}

fn load(role: SignerRole, path: &Path, owner: u32) -> Result<Approvers, ApproversError> {
    let mut revoked = path.as_os_str().to_owned();
    revoked.push(REVOKED);
    Approvers::load(role, path, Path::new(&revoked), owner, &LocalZone::of_this_process())
}
