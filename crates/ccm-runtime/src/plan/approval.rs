//! Approval of plans: signatures of approvers beside them.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ccm_governance::approval::{ApproversError, PLAN_NAMESPACE, SignatureFailure, SignatureRefusal};
use ccm_host::{FileAttributes, FileError, NewContent, NewFile};

use super::store::ReadPlan;
use crate::session::{Session, absolute_path};

/// Maximum size of a signature in bytes.
const MAX_SIGNATURE: u64 = 64 << 10;

/// Signature beside a plan.
#[derive(Clone, Debug)]
pub enum PlanSignature {
    /// Nobody has signed the plan.
    Missing,
    /// An approver has signed the plan.
    Approved {
        /// Principal of the key that signed.
        by: String,
    },
    /// The signature does not count.
    Refused(Arc<PlanSignatureError>),
}

/// Reason for which the signature of a plan does not count.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlanSignatureError {
    /// The signature can't be read.
    #[error("{} can't be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// Nobody can approve.
    #[error(transparent)]
    Approvers(#[from] ApproversError),
    /// The signature is refused.
    #[error(transparent)]
    Signature(#[from] SignatureFailure),
}

impl PlanSignature {
    /// Returns the approver, if the signature counts.
    pub fn approver(&self) -> Option<&str> {
        match self {
            Self::Approved { by } => Some(by),
            Self::Missing | Self::Refused(_) => None,
        }
    }
}

/// Returns the path of the signature of a plan: that of `ssh-keygen -Y sign`.
pub fn signature_path(plan: &Path) -> PathBuf {
    let mut path = plan.as_os_str().to_owned();
    path.push(".sig");
    PathBuf::from(path)
}

impl Session {
    /// Checks the signature beside a plan.
    pub(super) fn signature_of_plan(&self, plan: &Path, text: &[u8]) -> PlanSignature {
        let path = signature_path(plan);
        let bytes = match self.doors.input(Some(&path), MAX_SIGNATURE, self.shared.regular_inputs) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return PlanSignature::Missing,
            Err(source) => {
                return PlanSignature::Refused(Arc::new(PlanSignatureError::Read { path, source }));
            }
        };
        match self.verify_plan(text, &bytes) {
            Ok(by) => PlanSignature::Approved { by },
            Err(error) => PlanSignature::Refused(Arc::new(error)),
        }
    }

    fn verify_plan(&self, text: &[u8], signature: &[u8]) -> Result<String, PlanSignatureError> {
        let signature =
            str::from_utf8(signature).map_err(|_| SignatureFailure::from(SignatureRefusal::Unreadable))?;
        let approvers = self.governance.approvers()?;
        Ok(self.governance.verify(&approvers, PLAN_NAMESPACE, text, signature)?.principal)
    }

    /// Writes the signature of a plan beside it. Nothing is checked.
    pub fn write_plan_signature(&self, plan: &ReadPlan, signature: &str) -> Result<PathBuf, FileError> {
        let path = signature_path(&plan.path);
        let attributes = FileAttributes { mode: Some(0o644), ..FileAttributes::default() };
        let new = NewFile { content: NewContent::Bytes(signature.as_bytes()), attributes };
        self.doors.files.write(&absolute_path(&path), &new)?;
        Ok(path)
    }
}
