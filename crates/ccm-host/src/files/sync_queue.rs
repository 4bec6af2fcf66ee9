//! Files that are synced together.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;

use rustix::fs::fsync;
use rustix::process::{Resource, getrlimit};

use super::{FileError, FileStep};
use crate::raw;

/// Maximum number of files that are open at once.
pub(super) const MAX_FILES: usize = 256;

/// Size of contents from which on they are synced before others are written, in bytes.
pub(super) const MAX_BYTES: u64 = 16 << 20;

/// Complete files, which the disk begins to write at once, and which are waited for together: that takes much less time
/// than one after the other.
#[derive(Debug)]
pub struct SyncQueue {
    files: Vec<(OwnedFd, PathBuf)>,
    bytes: u64,
    max_files: usize,
}

impl SyncQueue {
    /// Makes an empty queue. It never holds more than a quarter of the descriptors that this process may have.
    pub fn new() -> Self {
        let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let quarter = usize::try_from(limit / 4).unwrap_or(usize::MAX);
        Self { files: Vec::new(), bytes: 0, max_files: quarter.min(MAX_FILES) }
    }

    /// Adds a file with its number of bytes. The path is for messages. Waits for the disk if the queue is full.
    pub fn add(&mut self, file: OwnedFd, bytes: u64, path: PathBuf) -> Result<(), FileError> {
        // The sync that follows reports an error.
        let _best_effort = raw::begin_writeback(file.as_fd());
        self.files.push((file, path));
        self.bytes = self.bytes.saturating_add(bytes);
        if self.files.len() >= self.max_files || self.bytes >= MAX_BYTES { self.sync() } else { Ok(()) }
    }

    /// Waits until all files are on the disk, and closes them.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.bytes = 0;
        self.files
            .drain(..)
            .try_for_each(|(file, path)| fsync(file).map_err(FileError::at(&path, FileStep::Sync)))
    }
}

impl Default for SyncQueue {
    fn default() -> Self {
        Self::new()
    }
}
