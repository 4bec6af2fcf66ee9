//! What a resource type and its providers promise.

use std::collections::HashSet;
use std::path::Path;

use ccm_host::{Cancellation, Host, Local};
use ccm_model::{Artifact, Failure, Resource, Secrets, Stream, TypeSpec};

use crate::Managed;

/// A resource type, as the loader and the engine see it.
pub trait ResourceType: TypeSpec + Sync {
    /// Builds the typed properties of a resource and chooses its provider. [`crate::bind`] does the choosing.
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

    /// Decides what to do and why. Touches nothing.
    fn decide(properties: &Self::Properties, state: &Self::State, triggered: bool) -> Decision;

    /// Compares the state that was read after an execution with what was asked for.
    fn verify(
        properties: &Self::Properties,
        state: &Self::State,
        effect: &Self::Effect,
    ) -> Result<Verified, Failure>;

    /// What an execution yields for others to use, as a map; whoever names it depends on this resource.
    fn captured(properties: &Self::Properties, effect: &Self::Effect) -> Option<serde_json::Value> {
        let _ = (properties, effect);
        None
    }

    /// Describes a state for events. `decision` is the reason that [`Self::decide`] gave.
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

    /// Names what can be seen now that would make an execution fail. Called in noop where it would change.
    fn foresee(&self, properties: &K::Properties, context: &Context<'_>) -> Vec<String> {
        let _ = (properties, context);
        Vec::new()
    }
}

/// Whether a provider can work on a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Suitability {
    /// It can; among those that can, the lowest number wins.
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

/// What to do with a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// Nothing.
    Keep {
        /// Why: the rule that applied, in words.
        reason: String,
    },
    /// Execute.
    Change {
        /// Why: the rule that applied, in words.
        reason: String,
        /// What noop says instead, in the voice of `Would have executed`.
        noop_message: String,
        /// How content changes, as a unified diff; only where [`Context::diff`] asks for it.
        diff: Option<String>,
    },
    /// What was read does not allow a decision.
    Fail {
        /// Why: the rule that applied, in words.
        reason: String,
        /// What went wrong.
        failure: Failure,
    },
}

/// What an execution that reached the desired state amounted to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verified {
    /// Something was changed.
    Changed,
    /// Nothing was changed, for this reason.
    Unchanged(String),
}

/// A state, described for events.
#[derive(Clone, Debug, PartialEq)]
pub struct Described {
    /// The `ensure` it amounts to.
    pub ensure: String,
    /// All of it, in the type's own shape.
    pub state: serde_json::Value,
}

/// What a provider is given to work with.
pub struct Context<'a> {
    /// The doors to the machine.
    pub host: Host<'a>,
    /// The end of the run that may come from outside.
    pub cancellation: &'a Cancellation,
    /// What relative paths of the manifest start from: the directory it is in.
    pub directory: &'a Path,
    /// Where ccm keeps what has to outlive a run; none if there is no such place.
    pub state_directory: Option<&'a Path>,
    /// Whether a change of content is to be shown as a diff.
    pub diff: bool,
    /// What must not be shown. A provider that comes to know more of it adds it.
    pub secrets: &'a Secrets,
    /// In noop, the directories that earlier resources would have made.
    pub(crate) would_be_directories: &'a HashSet<&'a Path>,
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
