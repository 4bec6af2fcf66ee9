//! People who may approve, and the verification of their signatures.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_host::{LocalZone, TrustError, TrustedDirectory};
use ccm_sshsig::{
    AllowedSigners, CheckedSignature, SignatureDemand, SignatureRefusal, SignerFile, SignersError,
    VerifiedSignature,
};

use crate::intent::ApprovalDemand;
use crate::ssh_keygen::SshKeygen;

/// Maximum length of the file of approvers, and of that of revoked keys.
const MAX_FILE: u64 = 1 << 20;

/// People who may approve, with their keys.
#[derive(Clone, Debug)]
pub struct Approvers {
    file: SignerFile,
    revoked: Option<Vec<u8>>,
}

/// People of a file of allowed signers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignerRole {
    /// People who may approve on this machine.
    Approvers,
    /// People who may sign what a source or a release offers.
    Signers,
}

impl fmt::Display for SignerRole {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Approvers => "approvers",
            Self::Signers => "signers",
        })
    }
}

/// Error of a file of approvers or signers, or of the file of revoked keys. No signature is verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproversError {
    /// There is no file.
    #[error("there is no file of {role} {path:?}")]
    Missing {
        /// People of the file.
        role: SignerRole,
        /// Path of the file.
        path: PathBuf,
    },
    /// Another user may have written the file.
    #[error("{path:?} is not trusted")]
    Trust {
        /// Path of the file.
        path: PathBuf,
        /// Reason.
        source: TrustError,
    },
    /// The file has an error.
    #[error("{role} {path:?}, {source}")]
    Signers {
        /// People of the file.
        role: SignerRole,
        /// Path of the file.
        path: PathBuf,
        /// The error.
        source: SignersError,
    },
    /// The file has no key.
    #[error("the file of {role} {path:?} has no key")]
    Empty {
        /// People of the file.
        role: SignerRole,
        /// Path of the file.
        path: PathBuf,
    },
}

/// Verifier of signatures, which runs `ssh-keygen` where ccm does not verify a signature itself.
pub trait SignatureVerifier {
    /// Checks the signature of a text at a moment, and returns who signed it.
    fn verify(
        &self,
        approvers: &Approvers,
        text: &str,
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Result<VerifiedSignature, SignatureRefusal>;
}

impl Approvers {
    /// Reads the file of approvers and, if there is one, that of revoked keys. Only files that nobody but root and
    /// `owner` can have written are read.
    pub fn load(
        role: SignerRole,
        path: &Path,
        revoked: &Path,
        owner: u32,
        zone: &LocalZone,
    ) -> Result<Self, ApproversError> {
        let at = || path.to_owned();
        let bytes = read(path, owner)?.ok_or_else(|| ApproversError::Missing { role, path: at() })?;
        let text = String::from_utf8(bytes)
            .map_err(|_| ApproversError::Trust { path: at(), source: TrustError::NotUtf8(at()) })?;
        let mut approvers = Self::parse(role, path, &text, zone)?;
        approvers.revoked = read(revoked, owner)?;
        Ok(approvers)
    }

    /// Reads the text of a file of approvers. No key of it is revoked.
    pub fn parse(
        role: SignerRole,
        path: &Path,
        text: &str,
        zone: &LocalZone,
    ) -> Result<Self, ApproversError> {
        let failed = |source| ApproversError::Signers { role, path: path.to_owned(), source };
        let signers = AllowedSigners::parse(text, &|date, time| zone.moment(date, time)).map_err(failed)?;
        if signers.signers.is_empty() {
            return Err(ApproversError::Empty { role, path: path.to_owned() });
        }
        Ok(Self { file: SignerFile::new(path.to_owned(), signers), revoked: None })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the lines of the file.
    pub fn signers(&self) -> &AllowedSigners {
        self.file.signers()
    }

    /// Returns the first demand that all approvers together can't meet, because too few of them have a key.
    pub fn first_unmet<'d>(&self, demands: &'d [ApprovalDemand]) -> Option<&'d ApprovalDemand> {
        let lines = &self.signers().signers;
        demands.iter().find(|demand| {
            let found = match &demand.approvers {
                None => lines.len(),
                Some(names) => names.iter().filter(|name| lines.iter().any(|line| line.names(name))).count(),
            };
            u32::try_from(found).is_ok_and(|found| found < demand.count)
        })
    }

    /// Verifies an armoured signature over a text.
    pub async fn verify(
        &self,
        text: &str,
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
        keygen: &SshKeygen<'_>,
    ) -> Result<VerifiedSignature, SignatureRefusal> {
        let CheckedSignature { signature, verified, is_right } =
            self.file.check(text.as_bytes(), signature, demand, at)?;
        let key = signature.key();
        let failed = |source| SignatureRefusal::Keygen {
            algorithm: key.algorithm().to_owned(),
            source: Box::new(source),
        };
        if !is_right {
            if !keygen.verify(text, &signature, None).await.map_err(failed)? {
                return Err(SignatureRefusal::Wrong);
            }
            demand.check_touch(&signature)?;
        }
        if let Some(revoked) = &self.revoked
            && !keygen.verify(text, &signature, Some(revoked)).await.map_err(failed)?
        {
            return Err(SignatureRefusal::Revoked { fingerprint: key.fingerprint() });
        }
        Ok(verified)
    }

    /// Verifies an armoured signature over a text without another program. `None` if only `ssh-keygen` can tell: for a
    /// key that ccm does not verify itself, and where there is a file of revoked keys.
    pub fn verify_alone(
        &self,
        text: &str,
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Option<Result<VerifiedSignature, SignatureRefusal>> {
        match self.file.check(text.as_bytes(), signature, demand, at) {
            Err(refusal) => Some(Err(refusal)),
            Ok(checked) => (checked.is_right && self.revoked.is_none()).then_some(Ok(checked.verified)),
        }
    }
}

/// Reads a file by its absolute path; `None` if it does not exist.
fn read(path: &Path, owner: u32) -> Result<Option<Vec<u8>>, ApproversError> {
    let failed = |source| ApproversError::Trust { path: path.to_owned(), source };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Some(directory) = TrustedDirectory::open(parent, owner).map_err(failed)? else { return Ok(None) };
    directory.read_bytes(name, MAX_FILE).map_err(failed)
}
