//! Decision on what the policy asks for: an approval is used up, or an intent is stored.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use ccm_approval::{
    ApprovalDemand, ApprovalRefusal, ApprovalState, ApprovalStoreError, Approvers, ApproversError,
    IntentContent, IntentDocument, IntentEnd, ListedIntent,
};
use ccm_model::error_layers;

use super::intents::{ApprovalsError, MachineIntents, grant_text, intent_name};
use crate::audit::ApprovalEvent;
use crate::governance::Governance;

/// Time in which an intent of an apply can be approved, and an approval used.
pub(crate) const APPLY_TIME: Duration = Duration::from_secs(24 * 3600);

/// Answer to a question of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ApprovalAnswer {
    /// The approval with this name was used up, or in noop would be.
    Approved { id: String },
    /// Nothing covers the action. It waits under this name, if it was stored.
    Waits { id: Option<String>, notes: Vec<String>, hints: Vec<String> },
    /// Nobody can approve the action now. These hints are the only useful ones.
    Closed { notes: Vec<String>, hints: Vec<String> },
}

/// Returns why nobody can meet a demand, and what to do about it.
pub fn unmet_demand(approvers: &Approvers, demand: &ApprovalDemand) -> (String, String) {
    let path = approvers.path().display();
    let note = format!("it needs {}, and {path} has too few keys for that", demand.text);
    (note, format!("add a line for each approver to {path}, or change the policy"))
}

/// Intents of a run, which are opened once.
pub(crate) struct RunIntents<'s> {
    governance: &'s Governance,
    made: OnceCell<Result<MachineIntents<'s>, Arc<ApprovalsError>>>,
    existing: OnceCell<Result<Option<MachineIntents<'s>>, Arc<ApprovalsError>>>,
}

impl<'s> RunIntents<'s> {
    pub(crate) fn new(governance: &'s Governance) -> Self {
        Self { governance, made: OnceCell::new(), existing: OnceCell::new() }
    }

    /// Returns the intents; `None` if nothing may be made and nothing was stored yet.
    fn get(&self, may_make: bool) -> Result<Option<&MachineIntents<'s>>, Arc<ApprovalsError>> {
        if may_make || self.made.get().is_some() {
            let made = self.made.get_or_init(|| self.governance.intents().map_err(Arc::new));
            return made.as_ref().map(Some).map_err(Arc::clone);
        }
        let existing = self.existing.get_or_init(|| self.governance.existing_intents().map_err(Arc::new));
        existing.as_ref().map(Option::as_ref).map_err(Arc::clone)
    }

    /// Returns the salted hash of a variable. Without a store there is nothing to compare it with.
    pub(crate) fn hash(&self, may_make: bool, name: &str, value: &str) -> String {
        let intents = self.get(may_make).ok().flatten();
        intents.map_or_else(String::new, |intents| intents.store().salt().hash(name, value))
    }

    /// Answers a question of the policy. Without `uses_up`, nothing is stored and no approval is used. What happened to
    /// intents and approvals is added to `events`.
    pub(crate) fn answer(
        &self,
        content: IntentContent,
        pending: Duration,
        uses_up: bool,
        events: &mut Vec<ApprovalEvent>,
    ) -> Result<ApprovalAnswer, Arc<ApprovalsError>> {
        let closed = |error: &ApproversError| {
            let (notes, hints) = (vec![error_layers(error).join(": ")], vec![approvers_hint(error)]);
            Ok(ApprovalAnswer::Closed { notes, hints })
        };
        let approvers = self.governance.approvers();
        if let Ok(approvers) = &approvers
            && let Some(demand) = approvers.first_unmet(&content.requires)
        {
            let (note, hint) = unmet_demand(approvers, demand);
            return Ok(ApprovalAnswer::Closed { notes: vec![note], hints: vec![hint] });
        }
        let intents = match self.get(uses_up) {
            Ok(Some(intents)) => intents,
            Ok(None) => {
                return approvers
                    .map_or_else(|error| closed(&error), |_| Ok(IntentQuestion::default().waits(None)));
            }
            Err(error) => match &*error {
                ApprovalsError::Approvers(error) => return closed(error),
                _ => return Err(error),
            },
        };
        let mut question = IntentQuestion { uses_up, ..IntentQuestion::default() };
        if uses_up {
            question.events.extend(intents.accept_inbox());
        }
        let answer = question.answer(intents, content, pending);
        if uses_up {
            events.append(&mut question.events);
        }
        answer.map_err(|error| Arc::new(error.into()))
    }
}

