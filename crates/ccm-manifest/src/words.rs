//! Expressions in a text that is split into words by the quoting of a shell.
//!
//! What an expression yields stays within its word, whatever is in it: it is quoted as its place asks for.

use ccm_model::quote_words;

/// The quotes that are open at some place of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Quotes {
    #[default]
    None,
    /// None, behind a backslash that takes the meaning from what follows.
    Escape,
    Single,
    Double,
    /// Double ones, behind such a backslash.
    EscapeInDouble,
}

impl Quotes {
    /// What is open behind some text.
    pub(crate) fn after(self, text: &str) -> Self {
        text.chars().fold(self, |open, character| match (open, character) {
            (Self::None, '\\') => Self::Escape,
            (Self::Double, '\\') => Self::EscapeInDouble,
            (Self::None, '\'') => Self::Single,
            (Self::None, '"') | (Self::EscapeInDouble, _) => Self::Double,
            (Self::Single, '\'') | (Self::Double, '"') | (Self::Escape, _) => Self::None,
            _ => open,
        })
    }

    /// Writes a value behind text, so that it is taken as it is. Gives what is open behind it.
    ///
    /// A backslash before it means what it means before a letter: in double quotes itself, elsewhere nothing.
    pub(crate) fn write(self, value: &str, text: &mut String) -> Self {
        match self {
            Self::None | Self::Escape => {
                if self == Self::Escape {
                    text.pop();
                }
                text.push_str(&quote_words([value]));
                Self::None
            }
            Self::Single => {
                text.push_str(&value.replace('\'', "'\\''"));
                self
            }
            Self::Double | Self::EscapeInDouble => {
                if self == Self::EscapeInDouble {
                    text.push('\\');
                }
                for character in value.chars() {
                    if matches!(character, '\\' | '"' | '$' | '`') {
                        text.push('\\');
                    }
                    text.push(character);
                }
                Self::Double
            }
        }
    }
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
            ("a \\", Quotes::Escape),
            ("a \\\\", Quotes::None),
            ("a \"\\", Quotes::EscapeInDouble),
            ("a \"\\\\", Quotes::Double),
            ("a \"\\\"", Quotes::Double),
        ] {
            assert_eq!(Quotes::default().after(text), open, "{text}");
        }
    }

    #[test]
    fn a_backslash_before_a_value_keeps_it_in_its_word() {
        for (before, after, word) in [
            ("\\", "", "a -rf'/"),
            ("x\\\\\\", "y", "x\\a -rf'/y"),
            ("\"\\", "\"", "\\a -rf'/"),
            ("\"\\\\", "\"", "\\a -rf'/"),
            ("'\\", "'", "\\a -rf'/"),
        ] {
            let mut command = before.to_owned();
            Quotes::default().after(before).write("a -rf'/", &mut command);
            assert_eq!(split_words(&(command + after)), Ok(vec![word.to_owned()]), "{before}");
        }
    }

    proptest! {
        #[test]
        fn a_value_stays_within_its_word(
            before in "[x'\"\\\\]{0,8}",
            value in "\\PC*|[ '\"\\\\$`#;\n]{0,12}",
            next in "\\PC*|[ '\"\\\\$`#;\n]{0,12}",
        ) {
            // What any letter makes of the text is what a value has to make of it.
            let open = Quotes::default().after(&before);
            let closing = match open {
                Quotes::Single => "'",
                Quotes::Double | Quotes::EscapeInDouble => "\"",
                Quotes::None | Quotes::Escape => "",
            };
            let words = split_words(&format!("run {before}@@{closing} end")).expect("words");
            let mut command = format!("run {before}");
            let open = open.write(&value, &mut command);
            let open = open.write(&next, &mut command);
            prop_assert_eq!(open.after(closing), Quotes::None);
            command += closing;
            let expected: Vec<String> =
                words.iter().map(|word| word.replace("@@", &format!("{value}{next}"))).collect();
            prop_assert_eq!(split_words(&(command + " end")).expect("words"), expected);
        }
    }
}
