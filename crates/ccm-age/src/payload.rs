//! What follows the header: parts of 64 KiB, each with a tag, the last one marked as such.

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::keys::{FileKey, derive};

const PART: usize = 64 << 10;
const TAG: usize = 16;
/// Length of the salt in front of the parts.
pub(crate) const SALT: usize = 16;

fn key(file_key: &FileKey, salt: &[u8]) -> Option<LessSafeKey> {
    let key = derive(salt, "payload", &**file_key);
    UnboundKey::new(&CHACHA20_POLY1305, &*key).ok().map(LessSafeKey::new)
}

/// Returns the number of a part, of which no other part of the text has the same.
fn nonce(number: usize, is_last: bool) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes[3..11].copy_from_slice(&(number as u64).to_be_bytes());
    bytes[11] = u8::from(is_last);
    Nonce::assume_unique_for_key(bytes)
}

/// Opens the parts. `None` if something was changed, is missing or follows.
pub(crate) fn open(file_key: &FileKey, payload: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (salt, parts) = payload.split_at_checked(SALT)?;
    let key = key(file_key, salt)?;
    let mut plain = Zeroizing::new(Vec::with_capacity(parts.len()));
    let count = parts.chunks(PART + TAG).count();
    for (number, part) in parts.chunks(PART + TAG).enumerate() {
        let is_last = number + 1 == count;
        let mut part = Zeroizing::new(part.to_vec());
        let opened = key.open_in_place(nonce(number, is_last), Aad::empty(), &mut part).ok()?;
        // An empty part would be another spelling of the same text.
        if opened.is_empty() && number > 0 {
            return None;
        }
        plain.extend_from_slice(opened);
    }
    (count > 0).then_some(plain)
}

/// Returns the salt and the parts of a text.
pub(crate) fn seal(file_key: &FileKey, salt: [u8; SALT], plain: &[u8]) -> Option<Vec<u8>> {
    let key = key(file_key, &salt)?;
    let mut payload = salt.to_vec();
    let count = plain.len().div_ceil(PART).max(1);
    for number in 0..count {
        let part = &plain[number * PART..plain.len().min((number + 1) * PART)];
        let mut sealed = Zeroizing::new(part.to_vec());
        let nonce = nonce(number, number + 1 == count);
        let tag = key.seal_in_place_separate_tag(nonce, Aad::empty(), &mut sealed).ok()?;
        payload.extend_from_slice(&sealed);
        payload.extend_from_slice(tag.as_ref());
    }
    Some(payload)
}
