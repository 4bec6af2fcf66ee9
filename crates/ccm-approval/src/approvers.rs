//! People who may approve, and the verification of their signatures.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_host::{LocalZone, TrustError, TrustedDirectory};

use crate::allowed_signers::{AllowedSigner, AllowedSigners, SignersError};
use crate::intent::ApprovalDemand;
use crate::signature::ApproverSignature;
use crate::ssh_key_line::{ApproverKey, KeyFamily};
use crate::ssh_keygen::{KeygenError, SshKeygen};

/// Maximum length of the file of approvers, and of that of revoked keys.
const MAX_FILE: u64 = 1 << 20;

/// People who may approve, with their keys.
#[derive(Clone, Debug)]
pub struct Approvers {
    path: PathBuf,
    signers: AllowedSigners,
    revoked: Option<Vec<u8>>,
}

/// Error of the file of approvers, or of the file of revoked keys. No signature is verified.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApproversError {
    /// There is no file.
    #[error("there is no file of approvers {path:?}")]
    Missing {
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
    #[error("approvers {path:?}, {source}")]
    Signers {
        /// Path of the file.
        path: PathBuf,
        /// The error.
        source: SignersError,
    },
    /// The file has no key.
    #[error("the file of approvers {path:?} has no key")]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
}

/// Demands on a signature.
#[derive(Clone, Copy, Debug)]
pub struct SignatureDemand<'a> {
    /// Namespace that it has to be made for.
    pub namespace: &'a str,
    /// Principal who has to own the key; `None` is the one whom the file of approvers names.
    pub principal: Option<&'a str>,
    /// The key has to be a security key, which was touched.
    pub touch: bool,
    /// The key has to be a security key, which has verified its user by PIN or fingerprint.
    pub user_verified: bool,
}

/// Signature that an approver has made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedSignature {
    /// Principal of the key.
    pub principal: String,
    /// The key.
    pub key: ApproverKey,
    /// Number of the line of the key in the file of approvers.
    pub line: usize,
    /// The key is a security key, which has verified its user by PIN or fingerprint.
    pub is_user_verified: bool,
}

/// Signature by a key that may sign.
struct CheckedSignature {
    signature: ApproverSignature,
    verified: VerifiedSignature,
    /// The signature is that of the text. Otherwise `ssh-keygen` has to verify it.
    is_right: bool,
}

