//! Keys of seals.

use std::fmt;

use ssh_key::private::{Ed25519Keypair, KeypairData};
use ssh_key::{HashAlg, LineEnding, PrivateKey, SshSig};

use crate::error::KeyError;

/// Namespace of the signature of a seal, as in `ssh-keygen -Y verify -n`.
pub const SEAL_NAMESPACE: &str = "ccm-seal@v1";
/// Name of ccm in a file of allowed signers, as in `ssh-keygen -Y verify -I`.
pub const SEAL_PRINCIPAL: &str = "ccm";
/// Size of the secret of a key.
pub(crate) const SEED: usize = 32;

/// Public key of a seal.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(ssh_key::PublicKey);

impl PublicKey {
    /// Reads a key from a line of OpenSSH, whose comment is left out.
    pub fn parse(line: &str) -> Result<Self, KeyError> {
        let key = ssh_key::PublicKey::from_openssh(line.trim()).map_err(|_| KeyError::NoKey)?;
        if key.algorithm() != ssh_key::Algorithm::Ed25519 {
            return Err(KeyError::OtherAlgorithm { found: key.algorithm().to_string() });
        }
        Ok(Self(ssh_key::PublicKey::new(key.key_data().clone(), "")))
    }

    /// Returns `true` if the signature is that of the text by this key.
    pub(crate) fn has_signed(&self, text: &str, signature: &str) -> bool {
        let Ok(parsed) = SshSig::from_pem(signature) else { return false };
        // One signature has one spelling, so that nobody can change a byte of it unnoticed.
        let is_as_written = parsed.to_pem(LineEnding::LF).is_ok_and(|written| written == signature);
        is_as_written && self.0.verify(SEAL_NAMESPACE, text.as_bytes(), &parsed).is_ok()
    }

    /// Returns the fingerprint, such as `SHA256:…`.
    pub fn fingerprint(&self) -> String {
        self.0.fingerprint(HashAlg::Sha256).to_string()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key was read from such a line, or made.
        formatter.write_str(self.0.to_openssh().unwrap_or_default().trim_end())
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "PublicKey({})", self.fingerprint())
    }
}

/// Key that signs one seal.
pub(crate) struct SealKey(PrivateKey);

impl SealKey {
    /// Makes a key from random bytes.
    pub(crate) fn from_seed(seed: &[u8; SEED]) -> Result<Self, KeyError> {
        let pair = KeypairData::Ed25519(Ed25519Keypair::from_seed(seed));
        PrivateKey::new(pair, "").map(Self).map_err(|_| KeyError::NoKey)
    }

    /// Reads a key from its file.
    pub(crate) fn parse(text: &str) -> Result<Self, KeyError> {
        let key = PrivateKey::from_openssh(text).map_err(|_| KeyError::NoKey)?;
        if key.algorithm() != ssh_key::Algorithm::Ed25519 {
            return Err(KeyError::OtherAlgorithm { found: key.algorithm().to_string() });
        }
        Ok(Self(key))
    }

    /// Returns the content of its file.
    pub(crate) fn file(&self) -> Result<impl AsRef<[u8]> + use<>, KeyError> {
        self.0.to_openssh(LineEnding::LF).map(SecretText).map_err(|_| KeyError::NoKey)
    }

    pub(crate) fn public(&self) -> PublicKey {
        PublicKey(ssh_key::PublicKey::new(self.0.public_key().key_data().clone(), ""))
    }

    /// Signs a text, in the armour of OpenSSH.
    pub(crate) fn sign(&self, text: &str) -> Result<String, KeyError> {
        let signature = self.0.sign(SEAL_NAMESPACE, HashAlg::Sha512, text.as_bytes());
        let signature = signature.map_err(|_| KeyError::Signature)?;
        signature.to_pem(LineEnding::LF).map_err(|_| KeyError::Signature)
    }
}

/// Secret text that is overwritten in memory when it is dropped.
struct SecretText<T>(T);

impl<T: std::ops::Deref<Target = String>> AsRef<[u8]> for SecretText<T> {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: u8) -> SealKey {
        SealKey::from_seed(&[byte; SEED]).expect("a key")
    }

    #[test]
    fn a_key_survives_its_file() {
        let text = key(1).file().expect("a file");
        let text = std::str::from_utf8(text.as_ref()).expect("text");
        let read = SealKey::parse(text).expect("a key");
        assert_eq!(read.public(), key(1).public());
        assert_eq!(PublicKey::parse(&read.public().to_string()), Ok(key(1).public()));
    }

    #[test]
    fn only_the_key_that_signed_has_signed() {
        let signature = key(1).sign("text").expect("a signature");
        assert!(key(1).public().has_signed("text", &signature));
        assert!(!key(1).public().has_signed("texT", &signature));
        assert!(!key(2).public().has_signed("text", &signature));
        assert!(!key(1).public().has_signed("text", "no signature"));
        let elsewhere = key(1).0.sign("other@v1", HashAlg::Sha512, b"text").expect("a signature");
        let elsewhere = elsewhere.to_pem(LineEnding::LF).expect("its armour");
        assert!(!key(1).public().has_signed("text", &elsewhere), "of another namespace");
    }

    #[test]
    fn other_keys_are_refused_by_name() {
        let ecdsa = "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=";
        for text in ["", "ssh-ed25519", "ssh-ed25519 AAAA", "-----BEGIN OPENSSH PRIVATE KEY-----"] {
            assert_eq!(PublicKey::parse(text), Err(KeyError::NoKey), "{text}");
        }
        let refused = PublicKey::parse(ecdsa);
        assert!(matches!(refused, Err(KeyError::OtherAlgorithm { .. } | KeyError::NoKey)), "{refused:?}");
    }
}
