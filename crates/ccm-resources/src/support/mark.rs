//! Marks: small files in the state directory, which outlive a run.

use std::path::{Path, PathBuf};

use ccm_engine::Context;
use ccm_host::{FileAttributes, FileError, Files, NewContent, NewFile};

/// File that exists, or whose time counts, while something holds that no tool of the machine records.
#[derive(Clone, Debug)]
pub(crate) struct Mark(PathBuf);

impl Mark {
    /// Returns the mark of a name without `/`; `None` if nothing outlives the run.
    pub(crate) fn named(name: &str, context: &Context<'_>) -> Option<Self> {
        Some(Self(context.state_directory?.join(name)))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns `true` if the mark exists; `false` also if it can't be read.
    pub(crate) fn is_set(&self, files: &dyn Files) -> bool {
        files.exists(&self.0).unwrap_or_default()
    }

    /// Makes the mark, or gives it the present time.
    pub(crate) fn set(&self, files: &dyn Files) -> Result<(), FileError> {
        self.set_text("", files)
    }

    /// Makes the mark with a text.
    pub(crate) fn set_text(&self, text: &str, files: &dyn Files) -> Result<(), FileError> {
        let attributes = FileAttributes { mode: Some(0o600), ..FileAttributes::default() };
        files.write(&self.0, &NewFile { content: NewContent::Bytes(text.as_bytes()), attributes }).map(drop)
    }

    /// Returns the text of the mark; `None` if it does not exist, is longer or can't be read.
    #[cfg(feature = "archive")]
    pub(crate) fn text(&self, max_length: u64, files: &dyn Files) -> Option<String> {
        String::from_utf8(files.content(&self.0, max_length).ok()??).ok()
    }

    /// Removes the mark, if it exists.
    pub(crate) fn remove(&self, files: &dyn Files) -> Result<(), FileError> {
        if self.is_set(files) { files.remove(&self.0, false) } else { Ok(()) }
    }
}
