//! Escapes for text of unknown origin.

use std::borrow::Cow;

/// Escapes characters that break a line or control a terminal: a line end becomes `\n`, ESC becomes `\u{1b}`.
///
/// These are control characters, line separators and marks for the direction of text. A backslash is harmless
/// and frequent in names and commands, so it is not escaped.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.contains(steers_terminal) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if steers_terminal(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Escapes the same characters in a JSON document, as `\u009b`. The document stays the same for a JSON reader.
pub fn escape_json(json: &str) -> Cow<'_, str> {
    // JSON escapes the controls below U+0020 itself. All others contain one of these bytes.
    let is_ascii_text = json.bytes().fold(0, u8::max) < 0x7f;
    if is_ascii_text || !json.contains(is_unsafe_in_json) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 8);
    for character in json.chars() {
        if is_unsafe_in_json(character) {
            escaped += &format!("\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

/// Returns `true` for what JSON allows within text. A document contains line ends only between its values.
fn is_unsafe_in_json(character: char) -> bool {
    character >= '\u{7f}' && steers_terminal(character)
}

/// Returns `true` for a character that breaks a line or controls a terminal.
pub fn steers_terminal(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::{escape_control, escape_json};

    #[test]
    fn only_unsafe_characters_are_escaped() {
        for (text, escaped) in [
            ("/etc/motd", "/etc/motd"),
            (r"sed 's/\./\n/' ä 日本 'x' \", r"sed 's/\./\n/' ä 日本 'x' \"),
            ("a\nb\r\tc\0", r"a\nb\r\tc\u{0}"),
            ("\x1b[31mred\x07\x7f", r"\u{1b}[31mred\u{7}\u{7f}"),
            ("\u{9b}31m\u{85}", r"\u{9b}31m\u{85}"),
            ("a\u{202e}b\u{2066}c\u{2028}d\u{200f}e", r"a\u{202e}b\u{2066}c\u{2028}d\u{200f}e"),
        ] {
            assert_eq!(escape_control(text), escaped);
        }
    }
    #[test]
    fn a_document_stays_the_same_for_its_readers() {
        let text = "/etc ä 日本 \"\\\n\t\u{7f}\u{9b}31m\u{85}\u{202e}b\u{2066}\u{61c}\u{200f}";
        let document = format!("{:#}", serde_json::json!({ text: [text] }));
        let escaped = escape_json(&document);
        let expected = r#"/etc ä 日本 \"\\\n\t\u007f\u009b31m\u0085\u202eb\u2066\u061c\u200f"#;
        assert_eq!(escaped, format!("{{\n  \"{expected}\": [\n    \"{expected}\"\n  ]\n}}"));
        let read: serde_json::Value = serde_json::from_str(&escaped).expect("a document");
        assert_eq!(read[text][0], text);
        assert!(matches!(escape_json("{\n  \"ä\": \"日本\"\n}"), std::borrow::Cow::Borrowed(_)));
    }
}
