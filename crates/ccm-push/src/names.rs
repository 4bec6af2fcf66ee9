//! Names of hosts, groups and users.
//!
//! They come from files and programs of others, and become words of command lines of `ssh` and what its configuration makes
//! of them, also commands of a shell. So nothing is in them that means something there.

use std::fmt;

use serde::Deserialize;

/// Maximum length of a name in bytes, which is that of a name in the DNS.
const MAX_NAME: usize = 253;

/// Error of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// A host has a wrong name.
    #[error(
        "a host is named with at most {MAX_NAME} letters, digits, `.`, `_`, `:` and `-`, of which the first is no `-`, \
         not {0:?}"
    )]
    Host(String),
    /// A group has a wrong name.
    #[error(
        "a group is named with at most {MAX_NAME} letters, digits, `.`, `_` and `-`, of which the first is no `-`, not {0:?}"
    )]
    Group(String),
    /// A user has a wrong name.
    #[error(
        "a user is named with at most {MAX_NAME} letters, digits, `.`, `_`, `@`, `+` and `-`, of which the first is no \
         `-`, not {0:?}"
    )]
    User(String),
}

/// Returns `true` for letters and digits of ASCII and some further signs.
fn is_plain(text: &str, further: &[u8]) -> bool {
    (1..=MAX_NAME).contains(&text.len())
        && !text.starts_with('-')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || further.contains(&byte))
}

macro_rules! name {
    ($(#[$documentation:meta])* $name:ident, $further:literal, $error:ident) => {
        $(#[$documentation])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// Reads a name.
            pub fn parse(text: &str) -> Result<Self, NameError> {
                if is_plain(text, $further) { Ok(Self(text.to_owned())) } else { Err(NameError::$error(text.to_owned())) }
            }

            /// Returns the name.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                Self::parse(&text)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

name!(
    /// Name or address of a host, as `ssh` takes it.
    HostName,
    b"._:-",
    Host
);
name!(
    /// Name of a group of hosts.
    GroupName,
    b"._-",
    Group
);
name!(
    /// Name of the user that `ssh` logs in.
    UserName,
    b"._@+-",
    User
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_no_meaning_elsewhere() {
        let long = "a".repeat(254);
        for (text, is_host, is_group, is_user) in [
            ("web1", true, true, true),
            ("web-1.example.com", true, true, true),
            ("10.0.0.1", true, true, true),
            ("2001:db8::1", true, false, false),
            ("_x", true, true, true),
            ("ada@example.com", false, false, true),
            ("", false, false, false),
            ("-oProxyCommand=x", false, false, false),
            ("-", false, false, false),
            ("a b", false, false, false),
            ("a\n", false, false, false),
            ("$(id)", false, false, false),
            ("`id`", false, false, false),
            ("a;b", false, false, false),
            ("a/b", false, false, false),
            ("a%b", false, false, false),
            ("[::1]", false, false, false),
            ("\u{1b}[2J", false, false, false),
            ("bär", false, false, false),
            (&long, false, false, false),
        ] {
            assert_eq!(HostName::parse(text).is_ok(), is_host, "host {text:?}");
            assert_eq!(GroupName::parse(text).is_ok(), is_group, "group {text:?}");
            assert_eq!(UserName::parse(text).is_ok(), is_user, "user {text:?}");
        }
    }
}
