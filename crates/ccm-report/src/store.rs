//! What is kept of each run: its events and what it amounted to.

mod executions;
mod history;
mod show;

use std::collections::BTreeSet;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use ccm_host::state::{AppendFile, Directory};
use ccm_model::{Counts, Event, Nanoseconds, Outcome, RunSummary, StopLine, display_timestamp, known};
use serde::{Deserialize, Serialize};

use crate::ReportError;
use crate::json::{JsonLine, JsonLines, RunIdentity, stop_line};

pub use executions::{Execution, ExecutionError};
pub use history::{FindError, History, StoredRun};

const RUNS: &str = "runs";
const EVENTS: &str = "events.jsonl";
const SUMMARY: &str = "summary.json";

/// Says what is wrong with the stored runs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// What this run did is not all on disk.
    #[error("the record of this run in {path:?} could not be written")]
    Record {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// An old run is kept although there are more than wanted.
    #[error("the record of an old run, {path:?}, could not be removed")]
    Remove {
        /// Its directory, or that of all runs.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// They can't be looked at.
    #[error("the runs in {path:?} can't be read")]
    Read {
        /// Where they are.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What a run amounted to, as it is stored.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredSummary {
    /// The run.
    pub run_id: String,
    /// What was applied.
    pub manifest: String,
    /// The version of ccm that did it.
    pub version: String,
    /// Whether nothing was changed on purpose.
    pub noop: bool,
    /// When it began.
    pub begin: String,
    /// When it ended.
    pub end: String,
    /// How long it took.
    #[serde(with = "Nanoseconds")]
    pub duration: Duration,
    /// Outcomes, counted.
    pub counts: Counts,
    /// What ended it before its end.
    #[serde(deserialize_with = "known")]
    pub stopped: Option<StopLine>,
    /// The exit code of ccm.
    pub exit_code: u8,
}

impl StoredSummary {
    /// What is stored of a run.
    pub fn of(identity: &RunIdentity, began: SystemTime, summary: &RunSummary, exit_code: u8) -> Self {
        let ended = began.checked_add(summary.duration).unwrap_or(began);
        Self {
            run_id: identity.run_id.clone(),
            manifest: identity.manifest.clone(),
            version: identity.version.to_owned(),
            noop: summary.noop,
            begin: display_timestamp(began, 2),
            end: display_timestamp(ended, 2),
            duration: summary.duration,
            counts: summary.counts,
            stopped: summary.stopped.as_ref().map(stop_line),
            exit_code,
        }
    }

    /// Tells whether nothing was done: then the record is not worth a wait for the disk, nor a wake of one that sleeps.
    fn is_quiet(&self) -> bool {
        let Counts { changed, refreshed, failed, .. } = self.counts;
        self.exit_code == 0 && changed + refreshed + failed == 0
    }
}

/// How the record of a run came out.
#[derive(Debug)]
#[must_use]
pub struct Recorded {
    /// Whether all of it is on disk.
    pub record: Result<(), StoreError>,
    /// What old runs could not be removed.
    pub kept: Vec<StoreError>,
}

/// Records a run. Nothing that goes wrong stops the run; it is told at the end.
#[derive(Debug)]
pub struct RunStore {
    path: PathBuf,
    /// None if it can't be had, which `open` then tells.
    runs: Option<Directory>,
    open: io::Result<Open>,
    keep: usize,
}

#[derive(Debug)]
struct Open {
    directory: Directory,
    lines: JsonLines<AppendFile>,
    /// Why files of an execution could not be kept.
    failed: Option<io::Error>,
}

impl RunStore {
    /// The greatest name that a recorded run has; none if there is no such run, or nobody can tell.
    pub fn newest(state: &Directory) -> Option<String> {
        let names = state.enter(RUNS).and_then(|runs| runs.directories()).ok()?;
        names.into_iter().filter(|name| is_run_id(name)).max()
    }

    /// Begins the record of a run; `keep` says how many are to be there at its end.
    pub fn begin(state: &Directory, identity: &RunIdentity, keep: usize) -> Self {
        let path = state.path().join(RUNS);
        let (runs, open) = match state.make(RUNS) {
            Ok(runs) => {
                let open = Self::open(&runs, &identity.run_id);
                (Some(runs), open)
            }
            Err(error) => (None, Err(error)),
        };
        // The run that records itself is not removed by itself.
        Self { path, runs, open, keep: keep.max(1) }
    }

    fn open(runs: &Directory, run_id: &str) -> io::Result<Open> {
        let directory = runs.make(run_id)?;
        let lines = JsonLines::new(directory.create(EVENTS)?);
        Ok(Open { directory, lines, failed: None })
    }

    /// Tells whether the line of an event belongs into the record; what is unchanged is only counted.
    pub fn wants(&self, event: &Event) -> bool {
        self.open.as_ref().is_ok_and(|open| !open.lines.failed())
            && match event {
                Event::ResourceFinished(transaction) => transaction.outcome != Outcome::Unchanged,
                Event::SessionStarted(_) | Event::SessionFinished(_) => true,
                Event::ResourceStarted(_) | Event::OutputReceived(_) | Event::ArtifactsLeft(_) => false,
            }
    }

    /// Records a line.
    pub fn accept(&mut self, line: &JsonLine<'_>) {
        if let Ok(open) = &mut self.open {
            open.lines.accept(line);
        }
    }

    /// Tells whether something could not be recorded so far.
    pub fn failed(&self) -> bool {
        self.open.as_ref().map_or(true, |open| open.failed.is_some() || open.lines.failed())
    }

    /// Ends the record, brings it to the disk if the run did anything, and removes the oldest ones.
    pub fn finish(self, summary: &StoredSummary) -> Recorded {
        let Self { path, runs, open, keep } = self;
        let record = open.and_then(|open| close(open, summary));
        // Without its name on the disk, what is in a directory is lost with the power.
        let named = runs.as_ref().filter(|_| !summary.is_quiet());
        let record = record.and_then(|()| named.map_or(Ok(()), Directory::sync));
        let kept = runs.map_or_else(Vec::new, |runs| retain(&runs, keep));
        Recorded { record: record.map_err(|source| StoreError::Record { path, source }), kept }
    }
}

fn close(open: Open, summary: &StoredSummary) -> io::Result<()> {
    let lines = match open.lines.finish() {
        Ok(_) if summary.is_quiet() => Ok(()),
        Ok(file) => file.sync(),
        Err(ReportError::Write(error)) => Err(error),
    };
    let artifacts = if summary.is_quiet() { Ok(()) } else { executions::sync(&open.directory) };
    // A summary is worth having also where events are missing.
    let text = format!("{}\n", serde_json::to_string_pretty(summary)?);
    let written = if summary.is_quiet() {
        open.directory.replace_unsynced(SUMMARY, text.as_bytes())
    } else {
        open.directory.replace(SUMMARY, text.as_bytes())
    };
    lines.and(open.failed.map_or(Ok(()), Err)).and(artifacts).and(written)
}

/// Removes the oldest runs, and tells which of them stay. What is not the directory of a run is left alone.
fn retain(runs: &Directory, keep: usize) -> Vec<StoreError> {
    let names = match runs.directories() {
        Ok(names) => names,
        Err(source) => return vec![StoreError::Remove { path: runs.path().to_owned(), source }],
    };
    let names: BTreeSet<String> = names.into_iter().filter(|name| is_run_id(name)).collect();
    let too_many = names.len().saturating_sub(keep);
    let failed = |name: &String| {
        let removed = runs.remove(name);
        removed.err().map(|source| StoreError::Remove { path: runs.path().join(name), source })
    };
    names.iter().take(too_many).filter_map(failed).collect()
}

/// Tells whether a name is one that ccm gives to a run.
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