/// Reason for which a signature is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignatureRefusal {
    /// The text is no signature of `ssh-keygen -Y sign`.
    #[error("not a signature of `ssh-keygen -Y sign`")]
    Unreadable,
    /// The signature was made for another namespace.
    #[error("the signature is for namespace {found:?}, not for {expected:?}")]
    Namespace {
        /// Namespace of the signature.
        found: String,
        /// Namespace that was expected.
        expected: String,
    },
    /// The key is a certificate.
    #[error("the signature is by a certificate ({algorithm}), which is not supported")]
    Certificate {
        /// Algorithm of the key.
        algorithm: String,
    },
    /// The key is not that of an approver.
    #[error("key {fingerprint} is not in {path:?}")]
    NotListed {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Path of the file of approvers.
        path: PathBuf,
    },
    /// The key may not sign for this namespace.
    #[error("key {fingerprint} may not sign for namespace {namespace:?} (line {line} of {path:?})")]
    NotForNamespace {
        /// Fingerprint of the key.
        fingerprint: String,
        /// The namespace.
        namespace: String,
        /// Path of the file of approvers.
        path: PathBuf,
        /// Number of the line.
        line: usize,
    },
    /// The key is not valid yet.
    #[error("key {fingerprint} is not valid yet (line {line} of {path:?})")]
    NotYetValid {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Path of the file of approvers.
        path: PathBuf,
        /// Number of the line.
        line: usize,
    },
    /// The key has expired.
    #[error("key {fingerprint} has expired (line {line} of {path:?})")]
    KeyExpired {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Path of the file of approvers.
        path: PathBuf,
        /// Number of the line.
        line: usize,
    },
    /// The key belongs to another principal.
    #[error("key {fingerprint} is not that of {principal:?}")]
    OtherPrincipal {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Principal that was expected.
        principal: String,
    },
    /// The file of approvers names several people for the key.
    #[error(
        "key {fingerprint} may belong to several principals ({principals}): the statement has to name one"
    )]
    PrincipalUnclear {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Principals of the line.
        principals: String,
    },
    /// The signature is not that of these bytes.
    #[error("the signature is not that of this text")]
    Wrong,
    /// The security key was not touched.
    #[error("the security key {fingerprint} was not touched")]
    NotTouched {
        /// Fingerprint of the key.
        fingerprint: String,
    },
    /// The key is not a security key.
    #[error("key {fingerprint} is not a security key, which has to be touched")]
    NoSecurityKey {
        /// Fingerprint of the key.
        fingerprint: String,
    },
    /// The security key has not verified its user.
    #[error("the security key {fingerprint} has not verified its user by PIN or fingerprint")]
    UserNotVerified {
        /// Fingerprint of the key.
        fingerprint: String,
    },
    /// The key was revoked, or the file of revoked keys can't be read.
    #[error("key {fingerprint} is revoked")]
    Revoked {
        /// Fingerprint of the key.
        fingerprint: String,
    },
    /// `ssh-keygen` could not be run.
    #[error("a key of type {algorithm} can't be verified")]
    Keygen {
        /// Algorithm of the key.
        algorithm: String,
        /// Reason.
        source: KeygenError,
    },
    /// Nothing can be run to verify the signature.
    #[error("the signature can't be verified")]
    Unverified(#[source] Box<dyn std::error::Error + Send + Sync>),
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
    pub fn load(path: &Path, revoked: &Path, owner: u32, zone: &LocalZone) -> Result<Self, ApproversError> {
        let at = || path.to_owned();
        let bytes = read(path, owner)?.ok_or_else(|| ApproversError::Missing { path: at() })?;
        let text = String::from_utf8(bytes)
            .map_err(|_| ApproversError::Trust { path: at(), source: TrustError::NotUtf8(at()) })?;
        let mut approvers = Self::parse(path, &text, zone)?;
        approvers.revoked = read(revoked, owner)?;
        Ok(approvers)
    }

    /// Reads the text of a file of approvers. No key of it is revoked.
    pub fn parse(path: &Path, text: &str, zone: &LocalZone) -> Result<Self, ApproversError> {
        let failed = |source| ApproversError::Signers { path: path.to_owned(), source };
        let signers = AllowedSigners::parse(text, zone).map_err(failed)?;
        if signers.signers.is_empty() {
            return Err(ApproversError::Empty { path: path.to_owned() });
        }
        Ok(Self { path: path.to_owned(), signers, revoked: None })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the lines of the file.
    pub fn signers(&self) -> &AllowedSigners {
        &self.signers
    }

    /// Returns the first demand that all approvers together can't meet, because too few of them have a key.
    pub fn first_unmet<'d>(&self, demands: &'d [ApprovalDemand]) -> Option<&'d ApprovalDemand> {
        let lines = &self.signers.signers;
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
        let CheckedSignature { signature, verified, is_right } = self.check(text, signature, demand, at)?;
        let key = signature.key();
        let failed = |source| SignatureRefusal::Keygen { algorithm: key.algorithm().to_owned(), source };
        if !is_right {
            if !keygen.verify(text, &signature, None).await.map_err(failed)? {
                return Err(SignatureRefusal::Wrong);
            }
            check_touch(&signature, demand)?;
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
        match self.check(text, signature, demand, at) {
            Err(refusal) => Some(Err(refusal)),
            Ok(checked) => (checked.is_right && self.revoked.is_none()).then_some(Ok(checked.verified)),
        }
    }

    /// Checks everything about a signature that needs no other program.
    fn check(
        &self,
        text: &str,
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Result<CheckedSignature, SignatureRefusal> {
        let signature = ApproverSignature::parse(signature).ok_or(SignatureRefusal::Unreadable)?;
        if signature.namespace() != demand.namespace {
            return Err(SignatureRefusal::Namespace {
                found: signature.namespace().to_owned(),
                expected: demand.namespace.to_owned(),
            });
        }
        let signer = self.signer(signature.key(), demand, at)?;
        let principal = principal(signer, demand)?;
        let key = signature.key().clone();
        let is_right = match key.family() {
            KeyFamily::Ed25519 | KeyFamily::SecurityEd25519 => {
                if !signature.is_of(text.as_bytes()) {
                    return Err(SignatureRefusal::Wrong);
                }
                check_touch(&signature, demand)?;
                true
            }
            _ => false,
        };
        let is_user_verified = key.family().is_security_key() && signature.says_verified();
        let verified = VerifiedSignature { principal, key, line: signer.line, is_user_verified };
        Ok(CheckedSignature { signature, verified, is_right })
    }

    /// Returns the line that allows a key to sign.
    fn signer<'a>(
        &'a self,
        key: &ApproverKey,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Result<&'a AllowedSigner, SignatureRefusal> {
        let fingerprint = || key.fingerprint();
        if key.family() == KeyFamily::Certificate {
            return Err(SignatureRefusal::Certificate { algorithm: key.algorithm().to_owned() });
        }
        let mut refusal = None;
        let path = || self.path.clone();
        for signer in self.signers.signers.iter().filter(|signer| signer.key == *key) {
            let line = signer.line;
            let refused = if !demand.principal.is_none_or(|principal| signer.names(principal)) {
                let principal = demand.principal.unwrap_or_default().to_owned();
                SignatureRefusal::OtherPrincipal { fingerprint: fingerprint(), principal }
            } else if !signer.may_sign(demand.namespace) {
                let namespace = demand.namespace.to_owned();
                SignatureRefusal::NotForNamespace {
                    fingerprint: fingerprint(),
                    namespace,
                    path: path(),
                    line,
                }
            } else if signer.valid_after.is_some_and(|after| at < after) {
                SignatureRefusal::NotYetValid { fingerprint: fingerprint(), path: path(), line }
            } else if signer.valid_before.is_some_and(|before| at > before) {
                SignatureRefusal::KeyExpired { fingerprint: fingerprint(), path: path(), line }
            } else {
                return Ok(signer);
            };
            refusal.get_or_insert(refused);
        }
        let not_listed = || SignatureRefusal::NotListed { fingerprint: fingerprint(), path: path() };
        Err(refusal.unwrap_or_else(not_listed))
    }
}

