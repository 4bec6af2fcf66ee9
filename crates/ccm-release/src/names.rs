//! Names of channels.

use std::fmt;

/// Maximum length of a name in bytes.
const MAX_NAME: usize = 64;

/// Name of a channel: lower-case letters, digits, `-`, `_` and `.`, which begins with a letter or a digit.
///
/// It is part of file names and of subjects, so that it holds nothing that means something there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChannelName(String);

/// Error of the name of a channel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a channel is named with at most {MAX_NAME} lower-case letters, digits, `-`, `_` and `.`, of which the first is a \
     letter or a digit, not {0:?}"
)]
pub struct ChannelNameError(pub String);

impl ChannelName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, ChannelNameError> {
        let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let is_name = text.len() <= MAX_NAME
            && text.bytes().next().is_some_and(is_word)
            && text.bytes().all(|byte| is_word(byte) || b"-_.".contains(&byte));
        if is_name { Ok(Self(text.to_owned())) } else { Err(ChannelNameError(text.to_owned())) }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ChannelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        let long = "a".repeat(65);
        for (name, is_name) in [
            ("base", true),
            ("web-2.eu_west", true),
            ("7", true),
            ("", false),
            ("Base", false),
            (".hidden", false),
            ("-o", false),
            ("a/b", false),
            ("a*", false),
            ("a b", false),
            ("bäse", false),
            (&*long, false),
        ] {
            assert_eq!(ChannelName::parse(name).is_ok(), is_name, "{name:?}");
        }
    }
}
