//! Files of the run of a signed manifest.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ccm_host::{ContentUse, FileChange, FileError, Files, FilesMiddleware};
use ccm_model::normalize;

use super::read_record::ReadState;
use super::statement::name_of;

/// Files that belong to a signed manifest.
#[derive(Clone, Debug, Default)]
pub struct SignedFiles {
    /// The sha256 of each file that was signed.
    pub(super) digests: HashMap<PathBuf, String>,
    /// Paths that did not exist when the manifest was loaded. The run may create them.
    pub(super) absent: HashSet<PathBuf>,
    /// Paths that the resources of the manifest manage.
    pub(super) managed: HashSet<PathBuf>,
    /// Directory of the manifest.
    pub(super) directory: PathBuf,
    /// Digests of signed files that were not read when the manifest was loaded, by their names.
    pub(super) unread: HashMap<String, String>,
}

impl SignedFiles {
    /// Returns the digest that the content of a file has to have, if it is signed.
    pub(crate) fn digest(&self, path: &Path) -> Option<&str> {
        let path = normalize(path);
        self.digests.get(&path).or_else(|| self.unread(&path)).map(String::as_str)
    }

    /// Returns the digest that the content of a file has to have. `None` for a file that the run itself manages.
    pub(crate) fn expected(&self, path: &Path) -> Result<Option<&str>, FileError> {
        if let Some(signed) = self.digest(path) {
            return Ok(Some(signed));
        }
        let path = normalize(path);
        let is_own = path.ancestors().any(|above| self.managed.contains(above));
        if is_own || self.absent.contains(&path) { Ok(None) } else { Err(FileError::NotSigned(path)) }
    }

    fn unread(&self, path: &Path) -> Option<&String> {
        let by_name = self.unread.get(&name_of(&self.directory, path));
        by_name.or_else(|| self.unread.get(&*path.to_string_lossy()))
    }

    /// Checks a file that an expression or a template reads during the run.
    pub(crate) fn check_read(&self, path: &Path, state: &ReadState) -> Result<(), FileError> {
        let expected = match self.expected(path) {
            Err(_) if *state == ReadState::Absent => return Ok(()),
            expected => expected?,
        };
        let is_right = match (expected, state) {
            (None, _) => true,
            (Some(expected), ReadState::Content(found)) => expected == found,
            (Some(_), _) => false,
        };
        if is_right { Ok(()) } else { Err(FileError::NotAsSigned(path.to_owned())) }
    }
}

/// Files that copy and extract only what was signed. The digest is that of the bytes that are used.
pub struct SignedSources<'r> {
    /// Door to the files.
    pub inner: &'r dyn Files,
    /// The files that were signed.
    pub signed: &'r SignedFiles,
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
