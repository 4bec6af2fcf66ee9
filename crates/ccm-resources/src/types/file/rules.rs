//! Rules of the file decision.

use std::fmt;

use ccm_engine::Rule;

use super::decide::{Differences, Removal};
use super::link::LinkChange;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum FileRule {
    AsDesired,
    Absent,
    NoFile,
    NoDirectory,
    Differs(Differences),
    /// Link whose target differs from the desired state.
    DiffersBehindLink(Differences),
    DanglingLink,
    /// The path is not the desired link.
    Link(LinkChange),
    /// Link that is not followed because of its owner.
    UntrustedLink(u32),
    /// Number of entries of the directory that are not as they should be.
    Inside(usize),
    /// Present, but to be absent.
    Present(Removal),
    /// The present state does not allow the change.
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
            Self::Link(LinkChange::Create) => "no_link",
            Self::Link(LinkChange::Retarget) => "other_target",
            Self::Link(LinkChange::ReplaceFile | LinkChange::ReplaceEmptyDirectory) => "no_link_but_file",
            Self::UntrustedLink(_) => "strangers_link",
            Self::Inside(_) => "inside",
            Self::Present(_) => "present",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for FileRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsDesired => formatter.write_str("it is in the desired state"),
            Self::Absent => formatter.write_str("it is absent"),
            Self::NoFile => formatter.write_str("the file does not exist"),
            Self::NoDirectory => formatter.write_str("the directory does not exist"),
            Self::Differs(differences) => write!(formatter, "{differences}"),
            Self::DiffersBehindLink(differences) => {
                write!(formatter, "{differences} (behind a link)")
            }
            Self::DanglingLink => formatter.write_str("it is a dangling link"),
            Self::Link(LinkChange::Create) => formatter.write_str("the link does not exist"),
            Self::Link(LinkChange::Retarget) => formatter.write_str("the link leads elsewhere"),
            Self::Link(LinkChange::ReplaceFile) => formatter.write_str("it is a file, not a link"),
            Self::Link(LinkChange::ReplaceEmptyDirectory) => {
                formatter.write_str("it is an empty directory, not a link")
            }
            Self::UntrustedLink(owner) => {
                write!(formatter, "it is a link owned by uid {owner}, which is not followed")
            }
            Self::Inside(1) => formatter.write_str("1 entry in it differs"),
            Self::Inside(number) => write!(formatter, "{number} entries in it differ"),
            Self::Present(what) => write!(formatter, "{what} exists"),
            Self::Conflict => formatter.write_str("it cannot be brought to the desired state"),
        }
    }
}
