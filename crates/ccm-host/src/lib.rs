//! The only door to the machine: commands, files, the clock, users, signals, facts of the kernel.
//!
//! Every access to the machine is a trait with one real implementation, so that its users can be tested with
//! another one and without a machine. Only this crate may use the process, filesystem, environment and clock
//! calls of the standard library, and `nix`, `rustix` and `libc`.
//!
//! A [`Runner`] runs a [`Command`], and an [`Executor`] runs the launches of a manifest. [`Files`] reads and changes
//! files, [`LocalSystem`] looks up accounts and programs, [`Machine`] reads the kernel, and [`Clock`] returns the time.
//! [`Host`] holds the doors that a run has. The module [`state`] has the state directory and its lock.
//!
//! This crate must never know a manifest, a resource type or a policy, and must never decide what to run or to write.
//!
//! # Running commands from another program
//!
//! Make a runner, start a command with a directory and an environment, read its lines while it runs, wait for
//! its end, and remove the directory:
//!
//! ```
//! use std::time::Duration;
//!
//! use ccm_host::{Cancellation, Command, Exit, LocalSystem as _, Runner as _, SystemRunner};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
//! let runner = SystemRunner::new()?;
//! let workdir = runner.private_directory(None)?;
//!
//! let mut environment = runner.base_environment();
//! environment.push(("GREETING".to_owned(), "hello".to_owned()));
//! let command = Command {
//!     args: ["-c", "echo $GREETING; until test -e answer; do sleep 0.01; done; echo bye"].map(Into::into).into(),
//!     cwd: workdir.path().into(),
//!     environment,
//!     timeout: Some(Duration::from_secs(30)),
//!     ..Command::new("/bin/sh")
//! };
//!
//! let mut lines = Vec::new();
//! let mut on_line = |_stream, line: &str| {
//!     // The command still runs, and waits for this file.
//!     if line == "hello" {
//!         std::fs::write(workdir.path().join("answer"), "").expect("a file");
//!     }
//!     lines.push(line.to_owned());
//! };
//! let finished = runtime.block_on(runner.run(&command, &Cancellation::never(), &mut on_line))?;
//! assert_eq!(finished.exit, Exit::Code(0));
//! assert_eq!(lines, ["hello", "bye"]);
//!
//! workdir.remove()?;
//! # Ok(())
//! # }
//! ```
//!
//! A command as another user, with a umask or in a [`Sandbox`] is started by a [`launcher`], which can be
//! this program itself, as in `examples/sandbox.rs`.
//!
//! An [`Executor`] is one level above: it resolves users, paths and programs by their names, as a manifest
//! has them.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this crate is the door that the lints guard"
)]

mod access_list;
mod account;
mod clock;
mod command;
mod configuration;
mod credentials;
mod editor;
mod environment;
mod executor;
mod files;
mod journal;
pub mod launcher;
mod local_time;
mod machine;
mod name_lookup;
mod non_blocking_writer;
mod piped_process;
mod private;
mod process;
mod process_handle;
mod programs;
mod query_program;
mod question;
mod raw;
mod script;
pub mod signals;
mod ssh_keygen;
mod started_by;
pub mod state;
mod text;
mod tree;
mod trusted;
mod writers;

