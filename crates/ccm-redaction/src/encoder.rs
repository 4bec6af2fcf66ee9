//! A part of a secret in one encoding, byte by byte.

use super::encodings::{ENCODINGS, Encoding, EncodingSet, SecretPart, indices};
use super::trie::CHUNK;
use super::{MIN_SECRET_LENGTH, REDACTED, class};
use ccm_model::escape_control;

/// Digits of base64. The functions of expressions encode whole values; this encoder starts at any offset and
/// returns single digits, so the two share no code.
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Maximum number of bytes of an escaped character: `\ud83d\ude00`, `\342\200\250`.
const MAX_UNIT: usize = 12;

/// Returns the encoders of a part, for a set of encodings.
pub(super) fn encoders(part: SecretPart<'_>, set: EncodingSet) -> impl Iterator<Item = FormEncoder<'_>> {
    indices(set).map(move |index| FormEncoder::new(part, index))
}

/// Iterator over the bytes of a part in one encoding, its form.
pub(super) struct FormEncoder<'t> {
    part: SecretPart<'t>,
    /// Index of the encoding in [`ENCODINGS`].
    index: u8,
    /// Classes of bytes that the encoding escapes.
    escapes: u32,
    /// Offset in the text; in base64, the number of the next digit.
    offset: usize,
    /// Number of bytes that were returned.
    pub written: usize,
    /// The escaped character that is being returned.
    unit: [u8; MAX_UNIT],
    /// Number of bytes of `unit` that were returned.
    taken: u8,
    /// Number of bytes in `unit`.
    filled: u8,
}

impl<'t> FormEncoder<'t> {
    fn new(part: SecretPart<'t>, index: u8) -> Self {
        let (encoding, ..) = ENCODINGS[usize::from(index)];
        // The first digits of base64 depend on the bytes before the value.
        let offset = match encoding {
            Encoding::Base64 { shift, .. } if shift > 0 => usize::from(shift) + 1,
            _ => 0,
        };
        let escapes = encoding.escapes();
        Self { part, index, escapes, offset, written: 0, unit: [0; MAX_UNIT], taken: 0, filled: 0 }
    }

    pub(super) fn set(&self) -> u64 {
        1 << self.index
    }

    pub(super) fn skip_bytes(mut self, written: usize) -> Self {
        while self.written + CHUNK <= written && self.chunk().is_some() {}
        let rest = written.saturating_sub(self.written);
        self.by_ref().take(rest).for_each(drop);
        self
    }

    /// Returns `true` if the bytes returned so far form a whole value that has to be hidden.
    pub(super) fn is_complete(&self) -> bool {
        if self.taken < self.filled || self.written < MIN_SECRET_LENGTH {
            return false;
        }
        let SecretPart { text, body } = self.part;
        let is_complete = match ENCODINGS[usize::from(self.index)].0 {
            // The last digit may depend on bytes after the value, so a form may lack it.
            Encoding::Base64 { shift, blanks, .. } => {
                let bits = base64_bits(shift, if blanks { text.len() } else { body });
                self.offset == bits / 6 || self.offset == bits.div_ceil(6)
            }
            _ => self.offset == body || self.offset == text.len(),
        };
        is_complete && !self.occurs_in_placeholder()
    }

