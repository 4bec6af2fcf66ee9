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
    json_forms(text, keep);
    keep(text.escape_debug().to_string());
    keep(escape_control(text).into_owned());
    let debug = format!("{text:?}");
    keep(debug[1..debug.len() - 1].to_owned());
    keep(text.replace('\'', r"'\''"));
    keep(text.replace('\'', r#"'"'"'"#));
    keep(backslashed(text));
    keep(ansi_quoted(text, false));
    keep(ansi_quoted(text, true));
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
        keep(percent(text, "-._~!'()*", "%20", upper));
        keep(percent(text, "-._~!'()*;,/?:@&=+$#", "%20", upper));
    }
    keep(percent(text, "-._", "+", true));
    keep(percent(text, "-._~$&+:=@", "%20", true));
}

/// Characters that an encoder of JSON escapes besides quotes, backslashes and control characters, those among
/// them and the quotes that it writes like `\u0022`, and those with digits in capitals. `ä` stands for
/// everything that is not ASCII.
const JSON: [[&str; 3]; 26] = [
    ["", "", ""],
    ["/", "", ""],
    ["ä", "", ""],
    ["ä/", "", ""],
    ["ä", "", "all"],
    ["ä\u{7f}", "", ""],
    ["\u{2028}", "", ""],
    ["\u{2028}/", "", ""],
    ["<>&\u{2028}", "", ""],
    ["'", "", ""],
    ["'ä", "", ""],
    ["'ä/", "", ""],
    ["<>&'", "", ""],
    ["<>&'ä\u{7f}", "", ""],
    ["<>&'=\u{2028}", "", ""],
    ["<>&ä\u{7f}", "", "<>"],
    ["<>&'+`ä\u{7f}", "\"", "all"],
    ["<>&'ä/", "\"", "<>"],
    ["<>&'ä", "\"", "<>"],
    ["<>&'\u{2028}/", "\"", "<>"],
    ["<>&'\u{2028}", "\"", "<>"],
    ["<>&ä/", "", "<>"],
    ["<>&\u{2028}/", "", "<>"],
    ["<>&\u{2028}", "", "<>"],
    ["<>ä", "", "<>"],
    ["/", "/", ""],
];

fn json_forms(text: &str, keep: &mut dyn FnMut(String)) {
    for [escaped, in_hex, upper] in JSON {
        let mut form = String::new();
        for character in text.chars() {
            let is_separator = matches!(character, '\u{2028}' | '\u{2029}');
            let is_escaped = escaped.contains(character)
                || !character.is_ascii() && escaped.contains('ä')
                || is_separator && escaped.contains('\u{2028}');
            let plain = serde_json::Value::from(character.to_string()).to_string();
            if in_hex.contains(character) || is_escaped && character != '/' || plain.starts_with("\"\\u") {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    let is_upper = upper == "all" || upper.contains(character);
                    form += &if is_upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
                }
            } else if is_escaped {
                form += "\\/";
            } else {
                form += &plain[1..plain.len() - 1];
            }
        }
        keep(form);
    }
}

/// Returns the form of `printf %q` in bash for printable text.
fn backslashed(text: &str) -> String {
    let mut form = String::new();
    for character in text.chars() {
        let is_prefix = form.ends_with([':', '=']) && character == '~';
        if is_prefix || " !\"$&'()*,;<>?[\\]^`{|}".contains(character) {
            form.push('\\');
        }
        form.push(character);
    }
    form
}

/// Returns the form of `printf %q` in bash for text that is not printable.
fn ansi_quoted(text: &str, ascii: bool) -> String {
    let mut form = String::new();
    for character in text.chars() {
        let is_separator = matches!(character, '\u{2028}' | '\u{2029}');
        match character {
            '\\' | '\'' => form.extend(['\\', character]),
            '\t' => form += "\\t",
            '\n' => form += "\\n",
            '\r' => form += "\\r",
            '\u{b}' => form += "\\v",
            '\u{1b}' => form += "\\E",
            _ if character.is_control() || is_separator || ascii && !character.is_ascii() => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    form += &format!("\\{byte:03o}");
                }
            }
            _ => form.push(character),
        }
    }
    form
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
