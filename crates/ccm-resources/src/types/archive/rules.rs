//! Rules of the archive decision.

use std::fmt;

use ccm_engine::Rule;

/// Those who can change a file, besides root, the user who runs ccm, and the desired owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    /// Its owner, with this number.
    Owner(u32),
    /// Its group, with this number.
    Group(u32),
    /// Every user.
    Everybody,
}

impl fmt::Display for Stranger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(uid) => write!(formatter, "the file belongs to uid {uid}, who can change it"),
            Self::Group(gid) => write!(formatter, "the group {gid} can change the file"),
            Self::Everybody => formatter.write_str("every user can change the file"),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ArchiveRule {
    AsDesired,
    /// The file is not kept, and `creates` exists.
    Extracted,
    Absent,
    NoFile,
    /// The file has another checksum.
    OtherContent,
    /// Another user can change the file.
    Stranger(Stranger),
    /// `creates` does not exist.
    NotExtracted,
    /// What was extracted is of a file with another checksum.
    OldTree,
    /// Owner, group or mode differ, in words.
    Differs(String),
    /// Present, but to be absent.
    Present,
    /// The present state does not allow the change.
    Conflict,
}

impl Rule for ArchiveRule {
    fn name(&self) -> &'static str {
        match self {
            Self::AsDesired => "as_wanted",
            Self::Extracted => "extracted",
            Self::Absent => "absent",
            Self::NoFile => "no_file",
            Self::OtherContent => "other_content",
            Self::Stranger(_) => "stranger",
            Self::NotExtracted => "not_extracted",
            Self::OldTree => "old_tree",
            Self::Differs(_) => "differs",
            Self::Present => "present",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for ArchiveRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Stranger(stranger) => return stranger.fmt(formatter),
            Self::AsDesired => "it is in the desired state",
            Self::Extracted => "`creates` exists",
            Self::Absent => "it is absent",
            Self::NoFile => "the file does not exist",
            Self::OtherContent => "the file has another checksum",
            Self::NotExtracted => "`creates` does not exist",
            Self::OldTree => "what was extracted is of a file with another checksum",
            Self::Differs(differences) => differences,
            Self::Present => "the file exists",
            Self::Conflict => "the present state does not allow the change",
        })
    }
}
