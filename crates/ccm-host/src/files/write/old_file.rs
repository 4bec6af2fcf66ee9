//! File that is replaced, of which the new file keeps what is not given.

use rustix::fs::{FileType, Stat};

use super::super::attributes::{SET_ID, acl_is_kept};
use super::super::extended::ExtendedAttributes;
use super::super::inspect::open_regular;
use super::super::resolve::{PathEntry, ResolvedPath};
use super::{FileAttributes, FileError, attribute_error, changed_owners};

/// State of the regular file that is replaced, or of the target of the link that is replaced.
pub(super) struct OldFile {
    stat: Stat,
    directory_owner: u32,
    pub(super) extended: ExtendedAttributes,
}

impl OldFile {
    /// Returns the attributes of a new file. As with `chown`, a new owner or group does not get the set-id
    /// bits and capabilities of the old file: its owner could have chosen the program that runs with them.
    pub(super) fn inherited_by(&mut self, given: FileAttributes) -> FileAttributes {
        let mut mode = PathEntry { stat: self.stat }.mode();
        if changed_owners(&self.stat, given.uid, given.gid) != (None, None) {
            mode &= !SET_ID;
            self.extended.drop_capability();
        }
        let new_owner = given.uid.unwrap_or(self.stat.st_uid);
        if !acl_is_kept(self.stat.st_uid, self.directory_owner, new_owner) {
            self.extended.drop_acl();
        }
        FileAttributes {
            uid: given.uid.or(Some(self.stat.st_uid)),
            gid: given.gid.or(Some(self.stat.st_gid)),
            mode: given.mode.or(Some(mode)),
        }
    }

    pub(super) fn of(resolved: &ResolvedPath) -> Result<Option<Self>, FileError> {
        let Some(entry) = &resolved.entry else { return Ok(None) };
        match entry.kind() {
            FileType::RegularFile => Self::read(resolved, entry).map(Some),
            // The new file keeps the permissions of the target for users who read through the link.
            FileType::Symlink => match ResolvedPath::find_target(&resolved.path) {
                Ok(Some(behind)) => match &behind.entry {
                    Some(entry) if entry.kind() == FileType::RegularFile => {
                        Self::read(&behind, entry).map(Some)
                    }
                    _ => Ok(None),
                },
                Ok(None) | Err(FileError::UntrustedLink { .. }) => Ok(None),
                Err(error) => Err(error),
            },
            _ => {
                let what = entry.kind_with_article().unwrap_or_default();
                Err(FileError::NotAFile { path: resolved.path.clone(), what })
            }
        }
    }

    fn read(resolved: &ResolvedPath, entry: &PathEntry) -> Result<Self, FileError> {
        let file = open_regular(resolved, entry)?;
        let extended =
            ExtendedAttributes::of(&file).map_err(|refused| attribute_error(&resolved.path, refused))?;
        Ok(Self { stat: entry.stat, directory_owner: resolved.directory_owner()?, extended })
    }
}
