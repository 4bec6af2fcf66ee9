//! Record of each run: its events and its summary.

mod changes;
mod diff;
mod executions;
mod filter;
mod graph;
mod history;
mod past;
mod resource_text;
mod retention;
mod show;
mod slowest;
mod summary;
mod trace;
mod view;

use std::io;
use std::path::PathBuf;

use ccm_host::state::{AppendFile, Directory, StateError};
use ccm_model::{Event, Outcome, escape_json};

use crate::ReportError;
use crate::json::{JsonLine, JsonLines, RunIdentity};

pub use changes::{ResourceChange, ResourceChanges};
pub use diff::DiffSpace;
pub use executions::{Execution, ExecutionError, ExecutionTail, RecordedResource};
pub use filter::RunFilter;
use graph::GraphRecord;
pub use graph::{
    CriticalPath, GraphNode, GraphPart, GraphSource, RecordedEdge, RecordedEdgeKind, RecordedManifest,
    RecordedNode, RecordedOutcome, RecordedResult, RunGraph,
};
pub use history::{FindError, History, MatchingRun, StoredRun};
pub use past::{Past, PastRun};
use retention::retain;
pub use show::rounded;
use summary::SlowResources;
pub use summary::{RecordedCheck, RunOutcome, SlowResource, StoredSummary};
pub use view::{EarlierRun, RunView};

const RUNS: &str = "runs";
const EVENTS: &str = "events.jsonl";
const SUMMARY: &str = "summary.json";

