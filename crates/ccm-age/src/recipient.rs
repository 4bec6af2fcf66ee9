//! Public keys to encrypt to.

use curve25519_dalek::MontgomeryPoint;
use curve25519_dalek::edwards::CompressedEdwardsY;
use sha2::{Digest as _, Sha256};
use ssh_key::PublicKey;

use crate::error::RecipientError;
use crate::header::RecipientTag;

/// Public key of a host or a person: Ed25519, as OpenSSH writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipient {
    /// The key as OpenSSH encodes it.
    pub(crate) encoded: Vec<u8>,
    pub(crate) point: MontgomeryPoint,
    line: String,
}

impl Recipient {
    /// Reads a line of a `.pub` file: `ssh-ed25519`, the key, and a comment that does not matter.
    pub fn parse(line: &str) -> Result<Self, RecipientError> {
        let key = PublicKey::from_openssh(line.trim()).map_err(|_| RecipientError::NoKey)?;
        Self::of(&key)
    }

    pub(crate) fn of(key: &PublicKey) -> Result<Self, RecipientError> {
        let Some(ed25519) = key.key_data().ed25519() else {
            return Err(RecipientError::Algorithm(key.algorithm().to_string()));
        };
        let point = CompressedEdwardsY(ed25519.0).decompress().ok_or(RecipientError::NoKey)?;
        if point.is_small_order() {
            return Err(RecipientError::Weak);
        }
        let mut bare = key.clone();
        bare.set_comment("");
        let line = bare.to_openssh().map_err(|_| RecipientError::NoKey)?;
        let encoded = key.to_bytes().map_err(|_| RecipientError::NoKey)?;
        Ok(Self { encoded, point: point.to_montgomery(), line: line.trim_end().to_owned() })
    }

    /// Returns the short name of the key in encrypted texts. Other keys may have the same one by chance.
    pub fn tag(&self) -> RecipientTag {
        let hash = Sha256::digest(&self.encoded);
        RecipientTag([hash[0], hash[1], hash[2], hash[3]])
    }

    /// Returns the key as a line of a `.pub` file, without a comment.
    pub fn line(&self) -> &str {
        &self.line
    }
}
