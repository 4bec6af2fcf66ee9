//! Approvals: people who sign with their SSH keys what a policy asks for.

mod approvers;
mod desk;
mod gatekeeper;
mod request;
mod signing;
mod store;

use std::path::{Path, PathBuf};

use ccm_host::state::{StateError, default_state_directory};
use ccm_host::{TrustError, TrustedDirectory, current_user};

pub(crate) use approvers::MAX_SIGNATURE;
pub use desk::{ApprovalLimits, ApproveError, ListedRequest};
pub(crate) use gatekeeper::{APPLY_TIME, ApprovalAnswer, RequestDraft, SaltedDigests};
pub use gatekeeper::{ApprovalStoreError, RequestState};
pub use request::{APPROVAL_NAMESPACE, ApprovalRequest, RequestedAction, RequestedCommand, RequestedNeed};
pub use signing::SignError;

pub use approvers::{ApproverError, ApproverList, SignatureError, SignedBy};

use crate::policy::PolicySource;
use crate::session::Session;
use approvers::MAX_APPROVERS;

/// Path of the file of approvers of the system.
pub const APPROVERS: &str = "/etc/ccm/approvers";

/// Reason for which nobody can approve.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproverListError {
    /// Another user may have written the file.
    #[error("the file of approvers can't be trusted")]
    Trust(#[from] TrustError),
    /// The file has an error.
    #[error(transparent)]
    Line(#[from] ApproverError),
    /// The file does not exist or is empty.
    #[error("{} names no approver", .0.display())]
    Nobody(PathBuf),
}

impl Session {
    /// Returns the directory of requests and approvals: that of the machine, whatever the state directory is.
    pub(crate) fn approvals_path(&self) -> Result<PathBuf, StateError> {
        match &self.approvals {
            Some(path) => Ok(path.clone()),
            None => Ok(default_state_directory()?.join("approvals")),
        }
    }

    /// Reads the approvers of this machine: those that the policy names.
    pub fn approvers(&self) -> Result<ApproverList, ApproverListError> {
        let policy = self.policy().ok().flatten();
        let configured = policy.map_or(APPROVERS, |checked| &checked.policy.approval().approvers);
        if configured == APPROVERS {
            return self.default_approvers();
        }
        self.read_approvers(Path::new(configured))
    }

    /// Reads the approvers beside the policy.
    pub(crate) fn default_approvers(&self) -> Result<ApproverList, ApproverListError> {
        match &self.policy_source {
            PolicySource::Directory(directory) => self.read_approvers(&directory.join("approvers")),
            _ => self.read_approvers(Path::new(APPROVERS)),
        }
    }

    fn read_approvers(&self, path: &Path) -> Result<ApproverList, ApproverListError> {
        let owner = match &self.policy_source {
            PolicySource::Directory(_) => current_user(),
            _ => 0,
        };
        let nobody = || ApproverListError::Nobody(path.to_owned());
        let (parent, name) = path.parent().zip(path.file_name()).ok_or_else(nobody)?;
        let directory = TrustedDirectory::open(parent, owner)?.ok_or_else(nobody)?;
        let text = directory.read(name, MAX_APPROVERS)?.ok_or_else(nobody)?;
        let list = ApproverList::parse(&path.display().to_string(), &text)?;
        if list.is_empty() { Err(nobody()) } else { Ok(list) }
    }
}
