//! Lock for the time of a write, which several programs wait for in turn.

use std::fs::File;
use std::io;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Directory;

/// Lock on a file of a directory, which the kernel releases when its holder ends for any reason.
#[derive(Debug)]
pub struct WriteLock(File);

impl WriteLock {
    /// Takes the lock, and waits for its holder. A missing file is made.
    pub fn take(directory: &Directory, name: &str) -> io::Result<Self> {
        loop {
            let file = directory.open_file(name)?;
            loop {
                match flock(&file, FlockOperation::LockExclusive) {
                    Err(Errno::INTR) => {}
                    result => break result?,
                }
            }
            // The file was removed. The next program would lock another one.
            if directory.holds(name, &file)? {
                return Ok(Self(file));
            }
        }
    }
}

impl Drop for WriteLock {
    fn drop(&mut self) {
        // A child that another thread has just started holds a copy of the descriptor.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}
