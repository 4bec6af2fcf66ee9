//! Running a command so that it can't hang, can't flood memory and leaves nothing behind unnoticed.

mod capture;
pub(crate) mod environment;
pub(crate) mod launch_protocol;
mod lines;
pub(crate) mod lookup;
mod network;
pub(crate) mod sandbox;
mod spawn;
mod streams;
mod system;
mod table;
mod trace;
mod tree;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use ccm_model::Stream;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use crate::Local;
use crate::account::{AccountError, Identity};
use launch_protocol::{io_error, path};

#[cfg(feature = "testing")]
pub use sandbox::Layer;
pub use sandbox::{Enforced, Means, Sandbox, never_opened};
pub use system::{RunnerError, SystemRunner};

/// A command, ready to be started: nothing in it is looked up, split or expanded any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program, an absolute path.
    pub program: PathBuf,
    /// Its arguments, without the program's own name.
    pub args: Vec<OsString>,
    /// Where it starts.
    pub cwd: PathBuf,
    /// All of its environment; names are unique.
    pub environment: Vec<(String, String)>,
    /// What it reads from standard input; else that is the null device.
    pub stdin: Option<String>,
    /// When it is ended; none means never.
    pub timeout: Option<Duration>,
    /// Who it runs as; else that is who ccm runs as. Only root can run a command as somebody else.
    pub identity: Option<Identity>,
    /// The permissions that its new files do not get; else that is what ccm has.
    pub umask: Option<u32>,
    /// What it is kept from; else that is what its user may not do.
    pub sandbox: Option<Sandbox>,
    /// Keeps its arguments out of debug messages.
    pub sensitive: bool,
}

impl Command {
    /// A command without arguments, in the root directory, with nothing in its environment and no deadline.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: "/".into(),
            environment: Vec::new(),
            stdin: None,
            timeout: None,
            identity: None,
            umask: None,
            sandbox: None,
            sensitive: false,
        }
    }
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By a signal that was not ours.
    Signal {
        /// Its number.
        number: i32,
        /// Its name, such as `SIGSEGV`.
        name: String,
    },
    /// It was still running at its deadline, and was ended.
    TimedOut {
        /// The time it had.
        after: Duration,
    },
    /// It was ended because the run was.
    Cancelled,
}

/// What is kept of one stream: its beginning and its end, in bounded memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes, at most 1 MiB.
    pub head: Vec<u8>,
    /// The last bytes of what did not fit into the head, at most 64 KiB.
    pub tail: Vec<u8>,
    /// How many bytes between the two were dropped.
    pub dropped: u64,
}

impl Captured {
    /// How many bytes were printed in all.
    pub fn total(&self) -> u64 {
        (self.head.len() + self.tail.len()) as u64 + self.dropped
    }

    /// Tells whether anything was dropped.
    pub fn truncated(&self) -> bool {
        self.dropped > 0
    }
}

/// What a command really printed, where something of it must not be shown. It is there to be judged and handed
/// on; nothing of it may be shown or stored as it is.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Unredacted {
    /// What is kept of its standard output.
    pub stdout: Captured,
    /// What is kept of its standard error.
    pub stderr: Captured,
}

/// Says nothing of what was printed.
impl fmt::Debug for Unredacted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Unredacted").finish_non_exhaustive()
    }
}

/// A process and what it calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: i32,
    /// Its name, as the kernel knows it.
    pub name: String,
}

/// Number and name.
impl fmt::Display for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.pid, self.name)
    }
}

/// What became of a command that was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// How it ended.
    pub exit: Exit,
    /// What is kept of its standard output, without what must not be shown.
    pub stdout: Captured,
    /// What is kept of its standard error, without what must not be shown.
    pub stderr: Captured,
    /// What it really printed; none if nothing had to be hidden.
    pub unredacted: Option<Box<Unredacted>>,
    /// How long it ran.
    pub duration: Duration,
    /// What it left running when it ended by itself.
    pub left_running: Vec<Process>,
    /// What could not be killed at the deadline: processes of another user, when ccm is not root.
    pub unkillable: Vec<Process>,
    /// What of its sandbox was enforced; none without a sandbox.
    pub enforced: Option<Enforced>,
}

