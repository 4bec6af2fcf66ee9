//! Signatures in the format of `ssh-keygen -Y sign`.

use ccm_model::decode_base64;
use ssh_key::{HashAlg, SshSig};

use crate::key::{KeyFamily, SshKey};
use crate::wire::WireReader;

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----";
const END: &str = "-----END SSH SIGNATURE-----";
const MAGIC: &[u8] = b"SSHSIG";
/// Maximum length of the armoured text.
const MAX_SIGNATURE: usize = 32 << 10;
/// The security key was touched.
const PRESENT: u8 = 0x01;
/// The security key has verified its user, by PIN or fingerprint.
const VERIFIED: u8 = 0x04;

/// Signature over bytes, for a namespace, by a key that the signature names. It proves nothing until it is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshSignature {
    armoured: String,
    key: SshKey,
    namespace: String,
    hash: HashAlg,
    encoded: Vec<u8>,
    /// Flags of a security key.
    flags: u8,
}

impl SshSignature {
    /// Reads an armoured text. `None` if it is not exactly one signature in a form that `ssh-keygen` writes.
    pub fn parse(text: &str) -> Option<Self> {
        let trimmed = text.trim_end_matches(['\r', '\n']);
        if trimmed.len() > MAX_SIGNATURE {
            return None;
        }
        let body = trimmed.strip_prefix(BEGIN)?.strip_suffix(END)?;
        if !body.starts_with(['\r', '\n']) || !body.ends_with('\n') {
            return None;
        }
        let bytes = decode_base64(body)?;
        let mut reader = WireReader::new(&bytes);
        if reader.exactly(MAGIC.len())? != MAGIC || reader.number()? != 1 {
            return None;
        }
        let key = SshKey::decode(reader.bytes()?)?;
        let namespace = reader.text()?.to_owned();
        // Reserved for later versions. OpenSSH ignores the content; nothing that ccm reads has any.
        if !reader.bytes()?.is_empty() {
            return None;
        }
        let hash = match reader.text()? {
            "sha256" => HashAlg::Sha256,
            "sha512" => HashAlg::Sha512,
            _ => return None,
        };
        let encoded = reader.bytes()?.to_owned();
        if namespace.is_empty() || !reader.is_empty() {
            return None;
        }
        let flags = flags(&key, &encoded)?;
        Some(Self { armoured: format!("{trimmed}\n"), key, namespace, hash, encoded, flags })
    }

    /// Returns the key that the signature names.
    pub fn key(&self) -> &SshKey {
        &self.key
    }

    /// Returns the namespace.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns `true` if the signature says that the security key was touched.
    pub(crate) fn says_present(&self) -> bool {
        self.flags & PRESENT != 0
    }

    /// Returns `true` if the signature says that the security key has verified its user.
    pub(crate) fn says_verified(&self) -> bool {
        self.flags & VERIFIED != 0
    }

    /// Returns the text that `ssh-keygen` reads.
    pub fn armoured(&self) -> &str {
        &self.armoured
    }

    /// Returns `true` if the signature is that of these bytes by its key. Only for families that ccm verifies itself.
    pub fn is_of(&self, bytes: &[u8]) -> bool {
        let Ok(key) = ssh_key::PublicKey::from_bytes(self.key.encoded()) else { return false };
        let Ok(signature) = ssh_key::Signature::try_from(&*self.encoded) else { return false };
        let made = SshSig::new(key.key_data().clone(), &*self.namespace, self.hash, signature);
        made.is_ok_and(|made| key.verify(&self.namespace, bytes, &made).is_ok())
    }
}

/// Returns the flags of a signature by a security key, and 0 for other keys. `None` if the signature is not one by a key
/// of this kind.
fn flags(key: &SshKey, encoded: &[u8]) -> Option<u8> {
    let mut reader = WireReader::new(encoded);
    let (algorithm, _signature) = (reader.text()?, reader.bytes()?);
    let family = key.family();
    // The names of RSA and of certificates differ from those of their keys.
    if family != KeyFamily::Other && family != KeyFamily::Certificate && algorithm != key.algorithm() {
        return None;
    }
    let mut flags = 0;
    if family.is_security_key() {
        flags = reader.byte()?;
        let _counter = reader.number()?;
    }
    (family == KeyFamily::Certificate || reader.is_empty()).then_some(flags)
}
