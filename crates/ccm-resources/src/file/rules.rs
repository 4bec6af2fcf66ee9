//! Rules by which a file is decided.

use std::fmt;

use ccm_engine::Rule;

use super::decide::{Differences, Removal};

/// Rule that applied to a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FileRule {
    /// It is in the desired state.
    AsDesired,
    /// It is to be absent, and is.
    Absent,
    /// It is to be a file, and nothing is there.
    NoFile,
    /// It is to be a directory, and nothing is there.
    NoDirectory,
    /// It differs from the desired state.
    Differs(Differences),
    /// What a link leads to differs from the desired state.
    DiffersBehindLink(Differences),
    /// A link leads to no file.
    DanglingLink,
    /// A link of this user, who is a stranger, is not followed.
    UntrustedLink(u32),
    /// It is to be absent, and this is there.
    Present(Removal),
    /// What is there does not allow the change.
    Conflict,
}

impl Rule for FileRule {
    fn name(&self) -> &'static str {
        match self {
            Self::AsDesired => "as_wanted",
            Self::Absent => "absent",
            Self::NoFile => "no_file",
            Self::NoDirectory => "no_directory",
            Self::Differs(_) => "differs",
            Self::DiffersBehindLink(_) => "differs_behind_link",
            Self::DanglingLink => "link_to_nothing",
            Self::UntrustedLink(_) => "strangers_link",
            Self::Present(_) => "present",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for FileRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsDesired => formatter.write_str("it is as wanted"),
            Self::Absent => formatter.write_str("it is absent"),
            Self::NoFile => formatter.write_str("there is no file"),
            Self::NoDirectory => formatter.write_str("there is no directory"),
            Self::Differs(differences) => write!(formatter, "{differences}"),
            Self::DiffersBehindLink(differences) => {
                write!(formatter, "{differences} behind the link that is there")
            }
            Self::DanglingLink => formatter.write_str("there is a link that leads to no file"),
            Self::UntrustedLink(owner) => {
                write!(formatter, "there is a link of user {owner}, which is not followed")
            }
            Self::Present(what) => write!(formatter, "{what} is there"),
            Self::Conflict => formatter.write_str("it can't be brought to the state asked for"),
        }
    }
}
