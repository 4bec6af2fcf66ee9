//! Content of a manifest: everything that a statement about it lists.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_model::timestamp;

use super::ManifestSignatureError;
use super::read_record::ReadState;
use super::signed_files::SignedFiles;
use super::statement::{SignedFile, SignedManifest, name_of};

/// File or link that is copied, as it is now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceEntry {
    /// The sha256 of a file.
    pub sha256: Option<String>,
    /// The file is in a directory that is copied, and its owner may execute it.
    pub executable: bool,
    /// Text of a link.
    pub link: Option<String>,
}

/// Everything that the resources copy or extract.
#[derive(Debug, Default)]
pub struct LocalSources {
    /// Files and links by their paths.
    pub entries: BTreeMap<PathBuf, SourceEntry>,
    /// Directories, without links.
    pub trees: Vec<PathBuf>,
    /// Paths that do not exist. An earlier resource may create them.
    pub absent: Vec<PathBuf>,
    /// Number of files that were read.
    pub files: usize,
    /// Number of bytes that were read.
    pub bytes: u64,
}

impl LocalSources {
    /// Adds an entry. Two reads of a file have to find the same content.
    pub fn add(&mut self, path: PathBuf, entry: SourceEntry) -> Result<(), ManifestSignatureError> {
        if let Some(before) = self.entries.get_mut(&path) {
            if before.sha256 != entry.sha256 || before.link != entry.link {
                return Err(ManifestSignatureError::Unsteady(path.display().to_string()));
            }
            before.executable |= entry.executable;
            return Ok(());
        }
        self.entries.insert(path, entry);
        Ok(())
    }
}

/// Manifest with the given values and all its files, as they are now.
#[derive(Debug)]
pub struct ManifestContent<'m> {
    /// Name of the manifest in its directory.
    pub name: String,
    /// Directory of the manifest.
    pub directory: &'m Path,
    /// Assignments of values over those of the manifest.
    pub data: &'m [String],
    /// Absolute paths of the given files of values.
    pub hiera: Vec<PathBuf>,
    /// Files that the manifest and its values were read from.
    pub reads: BTreeMap<PathBuf, ReadState>,
    /// Files that the resources copy or extract.
    pub sources: LocalSources,
    /// Paths that the resources manage.
    pub managed: HashSet<PathBuf>,
}

impl ManifestContent<'_> {
    /// Builds the statement about the manifest for a time.
    pub fn statement(
        &self,
        created: SystemTime,
        end: SystemTime,
    ) -> Result<SignedManifest, ManifestSignatureError> {
        let entries = self.entries()?.into_iter();
        let mut files: Vec<SignedFile> = entries
            .map(|(path, entry)| SignedFile {
                name: name_of(self.directory, &path),
                sha256: entry.sha256,
                executable: entry.executable,
                link: entry.link,
            })
            .collect();
        files.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(SignedManifest {
            format: SignedManifest::format(),
            manifest: self.name.clone(),
            created: timestamp(created, 2).to_string(),
            not_after: timestamp(end, 2).to_string(),
            data: self.data.to_vec(),
            hiera: self.hiera_names(),
            trees: self.sources.trees.iter().map(|tree| name_of(self.directory, tree)).collect(),
            files,
        })
    }

    /// Compares the manifest, the given values and all files with a statement.
    pub fn compare(&self, statement: &SignedManifest) -> Result<SignedFiles, ManifestSignatureError> {
        let directory = self.directory;
        if statement.manifest != self.name {
            let signed = statement.manifest.clone();
            return Err(ManifestSignatureError::OtherManifest { signed });
        }
        if statement.data != self.data {
            return Err(ManifestSignatureError::OtherData);
        }
        if statement.hiera != self.hiera_names() {
            return Err(ManifestSignatureError::OtherHiera);
        }
        let signed: HashMap<&str, &SignedFile> =
            statement.files.iter().map(|file| (&*file.name, file)).collect();
        let mut files = SignedFiles { directory: directory.to_owned(), ..SignedFiles::default() };
        let mut known = HashSet::new();
        for (path, entry) in self.entries()? {
            let (name, absolute) = (name_of(directory, &path), path.to_string_lossy());
            let Some(file) = signed.get(&*name).or_else(|| signed.get(&*absolute)) else {
                return Err(ManifestSignatureError::NotSigned(name));
            };
            if file.sha256 != entry.sha256 || file.link != entry.link {
                return Err(ManifestSignatureError::Changed(name));
            }
            let is_copied = self.sources.trees.iter().any(|tree| path.starts_with(tree));
            if is_copied && file.executable != entry.executable {
                return Err(ManifestSignatureError::Mode(name));
            }
            known.insert(&*file.name);
            files.digests.extend(entry.sha256.map(|digest| (path, digest)));
        }
        self.check_missing(statement, &known)?;
        for file in statement.files.iter().filter(|file| !known.contains(&*file.name)) {
            files.unread.extend(file.sha256.clone().map(|digest| (file.name.clone(), digest)));
        }
        files.absent.extend(self.absent().cloned());
        files.managed.clone_from(&self.managed);
        Ok(files)
    }

    /// Refuses files that were signed and do not exist any more.
    fn check_missing(
        &self,
        statement: &SignedManifest,
        known: &HashSet<&str>,
    ) -> Result<(), ManifestSignatureError> {
        let directory = self.directory;
        let signed: HashSet<&str> = statement.files.iter().map(|file| &*file.name).collect();
        for path in self.absent() {
            for name in [name_of(directory, path), path.display().to_string()] {
                if signed.contains(&*name) {
                    return Err(ManifestSignatureError::Gone(name));
                }
            }
        }
        for tree in &self.sources.trees {
            let names = [name_of(directory, tree), tree.display().to_string()];
            let below = |name: &str| names.iter().any(|tree| Path::new(name).starts_with(tree));
            let gone = statement.files.iter().find(|file| below(&file.name) && !known.contains(&*file.name));
            if let Some(gone) = gone {
                return Err(ManifestSignatureError::Gone(gone.name.clone()));
            }
        }
        Ok(())
    }

    /// Returns everything that a statement about the manifest has to list, by path.
    fn entries(&self) -> Result<BTreeMap<PathBuf, SourceEntry>, ManifestSignatureError> {
        let mut entries = self.sources.entries.clone();
        for (path, state) in &self.reads {
            let unsteady = || ManifestSignatureError::Unsteady(path.display().to_string());
            match state {
                ReadState::Absent => {}
                ReadState::Unsteady => return Err(unsteady()),
                ReadState::Content(digest) => {
                    let entry = entries.entry(path.clone()).or_default();
                    if entry.sha256.get_or_insert_with(|| digest.clone()) != digest {
                        return Err(unsteady());
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Returns the paths that were read and did not exist, and those that resources copy and did not exist.
    fn absent(&self) -> impl Iterator<Item = &PathBuf> {
        let read = self.reads.iter().filter(|(_, state)| **state == ReadState::Absent);
        read.map(|(path, _)| path).chain(&self.sources.absent)
    }

    /// Returns the names of the given files of values.
    fn hiera_names(&self) -> Vec<String> {
        self.hiera.iter().map(|path| name_of(self.directory, path)).collect()
    }
}