    /// Returns the next 8 bytes, the first one lowest. Returns `None` if a form may end within or right after
    /// them.
    pub(super) fn chunk(&mut self) -> Option<u64> {
        let SecretPart { text, body } = self.part;
        if let Encoding::Base64 { shift, url, .. } = ENCODINGS[usize::from(self.index)].0 {
            // 8 digits depend on at most 7 bytes. With 12 bytes left, no form ends within them or right after them.
            let byte = self.offset * 6 / 8;
            let start = byte.checked_sub(usize::from(shift));
            let bytes = match start {
                Some(start) if start + 12 < body => text.as_bytes().get(start..)?.first_chunk()?,
                _ => return None,
            };
            let bits = u64::from_be_bytes(*bytes) << (self.offset * 6 % 8);
            let alphabet = if url { URL_SAFE } else { STANDARD };
            let digit = |number: usize| alphabet[(bits >> (58 - 6 * number) & 63) as usize];
            self.offset += CHUNK;
            self.written += CHUNK;
            return Some(u64::from_le_bytes(std::array::from_fn(digit)));
        }
        if self.offset + CHUNK >= body {
            return None;
        }
        let is_between = self.taken == self.filled;
        if is_between && let Encoding::Hex { upper } = ENCODINGS[usize::from(self.index)].0 {
            let [one, two, three, four] = *text.as_bytes().get(self.offset..)?.first_chunk()?;
            self.offset += CHUNK / 2;
            self.written += CHUNK;
            let [one, two, three, four] = [one, two, three, four].map(|byte| hex(byte, upper));
            let chunk = [one[0], one[1], two[0], two[1], three[0], three[1], four[0], four[1]];
            return Some(u64::from_le_bytes(chunk));
        }
        let copied: &[u8; CHUNK] = text.as_bytes().get(self.offset..)?.first_chunk()?;
        let escapes = |byte: &u8| class::OF[usize::from(*byte)] & self.escapes != 0;
        if is_between && !copied.iter().any(escapes) {
            self.offset += CHUNK;
            self.written += CHUNK;
            return Some(u64::from_le_bytes(*copied));
        }
        let mut chunk = [0; CHUNK];
        for byte in &mut chunk {
            *byte = self.next()?;
        }
        Some(u64::from_le_bytes(chunk))
    }

    /// Returns `true` if `[redacted]` contains the form, which then must not be hidden.
    fn occurs_in_placeholder(&self) -> bool {
        let again = || Self::new(self.part, self.index).take(self.written);
        REDACTED.as_bytes().windows(self.written).any(|window| window.iter().copied().eq(again()))
    }

    fn base64(&mut self, shift: u8, url: bool, blanks: bool) -> Option<u8> {
        let SecretPart { text, body } = self.part;
        let bytes = if blanks { text.as_bytes() } else { text.as_bytes().get(..body)? };
        if self.offset >= base64_bits(shift, bytes.len()).div_ceil(6) {
            return None;
        }
        let byte = |at: usize| {
            let at = at.checked_sub(usize::from(shift));
            u16::from(at.and_then(|at| bytes.get(at)).copied().unwrap_or_default())
        };
        let bit = self.offset * 6;
        let digit = (byte(bit / 8) << 8 | byte(bit / 8 + 1)) >> (10 - bit % 8) & 63;
        self.offset += 1;
        let alphabet = if url { URL_SAFE } else { STANDARD };
        Some(alphabet[usize::from(digit)])
    }

