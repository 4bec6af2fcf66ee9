//! Forms in which programs print a secret, as documented, built independently of the code under test.

use std::ops::Range;

use ccm_redaction::REDACTED;

/// Minimum length of a form that is redacted.
const MIN_LENGTH: usize = 4;
/// Minimum length of a line of a secret that is redacted by itself.
const MIN_LINE_LENGTH: usize = 8;

#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SecretForm {
    /// Text that does not depend on its surroundings.
    Text(String),
    /// Base64 of the secret and its surroundings, with these last two characters of the alphabet.
    Base64(String, [char; 2]),
}

impl SecretForm {
    /// Returns the text to redact, if it does not depend on its surroundings.
    pub(super) fn form(&self) -> Option<&str> {
        match self {
            Self::Text(form) => counts(form).then_some(form),
            Self::Base64(..) => None,
        }
    }

    /// Returns the form between two texts, and the range that does not depend on them.
    pub(super) fn between(&self, before: &str, after: &str) -> (String, Range<usize>) {
        match self {
            Self::Text(form) => (format!("{before}{form}{after}"), before.len()..before.len() + form.len()),
            Self::Base64(secret, last) => {
                let range = (before.len() * 8).div_ceil(6)..(before.len() + secret.len()) * 8 / 6;
                (base64(format!("{before}{secret}{after}").as_bytes(), *last), range)
            }
        }
    }
}

/// Returns `true` if a form is long enough to be redacted, and no part of the mark.
pub(super) fn counts(form: &str) -> bool {
    form.len() >= MIN_LENGTH && !REDACTED.contains(form)
}

pub(super) fn all(secret: &str) -> Vec<SecretForm> {
    let whole = [secret, secret.trim()].into_iter().filter(|whole| whole.len() >= MIN_LENGTH);
    let lines = secret.lines().filter(|line| secret.contains('\n') && !line.trim().is_empty());
    let lines = lines.map(|line| if line.trim().len() < MIN_LINE_LENGTH { line } else { line.trim() });
    let parts = whole.chain(lines.filter(|line| line.len() >= MIN_LINE_LENGTH));
    parts.flat_map(of_part).collect()
}

fn of_part(text: &str) -> Vec<SecretForm> {
    let json = serde_json::to_string(text).expect("a text");
    let json = &json[1..json.len() - 1];
    let escaped = |upper: bool| -> String {
        let unit = |unit: &u16| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
        let one = |character: char| match character {
            '\0'..='\x7f' => character.to_string(),
            _ => character.encode_utf16(&mut [0; 2]).iter().map(unit).collect(),
        };
        json.chars().map(one).collect()
    };
    let percent = |kept: &[u8], upper: bool, blank: &str| -> String {
        let one = |byte: u8| match byte {
            b' ' => blank.to_owned(),
            _ if byte.is_ascii_alphanumeric() || kept.contains(&byte) => char::from(byte).to_string(),
            _ if upper => format!("%{byte:02X}"),
            _ => format!("%{byte:02x}"),
        };
        text.bytes().map(one).collect()
    };
    let hex = |upper: bool| -> String {
        text.bytes().map(|byte| if upper { format!("{byte:02X}") } else { format!("{byte:02x}") }).collect()
    };
    let in_shell: String = text
        .chars()
        .map(|one| if "\\\"$`".contains(one) { format!("\\{one}") } else { one.to_string() })
        .collect();
    let mut forms = vec![
        text.to_owned(),
        json.to_owned(),
        json.replace('/', "\\/"),
        escaped(false),
        escaped(false).replace('/', "\\/"),
        text.replace('\'', "'\\''"),
        in_shell,
        hex(false),
        hex(true),
    ];
    // JSON itself escapes with lower-case digits.
    if !json.contains("\\u") {
        forms.push(escaped(true));
    }
    for upper in [false, true] {
        forms.push(percent(b"-._~", upper, "%20"));
        forms.push(percent(b"-._~/", upper, "%20"));
        forms.push(percent(b"-._~", upper, "+"));
        forms.push(percent(b"-._*", upper, "+"));
    }
    let encoded = [['+', '/'], ['-', '_']].map(|last| SecretForm::Base64(text.to_owned(), last));
    forms.into_iter().map(SecretForm::Text).chain(encoded).collect()
}

/// Encodes bytes as base64 without padding, bit by bit.
fn base64(bytes: &[u8], last: [char; 2]) -> String {
    let bit = |at: usize| bytes.get(at / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    let digit = |at: usize| (0..6).fold(0, |digit, offset| digit << 1 | bit(at * 6 + offset));
    let character = |digit: u8| match digit {
        0..26 => char::from(b'A' + digit),
        26..52 => char::from(b'a' + digit - 26),
        52..62 => char::from(b'0' + digit - 52),
        62 => last[0],
        _ => last[1],
    };
    (0..(bytes.len() * 8).div_ceil(6)).map(|at| character(digit(at))).collect()
}
