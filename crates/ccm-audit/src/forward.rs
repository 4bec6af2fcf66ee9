//! Handing on seals to other places, where nobody on this machine can take them back.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ccm_host::state::{AppendFile, Directory};
use ccm_host::{
    Cancellation, Command, CommandOrigin, Exit, JOURNAL_SOCKET, LocalSystem, Role, Runner, send_to_journal,
};

use crate::checkpoint::Checkpoint;
use crate::entry::AuditEntry;
use crate::reading::seals_from;
use crate::recorder::{AuditRecorder, exit_text};

/// Id of the messages about seals in the journal.
pub const SEAL_MESSAGE_ID: &str = "5d0c2a1b7f0e4b0c9a6d3c81f2e94b57";
/// File with the number of the newest seal that each receiver has.
const STATE: &str = "forwarded";
/// Maximum size of that file.
const MAX_STATE: u64 = 64 << 10;
/// Maximum number of missed seals that are handed on again. The newest one stands for all before it.
const MAX_MISSED: usize = 100;
/// Time limit of the command of a receiver.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);

/// Receiver of seals. Each seal is a line: the JSON of its [`Checkpoint`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SealReceiver {
    /// Journal of the machine.
    Journal,
    /// File that the lines are appended to.
    File(PathBuf),
    /// Program and arguments; the line is its standard input.
    Command(Vec<String>),
}

impl fmt::Display for SealReceiver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Journal => formatter.write_str("journald"),
            Self::File(path) => write!(formatter, "file {}", path.display()),
            Self::Command(words) => write!(formatter, "command {}", words.join(" ")),
        }
    }
}

/// Seal that a receiver did not take.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seal {seal} of the audit log could not be forwarded to {receiver}: {reason}")]
pub struct ForwardFailure {
    /// The receiver.
    pub receiver: String,
    /// Number of the seal.
    pub seal: u64,
    /// Error.
    pub reason: String,
}

/// Doors that seals leave through.
#[derive(Clone, Copy)]
pub struct ForwardDoors<'a> {
    /// Runs commands of receivers.
    pub runner: &'a dyn Runner,
    /// Finds their programs.
    pub system: &'a dyn LocalSystem,
    /// Socket of the journal.
    pub journal: &'a Path,
}

impl<'a> ForwardDoors<'a> {
    /// Returns the doors of a machine, with its journal.
    pub fn new(runner: &'a dyn Runner, system: &'a dyn LocalSystem) -> Self {
        Self { runner, system, journal: Path::new(JOURNAL_SOCKET) }
    }
}

impl AuditRecorder {
    /// Hands the newest seal on, with those before it that a receiver has missed. What a receiver does not take is
    /// recorded, and tried again with the next seal.
    pub async fn forward(
        &mut self,
        receivers: &[SealReceiver],
        doors: ForwardDoors<'_>,
        now: SystemTime,
    ) -> Vec<ForwardFailure> {
        let Some(newest) = self.log().sealed().cloned().filter(|_| !receivers.is_empty()) else {
            return Vec::new();
        };
        let mut failures = Vec::new();
        let mut forwarded = read_state(self.log().directory());
        for receiver in receivers {
            let name = receiver.to_string();
            let before = newest.seals.saturating_sub(1);
            let last = forwarded.get(&name).map_or(before, |last| (*last).min(before));
            forwarded.insert(name.clone(), last);
            let seals = if last < before {
                seals_from(self.log().directory(), last + 1, MAX_MISSED).unwrap_or_default()
            } else {
                Vec::new()
            };
            let seals = if seals.is_empty() { vec![newest.clone()] } else { seals };
            for seal in seals {
                match receiver.take(&seal, doors).await {
                    Ok(()) => {
                        forwarded.insert(name.clone(), seal.seals);
                    }
                    Err(reason) => {
                        failures.push(ForwardFailure { receiver: name, seal: seal.seals, reason });
                        break;
                    }
                }
            }
        }
        // A state that is lost hands a seal on once more, or leaves out those that were missed.
        let state = serde_json::to_vec(&forwarded).unwrap_or_default();
        let _ = self.log().directory().replace_unsynced(STATE, &state);
        for ForwardFailure { receiver, seal, reason } in &mut failures {
            (*receiver, *reason) = (self.text(receiver), self.text(reason));
            let (receiver, reason) = (receiver.clone(), reason.clone());
            // The caller warns of the failure in any case.
            let _ = self.append(AuditEntry::ForwardFailed { receiver, seal: *seal, reason }, now);
        }
        failures
    }
}

impl SealReceiver {
    async fn take(&self, seal: &Checkpoint, doors: ForwardDoors<'_>) -> Result<(), String> {
        let line = seal.to_line();
        match self {
            Self::Journal => {
                let (number, last) = (seal.seals.to_string(), seal.line.to_string());
                let fields = [
                    ("MESSAGE", &*line),
                    ("MESSAGE_ID", SEAL_MESSAGE_ID),
                    ("PRIORITY", "5"),
                    ("SYSLOG_IDENTIFIER", "ccm"),
                    ("CCM_AUDIT_MACHINE", &seal.machine),
                    ("CCM_AUDIT_SEAL", &number),
                    ("CCM_AUDIT_LINE", &last),
                ];
                send_to_journal(doors.journal, &fields).map_err(|error| error.to_string())
            }
            Self::File(path) => append(path, &line).map_err(|error| error.to_string()),
            Self::Command(words) => run(words, line, doors).await,
        }
    }
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = AppendFile::open(path)?;
    if !file.is_regular()? {
        return Err(io::Error::other("not a regular file"));
    }
    file.write_all(format!("{line}\n").as_bytes())?;
    file.sync()
}

async fn run(words: &[String], line: String, doors: ForwardDoors<'_>) -> Result<(), String> {
    let Some((name, arguments)) = words.split_first() else { return Err("no program is named".to_owned()) };
    let program = doors.system.find_helper(name).map_err(|error| error.to_string())?;
    let command = Command {
        called_as: Some(name.clone()),
        args: arguments.iter().map(Into::into).collect(),
        environment: doors.system.base_environment(),
        stdin: Some((line + "\n").into()),
        timeout: Some(COMMAND_LIMIT),
        origin: CommandOrigin::Ccm,
        role: Role::Tool,
        ..Command::new(program)
    };
    match doors.runner.run(&command, &Cancellation::never(), &mut |_, _| {}).await {
        Ok(finished) if finished.exit == Exit::Code(0) => Ok(()),
        Ok(finished) => Err(exit_text(&finished.exit)),
        Err(error) => Err(error.to_string()),
    }
}

fn read_state(directory: &Directory) -> BTreeMap<String, u64> {
    let bytes = directory.read_end(STATE, MAX_STATE).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
