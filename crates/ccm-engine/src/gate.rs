//! The gate of a run, which decides on commands and changes before they happen.

use std::fmt;

use ccm_host::{Cancellation, Command, Executor, Finished, Local, Runner, RunnerMiddleware, StartError};
use ccm_model::{
    Action, Claim, Failure, Intent, Location, Properties, Reason, Refusal, RefusalKind, Resource, ResourceId,
    Stream,
};
use ccm_properties::{TypeDeclaration, WrittenCommand};

use crate::contract::Trigger;
use crate::run::Run;
use crate::shown;
use crate::step::ResourceStep;

/// Decides on every command and every change of a run before it happens.
///
/// For each resource the engine asks in this order: before each command that reads its state or is one of its
/// guards, before its change, before each command of that change, before each command that verifies the
/// change. Resources that are changed together are asked for one by one; one that is refused is left out of
/// the batch, and asked for again when its turn comes. In noop there is no change and no command of it; the
/// gate is asked about both all the same, so that noop shows the refusal that a run would end with.
///
/// A refusal is the failure of the resource, of the kind `denied` or `approval_required`. Nothing is changed
/// then, and the ledger of refreshes is not written.
#[allow(async_fn_in_trait, reason = "a run stays on one thread, so that no future of it has to be `Send`")]
pub trait Gate {
    /// Decides on a command that is about to start.
    async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict;

    /// Decides on a change that a resource is about to make.
    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict;

    /// Returns `true` if the gate allows everything. No other method is called then.
    fn is_open(&self) -> bool {
        false
    }
}

/// [`Gate`] as an object. Every gate implements it.
pub trait DynGate {
    /// Decides on a command, as [`Gate::before_command`] does.
    fn before_command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Local<'a, Verdict>;

    /// Decides on a change, as [`Gate::before_change`] does.
    fn before_change<'a>(&'a self, request: &'a ChangeRequest<'a>) -> Local<'a, Verdict>;

    /// Returns `true` if the gate allows everything, as [`Gate::is_open`] does.
    fn is_open(&self) -> bool;
}

impl<G: Gate> DynGate for G {
    fn before_command<'a>(&'a self, request: &'a CommandRequest<'a>) -> Local<'a, Verdict> {
        Box::pin(Gate::before_command(self, request))
    }

    fn before_change<'a>(&'a self, request: &'a ChangeRequest<'a>) -> Local<'a, Verdict> {
        Box::pin(Gate::before_change(self, request))
    }

    fn is_open(&self) -> bool {
        Gate::is_open(self)
    }
}

/// Answer of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The command or change is allowed.
    Allow,
    /// The command or change is denied.
    Deny {
        /// Reason, for people.
        reason: String,
        /// Hints in the imperative.
        hints: Vec<String>,
    },
    /// The command or change needs an approval. The run does not wait: the resource fails, and a later run
    /// finds the approval.
    Wait {
        /// Reason, for people.
        reason: String,
        /// Hints in the imperative.
        hints: Vec<String>,
        /// Intent that waits for the approval. `None` if none was recorded, as in noop.
        intent: Option<Intent>,
    },
}

/// Gate that allows everything and costs nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenGate;

impl Gate for OpenGate {
    async fn before_command(&self, _: &CommandRequest<'_>) -> Verdict {
        Verdict::Allow
    }

    async fn before_change(&self, _: &ChangeRequest<'_>) -> Verdict {
        Verdict::Allow
    }

    fn is_open(&self) -> bool {
        true
    }
}

/// Command that is about to start.
#[derive(Debug)]
pub struct CommandRequest<'a> {
    /// Resource of the command. If several resources are read or changed together, the first of them.
    pub resource: GatedResource<'a>,
    /// `true` if the resource is in noop.
    pub noop: bool,
    /// The command, not redacted, because the gate has to judge it as it is. A gate that shows or stores the
    /// command has to redact it first, by the [`Secrets`](ccm_redaction::Secrets) of its session.
    pub command: &'a Command,
    /// Change of the resource that was decided on. `None` while its state is read.
    pub change: Option<&'a PlannedChange>,
}

/// Change that a resource is about to make.
#[derive(Debug)]
pub struct ChangeRequest<'a> {
    /// The resource.
    pub resource: GatedResource<'a>,
    /// `true` if the resource is in noop.
    pub noop: bool,
    /// The change.
    pub change: &'a PlannedChange,
}

/// Change that was decided on. Its texts are redacted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedChange {
    /// Name of the provider that makes it.
    pub provider: &'static str,
    /// Rule of the decision.
    pub reason: Reason,
    /// The change in the form of a noop message, such as `Would have executed`.
    pub message: String,
    /// Change of content as a unified diff, if the type has one.
    pub diff: Option<String>,
    /// `true` if a change of a resource that this one subscribes to triggered the change.
    pub is_triggered: bool,
}

/// Resource that a gate is asked about.
#[derive(Clone, Copy)]
pub struct GatedResource<'a> {
    run: &'a Run<'a>,
    resource: &'a Resource,
}

