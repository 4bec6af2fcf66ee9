//! The contract between the engine, resource types and their providers.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_host::{Cancellation, Command, Executor, Host, Launch, StartError};
use ccm_model::{
    Action, Artifact, ClaimKind, Failure, Fields, GuardResult, MissingPrerequisite, PendingRefresh, Reason,
    Resource, ResourceId, Stream, display_timestamp,
};
use ccm_properties::TypeSpec;
use ccm_redaction::Secrets;

use crate::BoundResource;
use crate::export::DynExport;
use crate::harness::default_launch;
use crate::health::{ProbeRequest, Probed};
use crate::state_cache::Suitabilities;
use crate::step::ResourceStep;

/// A resource type, as the loader and the engine see it.
pub trait ResourceType: TypeSpec + Sync {
    /// Returns the binder of the resources of the type to providers. `None` for a type whose resources are
    /// the nodes of groups ([`TypeSpec::child_manifest`]): the engine handles groups itself.
    fn binder(&self) -> Option<&dyn Binder>;

    /// Returns the part of the type that reads what is there.
    fn exporter(&self) -> &dyn DynExport;
}

/// Binds the resources of a type to providers.
pub trait Binder {
    /// Builds the typed properties of a resource and chooses its provider. [`bind`](crate::bind) chooses a
    /// provider; [`TypedResource`](ccm_properties::TypedResource) implements the whole trait.
    fn bind(
        &self,
        resource: &Resource,
        suitabilities: &Suitabilities<'_>,
    ) -> Result<Box<dyn BoundResource>, Failure>;
}

/// Typed side of a resource type: properties, state, and the pure decision between them.
pub trait ResourceKind: 'static {
    /// Desired properties, complete and checked.
    type Properties;
    /// State that was read from the system.
    type State;
    /// Result of an execution that can't be read from the system afterwards, such as an exit code.
    type Effect;

    /// Rules of the type, each of which can be the reason for a decision.
    type Rule: Rule;

    /// Decides what to do and why. Pure.
    ///
    /// A type that has nothing to refresh ignores the trigger. A change with a trigger is reported as a
    /// refresh, whatever the reason.
    fn decide(
        properties: &Self::Properties,
        state: &Self::State,
        trigger: Option<&Trigger>,
    ) -> Decision<Self::Rule>;

    /// Compares the state that was read after an execution with the desired one.
    fn verify(
        properties: &Self::Properties,
        state: &Self::State,
        effect: &Self::Effect,
    ) -> Result<Verified<Self::Rule>, Failure>;

    /// Returns warnings about a state, before a change.
    fn warnings(properties: &Self::Properties, state: &Self::State) -> Vec<String> {
        let _ = (properties, state);
        Vec::new()
    }

    /// Returns the results of the guards that were run to read a state.
    fn guards(state: &Self::State) -> Vec<GuardResult> {
        let _ = state;
        Vec::new()
    }

    /// Returns the action that was taken, from the state that was read after an execution. By default it is the
    /// planned one. A type overrides this if the plan left something open, such as the version that a package
    /// tool chooses.
    fn action_taken(
        properties: &Self::Properties,
        state: &Self::State,
        effect: &Self::Effect,
        planned: Action,
    ) -> Action {
        let _ = (properties, state, effect);
        planned
    }

    /// Returns the values that an execution yields for other resources, as a map. A resource that names one
    /// of them depends on this one.
    fn captured(properties: &Self::Properties, effect: &Self::Effect) -> Option<serde_json::Value> {
        let _ = (properties, effect);
        None
    }

    /// Returns the launch of the commands of health checks. By default they run on this machine, as the user who runs ccm.
    fn check_launch(properties: &Self::Properties, directory: &Path) -> Launch {
        let _ = properties;
        default_launch(directory)
    }

    /// Describes a state for events. `decision` is the text of the rule that [`Self::decide`] applied. Not
    /// called for an unchanged resource, unless [`Context::describe_unchanged`] is set.
    fn describe(properties: &Self::Properties, state: &Self::State, decision: &str) -> Described;

    /// Returns what [`Self::describe`] leaves out and what decides on the change: content, and what `sensitive` hides. It is
    /// only digested with the key of the machine.
    fn undescribed(properties: &Self::Properties, state: &Self::State) -> Undescribed {
        let _ = (properties, state);
        Undescribed::default()
    }
}

