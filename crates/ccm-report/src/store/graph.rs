//! Graph of a run in its record: resources, dependencies, and when each resource was worked on.
//!
//! The file holds a JSON value on each line, so that the lines before the end of a killed run can be read:
//!
//! - the head: an object with `protocol`, `run_id` and `begin`;
//! - a part, the head of a manifest: an object with `manifest`, `digest`, `files`, `facts` and `data`;
//! - a resource: `["TYPE", "NAME", FILE, LINE, "r3", "s5"]`, whose file is a position in `files`, and whose dependencies
//!   are a letter for the kind and the position of a resource in the whole file;
//! - a rule, whose position later lines name: `{"rule": "NAME"}`;
//! - a result: `[RESOURCE, BEGIN, DURATION, "OUTCOME", RULE]`, with times in microseconds since the beginning of the run.

mod critical;
mod events;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use ccm_model::{Outcome, ResourceId, SkipCause};

pub use critical::CriticalPath;
pub(super) use reader::read;
pub(super) use writer::GraphRecord;

/// Name of the file.
pub(super) const GRAPH: &str = "graph.json";
const PROTOCOL: &str = "io.choria.ccm.v1.run.graph";

/// Kind of a dependency in the record of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordedEdgeKind {
    /// The manifest requires the other resource.
    Require,
    /// The manifest subscribes to the other resource.
    Subscribe,
    /// The loader added the dependency: a path, a user or a captured value.
    Derived,
    /// Order of a child manifest: its members, and what comes before them.
    Group,
}

impl RecordedEdgeKind {
    const ALL: [Self; 4] = [Self::Require, Self::Subscribe, Self::Derived, Self::Group];

    fn letter(self) -> char {
        match self {
            Self::Require => 'r',
            Self::Subscribe => 's',
            Self::Derived => 'd',
            Self::Group => 'g',
        }
    }

    fn of_letter(letter: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| letter.len() == 1 && letter.starts_with(kind.letter()))
    }
}

/// Dependency in the record of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordedEdge {
    /// Position of the resource that is depended on.
    pub on: usize,
    /// Kind.
    pub kind: RecordedEdgeKind,
}

/// Outcome in the record of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RecordedOutcome {
    /// The resource was in the requested state.
    Unchanged,
    /// The resource was brought to the requested state.
    Changed,
    /// The resource was refreshed.
    Refreshed,
    /// The resource is in noop, and would be changed.
    WouldChange,
    /// The resource is in noop, and would be refreshed.
    WouldRefresh,
    /// The resource was skipped, and nothing is wrong.
    Skipped,
    /// The resource was skipped because a resource that it depends on failed.
    DependencyFailed,
    /// The resource failed.
    Failed,
}

impl From<&Outcome> for RecordedOutcome {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Unchanged,
            Outcome::Changed => Self::Changed,
            Outcome::Refreshed => Self::Refreshed,
            Outcome::WouldChange { .. } => Self::WouldChange,
            Outcome::WouldRefresh { .. } => Self::WouldRefresh,
            Outcome::Skipped { cause: SkipCause::DependencyFailed { .. } } => Self::DependencyFailed,
            Outcome::Skipped { .. } => Self::Skipped,
            Outcome::Failed(_) => Self::Failed,
        }
    }
}

impl RecordedOutcome {
    const ALL: [Self; 8] = [
        Self::Unchanged,
        Self::Changed,
        Self::Refreshed,
        Self::WouldChange,
        Self::WouldRefresh,
        Self::Skipped,
        Self::DependencyFailed,
        Self::Failed,
    ];

    fn letter(self) -> char {
        match self {
            Self::Unchanged => 'u',
            Self::Changed => 'c',
            Self::Refreshed => 'r',
            Self::WouldChange => 'w',
            Self::WouldRefresh => 'v',
            Self::Skipped => 's',
            Self::DependencyFailed => 'd',
            Self::Failed => 'f',
        }
    }

    fn of_letter(letter: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| letter.len() == 1 && letter.starts_with(outcome.letter()))
    }

    /// Returns the word of the report for the outcome.
    pub fn word(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Refreshed => "refreshed",
            Self::WouldChange => "would change",
            Self::WouldRefresh => "would refresh",
            Self::Skipped => "skipped",
            Self::DependencyFailed => "dependency failed",
            Self::Failed => "failed",
        }
    }
}

/// Result of a resource in the record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedResult {
    /// Time from the beginning of the run to the beginning of the work.
    pub begin: Duration,
    /// Duration of the work.
    pub duration: Duration,
    /// Outcome.
    pub outcome: RecordedOutcome,
    /// Name of the rule that led to the outcome.
    pub rule: Option<String>,
}

/// Resource in the record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedNode {
    /// Type and name.
    pub id: ResourceId,
    /// Name of the file that declares the resource. Empty if it is not known.
    pub file: String,
    /// Line in that file, counted from 1.
    pub line: usize,
    /// Dependencies.
    pub edges: Vec<RecordedEdge>,
    /// Result. `None` of a resource that the run did not reach.
    pub result: Option<RecordedResult>,
}

/// Manifest in the record of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedManifest {
    /// Path of the manifest, or another name.
    pub name: String,
    /// Digest of its text, sha256 in hexadecimal digits.
    pub digest: String,
    /// Facts that the manifest names, without secrets.
    pub facts: BTreeMap<String, String>,
    /// Data of the manifest, without secrets.
    pub data: BTreeMap<String, String>,
}

/// Graph in the record of a run, as far as it can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunGraph {
    /// Time of the beginning.
    pub began: Option<SystemTime>,
    /// Manifests of the run, usually one.
    pub manifests: Vec<RecordedManifest>,
    /// Resources, in the order of the manifests.
    pub nodes: Vec<RecordedNode>,
    /// Positions of the resources with a result, in the order of the run.
    pub order: Vec<usize>,
}

/// Resource of a manifest, for the record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphNode {
    /// Type and name, as events have them.
    pub id: ResourceId,
    /// Position of its file in [`GraphPart::files`].
    pub file: usize,
    /// Line in that file, counted from 1.
    pub line: usize,
    /// Dependencies, by the positions of resources in the same manifest.
    pub edges: Vec<RecordedEdge>,
}

/// Graph of a manifest, for the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphPart {
    /// The manifest.
    pub manifest: RecordedManifest,
    /// Names of its files.
    pub files: Vec<String>,
    /// Resources, in the order of the manifest.
    pub nodes: Vec<GraphNode>,
}

/// Source of the graph of the manifest that a run applies. It is read if the graph is recorded.
pub trait GraphSource {
    /// Returns the graph, without secrets.
    fn graph(&self) -> GraphPart;
}
