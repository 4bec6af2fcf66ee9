//! Processes that calls have started, in the state directory.

use std::io::{self, Read as _};
use std::path::PathBuf;

use ccm_host::state::{Directory, StateError, WriteLock};
use ccm_host::{Process, RunningProcess, process_start, random};
use serde::{Deserialize, Serialize};

use crate::caller::ToolCaller;

/// Directory of the records in the state directory.
const DIRECTORY: &str = "tool-processes";
/// Lock of the calls that begin.
const LOCK: &str = "tool-processes.lock";
/// Maximum size of a record.
const MAX_RECORD: u64 = 256 << 10;

/// Error of reading or writing the records of processes.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RegistryError {
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// A record can't be read or written.
    #[error("the processes of calls in {path:?} can't be read or written")]
    Record {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The call has to run alone, or another one does.
    #[error("{0}")]
    Busy(BusyCalls),
}

/// Calls beside which a call can't begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BusyCalls {
    /// Processes of other calls still run.
    #[error("processes of other calls still run, and could exchange a file that was approved before it runs")]
    Others,
    /// An approved call runs, whose files no other call may exchange.
    #[error("an approved call runs alone at the moment")]
    Alone,
}

/// Record of the processes of one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CallProcesses {
    intent: String,
    tool: String,
    uid: u32,
    connection: Option<String>,
    /// Boot, because numbers and starts count from it.
    boot: String,
    /// Process that runs the call. What descends from it belongs to the call until the call ends.
    broker: Option<ProcessName>,
    /// Processes that were left running.
    left: Vec<ProcessName>,
    /// No other call may begin until this one ends.
    #[serde(default)]
    is_alone: bool,
}

/// Number and start of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ProcessName {
    pid: i32,
    started: u64,
}

/// Running process of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CallProcess {
    /// Id of the intent of the call.
    pub(crate) intent: String,
    /// Tool of the call.
    pub(crate) tool: String,
    /// The process.
    pub(crate) process: RunningProcess,
}

/// Records of the processes of calls.
#[derive(Debug)]
pub(crate) struct ProcessRegistry {
    state: PathBuf,
    boot: String,
    /// Shows a caller only processes that run as the caller.
    only_own: bool,
}

/// Record of a call that goes on. It ends with this value.
#[derive(Debug)]
pub(crate) struct RegisteredCall {
    directory: Directory,
    name: String,
    record: CallProcesses,
}

impl ProcessRegistry {
    /// Uses the records in a state directory.
    pub(crate) fn new(state: PathBuf, boot: String, only_own: bool) -> Self {
        Self { state, boot, only_own }
    }

    fn failed(&self, source: io::Error) -> RegistryError {
        RegistryError::Record { path: self.state.join(DIRECTORY), source }
    }

    /// Records that this process runs a call. A call that runs alone begins beside no other one, and no other one beside it:
    /// processes of calls can write what this one runs.
    pub(crate) fn begin(
        &self,
        caller: &ToolCaller,
        (tool, intent): (&str, &str),
        own: (i32, u64),
        is_alone: bool,
    ) -> Result<RegisteredCall, RegistryError> {
        let state = Directory::open_private(&self.state)?;
        let directory = state.make(DIRECTORY).map_err(|error| self.failed(error))?;
        let _lock = WriteLock::take(&state, LOCK).map_err(|error| self.failed(error))?;
        if let Some(busy) = self.busy(&directory, is_alone).map_err(|error| self.failed(error))? {
            return Err(RegistryError::Busy(busy));
        }
        let record = CallProcesses {
            intent: intent.to_owned(),
            tool: tool.to_owned(),
            uid: caller.uid,
            connection: caller.connection.clone(),
            boot: self.boot.clone(),
            broker: Some(ProcessName { pid: own.0, started: own.1 }),
            left: Vec::new(),
            is_alone,
        };
        let name = format!("{:032x}.json", random());
        let call = RegisteredCall { directory, name, record };
        call.write().map_err(|error| self.failed(error))?;
        Ok(call)
    }

    /// Returns the calls beside which a call that runs alone can't begin.
    pub(crate) fn others(&self) -> Result<Option<BusyCalls>, RegistryError> {
        let Some(state) = Directory::open(&self.state)? else { return Ok(None) };
        match state.enter(DIRECTORY) {
            Ok(directory) => self.busy(&directory, true).map_err(|error| self.failed(error)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.failed(error)),
        }
    }

    fn busy(&self, directory: &Directory, is_alone: bool) -> io::Result<Option<BusyCalls>> {
        let names = directory.names()?;
        let records = names.iter().filter_map(|name| read(directory, name));
        let mut running = records.filter(|record| record.boot == self.boot && (is_alone || record.is_alone));
        let found = running.find(|record| {
            record.broker.is_some_and(|broker| is_running(&broker)) || !record.running().is_empty()
        });
        Ok(found.map(|record| if record.is_alone { BusyCalls::Alone } else { BusyCalls::Others }))
    }