/// Parts of a state that its description leaves out, as bytes, which differ if the parts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undescribed {
    /// Parts that were found on the machine.
    pub found: Vec<u8>,
    /// Desired values that only the machine knows, such as the content of a file to copy.
    pub desired: Vec<u8>,
}

impl Undescribed {
    /// Takes the parts that were found in the form for debugging.
    pub fn found(parts: &dyn fmt::Debug) -> Self {
        Self { found: format!("{parts:?}").into_bytes(), desired: Vec::new() }
    }

    /// Adds the desired values in the form for debugging.
    #[must_use]
    pub fn desired(self, parts: &dyn fmt::Debug) -> Self {
        Self { desired: format!("{parts:?}").into_bytes(), ..self }
    }
}

/// One way to read and change the resources of a type.
#[allow(async_fn_in_trait, reason = "a run stays on one thread, so that no future of it has to be `Send`")]
pub trait Provider<K: ResourceKind>: Sync + 'static {
    /// Returns whether the provider can work on this host, and with what priority. By default it suits every host.
    fn suitability(&self, host: Host<'_>) -> Suitability {
        let _ = host;
        Suitability::Suits(1)
    }

    /// Reads the state from the system. Changes nothing.
    async fn status(
        &self,
        properties: &K::Properties,
        reading: ReadPurpose<'_, K::Effect>,
        context: &mut Context<'_>,
    ) -> Result<K::State, Failure>;

    /// Changes the system. Is never called in noop.
    ///
    /// A provider sets [`Failure::changed`] if a part of the change was made before the failure.
    async fn execute(
        &self,
        properties: &K::Properties,
        state: &K::State,
        context: &mut Context<'_>,
    ) -> Result<K::Effect, Failure>;

    /// Returns the maximum number of resources that [`Self::status_many`] reads at once. 1 reads each
    /// resource by itself.
    fn read_batch_size(&self) -> usize {
        1
    }

    /// Reads the states of resources of one manifest, none of which is triggered, before decisions on them.
    /// Returns a result for each, in their order. Warnings and notes on the context are attributed to the
    /// first resource.
    ///
    /// The engine discards these states when they are no longer valid, and calls [`Self::status`] instead.
    async fn status_many(
        &self,
        properties: &[&K::Properties],
        context: &mut Context<'_>,
    ) -> Vec<Result<K::State, Failure>> {
        let mut states = Vec::with_capacity(properties.len());
        for properties in properties {
            states.push(self.status(properties, ReadPurpose::Before { triggered: false }, context).await);
        }
        states
    }

    /// Returns the maximum number of resources that [`Self::execute_many`] changes at once, this change being the first
    /// of them. 1 changes the resource by itself.
    fn change_batch_size(&self, change: (&K::Properties, &K::State)) -> usize {
        let _ = change;
        1
    }

    /// Returns `true` if two changes can be made at once. Every pair of a batch is checked.
    fn can_batch_with(&self, one: (&K::Properties, &K::State), other: (&K::Properties, &K::State)) -> bool {
        let _ = (one, other);
        true
    }

    /// Returns `true` if [`Self::execute_many`] obeys [`Context::ends_on_failure`]. Otherwise each resource is changed
    /// by itself where that is set.
    fn stops_at_failure(&self) -> bool {
        false
    }

    /// Changes resources that are ready, none of which is triggered. Returns an effect for each, in their
    /// order; each is verified afterwards. A resource that fails as [`Stopped`](ccm_model::FailureKind::Stopped) without a change gets its
    /// own step. Warnings and notes on the context are attributed to the first resource. Is never called in noop.
    async fn execute_many(
        &self,
        changes: &[(&K::Properties, &K::State)],
        context: &mut Context<'_>,
    ) -> Vec<Result<K::Effect, Failure>> {
        let mut effects = Vec::with_capacity(changes.len());
        for (properties, state) in changes {
            effects.push(self.execute(properties, state, context).await);
        }
        effects
    }

    /// Checks in noop whether a change could be made. Returns warnings; an error is the failure that an
    /// execution would end with now. The engine only warns, because an earlier change may
    /// prevent the failure; only a refusal by the gate fails the resource.
    async fn preflight(
        &self,
        properties: &K::Properties,
        state: &K::State,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        let _ = (properties, state, context);
        Ok(Vec::new())
    }
}

