//! Expressions in a text that is split into words by shell quoting. Each value is quoted as its position
//! requires, so that it stays within its word.

use ccm_model::quote_words;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Quotes {
    #[default]
    None,
    /// Behind a backslash outside of quotes.
    Escape,
    Single,
    Double,
    /// Behind a backslash in double quotes.
    EscapeInDouble,
}

impl Quotes {
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

    /// Appends a value with quoting, and returns the open quote behind it. A pending backslash keeps its
    /// meaning before a letter: itself in double quotes, nothing elsewhere.
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
    fn open_quotes_are_tracked() {
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
            // A value must have the same effect on the text as plain letters.
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
