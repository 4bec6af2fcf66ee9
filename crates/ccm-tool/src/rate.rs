//! Limits on the number of calls and connections, which every process with one state directory shares.

use std::io::{self, Read as _};
use std::path::PathBuf;
use std::time::Duration;

use ccm_host::state::{Directory, StateError, WriteLock};
use ccm_host::{own_process, process_start};
use ccm_policy::ToolLimits;
use serde::{Deserialize, Serialize};

/// File of the counts in the state directory.
const FILE: &str = "tool-calls.json";
const LOCK: &str = "tool-calls.lock";
/// Maximum size of the file in bytes.
const MAX_FILE: u64 = 32 << 20;
/// Maximum number of remembered calls. Of more calls in a time, none is allowed.
const MAX_REMEMBERED: usize = 1_000_000;

/// Maximum number of connections of a service.
pub(crate) const MAX_CONNECTIONS: usize = 64;
/// Maximum number of connections of one user.
pub(crate) const MAX_CONNECTIONS_OF_USER: usize = 16;

/// Counts in a state directory.
#[derive(Debug)]
pub(crate) struct SharedCounts {
    state: PathBuf,
    boot: String,
}

/// Content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct CountedCalls {
    /// Boot, because times and processes count from it.
    boot: String,
    /// Times at which calls began, in milliseconds since the boot.
    begun: Vec<u64>,
    /// Processes with a call in progress, once for each call.
    in_progress: Vec<CountedProcess>,
    connections: Vec<CountedConnection>,
}

/// Number and start of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CountedProcess {
    pid: i32,
    started: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CountedConnection {
    #[serde(flatten)]
    process: CountedProcess,
    uid: u32,
}

/// Call or connection that counts until this value is dropped, or its process ends.
#[derive(Debug)]
pub(crate) struct Counted<'c> {
    /// `None` for a call that no limit counts.
    counts: Option<&'c SharedCounts>,
    entry: CountedEntry,
}

#[derive(Clone, Copy, Debug)]
enum CountedEntry {
    Call,
    Connection,
}

/// Reason why a call or a connection is not counted. It must not begin then.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CountError {
    /// Too many calls in a time.
    #[error("the limit of {0} calls in {time} is reached", time = ccm_model::display_duration(*.1))]
    Calls(i64, Duration),
    /// Too many calls at the same time.
    #[error("the limit of {0} calls at the same time is reached")]
    Parallel(i64),
    /// Too many connections.
    #[error("the limit of {MAX_CONNECTIONS} connections is reached")]
    Connections,
    /// Too many connections of a user.
    #[error("the limit of {MAX_CONNECTIONS_OF_USER} connections of one user is reached")]
    ConnectionsOfUser,
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The counts can't be read or written.
    #[error("the calls of tools can't be counted in {path:?}")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

impl CountError {
    /// Returns `true` if the limit is reached, and `false` if nothing could be counted.
    pub(crate) fn is_reached(&self) -> bool {
        !matches!(self, Self::State(_) | Self::File { .. })
    }
}

impl CountedProcess {
    fn own() -> Self {
        let (pid, started) = own_process();
        Self { pid, started }
    }

    fn is_running(&self) -> bool {
        process_start(self.pid) == Some(self.started)
    }
}

impl SharedCounts {
    /// Uses the counts in a state directory.
    pub(crate) fn new(state: PathBuf, boot: String) -> Self {
        Self { state, boot }
    }

    /// Counts a call that begins at a time since the boot. Without a limit, nothing is counted.
    pub(crate) fn begin_call(&self, limits: &ToolLimits, now: Duration) -> Result<Counted<'_>, CountError> {
        let entry = CountedEntry::Call;
        if limits.calls.is_none() && limits.parallel.is_none() {
            return Ok(Counted { counts: None, entry });
        }
        self.change(|counted| {
            counted.in_progress.retain(CountedProcess::is_running);
            let reached = |most: i64, found: usize| usize::try_from(most).is_ok_and(|most| found >= most);
            if let Some(most) = limits.parallel.filter(|most| reached(*most, counted.in_progress.len())) {
                return Err(CountError::Parallel(most));
            }
            if let Some((most, time)) = limits.calls {
                let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                let now = milliseconds(now);
                counted.begun.retain(|at| now.saturating_sub(*at) < milliseconds(time));
                if reached(most, counted.begun.len()) || counted.begun.len() >= MAX_REMEMBERED {
                    return Err(CountError::Calls(most, time));
                }
                counted.begun.push(now);
            }
            counted.in_progress.push(CountedProcess::own());
            Ok(())
        })?;
        Ok(Counted { counts: Some(self), entry })
    }

    /// Counts a connection of a user.
    pub(crate) fn begin_connection(&self, uid: u32) -> Result<Counted<'_>, CountError> {
        self.change(|counted| {
            counted.connections.retain(|connection| connection.process.is_running());
            let of_user = counted.connections.iter().filter(|connection| connection.uid == uid).count();
            if of_user >= MAX_CONNECTIONS_OF_USER {
                return Err(CountError::ConnectionsOfUser);
            }
            if counted.connections.len() >= MAX_CONNECTIONS {
                return Err(CountError::Connections);
            }
            counted.connections.push(CountedConnection { process: CountedProcess::own(), uid });
            Ok(())
        })?;
        Ok(Counted { counts: Some(self), entry: CountedEntry::Connection })
    }

    /// Changes the counts, while no other process does.
    fn change(
        &self,
        change: impl FnOnce(&mut CountedCalls) -> Result<(), CountError>,
    ) -> Result<(), CountError> {
        let directory = Directory::open_private(&self.state)?;
        let failed = |source| CountError::File { path: self.state.join(FILE), source };
        let _lock = WriteLock::take(&directory, LOCK).map_err(failed)?;
        let mut counted = self.read(&directory).map_err(failed)?;
        change(&mut counted)?;
        // Not synced: a power cut ends what is counted as well.
        let text = serde_json::to_vec(&counted).map_err(|error| failed(error.into()))?;
        directory.replace_unsynced(FILE, &text).map_err(failed)
    }

    fn read(&self, directory: &Directory) -> io::Result<CountedCalls> {
        let fresh = || CountedCalls { boot: self.boot.clone(), ..CountedCalls::default() };
        match directory.only_ours(FILE) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(fresh()),
            found => found?,
        }
        let mut text = Vec::new();
        directory.read(FILE)?.take(MAX_FILE).read_to_end(&mut text)?;
        // Only a power cut damages the file, and then nothing of it counts any more.
        let counted: CountedCalls = serde_json::from_slice(&text).unwrap_or_default();
        Ok(if counted.boot == self.boot { counted } else { fresh() })
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        let Some(counts) = self.counts else { return };
        let own = CountedProcess::own();
        // What stays by a failure counts until this process has ended.
        let _best_effort = counts.change(|counted| {
            match self.entry {
                CountedEntry::Call => remove_one(&mut counted.in_progress, |process| *process == own),
                CountedEntry::Connection => {
                    remove_one(&mut counted.connections, |connection| connection.process == own);
                }
            }
            Ok(())
        });
    }
}

