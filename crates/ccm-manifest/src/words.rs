//! Expressions in a text that is split into words by the quoting of a shell.
//!
//! What an expression yields stays within its word, whatever is in it: it is quoted as its place asks for.

/// The quotes that are open at some place of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Quotes {
    #[default]
    None,
    Single,
    Double,
}

impl Quotes {
    /// What is open behind some text.
    pub(crate) fn after(self, text: &str) -> Self {
        let mut open = self;
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            open = match (open, character) {
                (Self::None | Self::Double, '\\') => {
                    characters.next();
                    open
                }
                (Self::None, '\'') => Self::Single,
                (Self::None, '"') => Self::Double,
                (Self::Single, '\'') | (Self::Double, '"') => Self::None,
                _ => open,
            };
        }
        open
    }

    /// Writes a value so that it is taken as it is where these quotes are open.
    pub(crate) fn quote(self, value: &str) -> String {
        match self {
            Self::None if is_plain(value) => value.to_owned(),
            Self::None => format!("'{}'", value.replace('\'', "'\\''")),
            Self::Single => value.replace('\'', "'\\''"),
            Self::Double => {
                let mut quoted = String::with_capacity(value.len());
                for character in value.chars() {
                    if matches!(character, '\\' | '"' | '$' | '`') {
                        quoted.push('\\');
                    }
                    quoted.push(character);
                }
                quoted
            }
        }
    }
}

/// Tells whether a value is one word without any quotes.
fn is_plain(value: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,@%+=".contains(&byte);
    !value.is_empty() && value.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use ccm_model::split_words;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_are_followed() {
        for (text, open) in [
            ("a b", Quotes::None),
            ("a 'b", Quotes::Single),
            ("a 'b'", Quotes::None),
            ("a \"b 'c", Quotes::Double),
            ("a \\'b", Quotes::None),
            ("a \"b \\\" c", Quotes::Double),
            ("a 'b \\", Quotes::Single),
            ("'\\'", Quotes::None),
        ] {
            assert_eq!(Quotes::default().after(text), open, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_value_stays_within_its_word(value in "\\PC*|[ '\"\\\\$`#;\n]{0,12}", number in 0..4_usize) {
            let (before, after) = [("", ""), ("x'y ", " z'"), ("x\"y ", " z\""), ("x", "y")][number];
            let quoted = Quotes::default().after(before).quote(&value);
            let command = format!("run {before}{quoted}{after} end");
            let bare = |text: &str| text.replace(['\'', '"'], "");
            let expected = vec!["run".to_owned(), format!("{}{value}{}", bare(before), bare(after)), "end".to_owned()];
            prop_assert_eq!(split_words(&command).expect("words"), expected);
        }
    }
}