/// Suitability of a provider for a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suitability {
    /// The provider suits the host with this priority. The lowest number wins; among equals, the first
    /// provider. 1 is the lowest.
    Suits(u32),
    /// The provider can't work on this host, for this reason.
    Unsuitable(String),
}

/// Purpose of reading a state.
#[derive(Debug)]
pub enum ReadPurpose<'a, E> {
    /// To decide on a change.
    Before {
        /// `true` if a resource that this one subscribes to has changed.
        triggered: bool,
    },
    /// To verify a change.
    After(&'a E),
}

impl<E> ReadPurpose<'_, E> {
    /// Returns `true` for a reading before a change.
    pub fn is_before(&self) -> bool {
        matches!(self, Self::Before { .. })
    }
}

/// Rule of a type, displayed as the reason for a decision.
pub trait Rule: fmt::Display {
    /// Name of the rule for programs, in snake case. The name stays the same when the text changes.
    fn name(&self) -> &'static str;
}

/// Trigger of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// A resource that this one subscribes to changed in this run.
    Changed,
    /// An earlier run left refreshes pending, and no subscribed resource changed in this run.
    Pending {
        /// The first of the pending refreshes.
        first: PendingRefresh,
        /// `true` if there are more.
        has_more: bool,
    },
}

/// The reason for a refresh.
impl fmt::Display for Trigger {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Pending { first, has_more } = self else {
            return formatter.write_str("a resource it subscribes to changed");
        };
        let PendingRefresh { source, run_id, since, is_assumed } = first;
        let more = if *has_more { ", and more" } else { "" };
        if *is_assumed {
            let because = "a refresh counts as pending, because the ledger was damaged";
            write!(formatter, "{because} ({source} may have changed{more})")
        } else {
            let since = display_timestamp(*since, 0);
            let because = "a refresh is pending from an earlier run";
            write!(formatter, "{because} (triggered by {source} in {run_id}, since {since}{more})")
        }
    }
}

/// Decision on a resource. `R` is the rule of the type; the engine turns it into a [`Reason`].
#[derive(Clone, Debug, PartialEq)]
pub enum Decision<R = Reason> {
    /// Keep the state.
    Keep {
        /// The rule that applied.
        reason: R,
    },
    /// Change the state.
    Change {
        /// The rule that applied.
        reason: R,
        /// The action as data, for reports and the message of noop. It must not hold what a `sensitive` resource hides; other secrets in
        /// it are redacted, then long texts are cut.
        action: Action,
        /// Change of content as a unified diff, if [`Context::diff`] asks for one. Secrets in it are redacted.
        diff: Option<String>,
    },
    /// The state allows no decision.
    Fail {
        /// The rule that applied.
        reason: R,
        /// Failure of the resource.
        failure: Failure,
    },
}

/// Effect of an execution that reached the desired state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified<R = Reason> {
    /// Something was changed.
    Changed,
    /// The execution changed nothing, by this rule.
    Unchanged(R),
}

/// Returns a rule as a reason, which any type may have.
pub(crate) fn reason(rule: &impl Rule) -> Reason {
    Reason::new(rule.name(), rule.to_string())
}

impl<R: Rule> Decision<R> {
    pub(crate) fn erased(self) -> Decision {
        match self {
            Self::Keep { reason: rule } => Decision::Keep { reason: reason(&rule) },
            Self::Change { reason: rule, action, diff } => {
                Decision::Change { reason: reason(&rule), action, diff }
            }
            Self::Fail { reason: rule, failure } => Decision::Fail { reason: reason(&rule), failure },
        }
    }
}

impl<R: Rule> Verified<R> {
    pub(crate) fn erased(self) -> Verified {
        match self {
            Self::Changed => Verified::Changed,
            Self::Unchanged(rule) => Verified::Unchanged(reason(&rule)),
        }
    }
}

/// Description of a state, for events.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// Value of `ensure` in that state: one that a manifest may write, or a word for what is there in its place.
    pub ensure: String,
    /// Fields of the type. The engine puts the protocol, the type, the name and `ensure` before them.
    pub state: Fields,
    name: DescribedName,
}

/// Name in the description of a state.
#[derive(Clone, Debug, PartialEq)]
enum DescribedName {
    OfResource,
    Other(String),
    Missing,
}

