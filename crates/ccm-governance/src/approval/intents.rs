//! Intents of the machine, with everything that decides on their approvals.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use ccm_approval::{
    ApprovalContext, ApprovalMachine, ApprovalRefusal, ApprovalStatement, ApprovalStore, ApprovalStoreError,
    ApprovalTime, ApproverDecision, Approvers, ApproversError, GrantUse, ImportedStatement, InboxEntry,
    IntentCaller, IntentContent, IntentDocument, SignatureVerifier, StatementRecorder, UsedApproval,
};
use ccm_host::state::{Directory, StateError};
use ccm_host::{current_user, gid_of, started_by, uid_of};
use ccm_sshsig::{SignatureDemand, SignatureRefusal, VerifiedSignature};

use super::SignatureFailure;
use super::verifying::verify_demand;
use crate::audit::{ApprovalEvent, AuditProblem};
use crate::governance::Governance;
use crate::policy::{MAX_COVERED, PolicyError, policy_digest};

/// Group that reads waiting intents, and puts signed statements into the inbox.
const APPROVERS_GROUP: &str = "ccm-approvers";

/// Error of the approvals of the machine. Nothing is run then.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalsError {
    /// The directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The store can't be used.
    #[error(transparent)]
    Store(#[from] ApprovalStoreError),
    /// Nobody can approve.
    #[error(transparent)]
    Approvers(#[from] ApproversError),
    /// The policy can't be used.
    #[error(transparent)]
    Policy(#[from] Arc<PolicyError>),
    /// The policy requires a record in the audit log, and there can be none.
    #[error("it can't be recorded in the audit log, as the policy requires")]
    Audit(#[from] AuditProblem),
}

impl ApprovalsError {
    /// Returns `true` if too many intents wait already.
    pub(crate) fn is_full(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_full())
    }

    /// Returns `true` if an intent can't be shown whole, so that nobody could approve it.
    pub(crate) fn is_unshowable(&self) -> bool {
        matches!(self, Self::Store(ApprovalStoreError::Intent(_) | ApprovalStoreError::Unshowable(_)))
    }
}

/// Store of intents, with the approvers and the policy of the machine.
pub struct MachineIntents<'s> {
    governance: &'s Governance,
    store: ApprovalStore,
    approvers: Approvers,
    policy: String,
}

/// Verifies signatures with the launcher of the program.
struct SandboxedVerifier<'s>(&'s Governance);

impl SignatureVerifier for SandboxedVerifier<'_> {
    fn verify(
        &self,
        approvers: &Approvers,
        text: &str,
        signature: &str,
        demand: &SignatureDemand<'_>,
        at: SystemTime,
    ) -> Result<VerifiedSignature, SignatureRefusal> {
        let launcher = self.0.launcher.as_deref();
        verify_demand(approvers, (text, signature), demand, at, launcher).map_err(|failure| match failure {
            SignatureFailure::Refused(refusal) => refusal,
            other => SignatureRefusal::Unverified(Box::new(other)),
        })
    }
}

impl Governance {
    /// Opens the intents of the machine, and makes a missing store.
    pub fn intents(&self) -> Result<MachineIntents<'_>, ApprovalsError> {
        let path = self.approvals_path()?;
        let group = if self.places.approvals.is_none() && current_user() == 0 {
            gid_of(APPROVERS_GROUP)
        } else {
            None
        };
        if let Some((group, parent)) = group.zip(path.parent()) {
            share_parent(parent, group)?;
        }
        let store = ApprovalStore::open(&path, self.approval_machine(), group)?;
        self.with_store(store)
    }

    /// Opens the intents of the machine to look at them; `None` if nothing was stored yet. Nothing is written.
    pub fn existing_intents(&self) -> Result<Option<MachineIntents<'_>>, ApprovalsError> {
        let store = ApprovalStore::open_existing(&self.approvals_path()?, self.approval_machine())?;
        store.map(|store| self.with_store(store)).transpose()
    }

    fn with_store(&self, store: ApprovalStore) -> Result<MachineIntents<'_>, ApprovalsError> {
        let policy = self.policy()?.map_or_else(|| "none".to_owned(), |found| policy_digest(&found.policy));
        Ok(MachineIntents { governance: self, store, approvers: self.approvers()?, policy })
    }

    fn approval_machine(&self) -> ApprovalMachine {
        let machine = self.audited_machine();
        let name = self.doors.machine().kernel().hostname;
        ApprovalMachine { id: machine.id, boot: machine.boot, name }
    }

    pub(super) fn approval_time(&self) -> ApprovalTime {
        ApprovalTime { wall: self.doors.clock().now(), since_boot: self.doors.machine().since_boot() }
    }

    /// Returns the SHA-256 of a program now; `None` if the program can't be read.
    pub fn program_digest(&self, path: &str) -> Option<String> {
        self.doors.files().digest(Path::new(path), MAX_COVERED).ok().map(|(digest, _)| digest)
    }
}

/// Returns the user who runs ccm, as the caller of an intent.
pub(crate) fn apply_caller() -> IntentCaller {
    let by = started_by();
    IntentCaller {
        kind: "apply".to_owned(),
        user: by.user.unwrap_or_else(|| by.uid.to_string()),
        uid: by.uid,
        login: by.sudo_user,
        pid: None,
        client: None,
        connection: None,
    }
}

/// Lets the group go through the state directory, whose other directories stay closed.
fn share_parent(parent: &Path, group: u32) -> Result<(), ApprovalsError> {
    let directory = Directory::open_private(parent)?;
    directory
        .share(group, 0o710)
        .map_err(|source| ApprovalStoreError::File { path: parent.to_owned(), verb: "shared", source }.into())
}

