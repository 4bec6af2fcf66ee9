//! Base64 of whole values, with the usual alphabet and padding.

use ::base64::Engine as _;
use ::base64::alphabet::STANDARD;
use ::base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};

/// The usual alphabet, with padding. As in Go, the bits of the last digit that are no part of a byte may be any.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// Encodes bytes as Base64.
pub fn encode_base64(bytes: &[u8]) -> String {
    BASE64.encode(bytes)
}

/// Decodes Base64; line ends are skipped. Returns `None` if the text is something else.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|digit| !matches!(digit, '\r' | '\n')).collect();
    BASE64.decode(digits).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_values_are_encoded_and_decoded() {
        for (bytes, text) in [("", ""), ("A", "QQ=="), ("AB", "QUI="), ("ABC", "QUJD"), ("AB?>", "QUI/Pg==")]
        {
            assert_eq!(encode_base64(bytes.as_bytes()), text);
            assert_eq!(decode_base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        for text in ["QU\r\nJD\n", "QUJD"] {
            assert_eq!(decode_base64(text).as_deref(), Some(&b"ABC"[..]));
        }
        assert_eq!(decode_base64("QR==").as_deref(), Some(&b"A"[..]));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["Q", "QQ", "QQ=", "Q===", "QQ==QQ==", "QU_D", "QU JD", "=", "ä"] {
            assert_eq!(decode_base64(text), None, "{text}");
        }
    }
}
