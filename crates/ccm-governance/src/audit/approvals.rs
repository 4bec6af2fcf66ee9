//! Approvals in the audit log.

use std::time::SystemTime;

use ccm_audit::{AuditRecorder, OpenError};

use super::AuditProblem;
use super::run_audit::requires_record;
use crate::governance::{Governance, GovernanceNotice};

/// Event of a request or of its approval, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApprovalEvent {
    /// Id of the request, or name of a signed statement.
    pub(crate) intent: String,
    /// What happened: `requested`, `approved`, `rejected`, `used`, `void` or `ended`.
    pub(crate) event: &'static str,
    /// Approvers.
    pub(crate) approver: Option<String>,
    /// Reason, or for a request its subject.
    pub(crate) reason: Option<String>,
}

impl ApprovalEvent {
    pub(super) fn record(&self, recorder: &mut AuditRecorder, now: SystemTime) -> Result<(), OpenError> {
        let (approver, reason) = (self.approver.as_deref(), self.reason.as_deref());
        recorder.approval(&self.intent, self.event, approver, reason, now)
    }
}

impl Governance {
    /// Records an event outside of a run, and seals the log. The error is one of a required record.
    pub(crate) fn record_approval(&self, event: &ApprovalEvent) -> Result<(), AuditProblem> {
        let policy = self.policy().ok().flatten();
        let required = policy.is_some_and(|checked| requires_record(&checked.policy));
        let record = || -> Result<(), AuditProblem> {
            let Some(mut recorder) = self.open_audit_recorder()? else {
                return if required {
                    Err(OpenError::Missing { path: self.audit_path()? }.into())
                } else {
                    Ok(())
                };
            };
            let now = self.doors.clock().now();
            event.record(&mut recorder, now)?;
            recorder.seal(now)?;
            Ok(())
        };
        match record() {
            Err(problem) if !required => {
                self.doors.notice(&GovernanceNotice::Audit(&problem));
                Ok(())
            }
            recorded => recorded,
        }
    }
}
