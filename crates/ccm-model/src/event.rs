//! What a run says while it runs.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use crate::{Fields, Outcome, OwedRefresh, Presentation, Properties, Reason, ResourceId, RunSummary};
use serde::{Deserialize, Serialize};

/// Something that happened. It says nothing about how it should be shown. [`EventLine`](crate::EventLine) is the form
/// that is written and read again.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A run began.
    SessionStarted(SessionStarted),
    /// A resource's turn came.
    ResourceStarted(ResourceStarted),
    /// A running command printed a line.
    OutputReceived(OutputLine),
    /// An execution left files for the record of the run.
    ArtifactsLeft(Box<Artifacts>),
    /// A resource's turn ended, or it will not have one.
    ResourceFinished(Box<Transaction>),
    /// The run ended.
    SessionFinished(Box<RunSummary>),
}

/// The beginning of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionStarted {
    /// When.
    pub at: SystemTime,
    /// Whether nothing will be changed.
    pub noop: bool,
    /// How many resources the catalog holds.
    pub resources: usize,
    /// What the manifest wants to be shown before the run.
    pub message: Option<String>,
}

/// The beginning of a resource's turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResourceStarted {
    /// The resource.
    pub id: ResourceId,
}

/// One of the two streams of a command, or what was logged meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// What the journal of the machine says of it.
    Journal,
}

impl Stream {
    /// Its usual name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Journal => "journal",
        }
    }
}

/// A line that a running command printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputLine {
    /// The resource that runs the command.
    pub id: ResourceId,
    /// The stream it came from.
    pub stream: Stream,
    /// The line, valid UTF-8, without its end.
    pub line: String,
}

/// What an execution leaves for the record of the run; it is for nobody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifacts {
    /// The resource.
    pub id: ResourceId,
    /// The position of the resource in its catalog, counted from 1.
    pub position: usize,
    /// The files.
    pub files: Vec<Artifact>,
}

/// A file for the record of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Its name, the same for every execution.
    pub name: Cow<'static, str>,
    /// What is in it.
    pub content: Vec<u8>,
}

/// The last lines of a stream, quoted in a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTail {
    /// The stream.
    pub stream: Stream,
    /// The lines, the last one last.
    pub lines: Vec<String>,
    /// How many bytes came before them.
    pub bytes_before: u64,
}

/// What became of a resource, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct Transaction {
    /// The resource.
    pub id: ResourceId,
    /// Its second name.
    pub alias: Option<String>,
    /// When its turn came.
    pub at: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// The provider that did the work; none if it never came to that.
    pub provider: Option<Cow<'static, str>>,
    /// The state asked for.
    pub requested_ensure: String,
    /// The state at the end, if it was read.
    pub final_ensure: Option<String>,
    /// What became of it.
    pub outcome: Outcome,
    /// What belongs to the type, as it was written, without what is hidden because the resource is `sensitive`.
    pub properties: Properties,
    /// Given properties that are not shown as they were written.
    pub presentation: Vec<(&'static str, Presentation)>,
    /// The rule that applied.
    pub reason: Option<Reason>,
    /// The resources whose change triggered it, in this run or in an earlier one.
    pub triggered_by: Vec<ResourceId>,
    /// What it owed to some of them from earlier runs.
    pub owed: Vec<OwedRefresh>,
    /// What deserves attention although it is no failure.
    pub warnings: Vec<String>,
    /// What else was done that somebody may look for, such as where a backup is.
    pub notes: Vec<String>,
    /// The state that was read last, in the type's own shape.
    pub state: Option<Fields>,
    /// How content changed, or in noop would, as a unified diff; only if the run was asked for it.
    pub diff: Option<String>,
}

impl Transaction {
    /// Returns the reason as people read it.
    pub fn reason_text(&self) -> Option<&str> {
        self.reason.as_ref().map(|reason| &*reason.text)
    }
}