impl Described {
    /// Describes a state by its `ensure`.
    pub fn new(ensure: impl Into<String>) -> Self {
        Self { ensure: ensure.into(), state: Fields::default(), name: DescribedName::OfResource }
    }

    /// Adds a field of the type.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<serde_json::Value>) -> Self {
        self.state.push(name, value);
        self
    }

    /// Sets the name in place of that of the resource.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Self {
        Self { name: DescribedName::Other(name.into()), ..self }
    }

    /// Leaves the name out.
    #[must_use]
    pub fn unnamed(self) -> Self {
        Self { name: DescribedName::Missing, ..self }
    }

    /// Returns the description with its header.
    pub(crate) fn with_header(self, id: &ResourceId) -> Self {
        let protocol = format!("io.choria.ccm.v1.resource.{}.state", id.type_name);
        let mut state =
            Fields::from([("protocol", protocol.into()), ("resource_type", (*id.type_name).into())]);
        match &self.name {
            DescribedName::OfResource => state.push("name", &*id.name),
            DescribedName::Other(name) => state.push("name", &**name),
            DescribedName::Missing => {}
        }
        state.push("ensure", &*self.ensure);
        state.append(self.state);
        Self { state, ..self }
    }
}

/// Path below a directory that another resource manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagedPath {
    /// Path relative to the directory.
    pub path: PathBuf,
    /// Part of the path that the resource manages.
    pub extent: ManagedExtent,
}

/// Part of a path that a resource manages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ManagedExtent {
    /// Nothing but that it stays, with everything in it.
    Existence,
    /// Its attributes.
    Attributes,
    /// The file with its content.
    Whole,
    /// A directory with everything in it.
    Tree,
}

/// Access of a provider to the machine and the run.
pub struct Context<'a> {
    /// Doors to the machine. A command that is run here invalidates every cached state.
    pub host: Host<'a>,
    /// Executor of commands that change nothing, such as a query of a package tool. Cached states stay valid.
    pub queries: &'a dyn Executor,
    /// Cancellation of the run from outside.
    pub cancellation: &'a Cancellation,
    /// Directory of the manifest, from which relative paths start.
    pub directory: &'a Path,
    /// Directory for files that outlive a run. `None` if there is none.
    pub state_directory: Option<&'a Path>,
    /// `true` if decisions are to have diffs. A provider passes it on in the state.
    pub diff: bool,
    /// `true` if unchanged states are described as well. If not, a provider need not read what only serves a
    /// description.
    pub describe_unchanged: bool,
    /// Values that must not be shown. A provider adds the secrets that it reads.
    pub secrets: &'a Secrets,
    /// Step of the resource.
    pub(crate) step: &'a ResourceStep<'a>,
    /// Receiver of the lines of a running command.
    pub(crate) on_line: &'a mut dyn FnMut(Stream, &str),
    /// Warnings so far.
    pub(crate) warnings: Vec<String>,
    /// Notes so far.
    pub(crate) notes: Vec<String>,
    /// Files for the record of the run.
    pub(crate) artifacts: Vec<Artifact>,
}

