//! Recording of a run.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::rc::Rc;

use ccm_audit::{
    Actor, AuditRecorder, AuditedCommand, AuditedOutcome, ForwardDoors, OpenError, RecordedVerdict, RunStart,
    SealReceiver,
};
use ccm_host::state::{Directory, StateError};
use ccm_host::{Command, Commands, Finished, StartError, current_user, started_by};
use ccm_model::{Counts, Outcome, Refusal, RefusalKind, SourceVersion, Transaction, error_layers, sha256};
use ccm_policy::{AuditReceiver, Policy};

use super::ApprovalEvent;
use super::gate::role_name;
use crate::governance::{Governance, GovernanceDoors, GovernanceNotice};
use crate::policy::RunPolicy;

/// Reason why a run can't be recorded in the audit log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditProblem {
    /// The directory of the log can't be used.
    #[error("the audit log can't be used")]
    Directory(#[from] StateError),
    /// The log can't be opened or written.
    #[error(transparent)]
    Log(#[from] OpenError),
}

/// Record of runs in the audit log. All runs of one call share it.
pub struct RunAudit {
    /// `None` if the log can't be opened.
    recorder: RefCell<Option<AuditRecorder>>,
    /// A record is a condition of everything that runs.
    required: bool,
    receivers: Vec<SealReceiver>,
    /// SHA-256 over the files of the policy.
    policy: Option<String>,
    doors: Rc<dyn GovernanceDoors>,
    run: RefCell<String>,
    /// Command that the gate allowed last.
    expected: RefCell<Option<ExpectedCommand>>,
    /// Intent of the command that runs.
    open: RefCell<Option<String>>,
    users: RefCell<BTreeMap<u32, Option<String>>>,
    /// First error, after which nothing is allowed if a record is required.
    error: RefCell<Option<String>>,
    /// Something was not recorded.
    incomplete: Cell<bool>,
}

/// Command that the gate has allowed.
struct ExpectedCommand {
    resource: String,
    verdict: RecordedVerdict,
    noop: bool,
}

impl ExpectedCommand {
    /// Returns what is recorded of a command that no gate was asked about.
    fn unknown() -> Self {
        Self { resource: String::new(), verdict: RecordedVerdict::none(), noop: false }
    }
}

impl fmt::Debug for RunAudit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunAudit").field("required", &self.required).finish_non_exhaustive()
    }
}

impl RunAudit {
    /// Opens the log for runs under a policy. `None` if there is no log and none is required, and for plans that need
    /// no record.
    pub fn open(
        governance: &Governance,
        policy: Option<RunPolicy<'_>>,
        is_plan: bool,
    ) -> Result<Option<Rc<Self>>, AuditProblem> {
        let required = policy.is_some_and(RunPolicy::requires_record);
        if is_plan && !required {
            return Ok(None);
        }
        let recorder = match governance.open_audit_recorder() {
            Ok(None) if required => return Err(OpenError::Missing { path: governance.audit_path()? }.into()),
            Ok(None) => return Ok(None),
            Ok(recorder) => recorder,
            Err(problem) if required => return Err(problem),
            Err(problem) => {
                governance.doors.notice(&GovernanceNotice::Audit(&problem));
                None
            }
        };
        Ok(Some(Rc::new(Self {
            incomplete: Cell::new(recorder.is_none()),
            recorder: RefCell::new(recorder),
            required,
            receivers: policy.map_or_else(Vec::new, RunPolicy::seal_receivers),
            policy: policy.map(RunPolicy::digest),
            doors: Rc::clone(&governance.doors),
            run: RefCell::default(),
            expected: RefCell::default(),
            open: RefCell::default(),
            users: RefCell::default(),
            error: RefCell::default(),
        })))
    }

    /// Records that a run begins, of a manifest with this text. The error is one of a required record.
    pub fn begin_run(
        &self,
        (run, manifest): (&str, &str),
        (text, source): (&str, Option<SourceVersion>),
        noop: bool,
    ) -> Result<(), AuditProblem> {
        self.run.replace(run.to_owned());
        let by = Actor::from(started_by());
        let policy = self.policy.clone();
        let sha256 = sha256(text.as_bytes());
        let start = RunStart { run, manifest, sha256, policy, source, noop, by };
        let recorded = self.try_record(|recorder, now| recorder.begin_run(&start, now));
        match recorded {
            Err(error) if self.required => Err(error.into()),
            Err(error) => {
                self.doors.notice(&GovernanceNotice::Audit(&error.into()));
                Ok(())
            }
            Ok(_) => Ok(()),
        }
    }

