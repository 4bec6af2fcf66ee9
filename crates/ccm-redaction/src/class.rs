//! Classes of bytes. A byte is escaped by an encoding, or copied, because of its classes.

pub(super) const ANY: u16 = 1;
/// `"` and `\`.
pub(super) const QUOTE: u16 = 1 << 1;
pub(super) const APOSTROPHE: u16 = 1 << 2;
/// `$` and the backquote.
pub(super) const SHELL: u16 = 1 << 3;
pub(super) const SLASH: u16 = 1 << 4;
pub(super) const BLANK: u16 = 1 << 5;
pub(super) const TILDE: u16 = 1 << 6;
pub(super) const STAR: u16 = 1 << 7;
pub(super) const CONTROL: u16 = 1 << 8;
pub(super) const DELETE: u16 = 1 << 9;
pub(super) const NON_ASCII: u16 = 1 << 10;
/// Bytes that percent-encoding escapes, except for those with a class of their own above.
pub(super) const RESERVED: u16 = 1 << 11;
/// Letter among the two hexadecimal digits of the byte.
pub(super) const HEX_LETTER: u16 = 1 << 12;
/// Letter among the two hexadecimal digits of a byte that percent-encoding may escape.
pub(super) const PERCENT_LETTER: u16 = 1 << 13;
/// `<`, `>` and `&`.
pub(super) const MARKUP: u16 = 1 << 15;
/// Class of a value with blanks after it, not of a byte.
pub(super) const BLANKS_BEHIND: u16 = 1 << 14;

pub(super) const OF: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    loop {
        classes[byte as usize] = of(byte);
        if byte == u8::MAX {
            return classes;
        }
        byte += 1;
    }
}

const fn of(byte: u8) -> u16 {
    let own = match byte {
        b'"' | b'\\' => QUOTE | RESERVED,
        b'\'' => APOSTROPHE | RESERVED,
        b'$' | b'`' => SHELL | RESERVED,
        b'/' => SLASH,
        b' ' => BLANK,
        b'~' => TILDE,
        b'*' => STAR,
        b'<' | b'>' | b'&' => MARKUP | RESERVED,
        0..0x20 => CONTROL | RESERVED,
        0x7f => DELETE | RESERVED,
        0x80.. => NON_ASCII | RESERVED,
        b'-' | b'.' | b'_' => 0,
        _ if byte.is_ascii_alphanumeric() => 0,
        _ => RESERVED,
    };
    let has_letter = byte >> 4 > 9 || byte & 15 > 9;
    let letter = if has_letter { HEX_LETTER } else { 0 };
    let escaped = if has_letter && own != 0 { PERCENT_LETTER } else { 0 };
    ANY | own | letter | escaped
}

pub(super) fn all(text: &[u8]) -> u16 {
    text.iter().fold(0, |classes, byte| classes | OF[usize::from(*byte)])
}
