//! What a resource type and its providers promise.

use std::any::Any;
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_host::{Cancellation, Command, Executor, Host, Local, StartError};
use ccm_model::{Artifact, Failure, Fields, OwedRefresh, Reason, Resource, Stream, display_timestamp};
use ccm_properties::TypeSpec;
use ccm_redaction::Secrets;

use crate::Managed;
use crate::known::Known;
use crate::step::ResourceStep;

/// A resource type, as the loader and the engine see it.
pub trait ResourceType: TypeSpec + Sync {
    /// Returns what binds the resources of the type to providers. `None` for a type whose resources are the nodes of groups
    /// ([`TypeSpec::child_manifest`]), because the engine itself knows what becomes of a group.
    fn binder(&self) -> Option<&dyn Binder>;
}

/// Binds the resources of a type to providers.
pub trait Binder {
    /// Builds the typed properties of a resource and chooses its provider. [`crate::bind`] does the choosing, and
    /// [`crate::TypedResource`] all of it.
    fn bind(&self, resource: &Resource, host: Host<'_>) -> Result<Box<dyn Managed>, Failure>;
}

/// The typed side of a resource type: properties, state, and the pure decision between them.
pub trait ResourceKind: 'static {
    /// What the manifest asks for, complete and checked.
    type Properties;
    /// What was read from the system.
    type State;
    /// What an execution found out that the system can't be asked for afterwards, such as an exit code.
    type Effect;

    /// The rules by which it decides.
    type Rule: Rule;

    /// Decides what to do and why. Touches nothing.
    fn decide(
        properties: &Self::Properties,
        state: &Self::State,
        trigger: Option<&Trigger>,
    ) -> Decision<Self::Rule>;

    /// Compares the state that was read after an execution with what was asked for.
    fn verify(
        properties: &Self::Properties,
        state: &Self::State,
        effect: &Self::Effect,
    ) -> Result<Verified<Self::Rule>, Failure>;

    /// Names what of a state deserves attention before anything is done, although it is no failure.
    fn remarks(properties: &Self::Properties, state: &Self::State) -> Vec<String> {
        let _ = (properties, state);
        Vec::new()
    }

    /// What an execution yields for others to use, as a map; whoever names it depends on this resource.
    fn captured(properties: &Self::Properties, effect: &Self::Effect) -> Option<serde_json::Value> {
        let _ = (properties, effect);
        None
    }

    /// Describes a state for events. `decision` is the text of the rule that [`Self::decide`] applied.
    fn describe(properties: &Self::Properties, state: &Self::State, decision: &str) -> Described;
}

/// One way to read and change the resources of a type.
pub trait Provider<K: ResourceKind>: Sync {
    /// Its name, as `provider:` has it.
    fn name(&self) -> &'static str;

    /// Tells whether it can work on this host.
    fn suitability(&self, host: Host<'_>) -> Suitability;

    /// Reads the system, and changes nothing.
    fn status<'a>(
        &'a self,
        properties: &'a K::Properties,
        reading: Reading<'a, K::Effect>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<K::State, Failure>>;

    /// Changes the system. Never called in noop.
    fn execute<'a>(
        &'a self,
        properties: &'a K::Properties,
        state: &'a K::State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<K::Effect, Failure>>;

    /// How many resources [`Self::status_many`] reads at once; one means that each is read by itself.
    fn reads_at_once(&self) -> usize {
        1
    }

    /// Reads resources of which none is triggered, before they are decided on: a result for each, in their
    /// order. They are of one manifest. What is said to the context counts for the first of them.
    ///
    /// The engine knows for how long that holds. Where it does not, or nothing came of it, `status` is asked.
    fn status_many<'a>(
        &'a self,
        properties: &'a [&'a K::Properties],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<K::State, Failure>>> {
        Box::pin(async move {
            let mut states = Vec::with_capacity(properties.len());
            for properties in properties {
                states.push(self.status(properties, Reading::Before { triggered: false }, context).await);
            }
            states
        })
    }

