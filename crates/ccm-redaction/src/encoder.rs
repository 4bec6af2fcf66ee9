//! A part of a secret in one encoding, byte by byte.

use super::encodings::{ENCODINGS, Encoding, EncodingSet, SecretPart, numbers};
use super::trie::CHUNK;
use super::{MIN_SECRET_LENGTH, REDACTED, class};
use ccm_model::escape_control;

/// Digits of base64. They are returned one by one, from any offset and behind any bytes, so that nothing is
/// left to share with the functions of expressions, which encode and decode whole values.
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Number of bytes that one character takes at most: `\ud83d\ude00`.
const MAX_UNIT: usize = 12;

/// The encoders of a set of encodings of a part.
pub(super) fn encoders(part: SecretPart<'_>, set: EncodingSet) -> impl Iterator<Item = FormEncoder<'_>> {
    numbers(set).map(move |number| FormEncoder::new(part, number))
}

/// A part in one encoding, byte by byte.
pub(super) struct FormEncoder<'t> {
    part: SecretPart<'t>,
    /// Place of the encoding in [`ENCODINGS`].
    number: u8,
    escapes: u16,
    /// Place in the text; in base64, the place in all that is encoded.
    at: usize,
    /// Number of bytes that were returned.
    pub written: usize,
    /// The character that is being returned, if it was escaped.
    unit: [u8; MAX_UNIT],
    taken: u8,
    filled: u8,
}

impl<'t> FormEncoder<'t> {
    fn new(part: SecretPart<'t>, number: u8) -> Self {
        let (encoding, ..) = ENCODINGS[usize::from(number)];
        // The first characters of base64 hold what stands before the value.
        let at = match encoding {
            Encoding::Base64 { shift, .. } if shift > 0 => usize::from(shift) + 1,
            _ => 0,
        };
        let escapes = encoding.escapes();
        Self { part, number, escapes, at, written: 0, unit: [0; MAX_UNIT], taken: 0, filled: 0 }
    }

    /// The set that has this encoding alone.
    pub(super) fn set(&self) -> u32 {
        1 << self.number
    }

    /// Returns the encoder after the first bytes.
    pub(super) fn behind(mut self, written: usize) -> Self {
        while self.written + CHUNK <= written && self.chunk().is_some() {}
        let rest = written.saturating_sub(self.written);
        self.by_ref().take(rest).for_each(drop);
        self
    }

    /// Returns `true` if what was returned so far has to be hidden where it stands.
    pub(super) fn is_complete(&self) -> bool {
        if self.taken < self.filled || self.written < MIN_SECRET_LENGTH {
            return false;
        }
        let SecretPart { text, body } = self.part;
        let is_complete = match ENCODINGS[usize::from(self.number)].0 {
            // The last character has other bits where something follows.
            Encoding::Base64 { shift, blanks, .. } => {
                let bits = base64_bits(shift, if blanks { text.len() } else { body });
                self.at == bits / 6 || self.at == bits.div_ceil(6)
            }
            _ => self.at == body || self.at == text.len(),
        };
        is_complete && !self.is_in_mark()
    }

    /// Returns the next 8 bytes, the first of them the lowest, if it is certain that they are there and that
    /// nothing is complete within or right behind them.
    pub(super) fn chunk(&mut self) -> Option<u64> {
        let SecretPart { text, body } = self.part;
        if let Encoding::Base64 { shift, url, .. } = ENCODINGS[usize::from(self.number)].0 {
            // The digits of a byte before the first one and of 7 behind it.
            let byte = self.at * 6 / 8;
            let start = byte.checked_sub(usize::from(shift));
            let bytes = match start {
                Some(start) if start + 12 < body => text.as_bytes().get(start..)?.first_chunk()?,
                _ => return None,
            };
            let bits = u64::from_be_bytes(*bytes) << (self.at * 6 % 8);
            let alphabet = if url { URL_SAFE } else { STANDARD };
            let digit = |number: usize| alphabet[(bits >> (58 - 6 * number) & 63) as usize];
            self.at += CHUNK;
            self.written += CHUNK;
            return Some(u64::from_le_bytes(std::array::from_fn(digit)));
        }
        if self.at + CHUNK >= body {
            return None;
        }
        let is_between = self.taken == self.filled;
        if is_between && let Encoding::Hex { upper } = ENCODINGS[usize::from(self.number)].0 {
            let [one, two, three, four] = *text.as_bytes().get(self.at..)?.first_chunk()?;
            self.at += CHUNK / 2;
            self.written += CHUNK;
            let [one, two, three, four] = [one, two, three, four].map(|byte| hex(byte, upper));
            let chunk = [one[0], one[1], two[0], two[1], three[0], three[1], four[0], four[1]];
            return Some(u64::from_le_bytes(chunk));
        }
        let copied: &[u8; CHUNK] = text.as_bytes().get(self.at..)?.first_chunk()?;
        let escapes = |byte: &u8| class::OF[usize::from(*byte)] & self.escapes != 0;
        if is_between && !copied.iter().any(escapes) {
            self.at += CHUNK;
            self.written += CHUNK;
            return Some(u64::from_le_bytes(*copied));
        }
        let mut chunk = [0; CHUNK];
        for place in &mut chunk {
            *place = self.next()?;
        }
        Some(u64::from_le_bytes(chunk))
    }

