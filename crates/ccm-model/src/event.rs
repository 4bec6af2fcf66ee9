//! Events of a run.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use crate::{
    Action, Fields, GuardResult, HealthCheckResult, Outcome, PendingRefresh, Presentation, Properties,
    Reason, ResourceId, RunSummary, StartLine, TransactionLine,
};
use serde::{Deserialize, Serialize};

/// Event of a run. It does not describe its display.
///
/// A serialised event is its [`EventLine`](crate::EventLine) without the names of the run and of the event,
/// which only the writer of a run has; the first one has the name of the run. Properties that may be secret are replaced by size and checksum, and
/// the output of a failed command is left out. Deserialising the value or a whole line yields the event
/// again, with the properties as presented. Events without a line have their own form, with a `protocol` and
/// the fields of their struct.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A run began.
    SessionStarted(SessionStarted),
    /// A resource was reached.
    ResourceStarted(ResourceStarted),
    /// A running command printed a line.
    OutputReceived(OutputLine),
    /// An execution left files for the record of the run.
    ArtifactsLeft(Box<Artifacts>),
    /// A resource was finished or skipped.
    ResourceFinished(Box<Transaction>),
    /// The run ended.
    SessionFinished(Box<RunSummary>),
}

/// Beginning of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "StartLine<'static>")]
pub struct SessionStarted {
    /// Time of the beginning.
    pub at: SystemTime,
    /// `true` if the run changes nothing.
    pub noop: bool,
    /// `true` if nothing but health checks runs.
    pub monitor_only: bool,
    /// Number of resources of the catalog.
    pub resources: usize,
    /// Name of the machine. Empty if it is not known.
    pub host: String,
    /// Absolute path of the manifest, or `standard input`. Empty if it is not known.
    pub manifest: String,
    /// Id of the run. Empty if it has none.
    pub run_id: String,
    /// The `pre_message` of the manifest.
    pub message: Option<String>,
}

/// Beginning of the work on a resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceStarted {
    /// The resource.
    pub id: ResourceId,
}

/// Origin of the output of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// Journal of the machine.
    Journal,
}

impl Stream {
    /// Returns the usual name of the stream.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
            Self::Journal => "journal",
        }
    }
}

/// Line that a running command printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputLine {
    /// The resource that runs the command.
    pub id: ResourceId,
    /// Stream of the line.
    pub stream: Stream,
    /// The line, valid UTF-8, without its end.
    pub line: String,
}

/// Files that an execution leaves for the record of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifacts {
    /// The resource.
    pub id: ResourceId,
    /// Position of the resource in its catalog, counted from 1.
    pub position: usize,
    /// The files.
    pub files: Vec<Artifact>,
}

/// File for the record of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    /// Name of the file, the same for every execution.
    pub name: Cow<'static, str>,
    /// Content of the file.
    pub content: Vec<u8>,
}

/// Last lines of a stream, quoted in a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamTail {
    /// The stream.
    pub stream: Stream,
    /// The lines, the last one last.
    pub lines: Vec<String>,
    /// Number of bytes before these lines.
    pub bytes_before: u64,
}

/// Result for a resource.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(from = "TransactionLine<'static>")]
pub struct Transaction {
    /// The resource.
    pub id: ResourceId,
    /// Second name of the resource.
    pub alias: Option<String>,
    /// Time at which the resource was reached.
    pub at: SystemTime,
    /// Duration of the work.
    pub duration: Duration,
    /// Provider that did the work. `None` if no provider was needed.
    pub provider: Option<Cow<'static, str>>,
    /// State that the manifest asks for.
    pub requested_ensure: String,
    /// State at the end, if it was read.
    pub final_ensure: Option<String>,
    /// Outcome.
    pub outcome: Outcome,
    /// The resource was processed in noop, with the whole run or with its manifest. `false` if it was skipped.
    pub noop: bool,
    /// In noop: as the machine is now, a run would fail here. A warning has the reason.
    pub would_fail: bool,
    /// Action that was taken or, in noop, that a run would take. For a failed resource, the action that was
    /// decided on; [`Failure::changed`](crate::Failure::changed) is `true` if it was begun, and
    /// [`Failure::verified`](crate::Failure::verified) if it was made. `None` if there was
    /// nothing to do, or if what is to be done is not known.
    pub action: Option<Action>,
    /// Properties of the type as they were written; those that `sensitive` hides are `[redacted]`. Those of an
    /// unchanged resource are left out, unless they are asked for.
    pub properties: Properties,
    /// Forms of properties that are not shown as they were written.
    pub presentation: Vec<(&'static str, Presentation)>,
    /// Rule that led to the outcome.
    pub reason: Option<Reason>,
    /// Results of the guards, in the order in which they were run.
    pub guards: Vec<GuardResult>,
    /// Results of the health checks, in the order of the manifest.
    pub health_checks: Vec<HealthCheckResult>,
    /// Resources whose change triggered this one, in this run or in an earlier one.
    pub triggered_by: Vec<ResourceId>,
    /// Pending refreshes of earlier runs that triggered this resource.
    pub pending_refreshes: Vec<PendingRefresh>,
    /// Problems that are no failure.
    pub warnings: Vec<String>,
    /// Other things that were done, such as a backup and its path.
    pub notes: Vec<String>,
    /// State that was read last, in the shape of the type.
    pub state: Option<Fields>,
    /// Change of content as a unified diff, in noop the change that a run would make. Only if the run
    /// reports or records diffs.
    pub diff: Option<String>,
}

impl Transaction {
    /// Returns the text of the reason.
    pub fn reason_text(&self) -> Option<&str> {
        self.reason.as_ref().map(|reason| &*reason.text)
    }
}
