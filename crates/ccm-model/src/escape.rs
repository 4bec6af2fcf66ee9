//! Escapes for text of unknown origin.

use std::borrow::Cow;

/// Escapes characters that break a line or control a terminal: a line end becomes `\n`, ESC becomes `\u{1b}`.
///
/// These are control characters, line separators and marks for the direction of text. A backslash is harmless
/// and frequent in names and commands, so it is not escaped.
pub fn escape_control(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_unsafe(character) {
            escaped.extend(character.escape_default());
        } else {
            escaped.push(character);
        }
    }
    Cow::Owned(escaped)
}

fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

#[cfg(test)]
mod tests {
    use super::escape_control;

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
}