    /// Keeps what the gate knows of the command that may start next.
    pub(crate) fn expect_command(&self, resource: String, verdict: RecordedVerdict, noop: bool) {
        self.expected.replace(Some(ExpectedCommand { resource, verdict, noop }));
    }

    /// Records that a command is about to start. The error is the refusal of a command that can't be recorded.
    pub(super) fn start(&self, command: &Command) -> Result<(), StartError> {
        self.open.take();
        let expected = self.expected.take();
        let ExpectedCommand { resource, verdict, noop } = expected.unwrap_or_else(ExpectedCommand::unknown);
        let run = self.run.borrow();
        let user = self.user_name(command);
        let names = (&**run, role_name(command.role), &*resource);
        let audited = audited(names, command, &verdict, user.as_deref());
        let started = self.record(|recorder, now| recorder.start(&audited, now));
        self.open.replace(started.map_err(|refusal| StartError::Refused { refusal, noop })?);
        Ok(())
    }

    /// Records what happened to approvals.
    pub(super) fn approvals(&self, events: &[ApprovalEvent]) {
        for event in events {
            // What can't be recorded keeps the command from starting that the approval is for.
            let _refusal = self.record(|recorder, now| event.record(recorder, now));
        }
    }

    /// Records that a command was refused.
    pub(super) fn refuse(
        &self,
        purpose: &str,
        resource: &str,
        command: &Command,
        (verdict, reason): (&RecordedVerdict, &str),
    ) {
        let run = self.run.borrow();
        let audited = audited((&**run, purpose, resource), command, verdict, None);
        // Nothing is started in any case.
        let _refusal = self.record(|recorder, now| recorder.refuse(&audited, reason, now));
    }

    /// Records that a command of a check was refused.
    pub(crate) fn refuse_check(&self, check: &str, command: &Command, refused: (&RecordedVerdict, &str)) {
        self.refuse(role_name(command.role), check, command, refused);
    }

    /// Records the end of the command that was recorded last.
    pub(super) fn finish(&self, result: Result<&Finished, &StartError>, is_sensitive: bool) {
        let Some(intent) = self.open.take() else { return };
        // What can't be recorded keeps later commands from starting.
        let _refusal = self.record(|recorder, now| recorder.finish(&intent, result, is_sensitive, now));
    }

    /// Records that ccm is about to change a resource. The error is the refusal of a change that can't be recorded.
    pub(super) fn change(&self, resource: &str, verdict: &RecordedVerdict) -> Result<(), Refusal> {
        let run = self.run.borrow();
        self.record(|recorder, now| recorder.change(&run, resource, verdict, now)).map(|_| ())
    }

    /// Records that a change was refused.
    pub(super) fn refuse_change(&self, resource: &str, refused: (&RecordedVerdict, &str)) {
        let run = self.run.borrow();
        let _refusal = self.record(|recorder, now| recorder.refuse_change(&run, resource, refused, now));
    }

    /// Records the outcome of a resource that was changed, failed, or has health checks that ran.
    pub fn resource(&self, transaction: &Transaction) {
        let error = match &transaction.outcome {
            Outcome::Changed | Outcome::Refreshed => None,
            Outcome::Failed(failure) => Some(failure.one_line()),
            _ if transaction.health_checks.is_empty() => return,
            _ => None,
        };
        let checks = transaction.health_checks.iter().map(|check| (&*check.name, check.status)).collect();
        let id = transaction.id.to_string();
        self.outcome(&AuditedOutcome {
            resource: &id,
            outcome: transaction.outcome.word(),
            error: error.as_deref(),
            checks,
        });
    }

    /// Records an outcome.
    pub fn outcome(&self, outcome: &AuditedOutcome<'_>) {
        let run = self.run.borrow();
        let _refusal = self.record(|recorder, now| recorder.resource(&run, outcome, now));
    }

    /// Records that a run ended with this exit code, and seals the log.
    pub fn end_run(&self, counts: &Counts, code: u8) {
        let changed = (counts.changed + counts.refreshed) as u64;
        let run = self.run.borrow();
        let ended = (changed, counts.failed as u64);
        let _refusal = self.record(|recorder, now| recorder.end_run(&run, code, ended, now));
    }

    /// Hands the seal on to its receivers.
    pub async fn forward(&self, commands: &dyn Commands) {
        let Some(mut recorder) = self.recorder.take() else { return };
        let doors = ForwardDoors::new(commands, commands);
        let failures = recorder.forward(&self.receivers, doors, self.doors.clock().now()).await;
        self.recorder.replace(Some(recorder));
        for failure in &failures {
            self.doors.notice(&GovernanceNotice::SealNotForwarded(failure));
        }
    }

