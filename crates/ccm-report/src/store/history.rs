//! Recorded runs of a state directory.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_host::state::Directory;
use ccm_model::{EventLine, LineError, SUMMARY_PROTOCOL, StartLine};
use serde::Deserialize;

use super::graph::{self, GRAPH, RunGraph};
use super::{EVENTS, RUNS, SUMMARY, StoreError, StoredSummary, is_run_id};
use crate::screen::Screen;
use crate::text::SHORT_ID;

/// Maximum size of a summary. ccm writes shorter ones.
const MAX_SUMMARY_BYTES: u64 = 1 << 20;
/// Maximum length of a line of events. ccm writes shorter ones: most of a line is at most a diff.
const MAX_LINE_BYTES: u64 = 64 << 20;
/// Maximum length of a record that is read. The lines of a hundred thousand changed resources are shorter.
const MAX_RECORD_BYTES: u64 = 256 << 20;
/// Maximum length of a graph that is read. That of a hundred thousand resources is shorter.
const MAX_GRAPH_BYTES: u64 = 64 << 20;
/// Maximum number of damaged lines. A killed run or a full disk damages one.
const MAX_DAMAGED_LINES: usize = 100;
/// Name of the newest run.
const LAST: &str = "last";

/// Recorded runs of a state directory, the newest first.
#[derive(Debug)]
pub struct History {
    pub(super) runs: Vec<StoredRun>,
    pub(super) directory: Option<Directory>,
    pub(super) path: PathBuf,
    /// Abilities of the receiver of texts.
    pub(super) screen: Screen,
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Id of the run.
    pub id: String,
    /// First line of the events, if it can be read.
    pub start: Option<StartLine<'static>>,
    /// Summary. `None` if it was not written or can't be read.
    pub summary: Option<StoredSummary>,
    /// `true` if a part of the end is recorded. If not, the run was killed or is still running.
    pub ended: bool,
}

/// Reason why a run was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No run matches.
    #[error("no run in {path:?} has an id that begins with `{prefix}`")]
    Unknown {
        /// Beginning of the id, as the user gave it.
        prefix: String,
        /// Directory of the runs.
        path: PathBuf,
    },
    /// Several runs match.
    #[error("{} runs have an id that begins with `{prefix}`", runs.len())]
    Ambiguous {
        /// Beginning of the id, as the user gave it.
        prefix: String,
        /// Matching runs, the newest first.
        runs: Vec<MatchingRun>,
    },
    /// No run is recorded.
    #[error("no runs are recorded in {path:?}")]
    Empty {
        /// Directory of the runs.
        path: PathBuf,
    },
}

/// Run that an ambiguous prefix matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchingRun {
    /// Beginning of its id, long enough to be unique.
    pub short_id: String,
    /// Time of the beginning.
    pub began: Option<SystemTime>,
    /// Manifest of the run.
    pub manifest: String,
}

impl History {
    /// Reads the recorded runs. A missing state directory has none.
    pub fn open(state: &Path) -> Result<Self, StoreError> {
        let path = state.join(RUNS);
        let failed = |source| StoreError::Read { path: path.clone(), source };
        let state = Directory::open(state)?;
        let directory = match state.map(|state| state.enter(RUNS)) {
            Some(Ok(directory)) => directory,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => return Ok(Self { runs: Vec::new(), directory: None, path, screen: Screen::default() }),
        };
        let mut ids = directory.directories().map_err(failed)?;
        ids.retain(|name| is_run_id(name));
        ids.sort_unstable_by(|one, other| other.cmp(one));
        let runs = ids.into_iter().map(|id| stored(&directory, id)).collect();
        Ok(Self { runs, directory: Some(directory), path, screen: Screen::default() })
    }

    /// Sets the abilities of the receiver of texts.
    #[must_use]
    pub fn for_screen(self, screen: Screen) -> Self {
        Self { screen, ..self }
    }

    /// Returns the directory of the runs.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the runs, the newest first.
    pub fn runs(&self) -> &[StoredRun] {
        &self.runs
    }

    /// Finds a run by the beginning of its id. `last` is the newest run.
    pub fn find(&self, prefix: &str) -> Result<&StoredRun, FindError> {
        let lower_case = prefix.to_ascii_lowercase();
        if lower_case == LAST {
            return self.runs.first().ok_or_else(|| FindError::Empty { path: self.path.clone() });
        }
        let mut found = self.runs.iter().filter(|run| run.id.starts_with(&lower_case));
        match (found.next(), found.next()) {
            (None, _) => Err(FindError::Unknown { prefix: prefix.to_owned(), path: self.path.clone() }),
            (Some(run), None) => Ok(run),
            (Some(first), Some(second)) => {
                let matching = |run: &StoredRun| MatchingRun {
                    short_id: self.short(&run.id).to_owned(),
                    began: run.began(),
                    manifest: run.manifest().to_owned(),
                };
                let runs = [first, second].into_iter().chain(found).map(matching).collect();
                Err(FindError::Ambiguous { prefix: prefix.to_owned(), runs })
            }
        }
    }