fn remove_one<T>(entries: &mut Vec<T>, is_own: impl Fn(&T) -> bool) {
    if let Some(at) = entries.iter().position(is_own) {
        entries.swap_remove(at);
    }
}

#[cfg(test)]
mod tests {
    use ccm_testkit::Scratch;

    use super::*;

    fn counts(scratch: &Scratch, boot: &str) -> SharedCounts {
        SharedCounts::new(scratch.path().join("state"), boot.to_owned())
    }

    #[test]
    fn calls_are_limited_in_a_time_and_at_the_same_time() {
        let second = Duration::from_secs(1);
        let limits = ToolLimits { calls: Some((2, 10 * second)), parallel: Some(2), ..ToolLimits::default() };
        let scratch = Scratch::new();
        // Two processes have one file.
        let (counts, other) = (counts(&scratch, "boot"), counts(&scratch, "boot"));
        let first = counts.begin_call(&limits, Duration::ZERO).expect("a call");
        let second_call = other.begin_call(&limits, second).expect("a call");
        assert!(matches!(counts.begin_call(&limits, second), Err(CountError::Parallel(2))));
        drop(first);
        let error = other.begin_call(&limits, 9 * second).expect_err("too many");
        assert_eq!(error.to_string(), "the limit of 2 calls in 10s is reached");
        assert!(error.is_reached());
        drop(counts.begin_call(&limits, 10 * second).expect("a call"));
        assert!(matches!(counts.begin_call(&limits, 10 * second), Err(CountError::Calls(..))));
        drop(counts.begin_call(&ToolLimits::default(), 10 * second).expect("no limit"));
        drop(second_call);
    }

    #[test]
    fn a_restart_of_the_machine_begins_anew() {
        let limits = ToolLimits { calls: Some((1, Duration::from_secs(60))), ..ToolLimits::default() };
        let scratch = Scratch::new();
        drop(counts(&scratch, "first").begin_call(&limits, Duration::from_secs(5)).expect("a call"));
        assert!(counts(&scratch, "first").begin_call(&limits, Duration::from_secs(6)).is_err());
        drop(counts(&scratch, "second").begin_call(&limits, Duration::from_secs(1)).expect("a call"));
    }

    #[test]
    fn what_a_killed_process_left_does_not_count() {
        let limits = ToolLimits { parallel: Some(1), ..ToolLimits::default() };
        let scratch = Scratch::new();
        let counts = counts(&scratch, "boot");
        let ended = CountedProcess { pid: own_process().0, started: own_process().1 + 1 };
        let left = |counted: &mut CountedCalls| {
            counted.in_progress.push(ended);
            counted.connections.push(CountedConnection { process: ended, uid: 1 });
            Ok(())
        };
        counts.change(left).expect("written");
        drop(counts.begin_call(&limits, Duration::ZERO).expect("a call"));
        drop(counts.begin_connection(1).expect("a connection"));
        let text = scratch.read("state/tool-calls.json").expect("a file");
        assert!(text.ends_with("\"in_progress\":[],\"connections\":[]}"), "{text}");
    }

    #[test]
    fn connections_are_limited_for_a_user_and_for_all() {
        let scratch = Scratch::new();
        let counts = counts(&scratch, "boot");
        let mut open: Vec<Counted<'_>> = Vec::new();
        for uid in 0..4 {
            for _ in 0..MAX_CONNECTIONS_OF_USER {
                open.push(counts.begin_connection(uid).expect("a connection"));
            }
            let refused = counts.begin_connection(uid).expect_err("too many");
            assert_eq!(refused.to_string(), "the limit of 16 connections of one user is reached");
        }
        let refused = counts.begin_connection(9).expect_err("too many");
        assert_eq!(refused.to_string(), "the limit of 64 connections is reached");
        open.pop();
        drop(counts.begin_connection(9).expect("a connection"));
    }

    #[test]
    fn a_directory_that_can_not_be_used_is_no_limit_that_is_reached() {
        let scratch = Scratch::new();
        scratch.write("state", "a file");
        let limits = ToolLimits { parallel: Some(1), ..ToolLimits::default() };
        let counts = counts(&scratch, "boot");
        let error = counts.begin_call(&limits, Duration::ZERO).expect_err("no directory");
        assert!(!error.is_reached(), "{error}");
    }
}
