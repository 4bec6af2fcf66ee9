//! Commands, their results, and the runner that prevents hanging, excessive memory and unnoticed leftover
//! processes.

mod allowed_programs;
pub(crate) mod base_environment;
mod capture;
mod collector;
mod control_group;
mod last_line;
pub(crate) mod launch_protocol;
mod launcher_program;
pub(crate) mod limits;
mod lines;
pub(crate) mod lookup;
mod mark;
mod network;
pub(crate) mod sandbox;
mod shell_parser;
mod spawn;
mod streams;
mod system;
mod table;
mod trace;
mod tree;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ccm_model::{Failure, FailureKind, Refusal, Stream};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::Local;
use crate::account::{AccountError, Identity};
use crate::executor::{ContainerError, ContainerOutcome};
use launch_protocol::{io_error, path};

pub use allowed_programs::AllowedPrograms;
pub use collector::OutputCollector;
pub use last_line::LastLine;
#[cfg(feature = "testing")]
pub use launch_protocol::launch_messages_again;
pub use limits::{ReachedLimit, SandboxLimit, SandboxLimits};
#[cfg(feature = "testing")]
pub use sandbox::SandboxLayer;
pub use sandbox::{Enforced, Means, Sandbox, never_opened};
pub use shell_parser::{ShellError, parse_shell};
pub use system::{RunnerError, SystemRunner, signal_name};
pub use trace::{log_command_end, log_command_start};

/// Complete command: its parts are not looked up, split or expanded any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Program, an absolute path.
    pub program: PathBuf,
    /// Name that the program is called by and may print, `argv[0]`; `None` is its path.
    pub called_as: Option<String>,
    /// Arguments, without the name of the program.
    pub args: Vec<OsString>,
    /// Working directory.
    pub cwd: PathBuf,
    /// The whole environment; names are unique.
    pub environment: Vec<(String, String)>,
    /// Text of standard input; `None` is the null device.
    pub stdin: Option<String>,
    /// Time limit; `None` is no limit.
    pub timeout: Option<Duration>,
    /// User and groups to run as; `None` is the identity of ccm. Only root can run a command as another user.
    pub identity: Option<Identity>,
    /// Permissions that its new files do not get; `None` is the umask of ccm.
    pub umask: Option<u32>,
    /// Confinement; `None` allows everything that its user may do.
    pub sandbox: Option<Sandbox>,
    /// Image of the container that it runs in, whose files and programs are those of the image; `None` is this
    /// machine. Program and working directory may then be relative or empty.
    pub image: Option<String>,
    /// Keeps its arguments out of debug messages.
    pub sensitive: bool,
    /// Author of the command.
    pub origin: CommandOrigin,
    /// Purpose of the command.
    pub role: Role,
    /// Receives the last line of output while the command runs.
    pub last_line: Option<LastLine>,
}

/// Author of a command. A gate may treat authors differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandOrigin {
    /// The manifest, as a program and its arguments.
    #[default]
    Argv,
    /// The manifest, as text for a shell: the last argument.
    Shell,
    /// ccm itself, which calls a tool of the system.
    Ccm,
}

/// Purpose of a command. A gate may treat purposes differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// Changes the system as the manifest asks.
    #[default]
    Command,
    /// Decides whether the command of a resource runs.
    Guard,
    /// Checks content or health.
    Check,
    /// Changes the system for a resource, such as `apt-get install`.
    Tool,
    /// Reads the state of the system for a resource, such as `systemctl show`.
    Query,
}

impl Command {
    /// Returns a command without arguments, in the root directory, with an empty environment and no deadline.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            called_as: None,
            args: Vec::new(),
            cwd: "/".into(),
            environment: Vec::new(),
            stdin: None,
            timeout: None,
            identity: None,
            umask: None,
            sandbox: None,
            image: None,
            sensitive: false,
            origin: CommandOrigin::default(),
            role: Role::default(),
            last_line: None,
        }
    }

    /// Returns the text for the shell, if the manifest has written one.
    pub fn shell_text(&self) -> Option<&str> {
        self.args.last().filter(|_| self.origin == CommandOrigin::Shell)?.to_str()
    }
}

/// End of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The command ended by itself, with this code.
    Code(i32),
    /// A signal that ccm did not send ended the command.
    Signal {
        /// Number of the signal.
        number: i32,
        /// Name of the signal, such as `SIGSEGV`.
        name: String,
    },
    /// The command was ended at its deadline.
    TimedOut {
        /// Time limit of the command.
        after: Duration,
    },
    /// The command was ended because the run was cancelled.
    Cancelled,
}

