//! Checksums.

use sha2::{Digest as _, Sha256};

/// Returns the sha256 of bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&sha256_bytes(bytes))
}

/// Returns the sha256 of bytes.
pub fn sha256_bytes(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Returns bytes in hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = vec![0; 2 * bytes.len()];
    for (byte, digits) in bytes.iter().zip(text.chunks_exact_mut(2)) {
        digits[0] = DIGITS[usize::from(byte >> 4)];
        digits[1] = DIGITS[usize::from(byte & 15)];
    }
    String::from_utf8(text).unwrap_or_default()
}
