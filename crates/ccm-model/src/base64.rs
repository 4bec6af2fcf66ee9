//! Base64 of whole values, with the usual alphabet and padding. ccm-redaction computes single digits at any
//! bit offset, so the two have no code in common.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encodes bytes as Base64.
pub fn encode_base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    out
}

/// Decodes Base64; line ends are skipped. Returns `None` if the text is something else.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let letters: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    if !letters.len().is_multiple_of(4) {
        return None;
    }
    let mut out = Vec::with_capacity(letters.len() / 4 * 3);
    let groups = letters.len() / 4;
    for (at, group) in letters.chunks(4).enumerate() {
        let padding = group.iter().rev().take_while(|letter| **letter == b'=').count();
        if padding > 2 || padding > 0 && at + 1 < groups {
            return None;
        }
        let mut bits = 0_u32;
        for letter in &group[..4 - padding] {
            let value = ALPHABET.iter().position(|known| known == letter)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        bits <<= 6 * padding;
        out.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    Some(out)
}