    fn is_in_mark(&self) -> bool {
        let again = || Self::new(self.part, self.number).take(self.written);
        REDACTED.as_bytes().windows(self.written).any(|window| window.iter().copied().eq(again()))
    }

    fn base64(&mut self, shift: u8, url: bool, blanks: bool) -> Option<u8> {
        let SecretPart { text, body } = self.part;
        let bytes = if blanks { text.as_bytes() } else { text.as_bytes().get(..body)? };
        if self.at >= base64_bits(shift, bytes.len()).div_ceil(6) {
            return None;
        }
        let byte = |at: usize| {
            let at = at.checked_sub(usize::from(shift));
            u16::from(at.and_then(|at| bytes.get(at)).copied().unwrap_or_default())
        };
        let bit = self.at * 6;
        let digit = (byte(bit / 8) << 8 | byte(bit / 8 + 1)) >> (10 - bit % 8) & 63;
        self.at += 1;
        let alphabet = if url { URL_SAFE } else { STANDARD };
        Some(alphabet[usize::from(digit)])
    }

    /// Escapes the character at the place that was reached.
    fn escape(&mut self, byte: u8) {
        let mut length = 1;
        match ENCODINGS[usize::from(self.number)].0 {
            Encoding::Raw | Encoding::Base64 { .. } => self.put([byte]),
            Encoding::Json { upper, .. } => match byte {
                b'\x08' => self.put(*b"\\b"),
                b'\t' => self.put(*b"\\t"),
                b'\n' => self.put(*b"\\n"),
                b'\x0c' => self.put(*b"\\f"),
                b'\r' => self.put(*b"\\r"),
                _ if byte.is_ascii_control() || !byte.is_ascii() => {
                    let character = self.character();
                    length = character.len_utf8();
                    for unit in character.encode_utf16(&mut [0; 2]) {
                        self.put(*b"\\u");
                        let [high, low] = unit.to_be_bytes();
                        self.put(hex(high, upper));
                        self.put(hex(low, upper));
                    }
                }
                _ => self.put([b'\\', byte]),
            },
            Encoding::Debug => {
                // The first character of a text is escaped if it would join what stands before.
                let before = if self.at == 0 { "" } else { "a" };
                let character = self.character();
                length = character.len_utf8();
                let text = format!("{before}{character}");
                self.put(text.escape_debug().skip(before.len()).collect::<String>().bytes());
            }
            Encoding::Control => {
                let character = self.character();
                length = character.len_utf8();
                let text = character.encode_utf8(&mut [0; 4]).to_owned();
                self.put(escape_control(&text).bytes());
            }
            Encoding::SingleQuoted => self.put(*br"'\''"),
            Encoding::DoubleQuoted => self.put([b'\\', byte]),
            Encoding::Hex { upper } => self.put(hex(byte, upper)),
            Encoding::Percent { plus: true, .. } if byte == b' ' => self.put(*b"+"),
            Encoding::Percent { upper, .. } => {
                self.put(*b"%");
                self.put(hex(byte, upper));
            }
        }
        self.at += length;
    }

    fn character(&self) -> char {
        let rest = self.part.text.get(self.at..).unwrap_or_default();
        rest.chars().next().unwrap_or_default()
    }

    fn put(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            if let Some(place) = self.unit.get_mut(usize::from(self.filled)) {
                *place = byte;
                self.filled += 1;
            }
        }
    }
}

impl Iterator for FormEncoder<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.taken == self.filled {
            if let Encoding::Base64 { shift, url, blanks } = ENCODINGS[usize::from(self.number)].0 {
                let byte = self.base64(shift, url, blanks)?;
                self.written += 1;
                return Some(byte);
            }
            let byte = *self.part.text.as_bytes().get(self.at)?;
            if class::OF[usize::from(byte)] & self.escapes == 0 {
                self.at += 1;
                self.written += 1;
                return Some(byte);
            }
            (self.taken, self.filled) = (0, 0);
            self.escape(byte);
        }
        let byte = *self.unit.get(usize::from(self.taken))?;
        self.taken += 1;
        self.written += 1;
        Some(byte)
    }
}

/// Number of bits that so many bytes have behind others.
fn base64_bits(shift: u8, length: usize) -> usize {
    (usize::from(shift) + length) * 8
}

fn hex(byte: u8, upper: bool) -> [u8; 2] {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}
