//! Directory of a session, with the outcomes that its calls share.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError};
use ccm_host::{absolute, new_temporary_path};
use ccm_model::{Outcome, ResourceId, SkipCause};
use serde::{Deserialize, Serialize};

/// File with the outcomes.
pub(super) const OUTCOMES: &str = "outcomes.json";
const LOCK: &str = "lock";

/// Maximum size of the file with the outcomes, in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// Version of the file.
pub(super) const VERSION: u32 = 1;

/// Beginning of the names of session directories.
const PREFIX: &str = "ccm-session-";

/// Error of the directory of a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionStoreError {
    /// There is no directory at the path.
    #[error("the session directory {0:?} does not exist")]
    Missing(PathBuf),
    /// The directory exists already.
    #[error("the session directory {0:?} exists already")]
    Exists(PathBuf),
    /// The directory can't be made.
    #[error("the session directory {path:?} can't be made")]
    Make {
        /// Path of the directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The path is a link, or no directory.
    #[error("{0:?} is no directory that a session could be in")]
    NotADirectory(PathBuf),
    /// Somebody else may change the directory, or it can't be opened.
    #[error("the session directory can't be used")]
    Unusable(#[source] StateError),
    /// The lock of the session can't be taken.
    #[error("the session is in use")]
    Lock(#[from] LockError),
    /// The file with the outcomes can't be read.
    #[error("{path:?} can't be read")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file with the outcomes can't be written.
    #[error("{path:?} can't be written")]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// Something else is in the directory, so that it is not removed.
    #[error("the session directory {path:?} can't be removed")]
    Remove {
        /// Path of the directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// Last outcome of a resource in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionOutcome {
    /// The resource was in its desired state.
    Unchanged,
    /// The resource was changed.
    Changed,
    /// The resource was refreshed.
    Refreshed,
    /// Noop: the resource would be changed.
    WouldChange,
    /// Noop: the resource would be refreshed.
    WouldRefresh,
    /// A condition excludes the resource.
    NotManaged,
    /// The resource was skipped for another reason.
    Skipped,
    /// The resource failed.
    Failed,
    /// The call was killed while it changed the resource.
    Interrupted,
}

impl SessionOutcome {
    pub(super) fn of(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Unchanged,
            Outcome::Changed => Self::Changed,
            Outcome::Refreshed => Self::Refreshed,
            Outcome::WouldChange { .. } => Self::WouldChange,
            Outcome::WouldRefresh { .. } => Self::WouldRefresh,
            Outcome::Skipped { cause: SkipCause::NotManaged { .. } } => Self::NotManaged,
            Outcome::Skipped { .. } => Self::Skipped,
            Outcome::Failed(_) => Self::Failed,
        }
    }

    /// Returns the words for people.
    pub fn words(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Refreshed => "refreshed",
            Self::WouldChange => "would change",
            Self::WouldRefresh => "would refresh",
            Self::NotManaged => "not managed",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// Returns `true` if the resource counts as succeeded for those that require it.
    pub fn is_success(self) -> bool {
        !matches!(self, Self::Skipped | Self::Failed | Self::Interrupted)
    }

    pub(super) fn may_have_changed(self) -> bool {
        !matches!(self, Self::Unchanged | Self::NotManaged | Self::Skipped)
    }

    pub(super) fn completes_refresh(self) -> bool {
        matches!(
            self,
            Self::Unchanged | Self::Changed | Self::Refreshed | Self::WouldChange | Self::WouldRefresh
        )
    }
}

/// Resource of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionResource {
    /// Type.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Name.
    pub name: String,
    /// Second name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Last outcome.
    pub outcome: SessionOutcome,
    /// The outcome is one of noop. Real calls do not count it.
    #[serde(default)]
    pub noop: bool,
    /// Number of calls.
    pub calls: u64,
    /// Duration of all calls.
    pub duration_ns: u64,
    /// Number of its last change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) changed_at: Option<u64>,
    /// Resources that it subscribes to, each with the number of the change that it was refreshed after.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) refreshed_after: BTreeMap<String, u64>,
}

impl SessionResource {
    /// Returns the type and the name.
    pub fn id(&self) -> ResourceId {
        ResourceId::new(&*self.type_name, &*self.name)
    }
}

/// Content of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredOutcomes {
    pub(super) version: u32,
    /// Number of the last change.
    pub(super) changes: u64,
    pub(super) resources: Vec<SessionResource>,
}

/// Outcomes of a session, for a report.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SessionOutcomes {
    /// Resources, in the order of their first calls.
    pub resources: Vec<SessionResource>,
    /// Refreshes that are pending: the subscriber, and the resource that changed.
    pub pending: Vec<(String, String)>,
}

