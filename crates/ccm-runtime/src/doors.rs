//! Doors of a session to the machine.

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};

use ccm_facts::CustomFacts;
use ccm_host::{
    Cancellation, Clock, Commands, ConfigurationError, CredentialError, Files, Machine, RunnerError,
    ShellError, SystemClock, SystemFiles, SystemMachine, SystemRunner, create_file, credential, environment,
    files_below, is_not_utf8, parse_shell, read_at_most, read_beneath, read_regular, read_unnamed,
};
use ccm_redaction::Secrets;

/// Doors of a session to a machine.
///
/// Each method defaults to the machine that the program runs on, so a program implements only the doors that
/// it replaces or wraps, with the types of `ccm_host`. The state directory is not a door:
/// [`Config::state_directory`](crate::Config::state_directory) moves it.
///
/// ```
/// use ccm_runtime::{Clock, Config, Doors, Session, SystemDoors};
///
/// /// The doors of this machine, with a clock of the program's own.
/// struct OwnClock;
///
/// impl Doors for OwnClock {
///     fn clock(&self) -> Box<dyn Clock> {
///         // A wrapper would go around the one of the machine.
///         SystemDoors.clock()
///     }
/// }
///
/// let session = Session::open(Config { doors: Box::new(OwnClock), ..Config::default() });
/// ```
pub trait Doors {
    /// Opens the door to files. Long work, such as copying a file, ends early when `cancellation` is raised.
    fn files(&self, cancellation: &Cancellation) -> Box<dyn Files> {
        Box::new(SystemFiles::new(cancellation.clone()))
    }

    /// Opens the clock.
    fn clock(&self) -> Box<dyn Clock> {
        Box::new(SystemClock::new())
    }

    /// Opens the door that facts are gathered through.
    fn machine(&self) -> Box<dyn Machine> {
        Box::new(SystemMachine)
    }

    /// Opens the door to commands, once per session. It hides `secrets` in the output of commands, and starts
    /// commands with another user or a sandbox through `launcher`.
    fn commands(&self, secrets: &Secrets, launcher: Option<&Path>) -> Result<Box<dyn Commands>, RunnerError> {
        let runner = SystemRunner::new()?.redacting(secrets.clone());
        Ok(match launcher {
            Some(launcher) => Box::new(runner.with_launcher(launcher)),
            None => Box::new(runner),
        })
    }

    /// Parses shell texts with the shell of the machine, which runs nothing of them. Returns the error in each text;
    /// `None` for a valid text, and if nothing is known about it.
    fn parse_shell(&self, texts: &[&str]) -> Vec<Option<ShellError>> {
        parse_shell(texts)
    }

    /// Returns the directories of custom facts.
    fn custom_facts(&self) -> CustomFacts {
        CustomFacts::of_this_user()
    }

    /// Returns the variables of the environment that manifests see.
    fn environment(&self) -> Vec<(String, String)> {
        environment()
    }

    /// Returns `true` if a variable is missing in [`Self::environment`] because its value is not UTF-8 text.
    fn is_not_utf8(&self, variable: &str) -> bool {
        is_not_utf8(variable)
    }

    /// Reads a credential of the process.
    fn credential(&self, name: &str) -> Result<String, CredentialError> {
        credential(name)
    }

    /// Reads the private key of the machine, of at most `limit` bytes; `None` if it does not exist.
    fn host_key(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ConfigurationError> {
        read_unnamed(path, limit)
    }

    /// Reads the file of variables beside a manifest, of at most `limit` bytes; `None` if it does not exist.
    fn dotenv(&self, path: &Path, limit: u64) -> Result<Option<Vec<u8>>, ConfigurationError> {
        read_unnamed(path, limit)
    }

    /// Reads a data file of at most `limit` bytes below a directory, without leaving it; `None` if the file does not
    /// exist. A directory that does not exist is an error of kind [`io::ErrorKind::NotFound`].
    fn data_file(&self, directory: &Path, name: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
        read_beneath(directory, name, limit)
    }

    /// Reads a text of at most `limit` bytes that the caller of the session names; standard input without a
    /// path.
    fn input(&self, path: Option<&Path>, limit: u64) -> io::Result<Vec<u8>> {
        read_at_most(path, limit)
    }

    /// Reads a regular file of at most `limit` bytes that somebody with fewer rights than this process may have named.
    /// Anything else is not even opened.
    fn regular_input(&self, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
        read_regular(path, limit)
    }

    /// Creates a file that the caller of the session names. An existing file is an error.
    fn create_file(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        create_file(path, content)
    }

    /// Returns the regular files below a directory that the caller of the session names.
    fn files_below(&self, directory: &Path) -> io::Result<Vec<PathBuf>> {
        files_below(directory)
    }
}

/// Doors to the machine that the program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemDoors;

impl Doors for SystemDoors {}

/// Opened doors, which the inputs of a session share with it.
pub(crate) struct OpenDoors {
    pub(crate) doors: Box<dyn Doors + Send>,
    /// Door to files outside of runs.
    pub(crate) files: Box<dyn Files>,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) machine: Box<dyn Machine>,
    /// The runner keeps the constant parts of all runs: its base environment and an empty network.
    commands: OnceCell<Box<dyn Commands>>,
}

impl OpenDoors {
    pub(crate) fn new(doors: Box<dyn Doors + Send>, cancellation: &Cancellation) -> Self {
        let files = doors.files(cancellation);
        let (clock, machine) = (doors.clock(), doors.machine());
        Self { doors, files, clock, machine, commands: OnceCell::new() }
    }

    /// Reads a file of at most `limit` bytes, or standard input without a path. A file that somebody with fewer rights may
    /// have named has to be a regular one.
    pub(crate) fn input(&self, path: Option<&Path>, limit: u64, is_bounded: bool) -> io::Result<Vec<u8>> {
        match path.filter(|_| is_bounded) {
            Some(path) => self.doors.regular_input(path, limit),
            None => self.doors.input(path, limit),
        }
    }

    /// Returns the door to commands, if it was opened.
    pub(crate) fn opened_commands(&self) -> Option<&dyn Commands> {
        self.commands.get().map(|commands| &**commands)
    }

    /// Returns the door to commands, which is opened on first use.
    pub(crate) fn commands(
        &self,
        secrets: &Secrets,
        launcher: Option<&Path>,
    ) -> Result<&dyn Commands, RunnerError> {
        if let Some(commands) = self.commands.get() {
            return Ok(&**commands);
        }
        let opened = self.doors.commands(secrets, launcher)?;
        Ok(&**self.commands.get_or_init(|| opened))
    }
}