/// Output of one stream: its beginning and its end, in bounded memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// First bytes, at most 1 MiB.
    pub head: Vec<u8>,
    /// Last bytes behind the head, at most 64 KiB.
    pub tail: Vec<u8>,
    /// Number of bytes dropped between the two.
    pub dropped: u64,
}

impl CapturedOutput {
    /// Returns the number of bytes that were printed in all.
    pub fn total(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.dropped
    }

    /// Returns `true` if bytes were dropped.
    pub fn truncated(&self) -> bool {
        self.dropped > 0
    }
}

/// Output of a command as printed, with secrets. It is for evaluation and captures, and must never be shown
/// or stored.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Unredacted {
    /// Standard output.
    pub stdout: CapturedOutput,
    /// Standard error.
    pub stderr: CapturedOutput,
}

/// Leaves the output out.
impl fmt::Debug for Unredacted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unredacted").finish_non_exhaustive()
    }
}

/// Process and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Number of the process.
    pub pid: i32,
    /// Name, as the kernel has it.
    pub name: String,
}

/// Number and name.
impl fmt::Display for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.pid, self.name)
    }
}

/// Result of a command that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// End of the command.
    pub exit: Exit,
    /// Standard output, redacted.
    pub stdout: CapturedOutput,
    /// Standard error, redacted.
    pub stderr: CapturedOutput,
    /// Output as it was printed; `None` if there were no secrets to look for.
    pub unredacted: Option<Box<Unredacted>>,
    /// Time that the command ran.
    pub duration: Duration,
    /// Processes that still ran after the command had ended by itself.
    pub left_running: Vec<Process>,
    /// Processes that could not be killed at the deadline: those of another user, if ccm is not root, or the
    /// last one that was seen of processes that kept starting others.
    pub unkillable: Vec<Process>,
    /// Enforced parts of the sandbox; `None` without a sandbox.
    pub enforced: Option<Enforced>,
    /// Limits of the sandbox or container that the command ran into.
    pub reached: Vec<ReachedLimit>,
    /// Container that the command ran in; `None` is this machine.
    pub container: Option<Box<ContainerOutcome>>,
}

impl Finished {
    /// Returns standard output as it was printed, which may hold secrets.
    pub fn printed_stdout(&self) -> &CapturedOutput {
        self.unredacted.as_ref().map_or(&self.stdout, |unredacted| &unredacted.stdout)
    }

    /// Returns standard error as it was printed, which may hold secrets.
    pub fn printed_stderr(&self) -> &CapturedOutput {
        self.unredacted.as_ref().map_or(&self.stderr, |unredacted| &unredacted.stderr)
    }
}