fn principal(signer: &AllowedSigner, demand: &SignatureDemand<'_>) -> Result<String, SignatureRefusal> {
    let named = demand.principal.or_else(|| signer.only_principal());
    named.map(ToOwned::to_owned).ok_or_else(|| SignatureRefusal::PrincipalUnclear {
        fingerprint: signer.key.fingerprint(),
        principals: signer.principals.clone(),
    })
}

/// Checks the flags of a security key, which its signature covers.
fn check_touch(signature: &ApproverSignature, demand: &SignatureDemand<'_>) -> Result<(), SignatureRefusal> {
    let fingerprint = || signature.key().fingerprint();
    let is_security_key = signature.key().family().is_security_key();
    if is_security_key && !signature.says_present() {
        return Err(SignatureRefusal::NotTouched { fingerprint: fingerprint() });
    }
    if !is_security_key && (demand.touch || demand.user_verified) {
        return Err(SignatureRefusal::NoSecurityKey { fingerprint: fingerprint() });
    }
    if demand.user_verified && !signature.says_verified() {
        return Err(SignatureRefusal::UserNotVerified { fingerprint: fingerprint() });
    }
    Ok(())
}

/// Reads a file by its absolute path; `None` if it does not exist.
fn read(path: &Path, owner: u32) -> Result<Option<Vec<u8>>, ApproversError> {
    let failed = |source| ApproversError::Trust { path: path.to_owned(), source };
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Ok(None) };
    let Some(directory) = TrustedDirectory::open(parent, owner).map_err(failed)? else { return Ok(None) };
    directory.read_bytes(name, MAX_FILE).map_err(failed)
}
