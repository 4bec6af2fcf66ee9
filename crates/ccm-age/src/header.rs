//! The header: a version, an entry for each recipient, and a code that covers them.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;

use crate::error::EncryptedTextError;

/// Maximum number of entries.
pub(crate) const MAX_STANZAS: usize = 4_096;
/// Maximum length of a header.
pub(crate) const MAX_HEADER: usize = 1 << 20;
/// First line.
pub(crate) const VERSION: &str = "age-encryption.org/v1";
/// Length of the code at the end.
const MAC_BYTES: usize = 32;
/// Length of a full line of an entry's body.
const COLUMNS: usize = 64;
/// Kind of the entries for Ed25519 keys of OpenSSH.
pub(crate) const SSH_ED25519: &str = "ssh-ed25519";
const SCRYPT: &str = "scrypt";

/// Short name of a recipient in an encrypted text: the first bytes of the hash of the public key, shown as in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecipientTag(pub(crate) [u8; 4]);

impl fmt::Display for RecipientTag {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&BASE64_STANDARD_NO_PAD.encode(self.0))
    }
}

/// Entry of a recipient.
pub(crate) struct Stanza<'h> {
    pub(crate) kind: &'h str,
    pub(crate) arguments: Vec<&'h str>,
    pub(crate) body: Vec<u8>,
}

/// Header of an encrypted text.
pub(crate) struct Header<'h> {
    pub(crate) stanzas: Vec<Stanza<'h>>,
    /// Bytes that the code covers.
    pub(crate) covered: &'h [u8],
    pub(crate) mac: [u8; MAC_BYTES],
}

impl Stanza<'_> {
    pub(crate) fn is_passphrase(&self) -> bool {
        self.kind == SCRYPT
    }

    /// Returns the tag of an entry for an Ed25519 key, and the ephemeral public key. `None` for other kinds.
    pub(crate) fn ssh(&self) -> Option<(RecipientTag, [u8; 32])> {
        let [tag, ephemeral] = self.arguments[..] else { return None };
        (self.kind == SSH_ED25519).then_some(())?;
        Some((RecipientTag(exact(tag)?), exact(ephemeral)?))
    }
}

impl<'h> Header<'h> {
    /// Reads the header at the beginning of bytes, and returns what follows it.
    pub(crate) fn read(bytes: &'h [u8]) -> Result<(Self, &'h [u8]), EncryptedTextError> {
        let mut rest = bytes;
        if line(&mut rest) != Some(VERSION) {
            return Err(EncryptedTextError::Version);
        }
        let mut stanzas = Vec::new();
        loop {
            if bytes.len() - rest.len() > MAX_HEADER {
                return Err(EncryptedTextError::TooLong);
            }
            let before = rest;
            let words = line(&mut rest).ok_or(EncryptedTextError::Header)?;
            if let Some(mac) = words.strip_prefix("--- ") {
                let covered = &bytes[..bytes.len() - before.len() + 3];
                let mac = exact(mac).ok_or(EncryptedTextError::Header)?;
                let header = Header { stanzas, covered, mac };
                return if header.stanzas.is_empty() {
                    Err(EncryptedTextError::Header)
                } else {
                    Ok((header, rest))
                };
            }
            let mut words = words.strip_prefix("-> ").ok_or(EncryptedTextError::Header)?.split(' ');
            let kind = words.next().unwrap_or_default();
            let arguments: Vec<&str> = words.collect();
            let is_word = |word: &&str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
            if !arguments.iter().chain([&kind]).all(is_word) {
                return Err(EncryptedTextError::Header);
            }
            if stanzas.len() == MAX_STANZAS {
                return Err(EncryptedTextError::TooManyRecipients);
            }
            let body = body(&mut rest).ok_or(EncryptedTextError::Header)?;
            stanzas.push(Stanza { kind, arguments, body });
        }
    }
}

/// Returns the next line without its end; `None` at the end, and for a line that is not ASCII.
fn line<'h>(rest: &mut &'h [u8]) -> Option<&'h str> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, after) = rest.split_at(end);
    *rest = &after[1..];
    std::str::from_utf8(line).ok().filter(|line| line.is_ascii())
}

/// Reads the body of an entry: full lines, and one that is shorter, which may be empty.
fn body(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let line = line(rest)?;
        if line.len() > COLUMNS {
            return None;
        }
        BASE64_STANDARD_NO_PAD.decode_vec(line, &mut bytes).ok()?;
        if line.len() < COLUMNS {
            return Some(bytes);
        }
    }
}

/// Decodes Base64 without padding to a known number of bytes.
fn exact<const N: usize>(text: &str) -> Option<[u8; N]> {
    let decoded = (text.len() < 2 * N).then(|| BASE64_STANDARD_NO_PAD.decode(text).ok())??;
    decoded.try_into().ok()
}
