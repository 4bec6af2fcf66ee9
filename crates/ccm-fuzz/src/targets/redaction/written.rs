//! How programs write a secret: what the documentation promises to find, made here in another way.

use std::ops::Range;

use ccm_redaction::REDACTED;

/// What is shorter is not looked for.
const SHORTEST: usize = 4;
/// A line of a secret counts by itself if it is not shorter.
const SHORTEST_LINE: usize = 8;

/// A secret as it is written somewhere.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Written {
    /// The same wherever it stands.
    Text(String),
    /// In base64 together with what is around it, with these two characters at the end of the alphabet.
    Base64(String, [char; 2]),
}

impl Written {
    /// What is always the same of it and has to be hidden.
    pub(super) fn form(&self) -> Option<&str> {
        match self {
            Self::Text(form) => counts(form).then_some(form),
            Self::Base64(..) => None,
        }
    }

    /// It between something else, and where what depends on nothing else stands.
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

/// Tells whether it is long enough to be looked for, and no part of what stands in its place.
pub(super) fn counts(form: &str) -> bool {
    form.len() >= SHORTEST && !REDACTED.contains(form)
}

/// All that is promised to be found of a secret.
pub(super) fn all(secret: &str) -> Vec<Written> {
    let whole = [secret, secret.trim()].into_iter().filter(|whole| whole.len() >= SHORTEST);
    let lines = secret.lines().filter(|line| secret.contains('\n') && !line.trim().is_empty());
    let lines = lines.map(|line| if line.trim().len() < SHORTEST_LINE { line } else { line.trim() });
    let parts = whole.chain(lines.filter(|line| line.len() >= SHORTEST_LINE));
    parts.flat_map(of_part).collect()
}

fn of_part(text: &str) -> Vec<Written> {
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
    // The digits of what JSON itself escapes are small.
    if !json.contains("\\u") {
        forms.push(escaped(true));
    }
    for upper in [false, true] {
        forms.push(percent(b"-._~", upper, "%20"));
        forms.push(percent(b"-._~/", upper, "%20"));
        forms.push(percent(b"-._~", upper, "+"));
        forms.push(percent(b"-._*", upper, "+"));
    }
    let encoded = [['+', '/'], ['-', '_']].map(|last| Written::Base64(text.to_owned(), last));
    forms.into_iter().map(Written::Text).chain(encoded).collect()
}

/// Base64 without padding, bit by bit.
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
