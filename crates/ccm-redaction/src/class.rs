//! Classes of bytes. A byte is escaped by an encoding, or copied, because of its classes.

pub(super) const ANY: u32 = 1;
/// `"` and `\`.
pub(super) const QUOTE: u32 = 1 << 1;
pub(super) const APOSTROPHE: u32 = 1 << 2;
pub(super) const DOLLAR: u32 = 1 << 3;
pub(super) const SLASH: u32 = 1 << 4;
pub(super) const BLANK: u32 = 1 << 5;
pub(super) const TILDE: u32 = 1 << 6;
pub(super) const STAR: u32 = 1 << 7;
pub(super) const CONTROL: u32 = 1 << 8;
pub(super) const DELETE: u32 = 1 << 9;
pub(super) const NON_ASCII: u32 = 1 << 10;
/// Bytes that percent-encoding escapes, except for those with a class of their own above.
pub(super) const RESERVED: u32 = 1 << 11;
/// Letter among the two hexadecimal digits of the byte.
pub(super) const HEX_LETTER: u32 = 1 << 12;
/// Letter among the two hexadecimal digits of a byte that percent-encoding may escape.
pub(super) const PERCENT_LETTER: u32 = 1 << 13;
/// Class of a value with blanks after it, not of a byte.
pub(super) const BLANKS_BEHIND: u32 = 1 << 14;
/// `<` and `>`.
pub(super) const ANGLE: u32 = 1 << 15;
pub(super) const AMPERSAND: u32 = 1 << 16;
pub(super) const EQUALS: u32 = 1 << 17;
pub(super) const PLUS: u32 = 1 << 18;
pub(super) const BACKQUOTE: u32 = 1 << 19;
/// `!`, `(` and `)`.
pub(super) const MARK: u32 = 1 << 20;
/// `:` and `@`.
pub(super) const AT: u32 = 1 << 21;
/// `#`, `,`, `;` and `?`.
pub(super) const DELIMITER: u32 = 1 << 22;
/// Bytes with a meaning in a shell, except for those with a class of their own above.
pub(super) const SHELL: u32 = 1 << 23;
/// First byte of U+2028 and U+2029, the separators of lines and paragraphs.
pub(super) const SEPARATOR: u32 = 1 << 24;
/// First byte of a separator or of a control character that is not ASCII.
pub(super) const UNPRINTABLE: u32 = 1 << 25;

/// Number of classes.
pub(super) const COUNT: usize = 26;

pub(super) const OF: [u32; 256] = table();

const fn table() -> [u32; 256] {
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

const fn of(byte: u8) -> u32 {
    let own = match byte {
        b'"' | b'\\' => QUOTE | RESERVED,
        b'\'' => APOSTROPHE,
        b'$' => DOLLAR,
        b'`' => BACKQUOTE | RESERVED,
        b'/' => SLASH,
        b' ' => BLANK,
        b'~' => TILDE,
        b'*' => STAR,
        b'<' | b'>' => ANGLE | RESERVED,
        b'&' => AMPERSAND,
        b'=' => EQUALS,
        b'+' => PLUS,
        b'!' | b'(' | b')' => MARK,
        b':' | b'@' => AT,
        b',' | b';' | b'?' => DELIMITER | SHELL,
        b'#' => DELIMITER,
        b'[' | b']' | b'^' | b'{' | b'|' | b'}' => SHELL | RESERVED,
        0..0x20 => CONTROL | RESERVED,
        0x7f => DELETE | RESERVED,
        0xc2 => UNPRINTABLE | NON_ASCII | RESERVED,
        0xe2 => UNPRINTABLE | SEPARATOR | NON_ASCII | RESERVED,
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

pub(super) fn classes_in(text: &[u8]) -> u32 {
    text.iter().fold(0, |classes, byte| classes | OF[usize::from(*byte)])
}
