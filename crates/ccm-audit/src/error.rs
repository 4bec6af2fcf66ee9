//! Errors of the log.

use std::io;
use std::path::PathBuf;

/// Error of a key of seals.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text is no key of OpenSSH.
    #[error("not a key of OpenSSH")]
    NoKey,
    /// Seals are signed with Ed25519 alone.
    #[error("expected an ssh-ed25519 key, found {found}")]
    OtherAlgorithm {
        /// Algorithm of the key.
        found: String,
    },
    /// The signature could not be made.
    #[error("the signature could not be made")]
    Signature,
}

/// Error of writing to the log. Nothing of it was recorded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A file of the log can't be read or written.
    #[error("audit log {path:?} can't be {verb}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Action that failed, such as `read`.
        verb: &'static str,
        /// Error of the system.
        source: io::Error,
    },
    /// A line is too long.
    #[error("a line of {length} bytes is too long for the audit log, which takes {limit}")]
    TooLong {
        /// Length of the line.
        length: usize,
        /// Maximum length.
        limit: usize,
    },
    /// The key of the next seal can't be used.
    #[error("the key {path:?} of the audit log can't be used")]
    Key {
        /// Path of the key.
        path: PathBuf,
        /// Error of the key.
        source: KeyError,
    },
    /// The log was changed by another program while it was open.
    #[error("audit log {path:?} was changed by another program")]
    Changed {
        /// Path of the file.
        path: PathBuf,
    },
}
