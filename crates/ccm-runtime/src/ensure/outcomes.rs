//! Outcomes that the calls of a session share, during one of them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict};
use ccm_host::state::{Directory, Lock, LockHolder};
use ccm_manifest::{EarlierReferences, EarlierResources};
use ccm_model::{ResourceId, Transaction};
use ccm_redaction::Secrets;

use super::session_store::{
    OUTCOMES, SessionOutcome, SessionStoreError, StoredOutcomes, VERSION, open, read,
};
use crate::session::{Notice, Session};

/// Hint for a reference to a resource that no call of the session has ensured.
const NOT_IN_SESSION: &str =
    "ensure that resource in this session before; `ccm session report` lists what there is";

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
                resource.changed_at = Some(number);
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
    pub(crate) gate: Rc<dyn DynGate + 'g>,
    pub(crate) outcomes: Rc<SharedOutcomes>,
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
