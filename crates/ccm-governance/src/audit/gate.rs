//! The gate that records what the gate behind it allows or refuses.

use std::cell::RefCell;
use std::rc::Rc;

use ccm_audit::RecordedVerdict;
use ccm_engine::{ChangeRequest, CommandRequest, DynGate, Gate, Verdict};
use ccm_host::Role;
use ccm_model::Refusal;

use super::{ApprovalEvent, RunAudit};

/// Type whose changes are its commands, each with a line of its own.
const COMMANDS_ONLY: &str = "exec";

/// Verdict of the policy on what is being judged, and what happened to approvals meanwhile, between the gate of the
/// policy and the record.
#[derive(Debug, Default)]
pub struct VerdictSlot {
    verdict: RefCell<Option<RecordedVerdict>>,
    approvals: RefCell<Vec<ApprovalEvent>>,
}

impl VerdictSlot {
    /// Keeps the verdict on the command or change that is being judged.
    pub(crate) fn set(&self, verdict: RecordedVerdict) {
        self.verdict.replace(Some(verdict));
    }

    /// Keeps the id of the approval that the command or change has.
    pub(crate) fn approve(&self, id: &str) {
        if let Some(verdict) = &mut *self.verdict.borrow_mut() {
            verdict.approval = Some(id.to_owned());
        }
    }

    /// Keeps what happened to approvals.
    pub(crate) fn add(&self, events: impl IntoIterator<Item = ApprovalEvent>) {
        self.approvals.borrow_mut().extend(events);
    }

    fn take(&self) -> RecordedVerdict {
        self.approvals.take();
        self.verdict.take().unwrap_or_else(RecordedVerdict::none)
    }

    fn take_approvals(&self) -> Vec<ApprovalEvent> {
        self.approvals.take()
    }
}

/// Gate that records what the gate behind it allows or refuses. What can't be recorded is refused, if a record is
/// required.
pub struct AuditGate<'s> {
    /// Gate whose answers are recorded.
    pub gate: Rc<dyn DynGate + 's>,
    /// Record of the run.
    pub audit: Rc<RunAudit>,
    /// Verdicts of the gate of the policy.
    pub verdicts: Rc<VerdictSlot>,
}

impl Gate for AuditGate<'_> {
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
        let _of_another = self.verdicts.take();
        let answer = self.gate.before_command(request).await;
        self.audit.approvals(&self.verdicts.take_approvals());
        let verdict = self.verdicts.take();
        let resource = request.resource.id().to_string();
        let role = role_name(request.command.role);
        match &answer {
            Verdict::Allow => {
                // The executor records the command when it starts it. Noop only judges some.
                self.audit.expect_command(resource, verdict, request.noop);
                answer
            }
            Verdict::Deny { .. } | Verdict::Wait { .. } if request.noop => answer,
            Verdict::Deny { reason, .. } | Verdict::Wait { reason, .. } => {
                self.audit.refuse(role, &resource, request.command, (&verdict, reason));
                answer
            }
        }
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        let _of_another = self.verdicts.take();
        let answer = self.gate.before_change(request).await;
        self.audit.approvals(&self.verdicts.take_approvals());
        let verdict = self.verdicts.take();
        if request.noop {
            return answer;
        }
        let id = request.resource.id();
        match &answer {
            Verdict::Allow if &*id.type_name == COMMANDS_ONLY => answer,
            Verdict::Allow => {
                let recorded = self.audit.change(&id.to_string(), &verdict);
                recorded
                    .map_or_else(|Refusal { reason, hints, .. }| Verdict::Deny { reason, hints }, |()| answer)
            }
            Verdict::Deny { reason, .. } | Verdict::Wait { reason, .. } => {
                self.audit.refuse_change(&id.to_string(), (&verdict, reason));
                answer
            }
        }
    }
}

pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Command => "command",
        Role::Guard => "guard",
        Role::Check => "check",
        Role::Tool => "tool",
        Role::Query => "query",
    }
}