pub use account::{Account, AccountError, Accounts, Identity, UserEntry, gid_of, uid_of, viewing_as};
pub use clock::{Clock, SystemClock, after};
pub use command::{
    AllowedPrograms, Cancellation, CancellationLevel, CancellationSource, CapturedOutput, Command,
    CommandOrigin, Enforced, Exit, Finished, LastLine, Means, OutputCollector, Process, ReachedLimit, Role,
    Runner, RunnerError, SEARCH_PATH, Sandbox, SandboxLimit, SandboxLimits, ShellError, StartError,
    SystemRunner, Unredacted, log_command_end, log_command_start, never_opened, parse_shell,
    running_processes, search_path, signal_name,
};
#[doc(hidden)]
pub use command::{SandboxLayer, launch_messages_again};
pub use configuration::{ConfigurationDirectory, ConfigurationError, read_unnamed};
pub use credentials::{CredentialError, credential, credential_of_file};
pub use editor::{EditError, edit_in_memory};
pub use environment::{
    Terminal, absolute, environment, is_not_utf8, is_utf8_locale, output_is_journal, output_width,
    own_arguments, own_program, random, random_secret, variable,
};
pub use executor::{
    BaseEnvironment, ClosedPlan, Commands, ContainerError, ContainerNetwork, ContainerOutcome,
    ContainerRequest, ContainerReuse, ContainerSettings, EngineAddress, Executor, FollowingExecutor, Launch,
    LaunchPlan, LocalExecutor, LocalSystem, PullPolicy, Purpose, RunnerMiddleware, SandboxRequest,
    VersionCommands, Volume, Workdir, run_launched,
};
pub use files::{
    AfterFailure, BACKUP_METADATA_ENDING, BACKUPS, BackupMetadata, BackupName, ChangedPart, ClosedDirectory,
    ContentUse, EntryInfo, EntryKind, ExtractionTarget, FileAttributes, FileChange, FileError, FileInfo,
    FileKind, FileStep, Files, FilesMiddleware, HashPolicy, InspectOptions, NewContent, NewFile, OpenFile,
    PathInfo, PathTrust, ReadContent, StagedFile, SyncQueue, SystemFiles, TreeEntry, TreeEntryKind, TreeSize,
    TrustedPath, UserFile, UserFileContent, WalkStep, backup_stem, create_file, empty_directory, entry_at,
    files_below, is_mount_point, is_temp_path, is_transient, is_writable_by_others, private_copy,
    read_at_most, read_beneath, read_pieces, read_regular, sha256, slug, temp_name, temp_path, unescape,
    unnamed_file, walk_order,
};
pub use journal::{JOURNAL_SOCKET, send_to_journal};
pub use local_time::LocalZone;
pub use machine::{Interface, InterfaceFlag, Kernel, Machine, Space, SystemMachine};
pub use name_lookup::{NameLookupError, look_up_name};
pub use non_blocking_writer::{NonBlockingWriter, write_error_within};
pub use piped_process::{PipedProcess, ProcessPipes};
pub use private::{PrivateDirectory, new_temporary_path, remove_private_leftovers};
pub use process::{PrepareError, hide_memory, own_process, prepare_process, process_start, run_thread};
pub use process_handle::{RunningProcess, SignalError, full_signal_name};
pub use programs::{
    LocatedKind, LocatedProgram, PathLink, canonical_path, current_user, locate_program, located_kind,
    read_link,
};
pub use question::{ask, ask_secret, can_ask, is_yes};
pub use script::interpreter_words;
pub use ssh_keygen::{SigningError, SigningKey, agent_keys, own_keys, public_key_of, sign_with_ssh_keygen};
pub use started_by::started_by;
pub use text::{STANDARD_INPUT, TextError, file_text, read_text};
pub use tree::DirectoryTree;
pub use trusted::{TrustError, TrustedDirectory, is_of_root};
pub use writers::{OtherWriters, Writer};

use std::convert::Infallible;
use std::future::Future;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::time::Duration;

use ccm_model::Stream;

/// Future of the current thread that borrows. Trait objects return it in place of an `async fn`.
pub type Local<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Doors to the machine that a run has.
#[derive(Clone, Copy)]
pub struct Host<'a> {
    /// Starts commands.
    pub executor: &'a dyn Executor,
    /// Looks up accounts, programs and variables of this machine.
    pub system: &'a dyn LocalSystem,
    /// Reads and changes files.
    pub files: &'a dyn Files,
    /// Returns the time.
    pub clock: &'a dyn Clock,
}

impl Host<'_> {
    /// Waits, but no longer than the run lasts. Returns `true` if the whole time has passed.
    pub async fn pause(&self, duration: Duration, cancellation: &Cancellation) -> bool {
        tokio::select! {
            biased;
            () = cancellation.reached(CancellationLevel::Stop) => false,
            () = self.clock.wait(duration) => true,
        }
    }

    /// Runs a tool that must not be interrupted, such as one that installs packages. After a stop the tool may
    /// still start, and has `patience` to finish before it is terminated. A kill ends the tool at once. If
    /// `on_line` returns `Break`, the tool is terminated without patience.
    pub async fn run_patiently(
        &self,
        command: &Command,
        cancellation: &Cancellation,
        patience: Duration,
        on_line: &mut dyn FnMut(Stream, &str) -> ControlFlow<()>,
    ) -> Result<Finished, StartError> {
        let (source, patient) = CancellationSource::new();
        let _mark = cancellation.be_patient(patience);
        let mut on_line = |stream, line: &str| {
            if on_line(stream, line).is_break() {
                source.raise(CancellationLevel::Stop);
            }
        };
        let forward_cancellation = async {
            tokio::select! {
                biased;
                () = cancellation.reached(CancellationLevel::Kill) => {}
                () = async {
                    cancellation.reached(CancellationLevel::Stop).await;
                    self.clock.wait(patience).await;
                } => {
                    source.raise(CancellationLevel::Stop);
                    cancellation.reached(CancellationLevel::Kill).await;
                }
            }
            source.raise(CancellationLevel::Kill);
            std::future::pending::<Infallible>().await
        };
        tokio::select! {
            biased;
            never = forward_cancellation => match never {},
            finished = self.executor.run_tool(command, &patient, &mut on_line) => finished,
        }
    }
}