    /// How many resources [`Self::execute_many`] changes at once; one means that each is changed by itself.
    fn changes_at_once(&self) -> usize {
        1
    }

    /// Tells whether two changes can be made at once. Asked of every two of them.
    fn goes_with(&self, one: (&K::Properties, &K::State), other: (&K::Properties, &K::State)) -> bool {
        let _ = (one, other);
        true
    }

    /// Changes resources that are ready, none of which is triggered: an effect for each, in their order. Each is
    /// verified after. What is said to the context counts for the first of them. Never called in noop.
    fn execute_many<'a>(
        &'a self,
        changes: &'a [(&'a K::Properties, &'a K::State)],
        context: &'a mut Context<'_>,
    ) -> Local<'a, Vec<Result<K::Effect, Failure>>> {
        Box::pin(async move {
            let mut effects = Vec::with_capacity(changes.len());
            for (properties, state) in changes {
                effects.push(self.execute(properties, state, context).await);
            }
            effects
        })
    }

    /// Warns of what can be seen now; an error is what would make an execution fail. Called in noop where it would
    /// change.
    fn foresee<'a>(
        &'a self,
        properties: &'a K::Properties,
        state: &'a K::State,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Vec<String>, Failure>> {
        let _ = (properties, state, context);
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

/// Whether a provider can work on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suitability {
    /// It can; among those that can, the lowest number wins, and the first of those with the same. 1 is the lowest.
    Suits(u32),
    /// It can't, for this reason.
    Unsuitable(String),
}

/// Why the state is read.
#[derive(Debug)]
pub enum Reading<'a, E> {
    /// To decide what to do.
    Before {
        /// Whether a resource that this one subscribes to has changed.
        triggered: bool,
    },
    /// To verify what was done.
    After(&'a E),
}

/// A rule of a type, displayed as the reason for a decision.
pub trait Rule: fmt::Display {
    /// Name of the rule for programs, in snake case. It stays the same when the text changes.
    fn name(&self) -> &'static str;
}

/// Trigger of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Trigger {
    /// A resource that it subscribes to changed in this run.
    Changed,
    /// An earlier run left refreshes pending, and nothing that it subscribes to changed in this one.
    Pending {
        /// The first of the pending refreshes.
        first: OwedRefresh,
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
        let OwedRefresh { source, run_id, since, is_assumed } = first;
        let more = if *has_more { ", and more" } else { "" };
        if *is_assumed {
            let because = "a refresh counts as owed, because the ledger was damaged";
            write!(formatter, "{because} ({source} may have changed{more})")
        } else {
            let since = display_timestamp(*since, 0);
            let because = "a refresh is owed from an earlier run";
            write!(formatter, "{because} ({source} changed in {run_id}, since {since}{more})")
        }
    }
}

/// What to do with a resource. `R` is the type's own rule, or what remains of it where any type may stand.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision<R = Reason> {
    /// Nothing.
    Keep {
        /// The rule that applied.
        reason: R,
    },
    /// Execute.
    Change {
        /// The rule that applied.
        reason: R,
        /// What noop says instead, in the voice of `Would have executed`.
        noop_message: String,
        /// How content changes, as a unified diff; only where [`Context::diff`] asks for it.
        diff: Option<String>,
    },
    /// What was read does not allow a decision.
    Fail {
        /// The rule that applied.
        reason: R,
        /// What went wrong.
        failure: Failure,
    },
}

/// What an execution that reached the desired state amounted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified<R = Reason> {
    /// Something was changed.
    Changed,
    /// Nothing was changed, by this rule.
    Unchanged(R),
}

/// Returns what remains of a rule where any type may stand.
pub(crate) fn reason(rule: &impl Rule) -> Reason {
    Reason::new(rule.name(), rule.to_string())
}

