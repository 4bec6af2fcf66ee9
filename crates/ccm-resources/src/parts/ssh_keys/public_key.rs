//! Public keys.

use std::fmt;

use ccm_model::{decode_base64, encode_base64};
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Types of keys that OpenSSH accepts for logins.
const TYPES: [&str; 8] = [
    "ssh-ed25519",
    "sk-ssh-ed25519@openssh.com",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "sk-ecdsa-sha2-nistp256@openssh.com",
    "ssh-rsa",
    "ssh-dss",
];

/// Maximum length of a key in base64. That of an RSA key of 16384 bits is 2800.
const MAX_LENGTH: usize = 16 << 10;

/// Public key: its type, and the key in base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SshPublicKey {
    pub kind: String,
    pub blob: String,
}

impl SshPublicKey {
    /// Parses type and key. A comment behind them is left out.
    pub(crate) fn parse(text: &str) -> Result<Self, ValueError> {
        const HINT: &str = "write type and key as in a file that ends with `.pub`, like `ssh-ed25519 AAAA…`";
        let error = |message: String| ValueError::new(message).with_hint(HINT);
        if text.contains("PRIVATE KEY") {
            return Err(error("this is a private key".to_owned()));
        }
        let text = text.trim();
        if text.chars().any(char::is_control) {
            return Err(error("the key contains a line end or a control character".to_owned()));
        }
        let mut words = text.split_ascii_whitespace();
        let kind = words.next().unwrap_or_default();
        if !TYPES.contains(&kind) {
            return Err(error(format!("`{}` is not the type of a public key", kind.escape_debug())));
        }
        let blob = words.next().unwrap_or_default();
        if blob.len() > MAX_LENGTH {
            return Err(error(format!("the key is longer than {MAX_LENGTH} characters")));
        }
        let bytes = decode_base64(blob)
            .filter(|bytes| encode_base64(bytes) == blob)
            .ok_or_else(|| error("the key is not complete base64".to_owned()))?;
        if !is_of(&bytes, kind) {
            return Err(error(format!("the key is damaged, or not of type `{kind}`")));
        }
        Ok(Self { kind: kind.to_owned(), blob: blob.to_owned() })
    }

    pub(super) fn is_type(word: &[u8]) -> bool {
        TYPES.iter().any(|known| known.as_bytes() == word)
    }
}

impl fmt::Display for SshPublicKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.kind, self.blob)
    }
}

impl TextValue for SshPublicKey {
    const KIND: PropertyKind = PropertyKind::Text(
        TextKind::STRICT.matching("^\\s*(ssh|ecdsa|sk)-[^\\s]+\\s+AAAA[A-Za-z0-9+/]+=*(\\s.*)?$"),
    );

    fn from_text(text: &str) -> Result<Self, ValueError> {
        Self::parse(text)
    }
}

/// Returns `true` if a key consists of whole fields, each with its length in front, the first of which is the type.
fn is_of(bytes: &[u8], kind: &str) -> bool {
    let mut fields = Vec::new();
    let mut rest = bytes;
    while let Some((length, behind)) = rest.split_first_chunk::<4>() {
        let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
        let Some((field, behind)) = behind.split_at_checked(length) else { return false };
        fields.push(field);
        rest = behind;
    }
    rest.is_empty()
        && fields.len() >= 2
        && fields[0] == kind.as_bytes()
        && fields[1..].iter().all(|field| !field.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAbLmuMIVT/jf24lgRRDjCBFZWm9GBlBgxHGGCvm3kG";

    #[test]
    fn keys_are_parsed_without_their_comments() {
        for text in [KEY.to_owned(), format!("{KEY} ada@web1"), format!("  {KEY}  a b \n")] {
            assert_eq!(SshPublicKey::parse(&text).map(|key| key.to_string()), Ok(KEY.to_owned()));
        }
    }

    #[test]
    fn damaged_keys_are_refused() {
        let other_type = KEY.replace("ssh-ed25519 ", "ssh-rsa ");
        for text in [
            "",
            "ssh-ed25519",
            "AAAAC3NzaC1lZDI1NTE5",
            "ssh-ed25519 AAAA",
            "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGAb",
            "ssh-ed25519 !!!!",
            &KEY[..KEY.len() - 1],
            &other_type,
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "ssh-foo AAAAC3NzaC1lZDI1NTE5",
            "ssh-ed25519 AAAA\nB",
        ] {
            assert!(SshPublicKey::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_has_one_spelling() {
        let kind = "sk-ssh-ed25519@openssh.com";
        let fields: [&[u8]; 3] = [kind.as_bytes(), &[7; 32], b"ssh:"];
        let bytes =
            fields.map(|field| [&[0, 0, 0, u8::try_from(field.len()).unwrap()], field].concat()).concat();
        let blob = encode_base64(&bytes);
        assert!(SshPublicKey::parse(&format!("{kind} {blob}")).is_ok(), "{blob}");
        // The bits of the last digit that are no part of a byte.
        let other = blob.replace("o=", "p=");
        assert_eq!((decode_base64(&other), other != blob), (Some(bytes), true));
        assert!(SshPublicKey::parse(&format!("{kind} {other}")).is_err(), "{other}");
    }
}
