//! Reads encrypted texts, and opens them.

use zeroize::Zeroizing;

use crate::armour;
use crate::error::{EncryptedTextError, OpenError};
use crate::header::{Header, RecipientTag, Stanza};
use crate::host_key::HostKey;
use crate::keys::is_header_mac;
use crate::payload;
use crate::wrapping::unwrap;

/// Encrypted text, read from its armour and not opened.
pub struct EncryptedText {
    bytes: Vec<u8>,
}

impl EncryptedText {
    /// Reads an armoured text.
    pub fn parse(text: &str) -> Result<Self, EncryptedTextError> {
        let bytes = armour::read(text)?;
        Header::read(&bytes)?;
        Ok(Self { bytes })
    }

    fn header(&self) -> Result<(Header<'_>, &[u8]), OpenError> {
        Header::read(&self.bytes).map_err(|_| OpenError::Damaged)
    }

    /// Returns the recipients in the order of the text: the tag of an Ed25519 key, `None` for a key of another kind.
    pub fn recipients(&self) -> Vec<Option<RecipientTag>> {
        let tag = |stanza: &Stanza<'_>| stanza.ssh().map(|(tag, _)| tag);
        self.header().map_or_else(|_| Vec::new(), |(header, _)| header.stanzas.iter().map(tag).collect())
    }

    /// Opens the text. Nothing is returned unless all of it is as it was encrypted.
    pub fn open(&self, key: &HostKey) -> Result<Zeroizing<Vec<u8>>, OpenError> {
        let (header, payload) = self.header()?;
        if header.stanzas.iter().any(Stanza::is_passphrase) {
            return Err(OpenError::Passphrase);
        }
        let own = key.recipient().tag();
        let mut error = OpenError::NotARecipient;
        for stanza in &header.stanzas {
            let Some((tag, ephemeral)) = stanza.ssh() else { continue };
            if tag != own {
                continue;
            }
            // Another key may have the same tag by chance.
            error = OpenError::Damaged;
            let own = key.recipient();
            let file_key = unwrap(&stanza.body, &ephemeral, &key.scalar, &own.point, &own.encoded);
            let Some(file_key) = file_key else { continue };
            if !is_header_mac(&file_key, header.covered, &header.mac) {
                return Err(OpenError::Damaged);
            }
            return payload::open(&file_key, payload).ok_or(OpenError::Damaged);
        }
        Err(error)
    }
}
