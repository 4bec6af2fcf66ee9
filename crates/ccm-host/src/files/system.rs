//! The files of this machine.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{
    Attributes, FileError, Files, Look, NewFile, PathState, ReadContent, Step, backup, content, directory,
    is_absence, look, names, remove, write,
};

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

    fn look(&self, path: &Path, look: Look) -> Result<PathState, FileError> {
        look::look(path, look)
    }

    fn read(&self, path: &Path, keep_up_to: u64) -> Result<ReadContent, FileError> {
        content::read(look::open_source(path)?, None, keep_up_to, |_| Ok(()))
            .map_err(|error| FileError::step(path, Step::Read, error))
    }

    fn write(&self, path: &Path, new: &NewFile<'_>) -> Result<String, FileError> {
        write::write(path, new)
    }

    fn make_directory(&self, path: &Path, attributes: Attributes) -> Result<(), FileError> {
        directory::make(path, attributes)
    }

    fn set_attributes(&self, path: &Path, attributes: Attributes) -> Result<(), FileError> {
        write::set_attributes(path, attributes)
    }

    fn remove(&self, path: &Path, force: bool) -> Result<(), FileError> {
        remove::remove(path, force)
    }

    fn back_up(&self, path: &Path, state: &Path, at: SystemTime) -> Result<PathBuf, FileError> {
        backup::back_up(path, state, at)
    }

    fn user(&self, name: &str) -> Result<Option<u32>, FileError> {
        names::user(name)
    }

    fn group(&self, name: &str) -> Result<Option<u32>, FileError> {
        names::group(name)
    }

    fn user_name(&self, uid: u32) -> String {
        names::user_name(uid)
    }

    fn group_name(&self, gid: u32) -> String {
        names::group_name(gid)
    }
}
