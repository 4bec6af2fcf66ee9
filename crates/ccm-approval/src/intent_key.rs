//! Key of ccm, which signs intents.

use std::io;

use ccm_host::random_secret;
use ccm_sshsig::{SshKey, SshSignature};
use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::{HashAlg, LineEnding, PrivateKey};

use crate::intent::INTENT_NAMESPACE;

/// Key of ccm. It proves that an intent was made by this machine.
pub struct IntentKey {
    private: PrivateKey,
    public: SshKey,
}

/// Error of the key of ccm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntentKeyError {
    /// The system has no random numbers.
    #[error("no random numbers for a key")]
    Random(#[from] io::Error),
    /// The file holds no private ssh-ed25519 key.
    #[error("not a private ssh-ed25519 key of OpenSSH")]
    NoKey,
}

impl IntentKey {
    /// Makes a key from random bytes.
    pub fn generate() -> Result<Self, IntentKeyError> {
        let pair = KeypairData::Ed25519(Ed25519Keypair::from_seed(&random_secret()?));
        Self::of(PrivateKey::new(pair, "").map_err(|_| IntentKeyError::NoKey)?)
    }

    /// Reads a key from its file.
    pub fn parse(text: &str) -> Result<Self, IntentKeyError> {
        Self::of(PrivateKey::from_openssh(text).map_err(|_| IntentKeyError::NoKey)?)
    }

    fn of(private: PrivateKey) -> Result<Self, IntentKeyError> {
        if private.algorithm() != ssh_key::Algorithm::Ed25519 {
            return Err(IntentKeyError::NoKey);
        }
        let encoded = private.public_key().to_bytes().map_err(|_| IntentKeyError::NoKey)?;
        let public = SshKey::decode(&encoded).ok_or(IntentKeyError::NoKey)?;
        Ok(Self { private, public })
    }

    /// Returns the content of its file. It is overwritten in memory when it is dropped.
    pub fn file(&self) -> Result<impl std::ops::Deref<Target = String> + use<>, IntentKeyError> {
        self.private.to_openssh(LineEnding::LF).map_err(|_| IntentKeyError::NoKey)
    }

    /// Returns the public key.
    pub fn public(&self) -> &SshKey {
        &self.public
    }

    /// Signs the text of an intent, in the armour of OpenSSH.
    pub fn sign(&self, text: &str) -> Result<String, IntentKeyError> {
        let signature = self.private.sign(INTENT_NAMESPACE, HashAlg::Sha512, text.as_bytes());
        let armoured = signature.and_then(|signature| signature.to_pem(LineEnding::LF));
        armoured.map_err(|_| IntentKeyError::NoKey)
    }

    /// Returns `true` if the signature is that of the text by this key.
    pub fn has_signed(&self, text: &str, signature: &str) -> bool {
        SshSignature::parse(signature).is_some_and(|signature| {
            *signature.key() == self.public
                && signature.namespace() == INTENT_NAMESPACE
                && signature.is_of(text.as_bytes())
        })
    }
}