    /// Escapes the character at the current offset.
    fn escape(&mut self, byte: u8) {
        let mut length = 1;
        match ENCODINGS[usize::from(self.index)].0 {
            Encoding::Raw | Encoding::Base64 { .. } => self.put([byte]),
            Encoding::Json { escapes, hex, upper } => {
                length = self.escape_in_json(byte, escapes, hex, upper);
            }
            Encoding::Debug { apostrophe } => {
                // `escape_debug` escapes a combining character only at the beginning of a text.
                let before = if self.offset == 0 || !apostrophe { "" } else { "a" };
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
            Encoding::PythonQuoted => self.put(*br#"'"'"'"#),
            Encoding::Backslashed if byte == b'~' && !self.follows([b':', b'=']) => self.put([byte]),
            Encoding::DoubleQuoted | Encoding::Backslashed => self.put([b'\\', byte]),
            Encoding::AnsiQuoted { ascii } => length = self.escape_in_ansi(byte, ascii),
            Encoding::Hex { upper } => self.put(hex(byte, upper)),
            Encoding::Percent { plus: true, .. } if byte == b' ' => self.put(*b"+"),
            Encoding::Percent { upper, .. } => {
                self.put(*b"%");
                self.put(hex(byte, upper));
            }
        }
        self.offset += length;
    }

    /// Escapes a character as in JSON, and returns its length in the text.
    fn escape_in_json(&mut self, byte: u8, escapes: u32, written_in_hex: u32, upper: u32) -> usize {
        let classes = class::OF[usize::from(byte)];
        let character = self.character();
        let is_kept = escapes & class::NON_ASCII == 0 && !matches!(character, '\u{2028}' | '\u{2029}');
        match byte {
            b'\x08' => self.put(*b"\\b"),
            b'\t' => self.put(*b"\\t"),
            b'\n' => self.put(*b"\\n"),
            b'\x0c' => self.put(*b"\\f"),
            b'\r' => self.put(*b"\\r"),
            b'\\' => self.put(*br"\\"),
            b'"' | b'/' if classes & written_in_hex == 0 => self.put([b'\\', byte]),
            _ if !byte.is_ascii() && is_kept => self.put(character.encode_utf8(&mut [0; 4]).bytes()),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    self.put(*b"\\u");
                    for byte in unit.to_be_bytes() {
                        self.put(hex(byte, classes & upper != 0));
                    }
                }
            }
        }
        character.len_utf8()
    }

    /// Escapes a byte as in `$'...'` of bash, or a character that is not printable, and returns its length.
    fn escape_in_ansi(&mut self, byte: u8, ascii: bool) -> usize {
        let mut bytes = 1;
        match byte {
            b'"' => self.put([byte]),
            b'\\' | b'\'' => self.put([b'\\', byte]),
            0x07..=0x0d => self.put([b'\\', b"abtnvfr"[usize::from(byte) - 7]]),
            0x1b => self.put(*b"\\E"),
            _ => {
                let character = self.character();
                let is_printable = !character.is_control() && !matches!(character, '\u{2028}' | '\u{2029}');
                if !ascii {
                    bytes = character.len_utf8();
                }
                let text = self.part.text;
                for byte in text.bytes().skip(self.offset).take(bytes) {
                    if !ascii && is_printable {
                        self.put([byte]);
                    } else {
                        self.put([b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
                    }
                }
            }
        }
        bytes
    }

    /// Returns `true` if the byte before the current offset is one of these.
    fn follows(&self, bytes: [u8; 2]) -> bool {
        let before = self.offset.checked_sub(1).and_then(|before| self.part.text.as_bytes().get(before));
        before.is_some_and(|before| bytes.contains(before))
    }

    fn character(&self) -> char {
        let rest = self.part.text.get(self.offset..).unwrap_or_default();
        rest.chars().next().unwrap_or_default()
    }

    fn put(&mut self, bytes: impl IntoIterator<Item = u8>) {
        for byte in bytes {
            if let Some(free) = self.unit.get_mut(usize::from(self.filled)) {
                *free = byte;
                self.filled += 1;
            }
        }
    }
}

impl Iterator for FormEncoder<'_> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        if self.taken == self.filled {
            if let Encoding::Base64 { shift, url, blanks } = ENCODINGS[usize::from(self.index)].0 {
                let byte = self.base64(shift, url, blanks)?;
                self.written += 1;
                return Some(byte);
            }
            let byte = *self.part.text.as_bytes().get(self.offset)?;
            if class::OF[usize::from(byte)] & self.escapes == 0 {
                self.offset += 1;
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

/// Returns the number of bits of a value after `shift` other bytes.
fn base64_bits(shift: u8, length: usize) -> usize {
    (usize::from(shift) + length) * 8
}

fn hex(byte: u8, upper: bool) -> [u8; 2] {
    let digits = if upper { b"0123456789ABCDEF" } else { b"0123456789abcdef" };
    [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]
}
