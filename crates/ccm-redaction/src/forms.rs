//! The forms in which a value may be written.

use ccm_model::{SHORTEST_SECRET, escape_control};

/// A line of a value counts by itself if it is not shorter.
const SHORTEST_LINE: usize = 8;
/// What is longer counts in pieces of this length, each by itself.
const LONGEST: usize = 4096;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Lists all forms of a value; the same one may come again.
pub(super) fn of(value: &str, keep: &mut dyn FnMut(String)) {
    let mut parts = Vec::new();
    for whole in [value, value.trim()].into_iter().filter(|whole| whole.len() >= SHORTEST_SECRET) {
        pieces(whole, &mut parts);
    }
    if value.contains('\n') {
        let lines = value.lines().flat_map(|line| [line, line.trim()]);
        lines.filter(|line| line.len() >= SHORTEST_LINE).for_each(|line| pieces(line, &mut parts));
    }
    parts.sort_unstable();
    parts.dedup();
    for part in parts {
        part_forms(part, &mut |form| {
            if form.len() >= SHORTEST_SECRET {
                keep(form);
            }
        });
    }
}

/// Cuts what is too long into pieces of whole characters, none of them short.
fn pieces<'v>(mut text: &'v str, parts: &mut Vec<&'v str>) {
    while text.len() >= 2 * LONGEST {
        let end = (1..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(text.len());
        let (piece, rest) = text.split_at(end);
        parts.push(piece);
        text = rest;
    }
    parts.push(text);
}

fn part_forms(text: &str, keep: &mut dyn FnMut(String)) {
    keep(text.to_owned());
    let in_json = json(text);
    let in_ascii = ascii(&in_json);
    keep(in_json.replace('/', "\\/"));
    keep(in_ascii.replace('/', "\\/"));
    keep(in_json);
    keep(upper_escapes(&in_ascii));
    keep(in_ascii);
    keep(text.escape_debug().to_string());
    keep(escape_control(text).into_owned());
    keep(text.replace('\'', r"'\''"));
    keep(in_double_quotes(text));
    for alphabet in [STANDARD, URL_SAFE] {
        base64_forms(text.as_bytes(), alphabet, keep);
    }
    let dumped = text.bytes().fold(String::new(), |dumped, byte| dumped + &format!("{byte:02x}"));
    keep(dumped.to_ascii_uppercase());
    keep(dumped);
    // All of it, a path, and a form, which browsers and libraries write in two ways.
    let form = percent(text, "-._*").replace("%20", "+");
    for upper in
        [percent(text, "-._~"), percent(text, "-._~/"), percent(text, "-._~").replace("%20", "+"), form]
    {
        keep(lower_hex(&upper));
        keep(upper);
    }
}

/// As it stands in a JSON text.
fn json(text: &str) -> String {
    let written = serde_json::Value::from(text).to_string();
    written.get(1..written.len() - 1).unwrap_or_default().to_owned()
}

/// A JSON text with escapes for all that is not ASCII.
fn ascii(json: &str) -> String {
    let mut written = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            written.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                written += &format!("\\u{unit:04x}");
            }
        }
    }
    written
}

/// The same with capitals in those escapes.
fn upper_escapes(json: &str) -> String {
    let mut parts = json.split("\\u");
    let mut written = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at_checked(4).unwrap_or((part, ""));
        written += &format!("\\u{}{rest}", digits.to_ascii_uppercase());
    }
    written
}

/// As it stands in the double quotes of a shell.
fn in_double_quotes(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '\\' | '"' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(character);
    }
    quoted
}

/// As it stands in base64: from the beginning of the encoded, or behind one or two bytes. Characters that
/// depend on what is around it are left out; at the end, where nothing may follow, with and without.
fn base64_forms(bytes: &[u8], alphabet: &[u8; 64], keep: &mut dyn FnMut(String)) {
    for (before, foreign) in [(0, 0), (1, 2), (2, 3)] {
        let mut shifted = vec![0; before];
        shifted.extend_from_slice(bytes);
        let encoded = base64(&shifted, alphabet);
        let whole = shifted.len() * 8 / 6;
        for end in [whole, encoded.len()] {
            keep(encoded.get(foreign..end).unwrap_or_default().to_owned());
        }
    }
}

/// Base64 without padding.
fn base64(bytes: &[u8], alphabet: &[u8; 64]) -> String {
    let mut encoded = String::with_capacity(bytes.len() * 4 / 3 + 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for position in 0..=group.len() {
            let index = bits >> (18 - 6 * position) & 63;
            encoded.push(char::from(alphabet[index as usize]));
        }
    }
    encoded
}

/// Percent-encoded, but for letters, digits and what is to be kept.
fn percent(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let character = char::from(byte);
        if character.is_ascii_alphanumeric() || kept.contains(character) {
            encoded.push(character);
        } else {
            encoded += &format!("%{byte:02X}");
        }
    }
    encoded
}

/// The same with small letters in what was encoded.
fn lower_hex(encoded: &str) -> String {
    let mut digits = 0;
    let lower = |character: char| {
        if character == '%' {
            digits = 2;
        } else if digits > 0 {
            digits -= 1;
            return character.to_ascii_lowercase();
        }
        character
    };
    encoded.chars().map(lower).collect()
}