/// Reason why a command was not started or has no result. Variants that no launcher reports are not serialized.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// There is no such program.
    #[error("\"{name}\" not found{}", if name.contains('/') { "" } else { " in PATH" })]
    NotFound {
        /// Name of the program, as the command has it.
        name: String,
        /// Search path.
        path: String,
    },
    /// The program is a directory.
    #[error("\"{}\" is a directory", program.display())]
    IsDirectory {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program may not be executed.
    #[error("\"{}\" is not executable", program.display())]
    NotExecutable {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is on a file system that forbids execution.
    #[error("\"{}\" is on a file system that is mounted noexec", program.display())]
    MountedNoexec {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is neither a binary for this machine nor a script with an interpreter line.
    #[error("\"{}\" is neither an executable for the architecture of this machine nor a script that begins with #!", program.display())]
    NoInterpreter {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is a script whose interpreter is missing.
    #[error("\"{}\" needs the interpreter \"{interpreter}\", which does not exist", program.display())]
    InterpreterMissing {
        /// Path of the script.
        #[serde(with = "path")]
        program: PathBuf,
        /// Interpreter that the first line names.
        interpreter: String,
    },
    /// A file that the kernel needs to run the program is missing.
    #[error("the interpreter or loader of \"{}\" is missing", program.display())]
    LoaderMissing {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The working directory can't be entered.
    #[error("working directory \"{}\" can't be entered", path.display())]
    WorkingDirectory {
        /// Path of the directory.
        #[serde(with = "path")]
        path: PathBuf,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// The command was run, but a tracer of it withholds its exit code, or another part of this program took it.
    #[serde(skip)]
    #[error(
        "\"{}\" was run, but its exit code was taken by its tracer or by another part of this program",
        program.display()
    )]
    StatusLost {
        /// Path of the program.
        program: PathBuf,
    },
    /// ccm is not root and can't run a command as another user.
    #[serde(skip)]
    #[error(
        "`{property}` can't be changed: only root can run a command as another user, and ccm runs as uid {uid}"
    )]
    NotRoot {
        /// Property that can't be changed: `user` or `group`.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
        /// UID of the user who runs ccm.
        uid: u32,
    },
    /// The command needs a launcher, and the runner has none.
    #[serde(skip)]
    #[error("`{property}` needs a launcher, and this program names none")]
    NoLauncher {
        /// Property that needs a launcher: `user`, `umask` or `sandbox`; `cwd` with a glibc before 2.29.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
    },
    /// The launcher could not be started.
    #[serde(skip)]
    #[error("the launcher \"{}\" could not be started", launcher.display())]
    Launcher {
        /// Path of the launcher.
        launcher: PathBuf,
        /// Error of the system.
        source: std::io::Error,
    },
    /// The launcher ended before it replied.
    #[serde(skip)]
    #[error("the launcher \"{}\" ended without a reply", launcher.display())]
    NoReply {
        /// Path of the launcher.
        launcher: PathBuf,
    },
    /// A step of taking on the user, the umask or the sandbox failed.
    #[error("`{property}`: {step}")]
    Step {
        /// Property that the step belongs to.
        property: String,
        /// Step that failed, as a sentence.
        step: String,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// A path of the sandbox can't be opened to the command.
    #[error("`{property}` of the sandbox: \"{}\" can't be opened", path.display())]
    SandboxPath {
        /// Property with the path: `workdir`, `read`, `write` or `programs`.
        property: String,
        /// The path.
        #[serde(with = "path")]
        path: PathBuf,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// The kernel can't enforce the sandbox.
    #[error("this kernel can't enforce the sandbox: {}", missing.join("; "))]
    NotEnforceable {
        /// Parts that can't be enforced, each with the means that the kernel lacks.
        missing: Vec<String>,
    },
    /// The working directory exists, but not inside the sandbox.
    #[serde(skip)]
    #[error("working directory \"{}\" is not open in the sandbox", path.display())]
    DirectoryOutsideSandbox {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The program exists, but not inside the sandbox.
    #[serde(skip)]
    #[error("\"{}\" can't be seen from inside the sandbox", program.display())]
    OutsideSandbox {
        /// Path of the program.
        program: PathBuf,
    },
    /// The user or the group is not known.
    #[serde(skip)]
    #[error("`{property}` can't be used")]
    Account {
        /// Property with the name: `user` or `group`.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
        /// Error of the lookup.
        source: AccountError,
    },
    /// The user who runs ccm is not known.
    #[serde(skip)]
    #[error("the user who runs ccm can't be determined")]
    OwnIdentity {
        /// Error of the kernel.
        source: std::io::Error,
    },
    /// The directory of the manifest, where paths of a sandbox start, is missing or can't be read.
    #[serde(skip)]
    #[error("the directory of the manifest, \"{}\", can't be found", path.display())]
    ManifestDirectory {
        /// Path of the directory.
        path: PathBuf,
        /// Error of the lookup.
        source: std::io::Error,
    },
    /// The private directory of a sandbox can't be made.
    #[serde(skip)]
    #[error("the private directory of the sandbox can't be created")]
    PrivateDirectory {
        /// Error of the step that failed.
        source: std::io::Error,
    },
    /// The program lies where a sandbox may start none.
    #[serde(skip)]
    #[error("\"{name}\" is outside the directories from which this sandbox may start programs")]
    NotAllowedInSandbox {
        /// Name of the program, as the command has it.
        name: String,
        /// Directory of the manifest, below which programs may lie.
        directory: PathBuf,
    },
    /// The path of the program is not UTF-8.
    #[serde(skip)]
    #[error("\"{}\" is not UTF-8", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// The gate of the run refused the command.
    #[serde(skip)]
    #[error("{refusal}")]
    Refused {
        /// Answer of the gate.
        refusal: Refusal,
        /// `true` if the gate was asked in noop, in which nothing is approved.
        noop: bool,
    },
    /// The container of the command can't be used, or was lost while the command ran.
    #[serde(skip)]
    #[error(transparent)]
    Container(Box<ContainerError>),
    /// This program starts no containers.
    #[serde(skip)]
    #[error("this program can't start containers")]
    NoContainers,
    /// The command would need a container, and noop starts none.
    #[serde(skip)]
    #[error("noop starts no container")]
    NotInNoop,
    /// Any other error.
    #[error("\"{}\" could not be started", program.display())]
    Spawn {
        /// Path of the program.
        #[serde(with = "path")]
        program: PathBuf,
        /// Error of the system.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
}

impl StartError {
    /// Builds the failure of a resource whose command was not started, or has ended in an unknown way.
    pub fn failure(&self) -> Failure {
        let failure = match self {
            Self::Refused { refusal, .. } => Failure::refused(refusal),
            Self::StatusLost { .. } => {
                Failure { changed: true, ..Failure::from_error(FailureKind::Exit, self) }
            }
            Self::Container(error) => Failure {
                hints: error.hints.clone(),
                changed: error.has_run,
                missing: error.missing.clone().map(Into::into),
                ..Failure::from_error(
                    if error.has_run { FailureKind::Exit } else { FailureKind::Start },
                    self,
                )
            },
            _ => Failure::from_error(FailureKind::Start, self),
        };
        Failure { property: self.property().map(Into::into), ..failure }
    }

    /// Returns the property of the resource that caused the failed step.
    pub fn property(&self) -> Option<&'static str> {
        match self {
            Self::NotRoot { property, .. }
            | Self::NoLauncher { property }
            | Self::Account { property, .. } => Some(property),
            // The launcher's own steps belong to no property.
            Self::Step { property, .. } => {
                ["user", "group", "umask", "sandbox"].into_iter().find(|known| known == property)
            }
            Self::SandboxPath { .. } | Self::NotEnforceable { .. } => Some("sandbox"),
            Self::Container(error) => error.property,
            Self::NoContainers => Some("executor"),
            _ => None,
        }
    }
}

/// Urgency with which a run should end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum CancellationLevel {
    /// Go on.
    #[default]
    Go,
    /// Start nothing new, and end the running command as at its deadline.
    Stop,
    /// Kill the running command at once.
    Kill,
}

/// Request to end a run, for the parts of the run that observe it.
#[derive(Clone, Debug)]
pub struct Cancellation {
    receiver: watch::Receiver<CancellationLevel>,
    patience: Arc<Mutex<Option<Duration>>>,
}

/// Request to end a run, for the code that makes it.
#[derive(Debug)]
pub struct CancellationSource(watch::Sender<CancellationLevel>);

impl CancellationSource {
    /// Returns a source and its cancellation.
    pub fn new() -> (Self, Cancellation) {
        let (sender, receiver) = watch::channel(CancellationLevel::Go);
        (Self(sender), Cancellation { receiver, patience: Arc::default() })
    }

    /// Raises the level. A level is never lowered.
    pub fn raise(&self, level: CancellationLevel) {
        self.0.send_if_modified(|current| {
            let raised = level > *current;
            *current = level.max(*current);
            raised
        });
    }
}

impl Cancellation {
    /// Returns a cancellation that never comes.
    pub fn never() -> Self {
        CancellationSource::new().1
    }

    /// Returns the current level.
    pub fn level(&self) -> CancellationLevel {
        *self.receiver.borrow()
    }

    /// Returns the time that a stop leaves to a running tool that must not be interrupted. `None` if no such tool
    /// runs.
    pub fn patience(&self) -> Option<Duration> {
        *self.patience.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Marks a tool that must not be interrupted as running, until the mark is dropped.
    pub(crate) fn be_patient(&self, patience: Duration) -> PatienceMark<'_> {
        self.set_patience(Some(patience).filter(|patience| !patience.is_zero()));
        PatienceMark(self)
    }

    fn set_patience(&self, patience: Option<Duration>) {
        *self.patience.lock().unwrap_or_else(PoisonError::into_inner) = patience;
    }

    /// Waits until the level is reached; for ever, if the source is dropped.
    pub async fn reached(&self, level: CancellationLevel) {
        let mut receiver = self.receiver.clone();
        if receiver.wait_for(|current| *current >= level).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Mark of a running tool that must not be interrupted.
pub(crate) struct PatienceMark<'a>(&'a Cancellation);

impl Drop for PatienceMark<'_> {
    fn drop(&mut self) {
        self.0.set_patience(None);
    }
}

/// Runs complete commands, one at a time.
pub trait Runner {
    /// Takes all steps before the start of a command, without running it, and returns the enforced parts of
    /// its sandbox. The error is the reason why the command would not start. Must not be called while a
    /// command runs.
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError>;

    /// Runs a command to its end, which may be its deadline or a cancellation. Hands on each complete line of
    /// both streams as valid UTF-8 without its line end, up to 1 MiB per stream.
    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_names_its_property_unless_it_is_of_the_launcher() {
        let step = |property: &str| StartError::Step {
            property: property.to_owned(),
            step: "the user can't be set".to_owned(),
            source: std::io::Error::from_raw_os_error(1),
        };
        for property in ["user", "group", "umask", "sandbox"] {
            assert_eq!(step(property).property(), Some(property));
        }
        assert_eq!(step("launcher").property(), None);
        assert_eq!(StartError::NoLauncher { property: "umask" }.property(), Some("umask"));
    }
}