impl MachineIntents<'_> {
    /// Returns the store.
    pub fn store(&self) -> &ApprovalStore {
        &self.store
    }

    /// Returns the approvers.
    pub fn approvers(&self) -> &Approvers {
        &self.approvers
    }

    /// Returns the digest of the policy.
    pub fn policy(&self) -> &str {
        &self.policy
    }

    /// Returns the time now.
    pub fn now(&self) -> ApprovalTime {
        self.governance.approval_time()
    }

    /// Does something with the conditions of approvals now. What is accepted is recorded by the caller.
    pub fn with<T>(&self, run: impl FnOnce(&ApprovalStore, &ApprovalContext<'_>) -> T) -> T {
        self.with_record(&|_| Ok(()), run)
    }

    /// Does something with the conditions of approvals now. What is accepted is recorded in the audit log before.
    pub(super) fn recording<T>(&self, run: impl FnOnce(&ApprovalStore, &ApprovalContext<'_>) -> T) -> T {
        let record =
            |imported: &ImportedStatement| Ok(self.governance.record_approval(&accepted_event(imported))?);
        self.with_record(&record, run)
    }

    fn with_record<T>(
        &self,
        record: StatementRecorder<'_>,
        run: impl FnOnce(&ApprovalStore, &ApprovalContext<'_>) -> T,
    ) -> T {
        let context = ApprovalContext {
            record,
            approvers: &self.approvers,
            verifier: &SandboxedVerifier(self.governance),
            accounts: &uid_of,
            policy: &self.policy,
            now: self.now(),
        };
        run(&self.store, &context)
    }

    /// Accepts what approvers have put into the inbox, and records it.
    pub fn take_in(&self) -> Result<(), ApprovalsError> {
        let entries = self.recording(ApprovalStore::import_inbox)?;
        let refused = entries.iter().filter_map(refused_event);
        refused.into_iter().try_for_each(|event| Ok(self.governance.record_approval(&event)?))
    }

    /// Accepts what approvers have put into the inbox. An inbox that can't be read accepts nothing.
    pub(super) fn accept_inbox(&self) -> Vec<ApprovalEvent> {
        let entries = self.with(ApprovalStore::import_inbox).unwrap_or_default();
        let event = |entry: &InboxEntry| match &entry.result {
            Ok(imported) => Some(accepted_event(imported)),
            Err(_) => refused_event(entry),
        };
        entries.iter().filter_map(event).collect()
    }

    /// Uses up a grant that holds for an action.
    pub fn use_grant(&self, content: &IntentContent) -> Result<Option<UsedApproval>, ApprovalRefusal> {
        let digest = |path: &str| self.governance.program_digest(path);
        self.with(|store, context| store.use_grant(content, &digest, context))
    }

    /// Uses up the approval of an intent.
    pub fn use_up(&self, intent: &IntentDocument) -> Result<UsedApproval, ApprovalRefusal> {
        let digest = |path: &str| self.governance.program_digest(path);
        self.with(|store, context| store.use_up(&intent.id, &digest, context))
    }

    /// Records an event of an intent outside of a run.
    pub fn record(
        &self,
        intent: &IntentDocument,
        event: &'static str,
        approver: Option<String>,
        reason: Option<String>,
    ) -> Result<(), AuditProblem> {
        let event = ApprovalEvent { intent: intent_name(intent), event, approver, reason };
        self.governance.record_approval(&event)
    }
}

fn accepted_event(imported: &ImportedStatement) -> ApprovalEvent {
    let is_rejected = imported.statement.decision == ApproverDecision::Reject;
    ApprovalEvent {
        intent: intent_name(&imported.intent),
        event: if is_rejected { "rejected" } else { "approved" },
        approver: Some(imported.verified.principal.clone()),
        reason: imported.statement.reason.clone().or_else(|| granted_reason(&imported.statement)),
    }
}

fn granted_reason(statement: &ApprovalStatement) -> Option<String> {
    let what = match &statement.decision {
        ApproverDecision::GrantRule(rule) => format!("whatever {rule} alone asks for"),
        ApproverDecision::GrantAction => "this action".to_owned(),
        ApproverDecision::Approve | ApproverDecision::Reject => return None,
    };
    Some(format!("grants {} uses of {what} until {}", statement.uses, statement.not_after))
}

/// Returns the event of a file of the inbox that was removed; `None` for another one.
fn refused_event(entry: &InboxEntry) -> Option<ApprovalEvent> {
    let Err(refusal) = &entry.result else { return None };
    // It may still be being written, and is recorded once it is removed.
    let stays = matches!(
        refusal,
        ApprovalRefusal::Statement(_) | ApprovalRefusal::Store(_) | ApprovalRefusal::Unrecorded(_)
    );
    (!stays).then(|| ApprovalEvent {
        intent: entry.name.clone(),
        event: "refused",
        approver: None,
        reason: Some(ccm_model::error_layers(refusal).join(": ")),
    })
}

/// Returns the use of a grant in words: `use 3 of 10 of the grant 7K3F-01JD… for rule "restarts"`.
pub fn grant_text(used: &GrantUse) -> String {
    let GrantUse { granted, rule, number, uses } = used;
    let rule = rule.as_ref().map_or_else(String::new, |rule| format!(" for {rule}"));
    format!("use {number} of {uses} of the grant {}{rule}", intent_name(granted))
}

/// Returns the name of an intent: its code, which people use, and its id.
pub fn intent_name(intent: &IntentDocument) -> String {
    format!("{}-{}", intent.code, intent.id)
}