    /// Returns `true` if something was not recorded.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete.get()
    }

    /// Records something. The error is the refusal of what can't be recorded but has to be.
    fn record<T>(
        &self,
        write: impl FnOnce(&mut AuditRecorder, std::time::SystemTime) -> Result<T, OpenError>,
    ) -> Result<Option<T>, Refusal> {
        if self.required
            && let Some(error) = &*self.error.borrow()
        {
            return Err(refusal(error));
        }
        let is_first = self.error.borrow().is_none();
        match self.try_record(write) {
            Ok(written) => Ok(written),
            Err(error) => {
                let problem = AuditProblem::from(error);
                if is_first {
                    self.doors.notice(&GovernanceNotice::Audit(&problem));
                }
                if self.required { Err(refusal(&error_layers(&problem).join(": "))) } else { Ok(None) }
            }
        }
    }

    fn try_record<T>(
        &self,
        write: impl FnOnce(&mut AuditRecorder, std::time::SystemTime) -> Result<T, OpenError>,
    ) -> Result<Option<T>, OpenError> {
        let now = self.doors.clock().now();
        let mut recorder = self.recorder.borrow_mut();
        let Some(recorder) = recorder.as_mut() else { return Ok(None) };
        write(recorder, now).map(Some).inspect_err(|error| {
            self.incomplete.set(true);
            self.error.borrow_mut().get_or_insert_with(|| error_layers(error).join(": "));
        })
    }

    /// Returns the name of the user that a command runs as.
    fn user_name(&self, command: &Command) -> Option<String> {
        let uid = command.identity.as_ref().map_or_else(current_user, |identity| identity.uid);
        if command.image.is_some() && command.identity.is_none() {
            return Some("user of the image".to_owned());
        }
        self.users.borrow_mut().entry(uid).or_insert_with(|| self.doors.user_name(uid)).clone()
    }
}

fn audited<'a>(
    (run, purpose, resource): (&'a str, &'a str, &'a str),
    command: &'a Command,
    verdict: &'a RecordedVerdict,
    user: Option<&'a str>,
) -> AuditedCommand<'a> {
    let resource = Some(resource).filter(|resource| !resource.is_empty());
    AuditedCommand { intent: None, run, purpose, resource, by: None, user, command, verdict }
}

fn refusal(error: &str) -> Refusal {
    let hints = vec!["run `ccm audit verify`; nothing is started until the log can be written".to_owned()];
    let reason = format!("the policy requires a record, and there can be none: {error}");
    Refusal { kind: RefusalKind::Denied, reason, hints }
}

impl Governance {
    /// Opens the audit log to record what is no run of a manifest; `None` if there is no log. Several programs may have
    /// the log open.
    pub fn open_audit_recorder(&self) -> Result<Option<AuditRecorder>, AuditProblem> {
        let path = match self.audit_path() {
            Err(StateError::NoDirectory) => return Ok(None),
            path => path?,
        };
        let found = match Directory::open(&path) {
            // The home of a service is often no directory, or one that it may not enter. Nobody made a log there.
            Err(error) if is_out_of_reach(&error) => return Ok(None),
            found => found?,
        };
        let is_begun = found.is_some_and(|directory| {
            // An empty directory is no log. A key without a log is one that was removed.
            let names = directory.names().unwrap_or_default();
            names.iter().any(|name| name == "key" || name.starts_with("audit-"))
        });
        if !is_begun {
            return Ok(None);
        }
        let directory = Directory::open_private(&path)?;
        let (machine, now) = (self.audited_machine(), self.doors.clock().now());
        Ok(Some(AuditRecorder::open(directory, machine, self.secrets.clone(), now)?))
    }
}

fn is_out_of_reach(error: &StateError) -> bool {
    let kinds = [ErrorKind::NotADirectory, ErrorKind::PermissionDenied];
    matches!(error, StateError::Open { source, .. } if kinds.contains(&source.kind()))
}

/// Returns `true` if nothing may happen without a record.
pub(crate) fn requires_record(policy: &Policy) -> bool {
    policy.audit().required.as_ref().is_some_and(|given| given.value)
}

/// Returns the receivers of seals that a policy names.
pub fn seal_receivers(policy: &Policy) -> Vec<SealReceiver> {
    policy.audit().forward.iter().map(receiver).collect()
}

fn receiver(receiver: &AuditReceiver) -> SealReceiver {
    match receiver {
        AuditReceiver::Journald => SealReceiver::Journal,
        AuditReceiver::File(path) => SealReceiver::File(path.into()),
        AuditReceiver::Command(words) => SealReceiver::Command(words.clone()),
    }
}
