//! Record of the files that a manifest is made of.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use ccm_host::sha256;
use ccm_model::normalize;

use super::signed_files::SignedFiles;

/// State of a file when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadState {
    /// The sha256 of its content.
    Content(String),
    /// The file did not exist.
    Absent,
    /// Two reads found different contents.
    Unsteady,
}

/// Files that a manifest and its values were read from, with the digests of the bytes that were used.
///
/// During the run of a signed manifest, each further read has to find the signed content.
#[derive(Debug, Default)]
pub struct ReadRecord {
    is_kept: bool,
    files: RefCell<BTreeMap<PathBuf, ReadState>>,
    /// Files that exist, whether digests are kept or not.
    paths: RefCell<BTreeSet<PathBuf>>,
    signed: OnceCell<SignedFiles>,
}

impl ReadRecord {
    /// Creates a record. One that is not kept has no digests.
    pub fn new(is_kept: bool) -> Self {
        Self { is_kept, ..Self::default() }
    }

    /// Returns `true` if the reads are recorded.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Records the content of a file that was read; `None` if the file does not exist.
    pub fn add(&self, path: &Path, content: Option<&[u8]>) -> io::Result<()> {
        let path = normalize(path);
        if content.is_some() {
            self.paths.borrow_mut().insert(path.clone());
        }
        if !self.is_kept {
            return Ok(());
        }
        let state = content.map_or(ReadState::Absent, |content| ReadState::Content(sha256(content)));
        if let Some(signed) = self.signed.get() {
            return signed.check_read(&path, &state).map_err(|error| io::Error::other(error.to_string()));
        }
        let mut files = self.files.borrow_mut();
        let known = files.entry(path).or_insert_with(|| state.clone());
        if *known != state {
            *known = ReadState::Unsteady;
        }
        Ok(())
    }

    /// Returns the paths of all files that were read.
    pub fn paths(&self) -> BTreeSet<PathBuf> {
        self.paths.borrow().clone()
    }

    /// Returns the files with their digests, if these are kept.
    pub fn files(&self) -> BTreeMap<PathBuf, ReadState> {
        self.files.borrow().clone()
    }

    /// Requires the signed content of all files from now on.
    pub fn require(&self, signed: SignedFiles) {
        // The same manifest is checked once.
        let _ = self.signed.set(signed);
    }

    /// Returns the files that were signed, if the manifest is signed.
    pub fn signed(&self) -> Option<&SignedFiles> {
        self.signed.get()
    }
}
