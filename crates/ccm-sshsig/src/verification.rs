//! Verification of signatures, as far as it needs no other program.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::allowed_signers::{AllowedSigner, AllowedSigners};
use crate::key::{KeyFamily, SshKey};
use crate::refusal::SignatureRefusal;
use crate::signature::SshSignature;

/// File of allowed signers that was read.
#[derive(Clone, Debug)]
pub struct SignerFile {
    path: PathBuf,
    signers: AllowedSigners,
}

/// Demands on a signature.
#[derive(Clone, Copy, Debug)]
pub struct SignatureDemand<'a> {
    /// Namespace that it has to be made for.
    pub namespace: &'a str,
    /// Principal who has to own the key; `None` is the one whom the file of signers names.
    pub principal: Option<&'a str>,
    /// The key has to be a security key, which was touched.
    pub touch: bool,
    /// The key has to be a security key, which has verified its user by PIN or fingerprint.
    pub user_verified: bool,
}

/// Signature of somebody whom a file of signers names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifiedSignature {
    /// Principal of the key.
    pub principal: String,
    /// The key.
    pub key: SshKey,
    /// Number of the line of the key in the file of signers.
    pub line: usize,
    /// The key is a security key, which has verified its user by PIN or fingerprint.
    pub is_user_verified: bool,
}

/// Signature by a key that may sign.
#[derive(Clone, Debug)]
pub struct CheckedSignature {
    /// The signature.
    pub signature: SshSignature,
    /// Signer, if the signature is right.
    pub verified: VerifiedSignature,
    /// The signature is that of the text. Otherwise `ssh-keygen` has to verify it.
    pub is_right: bool,
}

impl SignatureDemand<'_> {
    /// Checks the flags of a security key, which its signature covers.
    pub fn check_touch(&self, signature: &SshSignature) -> Result<(), SignatureRefusal> {
        let fingerprint = || signature.key().fingerprint();
        let is_security_key = signature.key().family().is_security_key();
        if is_security_key && !signature.says_present() {
            return Err(SignatureRefusal::NotTouched { fingerprint: fingerprint() });
        }
        if !is_security_key && (self.touch || self.user_verified) {
            return Err(SignatureRefusal::NoSecurityKey { fingerprint: fingerprint() });
        }
        if self.user_verified && !signature.says_verified() {
            return Err(SignatureRefusal::UserNotVerified { fingerprint: fingerprint() });
        }
        Ok(())
    }
}

impl SignerFile {
    /// Creates the file from its path, for messages, and its content.
    pub fn new(path: PathBuf, signers: AllowedSigners) -> Self {
        Self { path, signers }
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the lines of the file.
    pub fn signers(&self) -> &AllowedSigners {
        &self.signers
    }

    /// Checks everything about a signature that needs no other program.
    pub fn check(
        &self,
        text: &[u8],
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Result<CheckedSignature, SignatureRefusal> {
        let signature = SshSignature::parse(signature).ok_or(SignatureRefusal::Unreadable)?;
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
                if !signature.is_of(text) {
                    return Err(SignatureRefusal::Wrong);
                }
                demand.check_touch(&signature)?;
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
        key: &SshKey,
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
