//! Words of `env -S`.

use super::NotExact;

/// Splits a text to words as `env -S` of GNU coreutils does. Variables are refused: their values are not known.
pub(crate) fn split_string(text: &str) -> Result<Vec<String>, NotExact> {
    let mut words: Vec<String> = Vec::new();
    let mut characters = text.chars().peekable();
    // A new word begins with the next character.
    let mut is_between = true;
    let (mut is_single, mut is_double) = (false, false);
    while let Some(character) = characters.next() {
        let written = match character {
            '\'' if !is_double => {
                is_single = !is_single;
                None
            }
            '"' if !is_single => {
                is_double = !is_double;
                None
            }
            ' ' | '\t' | '\n' | '\u{b}' | '\u{c}' | '\r' if !is_single && !is_double => {
                is_between = true;
                continue;
            }
            '#' if is_between => return Ok(words),
            '\\' if is_single && !matches!(characters.peek(), Some('\\' | '\'')) => Some('\\'),
            '\\' => match characters.next() {
                Some(plain @ ('"' | '#' | '$' | '\'' | '\\')) => Some(plain),
                Some('_') if is_double => Some(' '),
                Some('_') => {
                    is_between = true;
                    continue;
                }
                Some('c') if !is_double => return Ok(words),
                Some('f') => Some('\u{c}'),
                Some('n') => Some('\n'),
                Some('r') => Some('\r'),
                Some('t') => Some('\t'),
                Some('v') => Some('\u{b}'),
                _ => return Err(NotExact("a backslash that env refuses")),
            },
            '$' if !is_single => return Err(NotExact("a variable")),
            plain => Some(plain),
        };
        if std::mem::take(&mut is_between) {
            words.push(String::new());
        }
        if let (Some(written), Some(word)) = (written, words.last_mut()) {
            word.push(written);
        }
    }
    if is_single || is_double { Err(NotExact("a quote without an end")) } else { Ok(words) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_as_env_does() {
        for (text, expected) in [
            ("a  b\tc ", &["a", "b", "c"][..]),
            ("rm\\_-rf\\_/srv", &["rm", "-rf", "/srv"]),
            ("\"a\\_b\" 'a\\_b'", &["a b", "a\\_b"]),
            ("'it\\'s' \"a'b\" ''", &["it's", "a'b", ""]),
            ("a\\cb c", &["a"]),
            ("a #b", &["a"]),
            ("a#b \\#c", &["a#b", "#c"]),
            ("a\\nb '\\\\'", &["a\nb", "\\"]),
            ("'${A}' \\${A}", &["${A}", "${A}"]),
            ("", &[]),
        ] {
            assert_eq!(split_string(text).unwrap(), expected, "{text}");
        }
        for text in ["${A}", "$A", "'a", "\"a", "a\\", "a\\x", "\"a\\c\""] {
            assert!(split_string(text).is_err(), "{text}");
        }
    }
}
