//! Private keys to open texts with.

use std::fmt;

use sha2::{Digest as _, Sha512};
use ssh_key::PrivateKey;
use zeroize::Zeroizing;

use crate::error::HostKeyError;
use crate::recipient::Recipient;

/// Private key of a host or a person: Ed25519, as OpenSSH writes it, without a passphrase.
pub struct HostKey {
    /// The scalar of the key.
    pub(crate) scalar: Zeroizing<[u8; 32]>,
    recipient: Recipient,
}

impl HostKey {
    /// Reads the text of a private key.
    pub fn parse(text: &str) -> Result<Self, HostKeyError> {
        let key = PrivateKey::from_openssh(text.trim_start()).map_err(|_| HostKeyError::NoKey)?;
        let algorithm = || HostKeyError::Algorithm(key.algorithm().to_string());
        let recipient = Recipient::of(key.public_key()).map_err(|_| algorithm())?;
        if key.is_encrypted() {
            return Err(HostKeyError::Passphrase);
        }
        let pair = key.key_data().ed25519().ok_or_else(algorithm)?;
        let seed = Zeroizing::new(pair.private.to_bytes());
        let hash = Zeroizing::new(<[u8; 64]>::from(Sha512::digest(seed.as_slice())));
        let mut scalar = Zeroizing::new([0; 32]);
        scalar.copy_from_slice(&hash[..32]);
        Ok(Self { scalar, recipient })
    }

    /// Returns the public key.
    pub fn recipient(&self) -> &Recipient {
        &self.recipient
    }
}

impl fmt::Debug for HostKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HostKey").field("recipient", &self.recipient.line()).finish_non_exhaustive()
    }
}
