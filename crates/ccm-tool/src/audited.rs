//! Records of calls in the audit log of the machine.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::SystemTime;

use ccm_host::{Finished, Local, StartError};
use ccm_model::error_layers;
use ccm_policy::Policy;
use ccm_runtime::audit::{
    Actor, AuditProblem, AuditRecorder, AuditedCommand, ForwardDoors, OpenError, RecordedVerdict,
    seal_receivers,
};
use ccm_runtime::{Commands, Session};

use crate::records::{CallRecorder, RecordFailure, RecordedCall};

/// The audit log of the machine.
pub(crate) struct AuditedCalls {
    session: Rc<Session>,
    /// `None` while seals are handed on.
    recorder: RefCell<Option<AuditRecorder>>,
}

impl AuditedCalls {
    /// Opens the log; `None` if there is none.
    pub(crate) fn open(session: &Rc<Session>) -> Result<Option<Self>, AuditProblem> {
        let recorder = session.governance().open_audit_recorder()?;
        let open = |recorder| Self { session: Rc::clone(session), recorder: RefCell::new(Some(recorder)) };
        Ok(recorder.map(open))
    }

    fn record<T>(
        &self,
        write: impl FnOnce(&mut AuditRecorder, SystemTime) -> Result<T, OpenError>,
    ) -> Result<(), RecordFailure> {
        let now = self.session.clock().now();
        let mut recorder = self.recorder.borrow_mut();
        if let Some(recorder) = recorder.as_mut() {
            return write(recorder, now).map(drop).map_err(|error| failure(&error));
        }
        // While seals of another call are handed on, the log is opened a second time.
        match self.session.governance().open_audit_recorder() {
            Ok(Some(mut recorder)) => write(&mut recorder, now).map(drop).map_err(|error| failure(&error)),
            Ok(None) => Err(RecordFailure { message: "there is no audit log".to_owned(), hints: Vec::new() }),
            Err(problem) => Err(failure(&problem)),
        }
    }
}

/// Returns what a call ends with if it can't be recorded.
pub(crate) fn failure(problem: &dyn std::error::Error) -> RecordFailure {
    RecordFailure { message: error_layers(problem).join(": "), hints: Vec::new() }
}

fn verdict(call: &RecordedCall<'_>) -> RecordedVerdict {
    RecordedVerdict {
        verdict: call.verdict.to_owned(),
        rule: call.rule.map(str::to_owned),
        approval: call.approval.map(str::to_owned),
    }
}

fn audited<'c>(call: &'c RecordedCall<'_>, verdict: &'c RecordedVerdict) -> AuditedCommand<'c> {
    let actor = Actor { user: call.caller.user.clone(), uid: call.caller.uid, sudo_user: None, unit: None };
    AuditedCommand {
        intent: Some(call.intent).filter(|intent| !intent.is_empty()),
        run: call.intent,
        purpose: call.tool,
        resource: None,
        by: Some(actor),
        user: Some(&call.caller.user),
        command: call.command,
        verdict,
    }
}

impl CallRecorder for AuditedCalls {
    fn begin(&self, call: &RecordedCall<'_>) -> Result<(), RecordFailure> {
        let verdict = verdict(call);
        self.record(|recorder, now| recorder.start(&audited(call, &verdict), now))
    }

    fn end(
        &self,
        call: &RecordedCall<'_>,
        result: Result<&Finished, &StartError>,
    ) -> Result<(), RecordFailure> {
        self.record(|recorder, now| recorder.finish_and_seal(call.intent, result, false, now))
    }

    fn refuse(&self, call: &RecordedCall<'_>, reason: &str) -> Result<(), RecordFailure> {
        let verdict = verdict(call);
        self.record(|recorder, now| {
            recorder.refuse(&audited(call, &verdict), reason, now)?;
            recorder.seal(now)
        })
    }

    fn forward<'a>(&'a self, policy: &'a Policy, commands: &'a dyn Commands) -> Local<'a, Vec<String>> {
        Box::pin(async move {
            let receivers = seal_receivers(policy);
            if receivers.is_empty() {
                return Vec::new();
            }
            let Some(mut recorder) = self.recorder.take() else { return Vec::new() };
            let now = self.session.clock().now();
            let failures = recorder.forward(&receivers, ForwardDoors::new(commands, commands), now).await;
            self.recorder.replace(Some(recorder));
            failures.iter().map(ToString::to_string).collect()
        })
    }
}
