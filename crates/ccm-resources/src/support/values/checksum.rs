//! Checksums of files, as the manifest writes them.

use ccm_model::escape_control;
use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError};

/// Number of hexadecimal digits of a sha256.
const DIGITS: usize = 64;

/// SHA-256 of a file in hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checksum(pub String);

impl TextValue for Checksum {
    const KIND: PropertyKind =
        PropertyKind::Text(TextKind::STRICT.matching("^([Ss][Hh][Aa]256:)?[0-9A-Fa-f]{64}$"));

    fn from_text(text: &str) -> Result<Self, ValueError> {
        let digits = match text.split_once(':') {
            Some((algorithm, digits)) if algorithm.eq_ignore_ascii_case("sha256") => digits,
            _ => text,
        };
        if is_sha256(digits) {
            return Ok(Self(digits.to_ascii_lowercase()));
        }
        let error = ValueError::new(format!("`{}` is not a SHA-256 checksum", escape_control(text)));
        Err(error.with_hint("write the 64 hexadecimal digits that `sha256sum FILE` prints"))
    }
}

pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_64_hexadecimal_digits() {
        for (text, is_valid) in [
            ("A".repeat(64), true),
            (format!("sha256:{}", "a".repeat(64)), true),
            ("a".repeat(63), false),
            ("g".repeat(64), false),
            (format!("md5:{}", "a".repeat(64)), false),
        ] {
            assert_eq!(Checksum::from_text(&text).is_ok(), is_valid, "{text}");
        }
    }
}
