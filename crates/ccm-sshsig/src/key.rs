//! Public keys in the encoding of OpenSSH.

use std::fmt;

use ccm_model::{decode_base64, encode_base64};
use sha2::{Digest as _, Sha256};

use crate::wire::WireReader;

/// Maximum length of the encoding of a key. That of RSA with 16384 bits has 2.1 KiB.
const MAX_KEY: usize = 16 << 10;

/// Public key of OpenSSH. Its type decides which program verifies its signatures.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct SshKey {
    encoded: Vec<u8>,
    name: String,
}

/// Algorithm of a key, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFamily {
    /// Ed25519, verified by ccm itself.
    Ed25519,
    /// Ed25519 on a security key, verified by ccm itself.
    SecurityEd25519,
    /// ECDSA on a security key, verified by `ssh-keygen`.
    SecurityEcdsa,
    /// Another algorithm, verified by `ssh-keygen`.
    Other,
    /// A certificate, which is refused.
    Certificate,
}

impl KeyFamily {
    /// Returns `true` for a key in hardware that is touched.
    pub fn is_security_key(self) -> bool {
        matches!(self, Self::SecurityEd25519 | Self::SecurityEcdsa)
    }
}

impl SshKey {
    /// Reads the binary encoding. `None` if it is none, or longer than any key.
    pub fn decode(encoded: &[u8]) -> Option<Self> {
        let name = WireReader::new(encoded).text()?;
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_name || encoded.len() > MAX_KEY {
            return None;
        }
        Some(Self { name: name.to_owned(), encoded: encoded.to_owned() })
    }

    /// Reads the two words of a line of OpenSSH.
    pub(crate) fn from_words(name: &str, base64: &str) -> Option<Self> {
        let known = KNOWN.contains(&name) || name.ends_with(CERTIFICATE);
        if !known || base64.len() > 2 * MAX_KEY {
            return None;
        }
        Self::decode(&decode_base64(base64)?).filter(|key| key.name == name)
    }

    /// Reads a line of OpenSSH, such as a file `id_ed25519.pub`. A comment is left out.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_ascii_whitespace();
        Self::from_words(words.next()?, words.next()?)
    }

    /// Returns the name of the algorithm, such as `ssh-ed25519`.
    pub fn algorithm(&self) -> &str {
        &self.name
    }

    /// Returns the algorithm, as far as it matters.
    pub fn family(&self) -> KeyFamily {
        match &*self.name {
            "ssh-ed25519" => KeyFamily::Ed25519,
            "sk-ssh-ed25519@openssh.com" => KeyFamily::SecurityEd25519,
            "sk-ecdsa-sha2-nistp256@openssh.com" => KeyFamily::SecurityEcdsa,
            name if name.ends_with(CERTIFICATE) => KeyFamily::Certificate,
            _ => KeyFamily::Other,
        }
    }

    /// Returns the fingerprint, such as `SHA256:…`.
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", encode_base64(&Sha256::digest(&self.encoded)).trim_end_matches('='))
    }

    pub(crate) fn encoded(&self) -> &[u8] {
        &self.encoded
    }
}

/// End of the name of a certificate.
const CERTIFICATE: &str = "-cert-v01@openssh.com";
/// Names that a line may begin with. Anything else is an option.
const KNOWN: [&str; 7] = [
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
];

impl fmt::Display for SshKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.name, encode_base64(&self.encoded))
    }
}

impl fmt::Debug for SshKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SshKey({} {})", self.name, self.fingerprint())
    }
}
