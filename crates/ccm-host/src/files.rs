//! Looking at files.

use std::collections::BTreeSet;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Looks at files.
pub trait Files {
    /// Tells whether something is at that path, links followed. What can't be looked at is an error.
    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// Tells whether that path is a directory, links followed.
    fn is_directory(&self, path: &Path) -> io::Result<bool>;
}

/// The files of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFiles;

impl Files for SystemFiles {
    fn exists(&self, path: &Path) -> io::Result<bool> {
        match path.metadata() {
            Ok(_) => Ok(true),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        match path.metadata() {
            Ok(metadata) => Ok(metadata.is_dir()),
            Err(error) if is_absence(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// Nothing is there, or a part of the way to it is a file.
pub(crate) fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Reads at most `limit` bytes of a file, or of standard input if there is no path.
///
/// A longer text is an error of kind [`io::ErrorKind::FileTooLarge`], found without reading the rest.
pub fn read_at_most(path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read =
        |from: &mut dyn io::Read, bytes: &mut Vec<u8>| from.take(limit.saturating_add(1)).read_to_end(bytes);
    match path {
        Some(path) => {
            let mut file = std::fs::File::open(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            read(&mut file, &mut bytes)?;
        }
        None => {
            read(&mut io::stdin().lock(), &mut bytes)?;
        }
    }
    if bytes.len() as u64 > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Files that a test names.
#[derive(Clone, Debug, Default)]
pub struct FakeFiles {
    /// What exists and is no directory.
    pub files: BTreeSet<PathBuf>,
    /// What is a directory.
    pub directories: BTreeSet<PathBuf>,
}

impl Files for FakeFiles {
    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.files.contains(path) || self.directories.contains(path))
    }

    fn is_directory(&self, path: &Path) -> io::Result<bool> {
        Ok(self.directories.contains(path))
    }
}
