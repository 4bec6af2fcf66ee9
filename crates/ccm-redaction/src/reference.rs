//! Every form of a value as its own text, built in the simplest way, to compare the index with.

use std::collections::BTreeSet;

use super::{MIN_SECRET_LENGTH, REDACTED};
use ccm_model::escape_control;

const MIN_LINE_LENGTH: usize = 8;
const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Lists all forms of values that are too short to be cut into pieces.
pub(super) fn forms(values: &[String]) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    for value in values {
        for part in parts(value) {
            part_forms(part, &mut |form| {
                if form.len() >= MIN_SECRET_LENGTH && !REDACTED.contains(&form) {
                    forms.insert(form);
                }
            });
        }
    }
    forms
}

/// Returns a value with and without the blanks around it, and its lines.
fn parts(value: &str) -> Vec<&str> {
    let mut parts = vec![value, value.trim_start(), value.trim_end(), value.trim()];
    parts.retain(|part| part.len() >= MIN_SECRET_LENGTH);
    if value.contains('\n') {
        for line in value.lines().filter(|line| !line.trim().is_empty()) {
            let is_long = line.trim().len() >= MIN_LINE_LENGTH;
            parts.extend(
                Some(if is_long { line.trim() } else { line }).filter(|line| line.len() >= MIN_LINE_LENGTH),
            );
        }
    }
    parts
}

fn part_forms(text: &str, keep: &mut dyn FnMut(String)) {
    keep(text.to_owned());
    let in_json = json(text);
    for upper in [false, true] {
        let in_ascii = ascii(&in_json, upper);
        if !upper {
            keep(in_ascii.replace('/', "\\/"));
        }
        keep(in_ascii);
    }
    keep(in_json.replace('/', "\\/"));
    keep(in_json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"));
    keep(in_json);
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
    for upper in [false, true] {
        keep(percent(text, "-._~", "%20", upper));
        keep(percent(text, "-._~/", "%20", upper));
        keep(percent(text, "-._~", "+", upper));
        keep(percent(text, "-._*", "+", upper));
    }
}

fn json(text: &str) -> String {
    let written = serde_json::Value::from(text).to_string();
    written[1..written.len() - 1].to_owned()
}

/// Returns the form in a JSON string with escapes for everything that is not ASCII.
fn ascii(json: &str, upper: bool) -> String {
    let mut written = String::new();
    let mut rest = json.chars().peekable();
    while let Some(character) = rest.next() {
        if character == '\\' && rest.peek() == Some(&'u') {
            let digits: String = rest.by_ref().take(5).skip(1).collect();
            written += "\\u";
            written += &if upper { digits.to_ascii_uppercase() } else { digits };
        } else if character == '\\' {
            written.push(character);
            written.extend(rest.next());
        } else if character.is_ascii() {
            written.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                written += &if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
            }
        }
    }
    written
}

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

/// Returns the forms in base64: at the beginning of the encoded text, and after one or two bytes, without the
/// digits that depend on bytes around the value. The last digit may end the text: there are forms with and
/// without it.
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

/// Percent-encodes everything except for letters, digits and `kept`.
fn percent(text: &str, kept: &str, blank: &str, upper: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let character = char::from(byte);
        if byte == b' ' {
            encoded += blank;
        } else if character.is_ascii_alphanumeric() || kept.contains(character) {
            encoded.push(character);
        } else if upper {
            encoded += &format!("%{byte:02X}");
        } else {
            encoded += &format!("%{byte:02x}");
        }
    }
    encoded
}