/// Errors of the records of runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The record of this run is not complete.
    #[error("the record of this run in {path:?} could not be written")]
    Record {
        /// Path of the record.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// An old run could not be removed, so more runs are kept than requested.
    #[error("the record of an old run, {path:?}, could not be removed")]
    Remove {
        /// Directory of the run, or of all runs.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// The state directory can't be read.
    #[error(transparent)]
    State(#[from] StateError),
    /// The records can't be read.
    #[error("the runs in {path:?} can't be read")]
    Read {
        /// Directory of the runs.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
}

/// Result of recording a run.
#[derive(Debug)]
#[must_use]
pub struct Recorded {
    /// Error of the record, if it is not complete.
    pub record: Result<(), StoreError>,
    /// Errors of old runs that could not be removed.
    pub not_removed: Vec<StoreError>,
}

/// Record of a run while it is written. An error does not stop the run; it is returned at the end.
#[derive(Debug)]
pub struct RunStore {
    path: PathBuf,
    /// `None` if the directory can't be opened; `open` then holds the error.
    runs: Option<Directory>,
    open: io::Result<Open>,
    keep: usize,
    slow: SlowResources,
    checks: Vec<RecordedCheck>,
    run_id: String,
    /// Boxed, because futures of runs hold the store.
    graph: Box<GraphRecord>,
}

#[derive(Debug)]
struct Open {
    directory: Directory,
    lines: JsonLines<AppendFile>,
    /// First error of a file of an execution.
    failed: Option<io::Error>,
}

impl RunStore {
    /// Returns the greatest name of a recorded run; `None` also if the runs can't be read.
    pub fn newest(state: &Directory) -> Option<String> {
        let names = state.enter(RUNS).and_then(|runs| runs.directories()).ok()?;
        names.into_iter().filter(|name| is_run_id(name)).max()
    }

    /// Begins the record of a run. `keep` is the number of runs to keep, including this one, and of older runs
    /// to keep that changed something or failed.
    pub fn begin(state: &Directory, identity: &RunIdentity, keep: usize) -> Self {
        let path = state.path().join(RUNS);
        let (runs, open) = match state.make(RUNS) {
            Ok(runs) => {
                let open = Self::open(&runs, &identity.run_id);
                (Some(runs), open)
            }
            Err(error) => (None, Err(error)),
        };
        // At least this run is kept.
        Self {
            path,
            runs,
            open,
            keep: keep.max(1),
            slow: SlowResources::default(),
            checks: Vec::new(),
            run_id: identity.run_id.clone(),
            graph: Box::default(),
        }
    }

    /// Records the graph of a run without changes as well.
    #[must_use]
    pub fn with_full_graph(mut self, is_full: bool) -> Self {
        self.graph.set_full(is_full);
        self
    }

    fn open(runs: &Directory, run_id: &str) -> io::Result<Open> {
        let directory = runs.make(run_id)?;
        let lines = JsonLines::new(directory.create(EVENTS)?);
        Ok(Open { directory, lines, failed: None })
    }

    /// Returns `true` if the line of an event is recorded. Unchanged resources are only counted.
    pub fn wants(&self, event: &Event) -> bool {
        self.open.as_ref().is_ok_and(|open| !open.lines.failed())
            && match event {
                Event::ResourceFinished(transaction) => transaction.outcome != Outcome::Unchanged,
                Event::SessionStarted(_) | Event::SessionFinished(_) => true,
                Event::ResourceStarted(_) | Event::OutputReceived(_) | Event::ArtifactsLeft(_) => false,
            }
    }

    /// Measures the duration of a resource, and keeps the results of its health checks.
    pub fn measure(&mut self, event: &Event) {
        if let Event::ResourceFinished(transaction) = event {
            self.slow.add(transaction);
            self.checks.extend(RecordedCheck::of(transaction));
        }
    }

    /// Records an event in the graph, which begins with the first resource that changes or fails.
    pub fn record_graph(&mut self, event: &Event, source: &dyn GraphSource) {
        if let Ok(open) = &self.open {
            self.graph.accept(event, (&open.directory, &self.run_id), source);
        }
    }

    /// Writes what is collected of the graph. To be called before the run waits, for example for a command.
    pub fn write_out(&mut self) {
        self.graph.write_out();
    }

    /// Records a line.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        if let Ok(open) = &mut self.open {
            open.lines.accept(line);
        }
    }

    /// Returns `true` if something could not be recorded so far.
    pub fn failed(&self) -> bool {
        self.graph.failed()
            || self.open.as_ref().map_or(true, |open| open.failed.is_some() || open.lines.failed())
    }

    /// Ends the record, syncs it if the run changed something, and removes the oldest runs.
    pub fn finish(self, mut summary: StoredSummary) -> Recorded {
        let Self { path, runs, open, keep, slow, checks, graph, run_id: _ } = self;
        summary.health_checks = checks;
        summary.slowest = Some(slow.into_vec()).filter(|slowest| !slowest.is_empty());
        let graph = graph.finish();
        let record = open.and_then(|open| close(open, &summary)).and(graph);
        // Content of a directory is lost in a power failure unless the name of the directory is synced.
        let named = runs.as_ref().filter(|_| !summary.is_quiet());
        let record = record.and_then(|()| named.map_or(Ok(()), Directory::sync));
        let not_removed = runs.map_or_else(Vec::new, |runs| retain(&runs, keep));
        Recorded { record: record.map_err(|source| StoreError::Record { path, source }), not_removed }
    }
}

fn close(open: Open, summary: &StoredSummary) -> io::Result<()> {
    let lines = match open.lines.finish() {
        Ok(_) if summary.is_quiet() => Ok(()),
        Ok(file) => file.sync(),
        Err(ReportError::Write(error)) => Err(error),
    };
    let artifacts = if summary.is_quiet() { Ok(()) } else { executions::sync(&open.directory) };
    // The summary is useful also if events are missing.
    let text = format!("{}\n", escape_json(&serde_json::to_string_pretty(summary)?));
    let written = if summary.is_quiet() {
        open.directory.replace_unsynced(SUMMARY, text.as_bytes())
    } else {
        open.directory.replace(SUMMARY, text.as_bytes())
    };
    lines.and(open.failed.map_or(Ok(()), Err)).and(artifacts).and(written)
}

fn is_run_id(name: &str) -> bool {
    let form = |(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        14 => byte == b'7',
        _ => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
    };
    name.len() == 36 && name.bytes().enumerate().all(form)
}

#[cfg(test)]
mod tests;
