//! Files that their callers fill before they take their places.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::Path;
use std::sync::Arc;

use super::super::content;
use super::super::labels::FileLabels;
use super::super::resolve::ResolvedPath;
use super::old_file::OldFile;
use super::temp_file::TempFile;
use super::{FileAttributes, FileError, FileStep, label_of, replaceable};

/// New file beside the one that it will replace, filled by the caller. It is removed with this value unless it
/// was moved into place.
pub struct StagedFile {
    temp: TempFile<ResolvedPath>,
    attributes: FileAttributes,
    labels: Arc<FileLabels>,
}

impl StagedFile {
    /// Makes an empty file that only the user who runs ccm can use.
    pub(in super::super) fn make(
        path: &Path,
        attributes: FileAttributes,
        labels: Arc<FileLabels>,
    ) -> Result<Self, FileError> {
        let resolved = replaceable(ResolvedPath::find(path)?, attributes)?;
        // What can't be kept is found before the file is filled.
        OldFile::of(&resolved)?;
        Ok(Self { temp: TempFile::make(resolved)?, attributes, labels })
    }

    /// Opens the file at its beginning, to write or to read.
    pub fn open(&self) -> Result<File, FileError> {
        let target = &self.temp.resolved.path;
        let unreadable = |error: io::Error| FileError::step(target, FileStep::Content, error);
        let mut file = self.temp.file.try_clone().map_err(unreadable)?;
        file.rewind().map_err(unreadable)?;
        Ok(file)
    }

    /// Reads the file as text, and empties it.
    pub fn take_text(&self) -> Result<String, FileError> {
        let target = &self.temp.resolved.path;
        let unreadable = |error: io::Error| FileError::step(target, FileStep::Content, error);
        let mut file = self.open()?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(unreadable)?;
        file.set_len(0).map_err(unreadable)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Reads the whole file; `None` if it is longer.
    pub fn content(&self, max_length: u64) -> Result<Option<Vec<u8>>, FileError> {
        let file = self.open()?;
        let path = &self.temp.path;
        let length = file.metadata().map_err(|error| FileError::step(path, FileStep::Read, error))?.len();
        content::read_bounded(file.into(), length, path, max_length)
    }

    /// Path while the file is filled.
    pub fn path(&self) -> &Path {
        &self.temp.path
    }

    /// Gives the file its attributes, syncs it to the disk and moves it into place, in one step.
    pub fn place(self) -> Result<(), FileError> {
        // The old file may have changed in the time that the new one took.
        let resolved = replaceable(ResolvedPath::find(&self.temp.resolved.path)?, self.attributes)?;
        let old = OldFile::of(&resolved)?;
        let label = label_of(&resolved, &self.labels);
        self.temp.fill((self.attributes, label.as_ref()), old, || Ok(String::new()))?;
        self.temp.sync()?;
        let name = self.temp.resolved.name.clone();
        self.temp.rename_into_place(&name)
    }
}