impl<R: Rule> Decision<R> {
    pub(crate) fn erased(self) -> Decision {
        match self {
            Self::Keep { reason: rule } => Decision::Keep { reason: reason(&rule) },
            Self::Change { reason: rule, noop_message, diff } => {
                Decision::Change { reason: reason(&rule), noop_message, diff }
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

/// A state, described for events.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The `ensure` it amounts to.
    pub ensure: String,
    /// All of it, in the type's own shape.
    pub state: Fields,
}

/// What a provider is given to work with.
pub struct Context<'a> {
    /// The doors to the machine. After a command what was read before its turn, or for all, is read again.
    pub host: Host<'a>,
    /// Runs tools that change nothing, such as a query of a package tool: what was read still holds.
    pub queries: &'a dyn Executor,
    /// The end of the run that may come from outside.
    pub cancellation: &'a Cancellation,
    /// What relative paths of the manifest start from: the directory it is in.
    pub directory: &'a Path,
    /// Where ccm keeps what has to outlive a run; none if there is no such place.
    pub state_directory: Option<&'a Path>,
    /// Whether a change of content is to be shown as a diff.
    pub diff: bool,
    /// Whether the state is described also where nothing is to be done. If not, what only serves to describe it need not be
    /// read there.
    pub describe_unchanged: bool,
    /// What must not be shown. A provider that comes to know more of it adds it.
    pub secrets: &'a Secrets,
    /// Step of the resource that it is given for.
    pub(crate) step: &'a ResourceStep<'a>,
    /// What was read and still holds.
    pub(crate) known: &'a Known,
    /// In noop, the directories that earlier resources would have made.
    pub(crate) would_be_directories: &'a HashSet<PathBuf>,
    /// Where lines of a running command go.
    pub(crate) on_line: &'a mut dyn FnMut(Stream, &str),
    /// What was said to deserve attention.
    pub(crate) warnings: Vec<String>,
    /// What was said to be of use later.
    pub(crate) notes: Vec<String>,
    /// What is for the record of the run.
    pub(crate) artifacts: Vec<Artifact>,
}

impl Context<'_> {
    /// Tells whether, in noop, an earlier resource would have made that directory: it is not there, and a run
    /// would find it there, with nothing in it.
    pub fn would_be_directory(&self, path: &Path) -> bool {
        self.would_be_directories.contains(path)
    }

    /// Gives what all resources of a type are read from, such as a database of packages. It is read once, and again
    /// after anything was executed, whatever came of that. There is one for each `T`.
    pub async fn shared<T: Any, E>(&self, read: impl AsyncFnOnce() -> Result<T, E>) -> Result<Rc<T>, E> {
        self.known.shared(read).await
    }

    /// Gives what a type remembers for the whole run, whatever is executed: nothing that is true of the machine, but what
    /// was asked of it, so that it can be asked at once the next time. There is one for each `T`.
    pub fn kept<T: Any + Default>(&self) -> Rc<T> {
        self.known.kept()
    }

    /// Asks the gate of the run about a command that a run would start, for [`Provider::foresee`]. Commands that are run are
    /// asked for without that.
    pub async fn ask_gate(&self, command: &Command) -> Result<(), StartError> {
        self.step.before_command(command).await
    }

    /// Says what deserves attention although it is no failure.
    pub fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// Says what was done that somebody may look for.
    pub fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Leaves files for the record of the run, in the place of those it has left before.
    pub fn leave(&mut self, artifacts: Vec<Artifact>) {
        self.artifacts = artifacts;
    }

    /// Hands on a line that a running command printed.
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
            let first = OwedRefresh { source, run_id, since, is_assumed };
            Trigger::Pending { first, has_more }.to_string()
        };
        assert_eq!(Trigger::Changed.to_string(), "a resource it subscribes to changed");
        assert_eq!(
            pending(false, false),
            "a refresh is owed from an earlier run (file#/a changed in 01a1, since 1970-01-01T00:00:00Z)"
        );
        assert_eq!(
            pending(false, true),
            "a refresh is owed from an earlier run (file#/a changed in 01a1, since 1970-01-01T00:00:00Z, and more)"
        );
        assert_eq!(
            pending(true, false),
            "a refresh counts as owed, because the ledger was damaged (file#/a may have changed)"
        );
    }
}
