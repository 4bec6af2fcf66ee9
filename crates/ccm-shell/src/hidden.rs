//! Characters with which a text shows something else than it runs.

use crate::span::ShellSpan;
use crate::unreadable::{UnreadableKind, UnreadableText};

/// Refuses a text with characters that are invisible, that look like a blank, or that steer a terminal.
pub fn check_characters(text: &str) -> Result<(), Box<UnreadableText>> {
    // Printable ASCII, tab and line end are most texts.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t')) {
        return Ok(());
    }
    let mut before = '\0';
    for (at, character) in text.char_indices() {
        let span = ShellSpan::new(at, at + character.len_utf8());
        let code = u32::from(character);
        let what = match character {
            '\0' => {
                let message = "the text holds a NUL character";
                return Err(UnreadableText::new(UnreadableKind::NotText, span, message));
            }
            '\n' | '\t' | ' ' => None,
            _ if character.is_control() => Some("a control character"),
            _ if is_direction(code) => Some("a mark that changes the direction of the display"),
            _ if is_joiner(code) && is_symbol(before) => None,
            _ if is_invisible(code) => Some("an invisible character"),
            _ if character.is_whitespace() => {
                Some("a character that looks like a blank and is none for a shell")
            }
            _ => None,
        };
        before = character;
        if let Some(what) = what {
            let message = format!("the text holds U+{code:04X}, {what}");
            let error = UnreadableText::new(UnreadableKind::Hidden, span, message);
            return Err(error.with_hint("remove the character, or let `printf` write it"));
        }
    }
    Ok(())
}

fn is_direction(code: u32) -> bool {
    matches!(code, 0x61C | 0x200E | 0x200F | 0x202A..=0x202E | 0x2066..=0x2069)
}

/// Returns `true` for the characters that join emoji, or choose their colours.
fn is_joiner(code: u32) -> bool {
    matches!(code, 0x200D | 0xFE0F)
}

fn is_symbol(character: char) -> bool {
    matches!(u32::from(character), 0x2190..=0x2BFF | 0xFE0F | 0x1F000..=0x1FBFF)
}

/// Returns `true` for characters without a width of their own that are no part of a letter.
fn is_invisible(code: u32) -> bool {
    matches!(
        code,
        0xAD | 0x34F | 0x115F | 0x1160 | 0x17B4 | 0x17B5 | 0x180B..=0x180F | 0x200B..=0x200D | 0x2028 | 0x2029
            | 0x2060..=0x2065 | 0x206A..=0x206F | 0x2800 | 0x3164 | 0xFE00..=0xFE0F | 0xFEFF | 0xFFA0
            | 0xFFF0..=0xFFFB | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A | 0xE0000..=0xE0FFF
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_refused() {
        for (text, start, what) in [
            ("echo \u{202e}gnp.txt", 5, "U+202E"),
            ("echo \u{1b}[2K", 5, "U+001B"),
            ("rm\u{200b}", 2, "U+200B"),
            ("ls\r\n", 2, "U+000D"),
            ("ls\u{a0}-l", 2, "U+00A0"),
            ("ls \u{85}", 3, "U+0085"),
            ("ls a\u{200d}", 4, "U+200D"),
            ("ls \u{e0020}", 3, "U+E0020"),
            ("ls \0", 3, "NUL"),
        ] {
            let error = check_characters(text).unwrap_err();
            assert_eq!(error.span.start, start, "{text:?}");
            assert!(error.message.contains(what), "{error}");
        }
    }

    #[test]
    fn letters_and_symbols_are_fine() {
        for text in ["echo ä 日本 é", "git commit -m '❤\u{fe0f} 👩\u{200d}💻'", "a\n\tb"] {
            assert_eq!(check_characters(text), Ok(()), "{text}");
        }
    }
}
