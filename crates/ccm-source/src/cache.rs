//! The cache of a source: every version that may still be applied, and what was accepted.
//!
//! ```text
//! sources/NAME/accepted.json          what was accepted; the last thing that is written
//! sources/NAME/store/DIGEST/          a version, as it was unpacked
//! sources/NAME/store/DIGEST.release   its release with the signatures
//! sources/.first-NAME/                a first version, until it is complete
//! ```
//!
//! Killed at any point, the cache is whole: a version is complete before it is named, and named before it is recorded.

use std::io;
use std::path::{Path, PathBuf};

use ccm_host::state::{Directory, StateError, WriteLock};
use ccm_release::{Envelope, MAX_ENVELOPE, Release};

use crate::record::{AcceptedVersion, SourceRecord};

/// Directory of all sources in the state directory.
const SOURCES: &str = "sources";
const STORE: &str = "store";
const RECORD: &str = "accepted.json";
/// Directory of a version that is not complete.
const UNFINISHED: &str = ".new";
/// Directory of a repository that a branch is fetched into.
const REPOSITORY: &str = ".repository";
/// Directory of the objects of a branch.
const OBJECTS: &str = "objects";
/// Directory of the packs in that.
const PACK: &str = "pack";
/// End of the name of a pack.
const PACK_ENDING: &str = ".pack";
/// End of the name of the index of a pack.
const INDEX_ENDING: &str = ".idx";
/// Objects of a branch that are replaced.
const OLD_OBJECTS: &str = ".old-objects";
/// End of the name of a release in the store.
const RELEASE: &str = ".release";
/// End of the name of what is written down about a commit in the store.
const COMMIT: &str = ".commit";
/// Maximum size of a record in bytes.
const MAX_RECORD: u64 = 64 << 10;

/// Cache of a source, which is locked against other programs.
pub struct SourceCache {
    sources: Directory,
    name: String,
    /// Directory of the source; that of the first version, until it is complete.
    base: Directory,
    is_first: bool,
    _lock: WriteLock,
}

/// Error of the cache of a source.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A file of the cache can't be read or written.
    #[error("{path:?} can't be {verb}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// What was tried: `read` or `written`.
        verb: &'static str,
        /// Reason.
        source: io::Error,
    },
    /// The record is damaged.
    #[error("{path:?} is damaged")]
    Damaged {
        /// Path of the record.
        path: PathBuf,
        /// Reason.
        source: serde_json::Error,
    },
    /// Nothing tells any more what was accepted.
    #[error("nothing tells any more which version of this source was accepted: {path:?} is lost")]
    Lost {
        /// Path of the record.
        path: PathBuf,
    },
}

