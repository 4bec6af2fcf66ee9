//! Errors in globs.

use super::class::CLASSES;
use super::{MAX_ALTERNATIVES, MAX_LENGTH};

/// Error in a glob.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// A bracket is not closed.
    #[error("`[` is not closed")]
    OpenClass,
    /// A class is empty.
    #[error("`[]` matches nothing")]
    EmptyClass,
    /// A range of a class ends before it begins.
    #[error("a range in `[…]` ends before it begins")]
    Range,
    /// A range begins or ends with a class such as `[:digit:]`.
    #[error("a range in `[…]` begins or ends with a class")]
    ClassInRange,
    /// A class has a name that is not one of POSIX.
    #[error("unknown class `[:{}:]`", .0.escape_debug())]
    UnknownClass(String),
    /// A class such as `[:digit:]` is not in brackets.
    #[error("a class such as `[:digit:]` needs brackets around it")]
    BareClass,
    /// Collating symbols and equivalence classes.
    #[error("`[.` and `[=` are not supported in `[…]`")]
    Collation,
    /// A class of characters in a path has a slash.
    #[error("`[…]` can't match `/` in a path")]
    SlashInClass,
    /// Two stars in a name of a path.
    #[error("`**` is only allowed as a whole component of a path")]
    StarsInName,
    /// A brace is not closed, or not opened.
    #[error("`{{` and `}}` do not match")]
    Braces,
    /// Braces within braces.
    #[error("braces within braces are not supported")]
    NestedBraces,
    /// A backslash at the end.
    #[error("a backslash at the end has no meaning")]
    Backslash,
    /// The glob is too long.
    #[error("a glob has at most {MAX_LENGTH} bytes")]
    TooLong,
    /// The braces of the glob make too many alternatives.
    #[error("a glob has at most {MAX_ALTERNATIVES} alternatives")]
    TooManyAlternatives,
}

impl GlobError {
    /// Returns what can be done about the error.
    pub fn hint(&self) -> String {
        let hint = match self {
            Self::UnknownClass(name) => {
                let names = CLASSES.map(|(name, _)| name);
                return match crate::closest(name, names) {
                    Some(closest) => format!("did you mean `[:{closest}:]`?"),
                    None => format!("the classes are {}", crate::listed(&names, "and")),
                };
            }
            Self::OpenClass => r"close it, or write `\[` for the character itself",
            Self::BareClass => "write `[[:digit:]]`",
            Self::ClassInRange => r"write `\-` for the character itself",
            Self::SlashInClass => "write `*` or `?`, which do not match `/` either",
            Self::StarsInName => "write `**/` before the name, or a single `*` in it",
            Self::TooLong | Self::TooManyAlternatives => "write several globs",
            Self::EmptyClass
            | Self::Range
            | Self::Collation
            | Self::Braces
            | Self::NestedBraces
            | Self::Backslash => "put a backslash before a character that has no special meaning",
        };
        hint.to_owned()
    }
}