/// Question of the policy, with what was found on the way to its answer.
#[derive(Default)]
struct IntentQuestion {
    uses_up: bool,
    notes: Vec<String>,
    hints: Vec<String>,
    events: Vec<ApprovalEvent>,
}

impl IntentQuestion {
    fn waits(&self, id: Option<String>) -> ApprovalAnswer {
        ApprovalAnswer::Waits { id, notes: self.notes.clone(), hints: self.hints.clone() }
    }

    fn happened(&mut self, intent: &IntentDocument, event: &'static str, reason: Option<String>) {
        let (intent, approver) = (intent_name(intent), None);
        self.events.push(ApprovalEvent { intent, event, approver, reason });
    }

    fn answer(
        &mut self,
        intents: &MachineIntents<'_>,
        content: IntentContent,
        pending: Duration,
    ) -> Result<ApprovalAnswer, ApprovalStoreError> {
        let store = intents.store();
        for intent in store.pending()? {
            if intent.content.has_subject_of(&content)
                && let Some(answer) = self.of_pending(intents, intent, &content)?
            {
                return Ok(answer);
            }
        }
        for rejected in store.rejected(intents.now())? {
            let intent = &rejected.intent;
            if intent.content.has_subject_of(&content) && intent.content.difference(&content).is_none() {
                let reason = ccm_model::escape_control(rejected.reason.as_deref().unwrap_or_default());
                self.notes.push(format!("{} was rejected: {reason}", intent.code));
                let hint = format!("it stays rejected until {}; a run after that asks again", intent.expires);
                return Ok(ApprovalAnswer::Closed { notes: self.notes.clone(), hints: vec![hint] });
            }
        }
        if let Some(answer) = self.of_grants(intents, &content)? {
            return Ok(answer);
        }
        if !self.uses_up {
            return Ok(self.waits(None));
        }
        let intent = store.request(content, pending, intents.now())?;
        let content = &intent.content;
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        let subject = format!("{} of {}", part(&content.purpose), part(&content.resource));
        self.happened(&intent, "requested", Some(subject));
        self.hints = vec![approve_hint(&intent.code)];
        Ok(self.waits(Some(intent_name(&intent))))
    }

    /// Answers with an intent about the same subject; `None` if it does not count any more.
    fn of_pending(
        &mut self,
        intents: &MachineIntents<'_>,
        intent: IntentDocument,
        content: &IntentContent,
    ) -> Result<Option<ApprovalAnswer>, ApprovalStoreError> {
        let listed = intents.with(|store, context| store.state(intent, context))?;
        let ListedIntent { intent, state, notes, .. } = listed;
        let code = intent.code.clone();
        let is_stale = matches!(&state, ApprovalState::Ended(_)) && intent.content.policy == content.policy;
        if let Some(difference) = intent.content.difference(content).filter(|_| !is_stale) {
            if let Some(answer) = self.of_grants(intents, content)? {
                return Ok(Some(answer));
            }
            self.notes.push(format!("the approval {code} does not count: {difference}"));
            self.end(intents, &intent, IntentEnd::Void, difference)?;
            return Ok(None);
        }
        match state {
            ApprovalState::Approved { .. } if !self.uses_up => {
                Ok(Some(ApprovalAnswer::Approved { id: intent_name(&intent) }))
            }
            ApprovalState::Approved { .. } => self.use_up(intents, &intent),
            ApprovalState::Waiting(_) => {
                self.notes.extend(notes);
                self.hints = vec![approve_hint(&code)];
                let id = self.uses_up.then(|| intent_name(&intent));
                Ok(Some(self.waits(id)))
            }
            ApprovalState::Ended(why) => {
                self.notes.extend(notes);
                self.notes.push(format!("{code} has ended: {why}"));
                self.end(intents, &intent, IntentEnd::Expired, why)?;
                Ok(None)
            }
            ApprovalState::Rejected { .. } | ApprovalState::Used => Ok(None),
        }
    }

