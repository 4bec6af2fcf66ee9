//! Users who can change a file.

use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::account::AccountDatabases;

const WRITABLE_BY_GROUP: u32 = 0o020;
const WRITABLE_BY_ALL: u32 = 0o002;
const STICKY: u32 = 0o1000;

/// Somebody who can change a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Its owner, with this UID.
    Owner(u32),
    /// Members of its group, with this GID.
    Group(u32),
    /// Every user.
    Everybody,
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(uid) => write!(f, "uid {uid}"),
            Self::Group(gid) => write!(f, "members of the group with gid {gid}"),
            Self::Everybody => f.write_str("every user"),
        }
    }
}

/// Returns who can change a file, or replace it in its directory, besides users who are trusted, and which of both is
/// open to them. A group counts only if the files of this machine know another member. `None` if the file can't be
/// inspected.
pub fn other_writer(path: &Path, trusted: &[u32]) -> Option<(PathBuf, Writer)> {
    let databases = AccountDatabases::of_this_machine();
    let has_others = |gid: u32| databases.has_other_member(gid, trusted);
    let of_file = writer(&std::fs::metadata(path).ok()?, trusted, has_others);
    if let Some(found) = of_file {
        return Some((path.to_owned(), found));
    }
    let directory = std::path::absolute(path).ok()?.parent()?.to_owned();
    let found = std::fs::metadata(&directory).ok()?;
    // In a sticky directory, others replace only what is theirs.
    if found.mode() & STICKY != 0 && trusted.contains(&found.uid()) {
        return None;
    }
    writer(&found, trusted, has_others).map(|writer| (directory, writer))
}

fn writer(found: &Metadata, trusted: &[u32], has_others: impl Fn(u32) -> bool) -> Option<Writer> {
    let (owner, group, mode) = (found.uid(), found.gid(), found.mode());
    if !trusted.contains(&owner) {
        Some(Writer::Owner(owner))
    } else if mode & WRITABLE_BY_ALL != 0 {
        Some(Writer::Everybody)
    } else if mode & WRITABLE_BY_GROUP != 0 && has_others(group) {
        Some(Writer::Group(group))
    } else {
        None
    }
}
