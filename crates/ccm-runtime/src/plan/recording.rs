//! Recording of what a run in noop finds, as the resources of a plan.

use std::cell::RefCell;
use std::collections::HashSet;
use std::rc::Rc;

use ccm_engine::{Decided, DecidedChange, DecisionWitness};
use ccm_governance::policy::PlannedQuestions;
use ccm_model::{Event, Failure, Outcome, ResourceIndex, SkipCause, Transaction};

use super::document::{PlannedOutcome, PlannedResource};
use super::key::PlanKey;
use crate::manifest::LoadedManifest;

/// Maximum length of a diff in a plan. The digest of the change covers all of it.
const MAX_DIFF: usize = 64 << 10;

/// Recorder of the plan of one manifest.
pub(crate) struct PlanRecorder {
    key: PlanKey,
    /// Names of the resources, secrets included.
    ids: Vec<String>,
    /// Names without secrets of the resources that only stand for others.
    nodes: HashSet<String>,
    /// Decision on the current resource.
    last: RefCell<Option<Observed>>,
    /// Questions of the policy about the current resource.
    pub(crate) questions: PlannedQuestions,
    resources: RefCell<Vec<PlannedResource>>,
}

/// Decision, as a plan keeps it.
struct Observed {
    state: String,
    change: Option<String>,
}

impl PlanRecorder {
    pub(super) fn new(key: &PlanKey, manifest: &LoadedManifest<'_>) -> Rc<Self> {
        let shown = |id: &str| manifest.session.secrets.redact(id).into_owned();
        let resources = &manifest.catalog.resources;
        let nodes = resources.iter().filter(|resource| resource.node_of.is_some());
        Rc::new(Self {
            key: key.clone(),
            ids: ids(manifest),
            nodes: nodes.map(|resource| shown(&resource.id.to_string())).collect(),
            last: RefCell::default(),
            questions: PlannedQuestions::default(),
            resources: RefCell::default(),
        })
    }

    /// Takes the resources that were recorded.
    pub(super) fn take(&self) -> Vec<PlannedResource> {
        self.resources.take()
    }

    /// Takes an event of the run, which has its diff and no secret.
    pub(crate) fn accept(&self, event: &Event) {
        if let Event::ResourceFinished(transaction) = event {
            let resource = self.planned(transaction);
            self.resources.borrow_mut().push(resource);
        }
    }

    fn planned(&self, transaction: &Transaction) -> PlannedResource {
        let (observed, asked) = (self.last.take(), self.questions.take());
        let id = transaction.id.to_string();
        let (outcome, message, error) = match &transaction.outcome {
            Outcome::WouldChange { message } => (PlannedOutcome::Change, Some(message.clone()), None),
            Outcome::WouldRefresh { message } => (PlannedOutcome::Refresh, Some(message.clone()), None),
            Outcome::Changed => (PlannedOutcome::Change, None, None),
            Outcome::Refreshed => (PlannedOutcome::Refresh, None, None),
            Outcome::Unchanged => (PlannedOutcome::Unchanged, None, None),
            Outcome::Skipped { cause } => (PlannedOutcome::Skipped, Some(skipped(cause)), None),
            Outcome::Failed(failure) => (PlannedOutcome::Failed, None, Some(failure.one_line())),
        };
        let is_change = matches!(outcome, PlannedOutcome::Change | PlannedOutcome::Refresh);
        let is_decided = match &observed {
            Some(observed) => observed.change.is_some() || !is_change,
            // Late values that have no value before the run leave a resource without a decision.
            None => !is_change && outcome != PlannedOutcome::Unchanged,
        };
        let is_open = !self.nodes.contains(&id) && !is_decided || asked.is_unread && is_change;
        let reason = transaction.reason_text().map(str::to_owned);
        let open = is_open.then(|| {
            let unread = "a command that reads the state needs an approval".to_owned();
            if asked.is_unread { unread } else { reason.clone().unwrap_or_default() }
        });
        PlannedResource {
            id,
            outcome,
            action: transaction.action.clone().filter(|_| is_change),
            message,
            reason,
            error,
            open,
            needs_approval: asked.is_asked,
            diff: transaction.diff.as_deref().map(shortened),
            state: observed.as_ref().map(|observed| observed.state.clone()),
            change: observed.and_then(|observed| observed.change),
        }
    }
}

impl DecisionWitness for PlanRecorder {
    fn observe(&self, index: ResourceIndex, decided: &Decided<'_>) -> Result<(), Failure> {
        let id = self.ids.get(index.get()).map_or("", String::as_str);
        let state = state_digest(&self.key, id, decided);
        let change = decided.change.map(|change| change_digest(&self.key, id, decided, change));
        *self.last.borrow_mut() = Some(Observed { state, change });
        Ok(())
    }
}

/// Returns the names of the resources of a manifest, secrets included.
pub(super) fn ids(manifest: &LoadedManifest<'_>) -> Vec<String> {
    manifest.catalog.resources.iter().map(|resource| resource.id.to_string()).collect()
}

/// Returns the digest of the state that a decision was made from.
pub(super) fn state_digest(key: &PlanKey, id: &str, decided: &Decided<'_>) -> String {
    key.digest("state", &[id.as_bytes(), &decided.state.found])
}

/// Returns the digest of a change.
pub(super) fn change_digest(
    key: &PlanKey,
    id: &str,
    decided: &Decided<'_>,
    change: DecidedChange<'_>,
) -> String {
    let action = serde_json::to_vec(change.action).unwrap_or_default();
    key.digest(
        "change",
        &[id.as_bytes(), &action, change.diff.unwrap_or_default().as_bytes(), &decided.state.desired],
    )
}

fn skipped(cause: &SkipCause) -> String {
    cause.to_string()
}

fn shortened(diff: &str) -> String {
    if diff.len() <= MAX_DIFF {
        return diff.to_owned();
    }
    let end = (0..=MAX_DIFF).rev().find(|end| diff.is_char_boundary(*end)).unwrap_or_default();
    let kept = diff[..end].rfind('\n').map_or(end, |line| line + 1);
    format!("{}… {} bytes more\n", &diff[..kept], diff.len() - kept)
}
