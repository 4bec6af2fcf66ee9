//! Files of the run of a signed manifest.

use std::path::Path;

use ccm_host::{ContentUse, FileChange, FileError, Files, FilesMiddleware};

use super::check::SignedFiles;

/// Files that copy and extract only what was signed. The digest is that of the bytes that are used.
pub(crate) struct SignedSources<'r> {
    pub(crate) inner: &'r dyn Files,
    pub(crate) signed: &'r SignedFiles,
}

impl FilesMiddleware for SignedSources<'_> {
    fn inner(&self) -> &dyn Files {
        self.inner
    }

    fn before_change(&self, _: &Path, _: FileChange) -> Result<(), FileError> {
        Ok(())
    }

    fn expected_digest(&self, path: &Path, file_use: ContentUse) -> Result<Option<&str>, FileError> {
        match file_use {
            // Files of the system are read as well.
            ContentUse::Read => Ok(self.signed.digest(path)),
            ContentUse::Copy => self.signed.expected(path),
        }
    }
}
