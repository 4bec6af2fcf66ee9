//! Users who can change a file.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::fs::{Metadata, canonicalize, symlink_metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf, absolute};

use crate::access_list;
use crate::account::AccountDatabases;
use crate::trusted::{HIDDEN_OWNER, shows_all_owners};

const STICKY: u32 = 0o1000;

/// Somebody who can change a file or directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Its owner, with this UID.
    Owner(u32),
    /// User of its access control list, with this UID.
    Listed(u32),
    /// Members of a group, with this GID.
    Group(u32),
    /// Every user.
    Everybody,
}

impl fmt::Display for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner(uid) => write!(f, "uid {uid}"),
            Self::Listed(uid) => write!(f, "uid {uid}, by an access control list"),
            Self::Group(gid) => write!(f, "members of the group with gid {gid}"),
            Self::Everybody => f.write_str("every user"),
        }
    }
}

/// Users besides the trusted ones who can change files. Each directory is inspected once.
pub struct OtherWriters<'t> {
    trusted: &'t [u32],
    databases: AccountDatabases,
    directories: RefCell<HashMap<PathBuf, Option<(PathBuf, Writer)>>>,
}

impl<'t> OtherWriters<'t> {
    /// Looks for users who are not trusted.
    pub fn than(trusted: &'t [u32]) -> Self {
        Self { trusted, databases: AccountDatabases::of_this_machine(), directories: RefCell::default() }
    }

    /// Returns who can change a file, or exchange it or a directory on the way to it, and which of these is open to them. A
    /// group counts only if the files of this machine know another member. `None` if the file can't be inspected.
    pub fn of(&self, path: &Path) -> Option<(PathBuf, Writer)> {
        let path = absolute(path).ok()?;
        // A link on the way can be exchanged in its own directory.
        let real = canonicalize(&path).ok()?;
        if let Some(writer) = self.writer(&real, &symlink_metadata(&real).ok()?) {
            return Some((real, writer));
        }
        let lexical = if real == path { None } else { path.parent() };
        real.parent().into_iter().chain(lexical).find_map(|directory| self.above(directory))
    }

    /// Returns who can exchange something in a directory, or in one above it.
    fn above(&self, directory: &Path) -> Option<(PathBuf, Writer)> {
        if let Some(known) = self.directories.borrow().get(directory) {
            return known.clone();
        }
        let found = symlink_metadata(directory).ok().and_then(|found| self.writer(directory, &found));
        let found = found.map(|writer| (directory.to_owned(), writer));
        let found = found.or_else(|| self.above(directory.parent()?));
        self.directories.borrow_mut().insert(directory.to_owned(), found.clone());
        found
    }

    fn writer(&self, path: &Path, found: &Metadata) -> Option<Writer> {
        let (owner, mode) = (found.uid(), found.mode());
        if !self.trusted.contains(&owner) && (owner != HIDDEN_OWNER || shows_all_owners()) {
            return Some(Writer::Owner(owner));
        }
        // The link itself has no rights. In a sticky directory, others replace only what is theirs.
        if found.is_symlink() || found.is_dir() && mode & STICKY != 0 {
            return None;
        }
        let writers = access_list::writers((mode, found.gid()), || access_list::of_path(path)).ok()?;
        writers.into_iter().find(|writer| match writer {
            Writer::Everybody => true,
            Writer::Owner(uid) | Writer::Listed(uid) => !self.trusted.contains(uid),
            Writer::Group(gid) => self.databases.has_other_member(*gid, self.trusted),
        })
    }
}
