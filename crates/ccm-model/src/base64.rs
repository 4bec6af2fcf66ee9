//! Base64 of whole values, with the usual alphabet and padding.

use base64ct::{Base64, Encoding as _};

/// Encodes bytes as Base64.
pub fn encode_base64(bytes: &[u8]) -> String {
    Base64::encode_string(bytes)
}

/// Decodes Base64; line ends are skipped. Returns `None` if the text is something else.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|digit| !matches!(digit, '\r' | '\n')).collect();
    Base64::decode_vec(&digits).ok()
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
        assert_eq!(decode_base64("QU\r\nJD\n").as_deref(), Some(&b"ABC"[..]));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["Q", "QQ", "QQ=", "QR==", "Q===", "QQ==QQ==", "QU_D", "QU JD", "=", "ä"] {
            assert_eq!(decode_base64(text), None, "{text}");
        }
    }
}
