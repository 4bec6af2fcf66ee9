//! Comparison of a manifest and its files with a statement.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use ccm_host::FileError;
use ccm_manifest::normalize;

use super::ManifestSignatureError;
use super::record::ReadState;
use super::sources::{LocalSources, SourceEntry};
use super::statement::{SignedFile, SignedManifest, name_of};
use crate::manifest::LoadedManifest;
use crate::session::absolute_path;

/// Files that belong to a signed manifest.
#[derive(Clone, Debug, Default)]
pub(crate) struct SignedFiles {
    /// The sha256 of each file that was signed.
    digests: HashMap<PathBuf, String>,
    /// Paths that did not exist when the manifest was loaded. The run may create them.
    absent: HashSet<PathBuf>,
    /// Paths that the resources of the manifest manage.
    managed: HashSet<PathBuf>,
    /// Directory of the manifest.
    directory: PathBuf,
    /// Digests of signed files that were not read when the manifest was loaded, by their names.
    unread: HashMap<String, String>,
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

impl LoadedManifest<'_> {
    /// Returns everything that a statement about this manifest has to list, by path.
    pub(super) fn signed_entries(
        &self,
        sources: &LocalSources,
    ) -> Result<BTreeMap<PathBuf, SourceEntry>, ManifestSignatureError> {
        let mut entries = sources.entries.clone();
        for (path, state) in self.input.reads().files() {
            match state {
                ReadState::Absent => {}
                ReadState::Unsteady => {
                    return Err(ManifestSignatureError::Unsteady(path.display().to_string()));
                }
                ReadState::Content(digest) => {
                    let entry = entries.entry(path.clone()).or_default();
                    if entry.sha256.get_or_insert_with(|| digest.clone()) != &digest {
                        return Err(ManifestSignatureError::Unsteady(path.display().to_string()));
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Compares the manifest, the given values and all files with a statement.
    pub(super) fn compare(&self, statement: &SignedManifest) -> Result<SignedFiles, ManifestSignatureError> {
        let directory = self.input.directory();
        let name = self.input.file_name().unwrap_or_default();
        if statement.manifest != name {
            let signed = statement.manifest.clone();
            return Err(ManifestSignatureError::OtherManifest { signed });
        }
        if statement.data != self.input.data().assignments {
            return Err(ManifestSignatureError::OtherData);
        }
        if statement.hiera != self.hiera_names() {
            return Err(ManifestSignatureError::OtherHiera);
        }
        let signed: HashMap<&str, &SignedFile> =
            statement.files.iter().map(|file| (&*file.name, file)).collect();
        let sources = self.local_sources()?;
        let entries = self.signed_entries(&sources)?;
        let mut files = SignedFiles { directory: directory.to_owned(), ..SignedFiles::default() };
        let mut known = HashSet::new();
        for (path, entry) in entries {
            let (name, absolute) = (name_of(directory, &path), path.to_string_lossy());
            let Some(file) = signed.get(&*name).or_else(|| signed.get(&*absolute)) else {
                return Err(ManifestSignatureError::NotSigned(name));
            };
            if file.sha256 != entry.sha256 || file.link != entry.link {
                return Err(ManifestSignatureError::Changed(name));
            }
            let is_copied = sources.trees.iter().any(|tree| path.starts_with(tree));
            if is_copied && file.executable != entry.executable {
                return Err(ManifestSignatureError::Mode(name));
            }
            known.insert(&*file.name);
            files.digests.extend(entry.sha256.map(|digest| (path, digest)));
        }
        self.check_missing(statement, &sources, &known)?;
        for file in statement.files.iter().filter(|file| !known.contains(&*file.name)) {
            files.unread.extend(file.sha256.clone().map(|digest| (file.name.clone(), digest)));
        }
        files.absent.extend(sources.absent);
        let reads = self.input.reads().files();
        files
            .absent
            .extend(reads.into_iter().filter(|(_, state)| *state == ReadState::Absent).map(|read| read.0));
        files.managed.extend(self.managed_paths().into_keys());
        Ok(files)
    }

    /// Refuses files that were signed and do not exist any more.
    fn check_missing(
        &self,
        statement: &SignedManifest,
        sources: &LocalSources,
        known: &HashSet<&str>,
    ) -> Result<(), ManifestSignatureError> {
        let directory = self.input.directory();
        let signed: HashSet<&str> = statement.files.iter().map(|file| &*file.name).collect();
        let reads = self.input.reads().files();
        let absent = reads.iter().filter(|(_, state)| **state == ReadState::Absent).map(|(path, _)| path);
        for path in absent.chain(&sources.absent) {
            for name in [name_of(directory, path), path.display().to_string()] {
                if signed.contains(&*name) {
                    return Err(ManifestSignatureError::Gone(name));
                }
            }
        }
        for tree in &sources.trees {
            let names = [name_of(directory, tree), tree.display().to_string()];
            let below = |name: &str| names.iter().any(|tree| Path::new(name).starts_with(tree));
            let gone = statement.files.iter().find(|file| below(&file.name) && !known.contains(&*file.name));
            if let Some(gone) = gone {
                return Err(ManifestSignatureError::Gone(gone.name.clone()));
            }
        }
        Ok(())
    }

    /// Returns the names of the given files of values.
    pub(super) fn hiera_names(&self) -> Vec<String> {
        let directory = self.input.directory();
        let given = self.input.data().files.iter();
        given.map(|path| name_of(directory, &absolute_path(path))).collect()
    }
}
