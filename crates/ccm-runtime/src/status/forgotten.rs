//! Manifests that the status leaves out until they run again, kept in the state directory.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use ccm_host::state::{Directory, StateError};
use ccm_model::escape_json;
use serde::{Deserialize, Serialize};

use super::{SessionStatus, StatusError};
use crate::session::Session;

/// Name of the file in the state directory.
const FILE: &str = "forgotten.json";
/// Maximum size of the file in bytes. ccm writes shorter ones.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// Forgotten manifests, each with the id of the newest run that is forgotten. It is empty if no run was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Forgotten {
    manifests: BTreeMap<String, String>,
}

/// Reason why a manifest can't be forgotten.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ForgetError {
    /// The status has no such manifest.
    #[error("the status has no manifest {path:?}")]
    Unknown {
        /// Path, as the user gave it.
        path: PathBuf,
    },
    /// The path is the end of several paths.
    #[error("{path:?} may be one of several manifests")]
    Ambiguous {
        /// Path, as the user gave it.
        path: PathBuf,
        /// Paths that it may mean.
        manifests: Vec<String>,
    },
    /// A run of the manifest is going on.
    #[error("a run of {0} is going on")]
    GoingOn(String),
    /// The status can't be read.
    #[error(transparent)]
    Status(#[from] StatusError),
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The file can't be written.
    #[error("{path:?} can't be written")]
    Write {
        /// The file.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

impl Forgotten {
    /// Reads the forgotten manifests of a state directory. A file that can't be read forgets nothing, so that no problem
    /// is hidden.
    pub(super) fn read(state: &Path) -> Self {
        let read = || {
            let file = Directory::open(state).ok()??.read(FILE).ok()?;
            let mut bytes = Vec::new();
            file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).ok()?;
            serde_json::from_slice(&bytes).ok()
        };
        read().unwrap_or_default()
    }

    /// Returns `true` if a manifest has no run after those that are forgotten.
    pub(super) fn covers(&self, manifest: &str, newest_run: Option<&str>) -> bool {
        self.manifests.get(manifest).is_some_and(|run| newest_run.is_none_or(|newest| newest <= &**run))
    }
}

impl Session {
    /// Leaves a manifest out of the status until it runs again, and returns its recorded path. A relative path is that
    /// of a file of the working directory, or else the end of a recorded path.
    pub fn forget(&self, path: &Path) -> Result<String, ForgetError> {
        let status = self.status()?;
        let manifest = named(&status, path)?;
        if status.current_run().is_some_and(|run| run.manifest() == manifest) {
            return Err(ForgetError::GoingOn(manifest));
        }
        let newest = |manifest: &str| {
            status.history.runs().iter().find(|run| run.manifest() == manifest).map(|run| run.id.clone())
        };
        let state_path = self.state_path().map_err(StatusError::from)?;
        let state = Directory::open_private(&state_path)?;
        let mut forgotten = Forgotten::read(&state_path);
        // One that ran again needs no entry any more.
        forgotten.manifests.retain(|manifest, run| newest(manifest).is_none_or(|newest| newest <= *run));
        forgotten.manifests.insert(manifest.clone(), newest(&manifest).unwrap_or_default());
        let text = serde_json::to_string_pretty(&forgotten).unwrap_or_default();
        let text = format!("{}\n", escape_json(&text));
        let write = |source| ForgetError::Write { path: state_path.join(FILE), source };
        state.replace(FILE, text.as_bytes()).map_err(write)?;
        Ok(manifest)
    }
}

/// Returns the recorded path of the manifest that a path means.
fn named(status: &SessionStatus, path: &Path) -> Result<String, ForgetError> {
    let absolute = ccm_host::absolute(path).ok();
    let known = status.manifests(None);
    if let Some(exact) = known.iter().find(|known| absolute.as_deref() == Some(Path::new(known.manifest))) {
        return Ok(exact.manifest.to_owned());
    }
    let matching = status.manifests(Some(path));
    match &*matching {
        [] => Err(ForgetError::Unknown { path: path.to_owned() }),
        [manifest] => Ok(manifest.manifest.to_owned()),
        several => {
            let manifests = several.iter().map(|manifest| manifest.manifest.to_owned()).collect();
            Err(ForgetError::Ambiguous { path: path.to_owned(), manifests })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_newer_run_is_not_forgotten() {
        let manifests = [("/a".to_owned(), "02".to_owned()), ("/b".to_owned(), String::new())];
        let forgotten = Forgotten { manifests: manifests.into() };
        for (manifest, newest, expected) in [
            ("/a", Some("01"), true),
            ("/a", Some("02"), true),
            ("/a", Some("03"), false),
            // The record was rotated out.
            ("/a", None, true),
            ("/b", None, true),
            ("/b", Some("01"), false),
            ("/c", None, false),
        ] {
            assert_eq!(forgotten.covers(manifest, newest), expected, "{manifest} {newest:?}");
        }
    }
}
