//! Errors of this crate. None holds a byte of a secret.

use crate::MAX_PLAIN_BYTES;

/// Reason why a text is not one that age has encrypted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncryptedTextError {
    /// It does not begin with the line of the armour.
    #[error("it does not begin with the line `{}`", crate::BEGIN)]
    NotArmoured,
    /// A line of the armour is none.
    #[error("line {line} is no line of the armour")]
    Armour {
        /// Number of the line in the text, from 1.
        line: usize,
    },
    /// The last line of the armour is missing.
    #[error("its end is missing")]
    Cut,
    /// Something follows the armour.
    #[error("line {line} follows the end of the armour")]
    Trailing {
        /// Number of the line in the text, from 1.
        line: usize,
    },
    /// The first line within is that of another version.
    #[error("it is not of version 1 of age")]
    Version,
    /// The entries for the recipients can't be read.
    #[error("the entries of its recipients are damaged")]
    Header,
    /// The text has too many recipients.
    #[error("it has more than {} recipients", crate::header::MAX_STANZAS)]
    TooManyRecipients,
    /// The text is too long.
    #[error("it is longer than {} MiB", MAX_PLAIN_BYTES >> 20)]
    TooLong,
}

/// Reason why an encrypted text can't be opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The text is encrypted to other keys.
    #[error("it is not encrypted to this key")]
    NotARecipient,
    /// The text is encrypted with a passphrase.
    #[error("it is encrypted with a passphrase, which ccm never asks for")]
    Passphrase,
    /// The entry for this key, or what follows, was changed.
    #[error("it was changed or damaged since it was encrypted")]
    Damaged,
}

/// Reason why a text is no private key of a host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HostKeyError {
    /// It is no private key of OpenSSH.
    #[error("it is no private key of OpenSSH")]
    NoKey,
    /// The key has a passphrase.
    #[error("it is protected by a passphrase")]
    Passphrase,
    /// The key has another algorithm.
    #[error("it is a key of the kind {0}, and only ssh-ed25519 opens encrypted values")]
    Algorithm(String),
}

/// Reason why a line is no public key to encrypt to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecipientError {
    /// It is no public key of OpenSSH.
    #[error("it is no public key of OpenSSH")]
    NoKey,
    /// The key has another algorithm.
    #[error("it is a key of the kind {0}, and values are encrypted to ssh-ed25519 alone")]
    Algorithm(String),
    /// The key is of a kind from which everybody could derive the secret.
    #[error("it is no key that somebody can have the private part of")]
    Weak,
}
