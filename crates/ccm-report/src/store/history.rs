//! Finding the runs that were recorded.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use ccm_host::state::Directory;
use ccm_model::{EventLine, SUMMARY_PROTOCOL, StartLine};
use serde::Deserialize;

use super::{EVENTS, RUNS, SUMMARY, StoreError, StoredSummary, is_run_id};

/// A summary that is longer than this is none of ours.
const LONGEST_SUMMARY: u64 = 1 << 20;
/// A longer line of events is none of ours: an event carries a diff at most.
const LONGEST_LINE: u64 = 64 << 20;
/// Ids are shown with at least so many characters.
const SHORTEST_ID: usize = 8;

/// The runs that were recorded in a state directory, the newest first.
#[derive(Debug)]
pub struct History {
    runs: Vec<StoredRun>,
    pub(super) directory: Option<Directory>,
    pub(super) path: PathBuf,
}

/// A run that was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredRun {
    /// Its id.
    pub id: String,
    /// The first line of its events, if there is one.
    pub start: Option<StartLine<'static>>,
    /// What it amounted to; none if that was not written or can't be read.
    pub summary: Option<StoredSummary>,
    /// Something of its end is recorded. If not, it was killed or is still going on.
    pub ended: bool,
}

/// Says why a run was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// There is none.
    #[error("no run in {path:?} has an id that begins with `{prefix}`")]
    Unknown {
        /// What was asked for.
        prefix: String,
        /// Where the runs are.
        path: PathBuf,
    },
    /// There are several.
    #[error("{} runs have an id that begins with `{prefix}`: {}", ids.len(), ids.join(", "))]
    Ambiguous {
        /// What was asked for.
        prefix: String,
        /// Their ids.
        ids: Vec<String>,
    },
}

impl History {
    /// Reads what there is; a state directory that is not there holds no runs.
    pub fn open(state: &Path) -> Result<Self, StoreError> {
        let path = state.join(RUNS);
        let failed = |source| StoreError::Read { path: path.clone(), source };
        let state = Directory::open(state).map_err(failed)?;
        let directory = match state.map(|state| state.enter(RUNS)) {
            Some(Ok(directory)) => directory,
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
            _ => return Ok(Self { runs: Vec::new(), directory: None, path }),
        };
        let mut ids = directory.directories().map_err(failed)?;
        ids.retain(|name| is_run_id(name));
        ids.sort_unstable_by(|one, other| other.cmp(one));
        let runs = ids.into_iter().map(|id| stored(&directory, id)).collect();
        Ok(Self { runs, directory: Some(directory), path })
    }

    /// Where they are.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The runs, the newest first.
    pub fn runs(&self) -> &[StoredRun] {
        &self.runs
    }

    /// Finds a run by the beginning of its id.
    pub fn find(&self, prefix: &str) -> Result<&StoredRun, FindError> {
        let wanted = prefix.to_ascii_lowercase();
        let mut found = self.runs.iter().filter(|run| run.id.starts_with(&wanted));
        match (found.next(), found.next()) {
            (None, _) => Err(FindError::Unknown { prefix: prefix.to_owned(), path: self.path.clone() }),
            (Some(run), None) => Ok(run),
            (Some(first), Some(second)) => {
                let ids = [first, second].into_iter().chain(found).map(|run| run.id.clone()).collect();
                Err(FindError::Ambiguous { prefix: prefix.to_owned(), ids })
            }
        }
    }

    /// How many characters of each id are enough to tell them apart.
    pub fn short_length(&self) -> usize {
        let shared = |(one, other): (&StoredRun, &StoredRun)| {
            one.id.bytes().zip(other.id.bytes()).take_while(|(a, b)| a == b).count()
        };
        // They are sorted, so the nearest of each is beside it.
        let neighbours = self.runs.iter().zip(self.runs.iter().skip(1));
        neighbours.map(shared).max().map_or(SHORTEST_ID, |shared| SHORTEST_ID.max(shared + 1))
    }

    /// Returns the events of a run. A line that is not whole, or that this version of ccm does not know, is left out.
    pub fn events(&self, run: &StoredRun) -> Result<Vec<EventLine>, StoreError> {
        let Some(directory) = &self.directory else { return Ok(Vec::new()) };
        let failed = |source| StoreError::Read { path: self.path.join(&run.id), source };
        let file = match directory.enter(&run.id).and_then(|run| run.read(EVENTS)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut events = Vec::new();
        each_line(file, |line| events.extend(EventLine::read(line))).map_err(failed)?;
        Ok(events)
    }
}

/// Reads the lines of a record; one that is longer than any of ours is left out, and takes no memory.
fn each_line(file: impl io::Read, mut read: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = file.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
        if length == 0 {
            return Ok(());
        }
        if length as u64 == LONGEST_LINE && !line.ends_with(b"\n") {
            file.skip_until(b'\n')?;
        } else {
            read(&line);
        }
    }
}

#[derive(Deserialize)]
struct LineHead {
    protocol: String,
}

/// Tells whether the last event is that of a run's end.
fn holds_the_end(events: impl io::Read) -> bool {
    let mut last = Vec::new();
    // What can't be read is not the end.
    let read = each_line(events, |line| line.clone_into(&mut last));
    let last = read.ok().and_then(|()| serde_json::from_slice::<LineHead>(&last).ok());
    last.is_some_and(|line| line.protocol == SUMMARY_PROTOCOL)
}

/// What can be read of a run; what can't is left out, so that one damaged record hides no other.
fn stored(runs: &Directory, id: String) -> StoredRun {
    let Ok(run) = runs.enter(&id) else { return StoredRun { id, start: None, summary: None, ended: false } };
    let summary_file = run.read(SUMMARY);
    let has_summary = !summary_file.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
    let summary = summary_file.ok().and_then(|file| {
        let mut bytes = Vec::new();
        file.take(LONGEST_SUMMARY).read_to_end(&mut bytes).ok()?;
        serde_json::from_slice(&bytes).ok()
    });
    let start = run.read(EVENTS).ok().and_then(|file| {
        let mut line = Vec::new();
        BufReader::new(file.take(LONGEST_SUMMARY)).read_until(b'\n', &mut line).ok()?;
        serde_json::from_slice(&line).ok()
    });
    let ended = summary.is_some() || has_summary || run.read(EVENTS).is_ok_and(holds_the_end);
    StoredRun { id, start, summary, ended }
}