/// Makes the directory of a new session, at a path or in the directory for temporary files. Returns its absolute path.
pub fn new_session_directory(path: Option<&Path>) -> Result<PathBuf, SessionStoreError> {
    let made = |path: &Path| match Directory::create_private(path) {
        Ok(()) => Ok(path.to_owned()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(SessionStoreError::Exists(path.to_owned()))
        }
        Err(source) => Err(SessionStoreError::Make { path: path.to_owned(), source }),
    };
    let failed =
        |source| SessionStoreError::Make { path: path.unwrap_or(Path::new(PREFIX)).to_owned(), source };
    let path = match path {
        Some(path) => absolute(path).map_err(failed)?,
        None => new_temporary_path(PREFIX).map_err(failed)?,
    };
    made(&path)
}

/// Reads the outcomes of a session.
pub fn session_outcomes(path: &Path) -> Result<SessionOutcomes, SessionStoreError> {
    let stored = read(&open(path)?)?;
    let pending = stored.resources.iter().flat_map(|subscriber| stored.pending_of(subscriber));
    Ok(SessionOutcomes { pending: pending.collect(), resources: stored.resources.clone() })
}

/// Removes the directory of a session, unless a call is using it or something else is in it.
pub async fn remove_session(path: &Path) -> Result<(), SessionStoreError> {
    let directory = open(path)?;
    let holder =
        LockHolder { manifest: "session report".to_owned(), since: std::time::SystemTime::UNIX_EPOCH };
    let lock = Lock::take(&directory, &holder, Duration::ZERO, &mut |_| {}).await?;
    let failed = |source| SessionStoreError::Remove { path: path.to_owned(), source };
    directory.remove_unsynced(OUTCOMES).map_err(failed)?;
    directory.remove_unsynced(LOCK).map_err(failed)?;
    drop(lock);
    Directory::remove_empty(path).map_err(failed)
}

pub(super) fn open(path: &Path) -> Result<Directory, SessionStoreError> {
    match Directory::open_existing_private(path) {
        Ok(Some(directory)) => Ok(directory),
        Ok(None) => Err(SessionStoreError::Missing(path.to_owned())),
        Err(StateError::NotADirectory { path }) => Err(SessionStoreError::NotADirectory(path)),
        Err(error) => Err(SessionStoreError::Unusable(error)),
    }
}

/// Reads the outcomes. A directory without the file is that of a session without calls.
pub(super) fn read(directory: &Directory) -> Result<StoredOutcomes, SessionStoreError> {
    let failed = |source| SessionStoreError::Read { path: directory.path().join(OUTCOMES), source };
    let file = match directory.read(OUTCOMES) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(StoredOutcomes::default()),
        Err(error) => return Err(failed(error)),
    };
    let mut text = Vec::new();
    file.take(MAX_SIZE + 1).read_to_end(&mut text).map_err(failed)?;
    if text.len() as u64 > MAX_SIZE {
        return Err(failed(io::ErrorKind::FileTooLarge.into()));
    }
    let stored: StoredOutcomes = serde_json::from_slice(&text).map_err(|error| failed(error.into()))?;
    if stored.version > VERSION {
        return Err(failed(io::Error::other("another version of ccm wrote it")));
    }
    Ok(stored)
}

impl StoredOutcomes {
    /// Returns the resource that a call sees. One with noop sees what would be, and no other does.
    pub(super) fn find(&self, id: &ResourceId, noop: bool) -> Option<&SessionResource> {
        let of = |noop: bool| self.resources.iter().find(|known| known.noop == noop && known.id() == *id);
        if noop { of(true).or_else(|| of(false)) } else { of(false) }
    }

    /// Returns the resource to write to.
    pub(super) fn entry(&mut self, id: &ResourceId, noop: bool) -> &mut SessionResource {
        let found = self.resources.iter().position(|known| known.noop == noop && known.id() == *id);
        let at = found.unwrap_or_else(|| {
            self.resources.push(SessionResource {
                type_name: id.type_name.to_string(),
                name: id.name.to_string(),
                alias: None,
                outcome: SessionOutcome::Interrupted,
                noop,
                calls: 0,
                duration_ns: 0,
                changed_at: None,
                refreshed_after: BTreeMap::new(),
            });
            self.resources.len() - 1
        });
        &mut self.resources[at]
    }

    /// Returns `true` if a resource changed, and a subscriber was not refreshed since.
    pub(super) fn is_changed_since_refresh(
        &self,
        subscriber: &ResourceId,
        on: &ResourceId,
        noop: bool,
    ) -> bool {
        let Some(changed_at) = self.find(on, noop).and_then(|source| source.changed_at) else { return false };
        let refreshed = |noop: bool| {
            let known = self.resources.iter().find(|known| known.noop == noop && known.id() == *subscriber);
            known.and_then(|known| known.refreshed_after.get(&on.to_string())).copied().unwrap_or_default()
        };
        let refreshed = refreshed(false).max(if noop { refreshed(true) } else { 0 });
        changed_at > refreshed
    }

    fn pending_of(&self, subscriber: &SessionResource) -> Vec<(String, String)> {
        let pending = subscriber.refreshed_after.iter().filter(|(on, after)| {
            let source = ResourceId::parse(on).ok().and_then(|on| self.find(&on, subscriber.noop));
            source.is_some_and(|source| source.changed_at > Some(**after))
        });
        pending.map(|(on, _)| (subscriber.id().to_string(), on.clone())).collect()
    }
}