    /// Returns the beginning of an id that is unique among the recorded runs, and stays so.
    pub fn short<'i>(&self, id: &'i str) -> &'i str {
        id.get(..self.short_length()).unwrap_or(id)
    }

    /// Returns the length at which the prefixes of all ids differ.
    fn short_length(&self) -> usize {
        let shared = |(one, other): (&StoredRun, &StoredRun)| {
            one.id.bytes().zip(other.id.bytes()).take_while(|(a, b)| a == b).count()
        };
        // The ids are sorted, so the most similar ones are neighbours.
        let neighbours = self.runs.iter().zip(self.runs.iter().skip(1));
        neighbours.map(shared).max().map_or(SHORT_ID, |shared| SHORT_ID.max(shared + 1))
    }

    /// Returns the events of a run. Damaged lines and lines of an unknown kind are left out. A record that is
    /// too long, or has too many damaged lines, is an error: reading it could take for ever.
    pub fn events(&self, run: &StoredRun) -> Result<Vec<EventLine>, StoreError> {
        let Some(directory) = &self.directory else { return Ok(Vec::new()) };
        let failed = |source| StoreError::Read { path: self.path.join(&run.id), source };
        let file = match directory.enter(&run.id).and_then(|run| run.read(EVENTS)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut events = Vec::new();
        let mut damaged = 0;
        let read = each_line(file, |line| {
            match EventLine::read(line) {
                Ok(event) => events.push(event),
                Err(LineError::Version { .. } | LineError::Protocol { .. }) => {}
                Err(_) => damaged += 1,
            }
            if damaged > MAX_DAMAGED_LINES {
                return Err(io::Error::other(format!(
                    "its file {EVENTS} is damaged: reading it ended after {damaged} damaged lines"
                )));
            }
            Ok(())
        });
        read.map_err(failed)?;
        Ok(events)
    }

    /// Returns the graph of a run, as far as it can be read. A run that changed nothing has none, and neither has one of
    /// an earlier version.
    pub fn graph(&self, run: &StoredRun) -> Option<RunGraph> {
        let mut text = Vec::new();
        let file = self.directory.as_ref()?.enter(&run.id).and_then(|run| run.read(GRAPH)).ok()?;
        file.take(MAX_GRAPH_BYTES).read_to_end(&mut text).ok()?;
        graph::read(&text)
    }
}

/// Reads the lines of a record. Instead of a line that is too long, which takes no memory, an empty one is read.
fn each_line(file: impl io::Read, mut read: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufReader::new(file.take(MAX_RECORD_BYTES + 1));
    let mut line = Vec::new();
    let mut total = 0;
    loop {
        line.clear();
        let length = file.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? as u64;
        if length == 0 {
            return Ok(());
        }
        total += length;
        if length == MAX_LINE_BYTES && !line.ends_with(b"\n") {
            line.clear();
            total += file.skip_until(b'\n')? as u64;
        }
        if total > MAX_RECORD_BYTES {
            let error = format!("its file {EVENTS} is longer than {MAX_RECORD_BYTES} bytes");
            return Err(io::Error::other(error));
        }
        read(&line)?;
    }
}

#[derive(Deserialize)]
struct ProtocolField {
    protocol: String,
}

/// Returns `true` if the last line is that of the end of a run.
fn holds_the_end(events: impl io::Read) -> bool {
    let mut last = Vec::new();
    // A line that can't be read is not the end.
    let read = each_line(events, |line| {
        line.clone_into(&mut last);
        Ok(())
    });
    let last = read.ok().and_then(|()| serde_json::from_slice::<ProtocolField>(&last).ok());
    last.is_some_and(|line| line.protocol == SUMMARY_PROTOCOL)
}

/// Returns the readable parts of a run, so that one damaged record does not hide the others.
fn stored(runs: &Directory, id: String) -> StoredRun {
    let Ok(run) = runs.enter(&id) else { return StoredRun { id, start: None, summary: None, ended: false } };
    let SummaryFile { summary, exists: has_summary } = read_summary(&run);
    let start = run.read(EVENTS).ok().and_then(|file| {
        let mut line = Vec::new();
        BufReader::new(file.take(MAX_SUMMARY_BYTES)).read_until(b'\n', &mut line).ok()?;
        serde_json::from_slice(&line).ok()
    });
    let ended = summary.is_some() || has_summary || run.read(EVENTS).is_ok_and(holds_the_end);
    StoredRun { id, start, summary, ended }
}

/// Summary in the record of a run, as far as it can be read.
pub(super) struct SummaryFile {
    pub(super) summary: Option<StoredSummary>,
    /// `true` if there is a file.
    exists: bool,
}

pub(super) fn read_summary(run: &Directory) -> SummaryFile {
    let file = run.read(SUMMARY);
    let exists = !file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let summary = file.ok().and_then(|file| {
        let mut bytes = Vec::new();
        file.take(MAX_SUMMARY_BYTES).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    });
    SummaryFile { summary, exists }
}