impl SourceCache {
    /// Opens the cache of a source, and waits for other programs that change it.
    pub fn open(state: &Path, name: &str) -> Result<Self, CacheError> {
        let state = Directory::open_private(state)?;
        let sources = state.make(SOURCES).map_err(failed(state.path(), SOURCES, "written"))?;
        let lock_name = format!(".lock-{name}");
        let lock = WriteLock::take(&sources, &lock_name);
        let lock = lock.map_err(failed(sources.path(), &lock_name, "written"))?;
        let (base, is_first) = match sources.enter(name) {
            Ok(base) => (base, false),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let first = format!(".first-{name}");
                // What is there was left by a program that was killed.
                remove(&sources, &first)?;
                (sources.make(&first).map_err(failed(sources.path(), &first, "written"))?, true)
            }
            Err(error) => return Err(failed(sources.path(), name, "read")(error)),
        };
        Ok(Self { sources, name: name.to_owned(), base, is_first, _lock: lock })
    }

    /// Reads what was accepted of a source without waiting for anybody; `None` if nothing was.
    pub fn peek(state: &Path, name: &str) -> Result<Option<SourceRecord>, CacheError> {
        let Some(state) = Directory::open(state)? else { return Ok(None) };
        let path = state.path().join(SOURCES).join(name);
        match state.enter(SOURCES).and_then(|sources| sources.enter(name)) {
            Ok(base) => read_record(&base),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(CacheError::File { path, verb: "read", source }),
        }
    }

    /// Returns the names of all sources of which something was accepted, sorted.
    pub fn names(state: &Path) -> Result<Vec<String>, CacheError> {
        let Some(state) = Directory::open(state)? else { return Ok(Vec::new()) };
        let names = match state.enter(SOURCES).and_then(|sources| sources.directories()) {
            Ok(names) => names,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(failed(state.path(), SOURCES, "read")(error)),
        };
        let mut names: Vec<_> = names.into_iter().filter(|name| !name.starts_with('.')).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Removes everything about a source. Returns `false` if there is nothing.
    pub fn forget(self) -> Result<bool, CacheError> {
        if self.is_first {
            return Ok(false);
        }
        // The record goes first: without it, nothing is applied.
        let failed = |name: &str, error| failed(self.sources.path(), name, "removed")(error);
        let aside = format!(".first-{}", self.name);
        self.sources.rename(&self.name, &aside).map_err(|error| failed(&self.name, error))?;
        self.sources.remove(&aside).map_err(|error| failed(&aside, error))?;
        self.sources.sync().map_err(|error| failed(&self.name, error))?;
        Ok(true)
    }

    /// Returns what was accepted; `None` before the first version. A record that is lost is an error, because any version
    /// might come next; `bootstrap` begins anew.
    pub fn record(&self, bootstrap: bool) -> Result<Option<SourceRecord>, CacheError> {
        match read_record(&self.base)? {
            None if !self.is_first && !bootstrap => {
                Err(CacheError::Lost { path: self.base.path().join(RECORD) })
            }
            found => Ok(found),
        }
    }

    /// Returns the directory of a version in the state directory.
    pub fn path_of(state: &Path, name: &str, digest: &str) -> PathBuf {
        state.join(SOURCES).join(name).join(STORE).join(digest)
    }

    /// Returns the directory of a version.
    pub fn version(&self, digest: &str) -> PathBuf {
        let base =
            if self.is_first { self.sources.path().join(&self.name) } else { self.base.path().to_owned() };
        base.join(STORE).join(digest)
    }

    /// Returns `true` if a version is in the store.
    pub fn has_version(&self, digest: &str) -> bool {
        self.base.enter(STORE).and_then(|store| store.enter(digest)).is_ok()
    }

    /// Returns a directory for files without a name.
    pub fn scratch(&self) -> &Path {
        self.sources.path()
    }

    /// Makes an empty directory for a version that is not complete, and returns its path. Nobody else can enter those
    /// above it, so that only a sandbox or a container which it is opened to shows it to other users.
    pub fn stage(&self) -> Result<PathBuf, CacheError> {
        let store = self.store()?;
        remove(&store, UNFINISHED)?;
        let made = store.make(UNFINISHED).and_then(|made| made.share_with_all().map(|()| made));
        let made = made.map_err(failed(store.path(), UNFINISHED, "written"))?;
        Ok(made.path().to_owned())
    }

    /// Makes an empty directory for the repository of a branch, and returns its path.
    pub fn repository(&self) -> Result<PathBuf, CacheError> {
        remove(&self.base, REPOSITORY)?;
        let made = self.base.make(REPOSITORY).map_err(failed(self.base.path(), REPOSITORY, "written"))?;
        Ok(made.path().to_owned())
    }

    /// Returns the directory of the objects of a branch in the state directory.
    pub fn objects_of(state: &Path, name: &str) -> PathBuf {
        state.join(SOURCES).join(name).join(OBJECTS)
    }

    /// Returns the directory of the objects of a branch.
    pub fn objects(&self) -> PathBuf {
        self.base.path().join(OBJECTS)
    }

    /// Returns the number of packs of a branch.
    pub fn packs(&self) -> usize {
        let packs = self.base.enter(OBJECTS).and_then(|objects| objects.enter(PACK));
        let names = packs.and_then(|packs| packs.names()).unwrap_or_default();
        names.iter().filter(|name| name.ends_with(PACK_ENDING)).count()
    }

    /// Keeps the objects of the repository that a branch was fetched into: in place of those from before if they are the
    /// whole history, else beside them. They prove nothing yet, so that it does not matter if only a part of them is kept.
    pub fn keep_objects(&self, is_whole: bool) -> Result<(), CacheError> {
        let at = |name: &str| failed(self.base.path(), name, "written");
        let repository = self.base.enter(REPOSITORY).map_err(at(REPOSITORY))?;
        if is_whole {
            remove(&self.base, OLD_OBJECTS)?;
            match self.base.rename(OBJECTS, OLD_OBJECTS) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at(OBJECTS)(error)),
                _ => {}
            }
            repository.rename_into(OBJECTS, &self.base, OBJECTS).map_err(at(OBJECTS))?;
            remove(&self.base, OLD_OBJECTS)?;
        } else {
            let from = repository.enter(OBJECTS).and_then(|objects| objects.enter(PACK));
            let from = from.map_err(at(OBJECTS))?;
            let into = self.base.make(OBJECTS).and_then(|objects| objects.make(PACK)).map_err(at(OBJECTS))?;
            let mut names = from.names().map_err(at(OBJECTS))?;
            // git looks for the index of a pack first.
            names.sort_by_key(|name| name.ends_with(INDEX_ENDING));
            for name in names {
                from.rename_into(&name, &into, &name).map_err(at(OBJECTS))?;
            }
            into.sync().map_err(at(OBJECTS))?;
        }
        self.base.sync().map_err(at(OBJECTS))
    }

    /// Removes a version that is not complete, and what was fetched for it.
    pub fn discard(&self) -> Result<(), CacheError> {
        remove(&self.store()?, UNFINISHED)?;
        remove(&self.base, REPOSITORY)?;
        remove(&self.base, OLD_OBJECTS)
    }

    /// Accepts the staged version: names it, and then records it. Of a release, its envelope is kept beside it. Returns its
    /// directory.
    pub fn accept(
        mut self,
        envelope: Option<&Envelope>,
        record: &SourceRecord,
    ) -> Result<PathBuf, CacheError> {
        let store = self.store()?;
        let digest = &*record.accepted.digest;
        let at = |name: &str| failed(store.path(), name, "written");
        let (name, content) = match envelope {
            Some(envelope) => (format!("{digest}{RELEASE}"), envelope.content()),
            None => (format!("{digest}{COMMIT}"), json(&record.accepted, store.path())?),
        };
        store.replace(&name, content.as_bytes()).map_err(at(&name))?;
        if !self.has_version(digest) {
            store.rename(UNFINISHED, digest).map_err(at(digest))?;
        }
        store.sync().map_err(at(digest))?;
        // An older version may have had the same content.
        self.discard()?;
        self.write(record)?;
        if self.is_first {
            let first = format!(".first-{}", self.name);
            let renamed = self.sources.rename(&first, &self.name).and_then(|()| self.sources.sync());
            renamed.map_err(failed(self.sources.path(), &self.name, "written"))?;
            self.base =
                self.sources.enter(&self.name).map_err(failed(self.sources.path(), &self.name, "read"))?;
            self.is_first = false;
        }
        self.prune(record);
        Ok(self.version(digest))
    }

    /// Writes the record, if something was accepted before.
    pub fn write(&self, record: &SourceRecord) -> Result<(), CacheError> {
        let written = self.base.replace(RECORD, json(record, self.base.path())?.as_bytes());
        written.map_err(failed(self.base.path(), RECORD, "written"))
    }

    /// Returns the envelope of a release in the store.
    pub(crate) fn envelope(&self, digest: &str) -> Option<Vec<u8>> {
        let store = self.base.enter(STORE).ok()?;
        store.read_foreign(&format!("{digest}{RELEASE}"), MAX_ENVELOPE as u64).ok().map(|(bytes, _)| bytes)
    }

    /// Returns the releases in the store, the newest first, for a record that is lost. Their signatures were verified
    /// before they came there.
    pub fn stored_releases(&self) -> Vec<Release> {
        let Ok(store) = self.store() else { return Vec::new() };
        let names = store.names().unwrap_or_default();
        let read = |name: &String| {
            let digest = name.strip_suffix(RELEASE)?;
            let (bytes, _) = store.read_foreign(name, MAX_ENVELOPE as u64).ok()?;
            let release = Release::parse(Envelope::parse(&bytes).ok()?.payload()).ok()?;
            (release.bundle.sha256 == digest && store.enter(digest).is_ok()).then_some(release)
        };
        let mut releases: Vec<_> = names.iter().filter_map(read).collect();
        releases.sort_by_key(|release| std::cmp::Reverse((release.epoch, release.version)));
        releases
    }

    /// Returns the newest commit in the store, for a record that is lost. Its signature was verified before it came there.
    pub fn stored_commit(&self) -> Option<AcceptedVersion> {
        let store = self.store().ok()?;
        let read = |name: &String| {
            let digest = name.strip_suffix(COMMIT)?;
            let (bytes, _) = store.read_foreign(name, MAX_RECORD).ok()?;
            let version: AcceptedVersion = serde_json::from_slice(&bytes).ok()?;
            (version.digest == digest && store.enter(digest).is_ok()).then_some(version)
        };
        let names = store.names().unwrap_or_default();
        names.iter().filter_map(read).max_by_key(|version| Some(version.commit.as_ref()?.after))
    }

    /// Removes versions that are not needed any more. A version that can't be removed is tried again.
    fn prune(&self, record: &SourceRecord) {
        let Ok(store) = self.store() else { return };
        let digest = |version: Option<&AcceptedVersion>| version.map(|version| version.digest.clone());
        let kept = [
            Some(record.accepted.digest.clone()),
            record.applied.clone(),
            digest(record.before.as_ref()),
            digest(Some(record.current())),
        ];
        let is_kept = |digest: &str| kept.iter().flatten().any(|kept| kept == digest);
        for name in store.names().unwrap_or_default() {
            match name.strip_suffix(RELEASE).or(name.strip_suffix(COMMIT)) {
                Some(digest) if !is_kept(digest) => drop(store.remove_unsynced(&name)),
                None if !is_kept(&name) => drop(store.remove(&name)),
                _ => {}
            }
        }
    }

    fn store(&self) -> Result<Directory, CacheError> {
        self.base.make(STORE).map_err(failed(self.base.path(), STORE, "written"))
    }
}