    fn use_up(
        &mut self,
        intents: &MachineIntents<'_>,
        intent: &IntentDocument,
    ) -> Result<Option<ApprovalAnswer>, ApprovalStoreError> {
        match intents.use_up(intent) {
            Ok(used) => {
                self.used(&used);
                Ok(Some(ApprovalAnswer::Approved { id: intent_name(&used.intent) }))
            }
            Err(ApprovalRefusal::Store(error)) => Err(error),
            Err(ApprovalRefusal::AlreadyUsed { .. }) => {
                self.notes.push(format!("the approval {} was used by another run", intent.code));
                Ok(None)
            }
            Err(refusal) => {
                let why = error_layers(&refusal).join(": ");
                self.notes.push(format!("the approval {} does not count: {why}", intent.code));
                self.end(intents, intent, IntentEnd::Void, why)?;
                Ok(None)
            }
        }
    }

    fn of_grants(
        &mut self,
        intents: &MachineIntents<'_>,
        content: &IntentContent,
    ) -> Result<Option<ApprovalAnswer>, ApprovalStoreError> {
        if !self.uses_up {
            let granted = intents.with(|store, context| store.is_granted(content, context))?;
            return Ok(granted.map(|intent| ApprovalAnswer::Approved { id: intent_name(&intent) }));
        }
        match intents.use_grant(content) {
            Ok(used) => Ok(used.map(|used| {
                self.used(&used);
                ApprovalAnswer::Approved { id: intent_name(&used.intent) }
            })),
            Err(ApprovalRefusal::Store(error)) => Err(error),
            Err(refusal) => {
                self.notes.push(error_layers(&refusal).join(": "));
                Ok(None)
            }
        }
    }

    fn used(&mut self, used: &ccm_approval::UsedApproval) {
        let by: Vec<&str> = used.approvals.iter().map(|approval| &*approval.principal).collect();
        let set_back =
            used.clock_set_back.then(|| "the clock was set back; the time since the boot counts".to_owned());
        let notes: Vec<String> = used.grants.iter().map(grant_text).chain(set_back).collect();
        self.events.push(ApprovalEvent {
            intent: intent_name(&used.intent),
            event: "used",
            approver: Some(by.join(", ")),
            reason: Some(notes.join("; ")).filter(|notes| !notes.is_empty()),
        });
    }

    fn end(
        &mut self,
        intents: &MachineIntents<'_>,
        intent: &IntentDocument,
        end: IntentEnd,
        reason: String,
    ) -> Result<(), ApprovalStoreError> {
        if !self.uses_up {
            return Ok(());
        }
        let event = if end == IntentEnd::Void { "void" } else { "ended" };
        self.happened(intent, event, Some(reason.clone()));
        match intents.store().end(intent, end, Some(reason), intents.now()) {
            Err(ApprovalRefusal::Store(error)) => Err(error),
            // Another program has ended it meanwhile.
            _ => Ok(()),
        }
    }
}

fn approve_hint(code: &str) -> String {
    format!("approve it with `ccm approve {code}`, and run ccm again")
}

/// Returns what to do about a file of approvers that can't be used.
pub fn approvers_hint(error: &ApproversError) -> String {
    match error {
        ApproversError::Missing { path, .. } | ApproversError::Empty { path, .. } => {
            format!("write a line for each approver to {}: NAME ssh-ed25519 KEY", path.display())
        }
        ApproversError::Trust { path, .. } => format!(
            "let {} and the directories above belong to root, and be writable by nobody else",
            path.display()
        ),
        _ => "correct the file of approvers; `ccm policy check` shows its errors".to_owned(),
    }
}
