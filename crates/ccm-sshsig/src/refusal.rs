//! Reasons for which a signature is refused.

use std::path::PathBuf;

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
    /// The key is not in the file of signers.
    #[error("key {fingerprint} is not in {path:?}")]
    NotListed {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Path of the file of signers.
        path: PathBuf,
    },
    /// The key may not sign for this namespace.
    #[error("key {fingerprint} may not sign for namespace {namespace:?} (line {line} of {path:?})")]
    NotForNamespace {
        /// Fingerprint of the key.
        fingerprint: String,
        /// The namespace.
        namespace: String,
        /// Path of the file of signers.
        path: PathBuf,
        /// Number of the line.
        line: usize,
    },
    /// The key is not valid yet.
    #[error("key {fingerprint} is not valid yet (line {line} of {path:?})")]
    NotYetValid {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Path of the file of signers.
        path: PathBuf,
        /// Number of the line.
        line: usize,
    },
    /// The key has expired.
    #[error("key {fingerprint} has expired (line {line} of {path:?})")]
    KeyExpired {
        /// Fingerprint of the key.
        fingerprint: String,
        /// Path of the file of signers.
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
    /// The file of signers names several people for the key.
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
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Nothing can be run to verify the signature.
    #[error("the signature can't be verified")]
    Unverified(#[source] Box<dyn std::error::Error + Send + Sync>),
}