impl Context<'_> {
    /// Returns `true` if, in noop, an earlier resource would have made that directory. A real run would find
    /// the directory empty.
    pub fn would_be_directory(&self, path: &Path) -> bool {
        self.step.host.would_be_directory(path)
    }

    /// Returns `true` if, in noop, an earlier resource would have made this user or group: one that declares it, or one
    /// that this resource depends on.
    pub fn would_be_principal(&self, name: &str) -> bool {
        let missing = MissingPrerequisite::Principal(name.to_owned());
        let change = |()| self.step.host.would_change_before(self.step.index, &missing);
        self.step.policy.noop.then_some(()).and_then(change).is_some_and(|change| change.is_related)
    }

    /// Returns `true` if, in noop, an earlier resource may have installed a program of this name.
    pub fn may_be_program(&self, name: &str) -> bool {
        let missing = MissingPrerequisite::Program(name.to_owned());
        self.step.policy.noop && self.step.host.would_change_before(self.step.index, &missing).is_some()
    }

    /// Returns the paths below a directory that other resources manage, be they of this catalog or of one that is
    /// applied together with it. Resources that are not managed on this machine are left out.
    pub fn managed_below(&self, directory: &Path) -> Vec<ManagedPath> {
        self.step.host.claim_index().managed_below(&self.step.host.canonical(directory), self.step.index)
    }

    /// Returns another resource that fills this directory itself, such as an archive that is extracted into it.
    pub fn filler_of(&self, directory: &Path) -> Option<ResourceId> {
        let directory = self.step.host.canonical(directory);
        self.step.host.claim_index().filler_of(&directory, self.step.index).cloned()
    }

    /// Returns the keys of the claims of a kind that other resources of the catalog have. Resources that are not
    /// managed on this machine, or that are to be absent, are left out.
    pub fn claimed_keys(&self, kind: ClaimKind) -> impl Iterator<Item = &str> {
        self.step.host.claim_index().keys(kind, self.step.index)
    }

    /// Returns `true` if another resource of the catalog removes the thing that a claim names.
    pub fn is_removed(&self, kind: ClaimKind, key: &str) -> bool {
        self.step.host.claim_index().is_removed(kind, key, self.step.index)
    }

    /// Returns `true` if a resource of the catalog that requires this one, or that this one requires, removes a thing
    /// of a kind.
    pub fn is_removed_beside(&self, kind: ClaimKind) -> bool {
        self.step.host.claim_index().is_removed_beside(kind, self.step.index, self.step.resource())
    }

    /// Returns `true` if a resource claims a path, given without links. Resources that are not managed on this machine
    /// are left out.
    pub fn is_claimed(&self, path: &Path) -> bool {
        self.step.host.claim_index().is_claimed(path)
    }

    /// Returns `true` if the run ends with the first failure: of changes that are made together, none may be made after
    /// one that fails.
    pub fn ends_on_failure(&self) -> bool {
        self.step.policy.ends_on_failure
    }

    /// Returns the suitability of providers for this machine.
    pub(crate) fn suitabilities(&self) -> Suitabilities<'_> {
        Suitabilities::new(self.host, self.step.host.state_cache())
    }

    /// Returns state that all resources of a type share, such as a database of packages. The state is read
    /// once, and again after any execution. Each type `T` has one value.
    pub async fn state_cache<T: Any, E>(&self, read: impl AsyncFnOnce() -> Result<T, E>) -> Result<Rc<T>, E> {
        self.step.host.state_cache().shared(read).await
    }

    /// Returns a value that is kept for the whole run and never invalidated. Store queries in it, not state
    /// of the machine. Each type `T` has one value.
    pub fn run_cache<T: Any + Default>(&self) -> Rc<T> {
        self.step.host.state_cache().of_run()
    }

    /// Asks the gate about a command that noop does not start, for [`Provider::preflight`]. Commands that are
    /// started are always checked.
    pub async fn ask_gate(&self, command: &Command) -> Result<(), StartError> {
        self.step.before_command(command).await
    }

    /// Tries a health check once.
    pub(crate) async fn probe(&mut self, request: &ProbeRequest<'_>) -> Probed {
        let step = self.step;
        step.host.run().health.probe(request, self).await
    }

    /// Adds a warning.
    pub fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Adds a note on a side effect, such as a backup and its path.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds files to the record of the run. They replace files that were added before.
    pub fn record_artifacts(&mut self, artifacts: Vec<Artifact>) {
        self.artifacts = artifacts;
    }

    /// Reports a line that a running command printed.
    pub fn line(&mut self, stream: Stream, line: &str) {
        (self.on_line)(stream, line);
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use ccm_model::ResourceId;

    use super::*;

    #[test]
    fn a_pending_trigger_is_displayed_with_its_source_and_run() {
        let pending = |is_assumed, has_more| {
            let source = ResourceId::new("file", "/a");
            let (run_id, since) = ("01a1".to_owned(), UNIX_EPOCH);
            let first = PendingRefresh { source, run_id, since, is_assumed };
            Trigger::Pending { first, has_more }.to_string()
        };
        assert_eq!(Trigger::Changed.to_string(), "a resource it subscribes to changed");
        assert_eq!(
            pending(false, false),
            "a refresh is pending from an earlier run (triggered by file#/a in 01a1, since 1970-01-01T00:00:00Z)"
        );
        assert_eq!(
            pending(false, true),
            "a refresh is pending from an earlier run (triggered by file#/a in 01a1, since 1970-01-01T00:00:00Z, and more)"
        );
        assert_eq!(
            pending(true, false),
            "a refresh counts as pending, because the ledger was damaged (file#/a may have changed)"
        );
    }
}