impl Drop for SourceCache {
    fn drop(&mut self) {
        if self.is_first {
            // Nothing was accepted. What can't be removed is removed the next time.
            let _ = self.sources.remove(&format!(".first-{}", self.name));
        }
    }
}

/// Removes a subdirectory, if it exists.
fn remove(directory: &Directory, name: &str) -> Result<(), CacheError> {
    match directory.remove(name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed(directory.path(), name, "removed")(error))
        }
        _ => Ok(()),
    }
}

fn json(value: &impl serde::Serialize, directory: &Path) -> Result<String, CacheError> {
    let content = serde_json::to_string_pretty(value)
        .map_err(|source| CacheError::Damaged { path: directory.to_owned(), source })?;
    Ok(format!("{content}\n"))
}

fn read_record(base: &Directory) -> Result<Option<SourceRecord>, CacheError> {
    let path = base.path().join(RECORD);
    match base.read_foreign(RECORD, MAX_RECORD) {
        Ok((bytes, _)) => {
            let record = serde_json::from_slice(&bytes);
            record.map(Some).map_err(|source| CacheError::Damaged { path, source })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(CacheError::File { path, verb: "read", source }),
    }
}

fn failed(directory: &Path, name: &str, verb: &'static str) -> impl FnOnce(io::Error) -> CacheError + use<> {
    let path = directory.join(name);
    move |source| CacheError::File { path, verb, source }
}
