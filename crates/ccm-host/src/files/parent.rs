//! Open directories that resolved paths are in.

use std::collections::HashMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{Mode, OFlags, Stat, fstat, openat};
use rustix::io::Errno;

/// Directory with the entry of a path. The descriptor can only be used to name files in the directory.
#[derive(Debug)]
pub(crate) struct ParentDirectory {
    descriptor: OwnedFd,
    stat: OnceLock<Stat>,
}

impl ParentDirectory {
    pub(super) fn new(descriptor: OwnedFd) -> Self {
        Self { descriptor, stat: OnceLock::new() }
    }

    /// Returns owner, mode and identity of the directory, as they were at the first call.
    pub(super) fn stat(&self) -> Result<&Stat, Errno> {
        if let Some(stat) = self.stat.get() {
            return Ok(stat);
        }
        let found = fstat(&self.descriptor)?;
        Ok(self.stat.get_or_init(|| found))
    }

    /// Opens the directory itself.
    pub(super) fn open(&self) -> Result<OwnedFd, Errno> {
        openat(self, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    }
}

impl AsFd for ParentDirectory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl AsRawFd for ParentDirectory {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.as_raw_fd()
    }
}

/// Directories without links on their paths, each opened once for the files in it.
#[derive(Debug, Default)]
pub(super) struct OpenParents(HashMap<PathBuf, Arc<ParentDirectory>>);

impl OpenParents {
    pub(super) fn get(&self, directory: &Path) -> Option<&Arc<ParentDirectory>> {
        self.0.get(directory)
    }

    pub(super) fn add(&mut self, directory: &Path, parent: &Arc<ParentDirectory>) {
        self.0.insert(directory.to_owned(), Arc::clone(parent));
    }
}
