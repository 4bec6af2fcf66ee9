//! Outcomes that the calls of a session share, in its directory.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict};
use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError};
use ccm_host::{absolute, new_temporary_path};
use ccm_manifest::{EarlierReferences, EarlierResources};
use ccm_model::{Outcome, ResourceId, SkipCause, Transaction};
use ccm_redaction::Secrets;
use serde::{Deserialize, Serialize};

use crate::session::{Notice, Session};

/// File with the outcomes.
const OUTCOMES: &str = "outcomes.json";
const LOCK: &str = "lock";

/// Maximum size of the file with the outcomes, in bytes.
const MAX_SIZE: u64 = 64 << 20;

/// Version of the file.
const VERSION: u32 = 1;

/// Beginning of the names of session directories.
const PREFIX: &str = "ccm-session-";

/// Hint for a reference to a resource that no call of the session has ensured.
const NOT_IN_SESSION: &str =
    "ensure that resource in this session before; `ccm session report` lists what there is";

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
    fn of(outcome: &Outcome) -> Self {
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

    fn may_have_changed(self) -> bool {
        !matches!(self, Self::Unchanged | Self::NotManaged | Self::Skipped)
    }

    fn completes_refresh(self) -> bool {
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
    changed_at: Option<u64>,
    /// Resources that it subscribes to, each with the number of the change that it was refreshed after.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    refreshed_after: BTreeMap<String, u64>,
}

impl SessionResource {
    /// Returns the type and the name.
    pub fn id(&self) -> ResourceId {
        ResourceId::new(&*self.type_name, &*self.name)
    }
}

/// Content of the file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct StoredOutcomes {
    version: u32,
    /// Number of the last change.
    changes: u64,
    resources: Vec<SessionResource>,
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

/// Outcomes of a session during one of its calls, which holds the lock of the session.
#[derive(Debug)]
pub struct SharedOutcomes {
    directory: Directory,
    _lock: Lock,
    noop: bool,
    secrets: Secrets,
    stored: RefCell<StoredOutcomes>,
    /// Numbers of the last changes before this call, of the resources that it is about to change.
    before: RefCell<BTreeMap<ResourceId, Option<u64>>>,
    failed: RefCell<Option<io::Error>>,
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

fn open(path: &Path) -> Result<Directory, SessionStoreError> {
    match Directory::open_existing_private(path) {
        Ok(Some(directory)) => Ok(directory),
        Ok(None) => Err(SessionStoreError::Missing(path.to_owned())),
        Err(StateError::NotADirectory { path }) => Err(SessionStoreError::NotADirectory(path)),
        Err(error) => Err(SessionStoreError::Unusable(error)),
    }
}

/// Reads the outcomes. A directory without the file is that of a session without calls.
fn read(directory: &Directory) -> Result<StoredOutcomes, SessionStoreError> {
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
    fn find(&self, id: &ResourceId, noop: bool) -> Option<&SessionResource> {
        let of = |noop: bool| self.resources.iter().find(|known| known.noop == noop && known.id() == *id);
        if noop { of(true).or_else(|| of(false)) } else { of(false) }
    }

    /// Returns the resource to write to.
    fn entry(&mut self, id: &ResourceId, noop: bool) -> &mut SessionResource {
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
    fn is_changed_since_refresh(&self, subscriber: &ResourceId, on: &ResourceId, noop: bool) -> bool {
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

impl Session {
    /// Opens the outcomes of a session for one call, which other calls of the session wait for.
    pub async fn open_outcomes(
        &self,
        path: &Path,
        call: &str,
        noop: bool,
        wait: Duration,
    ) -> Result<SharedOutcomes, SessionStoreError> {
        let directory = open(path)?;
        let holder = LockHolder { manifest: call.to_owned(), since: self.doors.clock.now() };
        let mut on_wait = |other: &str| self.notices.report(&Notice::Waiting(other));
        let lock = Lock::take(&directory, &holder, wait, &mut on_wait).await?;
        let stored = RefCell::new(read(&directory)?);
        let (secrets, before, failed) = (self.secrets.clone(), RefCell::default(), RefCell::default());
        Ok(SharedOutcomes { directory, _lock: lock, noop, secrets, stored, before, failed })
    }
}

impl SharedOutcomes {
    /// Returns the resources that references of this call may name.
    pub(crate) fn resources(&self) -> EarlierResources {
        let stored = self.stored.borrow();
        let visible = stored.resources.iter().filter(|known| self.noop || !known.noop);
        let mut names = BTreeMap::new();
        for known in visible {
            let id = known.id();
            if let Some(alias) = &known.alias {
                names.insert(ResourceId::new(&*known.type_name, &**alias), id.clone());
            }
            names.insert(id.clone(), id);
        }
        EarlierResources { names, hint: NOT_IN_SESSION.to_owned() }
    }

    /// Returns the resources that did not succeed, and those whose changes the subscriber still needs a refresh after.
    pub(crate) fn outcomes_for(
        &self,
        subscriber: Option<&ResourceId>,
        references: &EarlierReferences,
    ) -> (Vec<ResourceId>, Vec<ResourceId>) {
        let stored = self.stored.borrow();
        let subscriber = subscriber.map(|subscriber| self.shown(subscriber));
        let EarlierReferences { require, subscribe } = references;
        let is_failed =
            |id: &&ResourceId| !stored.find(id, self.noop).is_some_and(|known| known.outcome.is_success());
        let failed = require.iter().chain(subscribe).filter(is_failed).cloned().collect();
        let is_changed = |on: &&ResourceId| {
            let subscriber = subscriber.as_ref();
            subscriber.is_some_and(|subscriber| stored.is_changed_since_refresh(subscriber, on, self.noop))
        };
        (failed, subscribe.iter().filter(is_changed).cloned().collect())
    }

    /// Records that a resource is about to be changed. If the call is killed, it counts as changed, and as failed.
    fn record_intent(&self, id: &ResourceId) -> io::Result<()> {
        let id = &self.shown(id);
        let mut stored = self.stored.borrow_mut();
        stored.changes += 1;
        let number = stored.changes;
        let resource = stored.entry(id, self.noop);
        self.before.borrow_mut().insert(id.clone(), resource.changed_at);
        (resource.outcome, resource.changed_at) = (SessionOutcome::Interrupted, Some(number));
        drop(stored);
        self.write(true)
    }

    /// Records the outcome of a resource.
    pub(crate) fn record(&self, transaction: &Transaction, references: &EarlierReferences) {
        let outcome = SessionOutcome::of(&transaction.outcome);
        let mut stored = self.stored.borrow_mut();
        let handled: Vec<(String, u64)> = references
            .subscribe
            .iter()
            .map(|on| {
                let change = stored.find(on, self.noop).and_then(|source| source.changed_at);
                (on.to_string(), if outcome.completes_refresh() { change.unwrap_or_default() } else { 0 })
            })
            .collect();
        stored.version = VERSION;
        let may_have_changed = outcome.may_have_changed();
        let before = self.before.borrow_mut().remove(&transaction.id);
        if may_have_changed && before.is_none() {
            stored.changes += 1;
        }
        let number = stored.changes;
        let resource = stored.entry(&transaction.id, self.noop);
        resource.alias.clone_from(&transaction.alias);
        resource.outcome = outcome;
        resource.calls += 1;
        resource.duration_ns = resource
            .duration_ns
            .saturating_add(u64::try_from(transaction.duration.as_nanos()).unwrap_or(u64::MAX));
        match before {
            Some(before) if !may_have_changed => resource.changed_at = before,
            None if may_have_changed && outcome != SessionOutcome::Failed => {
                resource.changed_at = Some(number)
            }
            _ => {}
        }
        for (on, change) in handled {
            let after = resource.refreshed_after.entry(on).or_default();
            *after = (*after).max(change);
        }
        drop(stored);
        if let Err(error) = self.write(may_have_changed && !self.noop) {
            self.failed.borrow_mut().get_or_insert(error);
        }
    }

    /// Returns the name of a resource without secrets, as events have it.
    fn shown(&self, id: &ResourceId) -> ResourceId {
        ResourceId::new(&*id.type_name, &*self.secrets.redact(&id.name))
    }

    fn write(&self, sync: bool) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(&*self.stored.borrow())?;
        text.push(b'\n');
        if sync {
            self.directory.replace(OUTCOMES, &text)
        } else {
            self.directory.replace_unsynced(OUTCOMES, &text)
        }
    }

    /// Returns the first error of writing the outcomes.
    pub fn error(&self) -> Option<SessionStoreError> {
        let source = self.failed.borrow_mut().take()?;
        Some(SessionStoreError::Write { path: self.directory.path().join(OUTCOMES), source })
    }
}

/// Gate that records each change of a session before it is made.
pub(crate) struct OutcomesGate<'g> {
    pub(crate) gate: std::rc::Rc<dyn DynGate + 'g>,
    pub(crate) outcomes: std::rc::Rc<SharedOutcomes>,
}

impl Gate for OutcomesGate<'_> {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        self.gate.before_command(request).await
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        let verdict = self.gate.before_change(request).await;
        if request.noop || verdict != Verdict::Allow {
            return verdict;
        }
        match self.outcomes.record_intent(request.resource.id()) {
            Ok(()) => Verdict::Allow,
            Err(error) => Verdict::Deny {
                reason: format!("the change can't be recorded in the session: {error}"),
                hints: Vec::new(),
            },
        }
    }
}
