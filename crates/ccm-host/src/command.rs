//! Commands, their results, and the runner that prevents hanging, excessive memory and unnoticed leftover
//! processes.

mod allowed_programs;
pub(crate) mod base_environment;
mod cancellation;
mod capture;
mod collector;
mod control_group;
mod exit;
mod last_line;
pub(crate) mod launch_protocol;
pub(crate) mod launch_server;
mod launcher_program;
pub(crate) mod limits;
mod lines;
pub(crate) mod lookup;
pub(crate) mod mark;
mod network;
pub(crate) mod sandbox;
mod shell_parser;
mod spawn;
mod start_error;
mod streams;
mod system;
mod table;
mod trace;
mod tree;

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_model::Stream;

use crate::Local;
use crate::account::Identity;
use crate::executor::ContainerOutcome;

pub use allowed_programs::AllowedPrograms;
pub use base_environment::{SEARCH_PATH, search_path};
pub use cancellation::{Cancellation, CancellationLevel, CancellationSource};
pub use collector::OutputCollector;
pub use exit::Exit;
pub use last_line::LastLine;
#[doc(hidden)]
pub use launch_protocol::launch_messages_again;
pub use limits::{ReachedLimit, SandboxLimit, SandboxLimits};
#[doc(hidden)]
pub use sandbox::SandboxLayer;
pub use sandbox::{Enforced, Means, Sandbox, never_opened};
pub use shell_parser::{ShellError, parse_shell};
pub(crate) use spawn::spawn_piped;
pub use start_error::StartError;
pub use system::{RunnerError, SystemRunner, signal_name};
pub use table::running as running_processes;
pub(crate) use table::{ProcessEntry, read as process_table, read_one as table_entry, running_since};
pub use trace::{log_command_end, log_command_start};

/// Finds a program by its name in a search path, as a shell does.
pub(crate) fn find_program(name: &str, path: &str) -> Result<PathBuf, StartError> {
    lookup::find(name, path, Path::new("."))
}

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
    /// Bytes of standard input; `None` is the null device.
    pub stdin: Option<Vec<u8>>,
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
    /// The process holds a pipe to the output of its command. If it writes after the end of the command, it usually ends.
    pub holds_output: bool,
}

impl Process {
    /// Builds a process that holds no pipe of its command.
    pub fn new(pid: i32, name: impl Into<String>) -> Self {
        Self { pid, name: name.into(), holds_output: false }
    }
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