impl Finished {
    /// Its standard output as it was printed. It may hold what must not be shown.
    pub fn printed_stdout(&self) -> &Captured {
        self.unredacted.as_ref().map_or(&self.stdout, |unredacted| &unredacted.stdout)
    }

    /// The same of its standard error.
    pub fn printed_stderr(&self) -> &Captured {
        self.unredacted.as_ref().map_or(&self.stderr, |unredacted| &unredacted.stderr)
    }
}

/// The reason why a command was not started. Variants that no launcher reports are not serialized.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// No such program.
    #[error("\"{name}\" not found{}", if name.contains('/') { "" } else { " in PATH" })]
    NotFound {
        /// As it was asked for.
        name: String,
        /// The path that was searched.
        path: String,
    },
    /// The program is a directory.
    #[error("\"{}\" is a directory", program.display())]
    IsDirectory {
        /// The program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program may not be executed.
    #[error("\"{}\" is not executable", program.display())]
    NotExecutable {
        /// The program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program lies where nothing may be executed.
    #[error("\"{}\" is on a file system that is mounted noexec", program.display())]
    MountedNoexec {
        /// The program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is neither a binary for this machine nor a script with an interpreter line.
    #[error("\"{}\" is neither a program of this machine nor a script that begins with #!", program.display())]
    NoInterpreter {
        /// The program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The program is a script whose interpreter is missing.
    #[error("\"{}\" needs the interpreter \"{interpreter}\", which is not there", program.display())]
    InterpreterMissing {
        /// The script.
        #[serde(with = "path")]
        program: PathBuf,
        /// What its first line names.
        interpreter: String,
    },
    /// A file that the kernel needs to run the program is missing.
    #[error("the interpreter or loader of \"{}\" is missing", program.display())]
    LoaderMissing {
        /// The program.
        #[serde(with = "path")]
        program: PathBuf,
    },
    /// The working directory can't be entered.
    #[error("working directory \"{}\" can't be entered", path.display())]
    WorkingDirectory {
        /// The directory.
        #[serde(with = "path")]
        path: PathBuf,
        /// Why not.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// It was started, but something else in this process took its exit code before it was read.
    #[serde(skip)]
    #[error("\"{}\" ended, but its exit code was taken by another part of this program", program.display())]
    StatusLost {
        /// The program.
        program: PathBuf,
    },
    /// It can't be run as somebody else, because ccm is not root.
    #[serde(skip)]
    #[error(
        "`{property}` can't be changed: only root can run a command as somebody else, and this is user {uid}"
    )]
    NotRoot {
        /// What was asked to change: `user` or `group`.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
        /// Who ccm runs as.
        uid: u32,
    },
    /// It needs a launcher, and the runner was given none.
    #[serde(skip)]
    #[error("`{property}` needs a launcher, and this program names none")]
    NoLauncher {
        /// What needs it: `user`, `umask` or `sandbox`.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
    },
    /// The launcher could not be started.
    #[serde(skip)]
    #[error("the launcher \"{}\" could not be started", launcher.display())]
    Launcher {
        /// The launcher.
        launcher: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The launcher ended before it said whether it could become the program.
    #[serde(skip)]
    #[error("the launcher \"{}\" ended without an answer", launcher.display())]
    NoAnswer {
        /// The launcher.
        launcher: PathBuf,
    },
    /// A step on the way to the user, the umask or the sandbox failed.
    #[error("`{property}`: {step}")]
    Step {
        /// The property that asked for it.
        property: String,
        /// What could not be done.
        step: String,
        /// Why not.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// A path of the sandbox can't be opened to the command.
    #[error("`{property}` of the sandbox: \"{}\" can't be opened to it", path.display())]
    SandboxPath {
        /// Where it is named: `workdir`, `read` or `write`.
        property: String,
        /// The path.
        #[serde(with = "path")]
        path: PathBuf,
        /// Why not.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
    /// The kernel can't enforce what the sandbox asks for.
    #[error("this kernel can't enforce the sandbox: {}", missing.join("; "))]
    NotEnforceable {
        /// What it can't, and what it lacks for it.
        missing: Vec<String>,
    },
    /// The working directory is there, but not inside of the sandbox.
    #[serde(skip)]
    #[error("working directory \"{}\" is not open in the sandbox", path.display())]
    DirectoryOutsideSandbox {
        /// The directory.
        path: PathBuf,
    },
    /// The program is there, but not inside of the sandbox.
    #[serde(skip)]
    #[error("\"{}\" can't be seen from inside the sandbox", program.display())]
    OutsideSandbox {
        /// The program.
        program: PathBuf,
    },
    /// The user or the group is not known.
    #[serde(skip)]
    #[error("`{property}` can't be taken on")]
    Account {
        /// The property that names it: `user` or `group`.
        #[serde(skip)] // Else serde borrows the static text from its input.
        property: &'static str,
        /// The error of the lookup.
        source: AccountError,
    },
    /// The user who runs ccm is not known.
    #[serde(skip)]
    #[error("it can't be told who ccm runs as")]
    OwnIdentity {
        /// The error of the kernel.
        source: std::io::Error,
    },
    /// The directory of the manifest, where paths of a sandbox start, is missing or can't be read.
    #[serde(skip)]
    #[error("the directory of the manifest, \"{}\", can't be found", path.display())]
    ManifestDirectory {
        /// The directory.
        path: PathBuf,
        /// The error of the lookup.
        source: std::io::Error,
    },
    /// The private directory of a sandbox can't be made.
    #[serde(skip)]
    #[error("no private directory can be made for the sandbox")]
    PrivateDirectory {
        /// The step that failed.
        source: std::io::Error,
    },
    /// The program lies where a sandbox starts none.
    #[serde(skip)]
    #[error("\"{name}\" lies outside of what a sandbox may start")]
    NotAllowedInSandbox {
        /// The program, as it was asked for.
        name: String,
        /// Directory of the manifest, below which programs may lie.
        directory: PathBuf,
    },
    /// The path of the program is not UTF-8.
    #[serde(skip)]
    #[error("\"{}\" is no text", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
    },
    /// Anything else.
    #[error("\"{}\" could not be started", program.display())]
    Spawn {
        /// The program.
        #[serde(with = "path")]
        program: PathBuf,
        /// Why not.
        #[serde(with = "io_error")]
        source: std::io::Error,
    },
}

impl StartError {
    /// Returns the property of the resource that asked for the step that failed.
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
            _ => None,
        }
    }
}

/// How urgently a run should end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// It should not.
    #[default]
    Go,
    /// Start nothing new, end the running command as at a deadline.
    Stop,
    /// Kill the running command at once.
    Kill,
}

/// The end of a run that may come from outside, as its parts see it.
#[derive(Clone, Debug)]
pub struct Cancellation(watch::Receiver<Level>);

/// The end of a run that may come from outside, as whoever causes it sees it.
#[derive(Debug)]
pub struct CancellationSource(watch::Sender<Level>);

impl CancellationSource {
    /// Makes the two ends.
    pub fn new() -> (Self, Cancellation) {
        let (sender, receiver) = watch::channel(Level::Go);
        (Self(sender), Cancellation(receiver))
    }

    /// Raises the urgency; it never falls.
    pub fn raise(&self, level: Level) {
        self.0.send_if_modified(|current| {
            let raised = level > *current;
            *current = level.max(*current);
            raised
        });
    }
}

impl Cancellation {
    /// A cancellation that never comes.
    pub fn never() -> Self {
        CancellationSource::new().1
    }

    /// How urgent it is now.
    pub fn level(&self) -> Level {
        *self.0.borrow()
    }

    /// Waits until it is at least that urgent; for ever, if whoever could cause it is gone.
    pub async fn reached(&self, level: Level) {
        let mut receiver = self.0.clone();
        if receiver.wait_for(|current| *current >= level).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Runs commands, one at a time.
pub trait Runner {
    /// Does everything that comes before a command begins, and not the command: the error is what would keep it from
    /// starting. Does not look for the program. Not for while a command runs.
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError>;

    /// Runs a command to its end, which may be its deadline or a cancellation. Hands on every line of both
    /// streams when it is complete, valid UTF-8, without its end, until a stream has filled its share.
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
            step: "it can't be taken on".to_owned(),
            source: std::io::Error::from_raw_os_error(1),
        };
        for property in ["user", "group", "umask", "sandbox"] {
            assert_eq!(step(property).property(), Some(property));
        }
        assert_eq!(step("launcher").property(), None);
        assert_eq!(StartError::NoLauncher { property: "umask" }.property(), Some("umask"));
    }
}