    /// Returns the running processes of the calls of a caller, and removes records of calls without any.
    pub(crate) fn processes(&self, caller: &ToolCaller) -> Result<Vec<CallProcess>, RegistryError> {
        let only_own = self.only_own;
        let Some(state) = Directory::open(&self.state)? else { return Ok(Vec::new()) };
        let directory = match state.enter(DIRECTORY) {
            Ok(directory) => directory,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.failed(error)),
        };
        let mut found: Vec<CallProcess> = Vec::new();
        for name in directory.names().map_err(|error| self.failed(error))? {
            // A record that another call removes meanwhile, or that is damaged, shows nothing.
            let Some(record) = read(&directory, &name) else { continue };
            let running = if record.boot == self.boot { record.running() } else { Vec::new() };
            let is_going_on = record.broker.is_some_and(|broker| is_running(&broker));
            if running.is_empty() && !(is_going_on && record.boot == self.boot) {
                let _next_time = directory.remove_file(&name);
                continue;
            }
            if record.uid != caller.uid || record.connection != caller.connection {
                continue;
            }
            // A process of another user, such as one behind sudo, is not the caller's, although root could signal it.
            for process in
                running.into_iter().filter(|process| !only_own || process.user() == Some(caller.uid))
            {
                if !found.iter().any(|other| other.process == process) {
                    found.push(CallProcess {
                        intent: record.intent.clone(),
                        tool: record.tool.clone(),
                        process,
                    });
                }
            }
        }
        found.sort_by_key(|found| (found.process.started, found.process.pid));
        Ok(found)
    }
}

fn read(directory: &Directory, name: &str) -> Option<CallProcesses> {
    directory.only_ours(name).ok()?;
    let mut text = Vec::new();
    directory.read(name).ok()?.take(MAX_RECORD).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

fn is_running(name: &ProcessName) -> bool {
    process_start(name.pid) == Some(name.started)
}

impl CallProcesses {
    fn running(&self) -> Vec<RunningProcess> {
        let mut running = Vec::new();
        if let Some(broker) = self.broker {
            running.extend(RunningProcess::descendants(broker.pid, broker.started).unwrap_or_default());
        }
        for left in &self.left {
            let process = RunningProcess::find(left.pid).filter(|process| process.started == left.started);
            let Some(process) = process else { continue };
            let below = RunningProcess::descendants(left.pid, left.started).unwrap_or_default();
            running.push(process);
            running.extend(below);
        }
        running
    }
}

impl RegisteredCall {
    fn write(&self) -> io::Result<()> {
        let text = serde_json::to_vec(&self.record)?;
        self.directory.replace_unsynced(&self.name, &text)
    }

    /// Records what the call has left running.
    pub(crate) fn end(mut self, left: &[Process]) {
        let name = |process: &Process| {
            process_start(process.pid).map(|started| ProcessName { pid: process.pid, started })
        };
        self.record.left = left.iter().filter_map(name).collect();
        self.record.broker = None;
        self.record.is_alone = false;
        if !self.record.left.is_empty() && self.write().is_ok() {
            // The record stays.
            self.name.clear();
        }
    }
}

impl Drop for RegisteredCall {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            let _next_time = self.directory.remove_file(&self.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use ccm_host::own_process;
    use ccm_testkit::Scratch;

    use super::*;
    use crate::caller::CallerKind;

    #[test]
    fn a_call_that_runs_alone_has_no_other_beside_it() {
        let scratch = Scratch::new();
        let of = |state: &str| ProcessRegistry::new(scratch.path().join(state), "boot".to_owned(), true);
        let caller = |uid| ToolCaller {
            kind: CallerKind::Cli,
            user: "agent".to_owned(),
            uid,
            pid: 1,
            client: None,
            connection: None,
        };
        let begin_in = |registry: &ProcessRegistry, uid, is_alone| {
            registry.begin(&caller(uid), ("exec", "01"), own_process(), is_alone).map_err(|error| match error
            {
                RegistryError::Busy(busy) => busy,
                error => panic!("{error}"),
            })
        };
        let registry = of("one");
        let begin = |uid, is_alone| begin_in(&registry, uid, is_alone);
        assert_eq!(registry.others().expect("records"), None);
        let first = begin(1, false).expect("a call");
        let second = begin(1, false).expect("a call");
        assert_eq!(begin(1, true).err(), Some(BusyCalls::Others));
        // Users share the workspace.
        assert_eq!(begin(2, true).err(), Some(BusyCalls::Others));
        second.end(&[]);
        // What a call leaves running could exchange files as well.
        let (pid, _) = own_process();
        first.end(&[Process { pid, name: "left".to_owned(), holds_output: false }]);
        assert_eq!(registry.others().expect("records"), Some(BusyCalls::Others));
        let registry = of("other");
        let begin = |uid, is_alone| begin_in(&registry, uid, is_alone);
        let alone = begin(1, true).expect("a call");
        for is_alone in [false, true] {
            assert_eq!(begin(1, is_alone).err(), Some(BusyCalls::Alone));
        }
        drop(alone);
        begin(1, false).expect("a call").end(&[]);
        assert_eq!(registry.others().expect("records"), None);
    }
}
