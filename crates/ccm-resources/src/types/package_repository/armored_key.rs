//! Public keys of `OpenPGP` in their text form, and their fingerprints.

use std::fmt::Write as _;

use ccm_model::decode_base64;
use sha1::{Digest as _, Sha1};

const BEGIN: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----";
const END: &str = "-----END PGP PUBLIC KEY BLOCK-----";

/// Packet tags.
const SECRET_KEY: u8 = 5;
const PUBLIC_KEY: u8 = 6;

/// Error in a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ArmoredKeyError {
    #[error("the key does not begin with `{BEGIN}`")]
    NotArmored,
    #[error("the key is not complete")]
    Damaged,
    #[error("the file has a private key")]
    Private,
    #[error("the key has a version that is not supported")]
    Version,
}

/// Returns the fingerprints of the keys in a text, without those of subkeys.
pub(crate) fn fingerprints(text: &str) -> Result<Vec<String>, ArmoredKeyError> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, block)) = rest.split_once(BEGIN) {
        let (block, after) = block.split_once(END).ok_or(ArmoredKeyError::Damaged)?;
        rest = after;
        let bytes = block_bytes(block).ok_or(ArmoredKeyError::Damaged)?;
        found.extend(of_packets(&bytes)?);
    }
    if text.contains("PRIVATE KEY BLOCK") {
        return Err(ArmoredKeyError::Private);
    }
    if found.is_empty() { Err(ArmoredKeyError::NotArmored) } else { Ok(found) }
}

/// Decodes the base64 of a block, below its headers and without its checksum.
fn block_bytes(block: &str) -> Option<Vec<u8>> {
    let lines = block.lines().map(str::trim).skip(1).skip_while(|line| !line.is_empty()).skip(1);
    let text: String = lines.take_while(|line| !line.starts_with('=')).collect();
    decode_base64(&text)
}

fn of_packets(mut bytes: &[u8]) -> Result<Vec<String>, ArmoredKeyError> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let (tag, body, rest) = packet(bytes).ok_or(ArmoredKeyError::Damaged)?;
        bytes = rest;
        match tag {
            SECRET_KEY => return Err(ArmoredKeyError::Private),
            PUBLIC_KEY if body.first() == Some(&4) => {
                let length = u16::try_from(body.len()).map_err(|_| ArmoredKeyError::Damaged)?;
                let mut hash = Sha1::new();
                hash.update([0x99]);
                hash.update(length.to_be_bytes());
                hash.update(body);
                let mut text = String::new();
                for byte in hash.finalize() {
                    // Writing to a string does not fail.
                    let _ = write!(text, "{byte:02X}");
                }
                found.push(text);
            }
            PUBLIC_KEY => return Err(ArmoredKeyError::Version),
            _ => {}
        }
    }
    Ok(found)
}

/// Splits off a packet: its tag, its body, and what is behind it.
fn packet(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (first, rest) = bytes.split_first()?;
    if first & 0x80 == 0 {
        return None;
    }
    let number = |bytes: &[u8]| bytes.iter().fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
    let (tag, length, rest) = if first & 0x40 == 0 {
        let size = match first & 3 {
            0 => 1,
            1 => 2,
            2 => 4,
            _ => return None,
        };
        (first >> 2 & 0xf, number(rest.get(..size)?), rest.get(size..)?)
    } else {
        let tag = first & 0x3f;
        match *rest.first()? {
            length @ 0..192 => (tag, usize::from(length), rest.get(1..)?),
            high @ 192..224 => {
                (tag, ((usize::from(high) - 192) << 8) + usize::from(*rest.get(1)?) + 192, rest.get(2..)?)
            }
            255 => (tag, number(rest.get(1..5)?), rest.get(5..)?),
            _ => return None,
        }
    };
    Some((tag, rest.get(..length)?, rest.get(length..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Key of version 4 with one byte of material, and a packet of another kind behind it.
    const KEY: &str = "-----BEGIN PGP PUBLIC KEY BLOCK-----\nVersion: x\n\nxgIEAc0BYQ==\n=abcd\n-----END PGP PUBLIC KEY BLOCK-----\n";

    #[test]
    fn fingerprints_are_computed_for_each_key() {
        let one = fingerprints(KEY).expect("a key");
        assert_eq!(one.len(), 1);
        // As `sha1sum` computes it for the bytes 99 00 02 04 01.
        assert_eq!(one[0], "0845B9F20A829CF4D7037465E165AB6B1567E939");
        assert_eq!(fingerprints(&format!("{KEY}{KEY}")).map(|found| found.len()), Ok(2));
        assert_eq!(fingerprints(""), Err(ArmoredKeyError::NotArmored));
        assert_eq!(fingerprints(&KEY.replace("PUBLIC", "PRIVATE")), Err(ArmoredKeyError::Private));
        assert_eq!(fingerprints(&KEY.replace("xgIEAc0BYQ==", "xgIEAc0")), Err(ArmoredKeyError::Damaged));
        assert_eq!(fingerprints(&KEY.replace("xgI", "x*I")), Err(ArmoredKeyError::Damaged));
        assert_eq!(fingerprints(&KEY.replace("xgIEAc0BYQ==", "xgIDAQ==")), Err(ArmoredKeyError::Version));
        assert_eq!(fingerprints(&KEY.replace("xgIEAc0BYQ==", "xQIEAQ==")), Err(ArmoredKeyError::Private));
    }
}