impl<'a> GatedResource<'a> {
    /// Returns type and name. The name may hold a secret: redact it before showing or storing it.
    pub fn id(&self) -> &'a ResourceId {
        &self.resource.id
    }

    /// Returns the aliases, which may hold secrets too.
    pub fn aliases(&self) -> impl Iterator<Item = &'a str> {
        self.resource.aliases.iter().map(|alias| &**alias)
    }

    /// Returns the requested `ensure`, if it was given.
    pub fn ensure(&self) -> Option<&'a str> {
        self.resource.ensure.as_ref().map(|ensure| ensure.value.as_str())
    }

    /// Returns the properties; secrets, and those that a `sensitive` resource hides, are `[redacted]`.
    pub fn properties(&self) -> Properties {
        let table =
            self.run.resource_type(self.resource).map(TypeDeclaration::properties).unwrap_or_default();
        self.run.secrets.redactor().redact_properties(shown::properties(table, &self.resource.properties))
    }

    /// Returns the resource's claims, such as a path or a unit.
    pub fn claims(&self) -> Vec<Claim<'a>> {
        self.run.resource_type(self.resource).map(|found| found.claims(self.resource)).unwrap_or_default()
    }

    /// Returns the directories in which the change may write anything, and whether it may remove what is in them.
    pub fn reaches(&self) -> Vec<(&'a str, bool)> {
        let Some(found) = self.run.resource_type(self.resource) else { return Vec::new() };
        let purged = found.sources().and_then(|sources| sources.purges(self.resource));
        let reached = found.reaches(self.resource).into_iter().chain(purged);
        reached.map(|path| (path, purged == Some(path))).collect()
    }

    /// Returns the commands that the resource writes for others to run later, such as a job of cron.
    pub fn later_commands(&self) -> Vec<WrittenCommand> {
        let found = self.run.resource_type(self.resource).and_then(|found| found.commands());
        let found = found.filter(|_| !self.resource.is_absent());
        found.map(|view| view.later_commands(self.resource)).unwrap_or_default()
    }

    /// Returns the directory from which relative paths of the resource start.
    pub fn directory(&self) -> &'a std::path::Path {
        match self.resource.group {
            Some(group) => &self.run.catalog.group(group).directory,
            None => self.run.directory,
        }
    }

    /// Returns the location of the resource in the manifest, if it is known.
    pub fn location(&self) -> Option<Location> {
        self.run.late.location(self.resource.span)
    }
}

impl fmt::Debug for GatedResource<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("GatedResource").field("type", &self.id().type_name).finish_non_exhaustive()
    }
}

impl Verdict {
    fn into_result(self) -> Result<(), Refusal> {
        match self {
            Self::Allow => Ok(()),
            Self::Deny { reason, hints } => Err(Refusal { kind: RefusalKind::Denied, reason, hints }),
            Self::Wait { reason, hints, intent } => {
                Err(Refusal { kind: RefusalKind::ApprovalRequired { intent }, reason, hints })
            }
        }
    }
}

impl ResourceStep<'_> {
    /// Checks a command of the resource with the gate.
    pub(crate) async fn before_command(&self, command: &Command) -> Result<(), StartError> {
        let run = self.host.run();
        if run.gate.is_open() {
            return Ok(());
        }
        let resource = GatedResource { run, resource: self.resource() };
        let noop = self.policy.noop;
        let request = CommandRequest { resource, noop, command, change: self.change.get() };
        let verdict = run.gate.before_command(&request).await;
        verdict.into_result().map_err(|refusal| StartError::Refused { refusal, noop })
    }

    /// Checks the decided change of the resource with the gate.
    pub(crate) async fn before_change(
        &self,
        provider: &'static str,
        reason: &Reason,
        action: &Action,
        diff: Option<&str>,
    ) -> Result<(), Failure> {
        if self.host.run().gate.is_open() {
            return Ok(());
        }
        let change = self.plan(provider, reason, action, diff, self.trigger.as_ref());
        self.ask(self.resource(), self.change.get_or_init(|| change)).await
    }

    /// Checks with the gate the change of another resource that would be made together with the change of
    /// this one. Returns `true` if the gate allows the change.
    pub(crate) async fn allows_with(
        &self,
        other: &Resource,
        provider: &'static str,
        reason: &Reason,
        action: &Action,
        diff: Option<&str>,
    ) -> bool {
        if self.host.run().gate.is_open() {
            return true;
        }
        self.ask(other, &self.plan(provider, reason, action, diff, None)).await.is_ok()
    }

    /// Returns a diff if the report is to show it. A gate sees diffs whether the report shows them or not.
    pub(crate) fn reported_diff(&self, diff: Option<String>) -> Option<String> {
        let run = self.host.run();
        diff.filter(|_| run.diff || run.gate.is_open())
    }

    async fn ask(&self, resource: &Resource, change: &PlannedChange) -> Result<(), Failure> {
        let run = self.host.run();
        let request =
            ChangeRequest { resource: GatedResource { run, resource }, noop: self.policy.noop, change };
        let verdict = run.gate.before_change(&request).await;
        verdict.into_result().map_err(|refusal| Failure::refused(&refusal))
    }

    fn plan(
        &self,
        provider: &'static str,
        reason: &Reason,
        action: &Action,
        diff: Option<&str>,
        trigger: Option<&Trigger>,
    ) -> PlannedChange {
        let redactor = self.host.run().secrets.redactor();
        let reason =
            Reason { rule: reason.rule.clone(), text: redactor.redact(&reason.text).into_owned().into() };
        PlannedChange {
            provider,
            reason,
            message: redactor.redact(&action.noop_message(trigger.is_some())).into_owned(),
            diff: diff.map(|diff| redactor.redact_lines(diff).into_owned()),
            is_triggered: trigger.is_some(),
        }
    }
}

/// Executor of the commands that the gate of the run allows.
pub(crate) struct GatedExecutor<'a> {
    pub step: &'a ResourceStep<'a>,
    pub executor: &'a dyn Executor,
}

impl RunnerMiddleware for GatedExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        self.executor
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        self.step.before_command(command).await?;
        runner.run(command, cancellation, on_line).await
    }
}
