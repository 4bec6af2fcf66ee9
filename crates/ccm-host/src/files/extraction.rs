//! Directories that archives are extracted into.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};

use super::resolve::ResolvedPath;
use super::{FileError, FileStep, remove};
use crate::command::Cancellation;

/// Directory to extract into, from [`Files::extraction_target`](crate::Files::extraction_target): extractions go
/// through the door for files like every other change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractionTarget(PathBuf);

impl ExtractionTarget {
    pub(crate) fn new(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Opens the directory. Links to it are followed as [`Files`](crate::Files) follows them.
    pub fn open(&self) -> Result<OwnedFd, FileError> {
        let missing = || FileError::ParentMissing(self.0.clone());
        let found = ResolvedPath::find_target(&self.0)?.ok_or_else(missing)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&found.parent, found.entry_name(), flags, Mode::empty())
            .map_err(FileError::at(&self.0, FileStep::Inspect))
    }
}

/// Removes what is in an open directory. The path is for messages.
pub fn empty_directory(directory: OwnedFd, path: &Path) -> Result<(), FileError> {
    remove::empty(directory, path, &Cancellation::never(), &|_| {})
}
