//! Keys that are derived from others.

use ring::hkdf::{HKDF_SHA256, KeyType, Salt};
use ring::hmac;
use zeroize::Zeroizing;

/// The key with which a text is encrypted, before it is wrapped for its recipients.
pub(crate) type FileKey = Zeroizing<[u8; 16]>;

/// Length of all derived keys.
struct ThirtyTwo;

impl KeyType for ThirtyTwo {
    fn len(&self) -> usize {
        32
    }
}

/// Derives a key of 32 bytes.
pub(crate) fn derive(salt: &[u8], label: &str, from: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0; 32]);
    let pseudorandom = Salt::new(HKDF_SHA256, salt).extract(from);
    let info = [label.as_bytes()];
    let filled = pseudorandom.expand(&info, ThirtyTwo).and_then(|material| material.fill(&mut *key));
    debug_assert!(filled.is_ok(), "32 bytes are within what a key can be expanded to");
    key
}

/// Returns the key of the code that covers a header.
fn header_key(file_key: &FileKey) -> hmac::Key {
    hmac::Key::new(hmac::HMAC_SHA256, &*derive(&[], "header", &**file_key))
}

/// Returns the code that covers a header.
pub(crate) fn header_mac(file_key: &FileKey, covered: &[u8]) -> hmac::Tag {
    hmac::sign(&header_key(file_key), covered)
}

/// Returns `true` if a code covers a header. The comparison takes the same time for any code.
pub(crate) fn is_header_mac(file_key: &FileKey, covered: &[u8], mac: &[u8]) -> bool {
    hmac::verify(&header_key(file_key), covered, mac).is_ok()
}
