//! The runner of this machine: starting a command and following it to its end.

mod start;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use ccm_model::Stream;
use ccm_redaction::Secrets;
use nix::sys::signal::Signal;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitIdStatus, getpid, pidfd_open, waitid};
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};

use start::{identity_change, preflight, read_reply, refusal, start};

use super::control_group::{ControlGroup, ControlGroups};
use super::launch_protocol::LaunchReply;
use super::launch_server::LaunchServer;
use super::launcher_program::LauncherProgram;
use super::mark::Mark;
use super::sandbox::SandboxLayer;
use super::spawn::Spawned;
use super::streams::Streams;
use super::tree::{Baseline, ProcessTree};
use super::{
    Cancellation, CancellationLevel, CapturedOutput, Command, Enforced, Exit, Finished, ReachedLimit, Runner,
    Sandbox, StartError, base_environment, lookup, network, table, trace,
};
use crate::account::{Account, AccountDatabases, AccountError, Identity};
use crate::executor::LocalSystem;
use crate::private::PrivateDirectory;
use crate::raw::ChangeDirectory;
use crate::{Local, after, raw};

/// Lock of the running command, with the mark of the last one. With two commands at once, an orphan could
/// belong to either.
///
/// This is the only global state of the libraries of ccm, because the kernel assigns orphans and limits to a
/// process and not to a part of it.
pub(super) static RUN_LOCK: Mutex<Option<Mark>> = Mutex::const_new(None);

/// Maximum time that a tracer of a command may keep its exit code from this process.
const MAX_TRACED: Duration = Duration::from_secs(1);
/// Interval at which the exit code is looked for.
const TRACED_INTERVAL: Duration = Duration::from_millis(10);

/// Error that keeps this process from running commands.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// This process can't become a subreaper.
    #[error("this process can't adopt the processes that its commands leave running")]
    Subreaper {
        /// Error of the kernel.
        source: io::Error,
    },
    /// The kernel has no handles for processes; Linux has them since 5.3.
    #[error("the kernel does not offer handles for processes (pidfd)")]
    Handles {
        /// Error of the kernel.
        source: io::Error,
    },
    /// The table of processes can't be read.
    #[error("\"/proc\" does not show the processes of this machine")]
    Table,
    /// Exit codes of commands can't be read.
    #[error("the signal SIGCHLD can't be given its default effect")]
    ChildSignal {
        /// Error of the kernel.
        source: io::Error,
    },
}

/// Runs commands on this machine.
///
/// Only one command runs at a time in a process, whatever the number of runners; other commands wait. A
/// runner makes its process a subreaper: orphans of a command become children of this process. Each command
/// lowers the limit of file locks (`RLIMIT_LOCKS`) of this process, which Linux does not enforce, so that
/// processes can be distinguished from those of other commands. A runner must be polled in a runtime with I/O
/// and time, in a process that ignores `SIGPIPE`, as Rust programs do.
#[derive(Debug)]
pub struct SystemRunner {
    environment: OnceLock<Vec<(String, String)>>,
    accounts: AccountDatabases,
    /// `None` if the C library is too old; then a launcher starts every command.
    change_directory: Option<ChangeDirectory>,
    launcher: Option<PathBuf>,
    /// The launcher in the form that starts sandboxes, opened for the first sandbox.
    sandbox_launcher: OnceLock<LauncherProgram>,
    /// Server that starts launchers of sandboxes, started for the first sandbox; `None` if that is not possible.
    launch_server: OnceLock<Option<LaunchServer>>,
    /// Empty network, made for the first sandbox; `None` if that is not possible.
    network: OnceLock<Option<OwnedFd>>,
    /// Directories of control groups, found for the first sandbox.
    control_groups: OnceLock<ControlGroups>,
    switched_off: Vec<SandboxLayer>,
    secrets: Secrets,
}

impl SystemRunner {
    /// Prepares this process for running commands.
    pub fn new() -> Result<Self, RunnerError> {
        let children = |source| RunnerError::ChildSignal { source };
        if raw::is_ignored(Signal::SIGCHLD).map_err(children)? {
            raw::set_default(Signal::SIGCHLD).map_err(children)?;
        }
        let us = getpid();
        pidfd_open(us, PidfdFlags::empty()).map_err(|error| RunnerError::Handles { source: error.into() })?;
        table::read_one(us.as_raw_nonzero().get()).ok_or(RunnerError::Table)?;
        nix::sys::prctl::set_child_subreaper(true)
            .map_err(|error| RunnerError::Subreaper { source: error.into() })?;
        Ok(Self {
            environment: OnceLock::new(),
            accounts: AccountDatabases::of_this_machine(),
            change_directory: ChangeDirectory::find(),
            launcher: None,
            sandbox_launcher: OnceLock::new(),
            launch_server: OnceLock::new(),
            network: OnceLock::new(),
            control_groups: OnceLock::new(),
            switched_off: Vec::new(),
            secrets: Secrets::new(),
        })
    }

    /// Sets the program that starts commands with a user, a umask or a sandbox. Its `main` has to begin with
    /// [`launcher::begin`](crate::launcher::begin). `/proc/self/exe` is this program itself.
    ///
    /// The first sandbox starts a process that starts all sandboxes of this runner. Apart from the umask, state of this
    /// process that is changed later, such as a resource limit, does not reach them.
    #[must_use]
    pub fn with_launcher(self, path: impl Into<PathBuf>) -> Self {
        Self {
            launcher: Some(path.into()),
            sandbox_launcher: OnceLock::new(),
            launch_server: OnceLock::new(),
            ..self
        }
    }

    /// Switches a layer of sandboxes off, as on a kernel without it.
    #[doc(hidden)]
    #[must_use]
    pub fn without(mut self, layer: SandboxLayer) -> Self {
        self.switched_off.push(layer);
        self
    }

    /// Starts every command through the launcher, as with a C library that can set no working directory.
    #[doc(hidden)]
    #[must_use]
    pub fn with_old_c_library(self) -> Self {
        Self { change_directory: None, ..self }
    }

    /// Returns the empty network for a sandbox without a network. A sandbox with Unix sockets gets a network
    /// of its own, because in a shared one sandboxes could reach each other's sockets by name.
    fn network(&self, sandbox: Option<&Sandbox>) -> Option<BorrowedFd<'_>> {
        sandbox.filter(|sandbox| !sandbox.network && !sandbox.unix_sockets)?;
        self.network.get_or_init(network::empty).as_ref().map(AsFd::as_fd)
    }

    /// Makes the control group of a sandbox. Without root there is none, and it limits nothing.
    fn control_group(&self, sandbox: Option<&Sandbox>) -> ControlGroup {
        let is_off = self.switched_off.contains(&SandboxLayer::ControlGroups);
        let sandbox = sandbox.filter(|_| !is_off && nix::unistd::geteuid().is_root());
        let take =
            |sandbox: &Sandbox| self.control_groups.get_or_init(ControlGroups::find).take(&sandbox.limits);
        sandbox.map(take).unwrap_or_default()
    }

    /// Returns the directories of control groups, if the sandbox of a command has such a group.
    fn groups_of(&self, sandbox: Option<&Sandbox>) -> Option<&ControlGroups> {
        sandbox.and_then(|_| self.control_groups.get())
    }

    /// Redacts these values in the output of commands before anyone reads it. Values added later count for
    /// commands that start after that.
    #[must_use]
    pub fn redacting(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }
}

impl Runner for SystemRunner {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        preflight(self, command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(run(self, command, cancellation, on_line))
    }
}

impl LocalSystem for SystemRunner {
    fn find(&self, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        lookup::find(name, path, cwd)
    }

    fn why_not_found(&self, name: &str, path: &str, cwd: &Path) -> Option<StartError> {
        lookup::why_not_found(name, path, cwd)
    }

    fn find_as(
        &self,
        identity: &Identity,
        name: &str,
        path: &str,
        cwd: &Path,
    ) -> Result<PathBuf, StartError> {
        lookup::find_as(identity, name, path, cwd)
    }

    fn account(&self, user: &str) -> Result<Account, AccountError> {
        self.accounts.account(user)
    }

    fn group(&self, name: &str) -> Result<u32, AccountError> {
        self.accounts.gid(name)
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        self.environment.get_or_init(|| base_environment::of_this_user(&self.accounts)).clone()
    }

    fn inherited_environment(&self) -> Vec<(String, String)> {
        crate::environment()
    }

    fn own_identity(&self) -> io::Result<Identity> {
        Identity::own()
    }

    fn may_become(&self, identity: &Identity) -> Result<(), StartError> {
        let lookup = |source| StartError::Spawn { program: PathBuf::new(), source };
        identity_change(identity, &Identity::own().map_err(lookup)?).map(drop)
    }

    fn private_directory(&self, owner: Option<&Identity>) -> io::Result<PrivateDirectory> {
        PrivateDirectory::make(owner)
    }

    fn private_parent(&self) -> io::Result<PathBuf> {
        PrivateDirectory::parent()
    }
}

async fn run(
    runner: &SystemRunner,
    command: &Command,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(Stream, &str),
) -> Result<Finished, StartError> {
    let mut last_mark = RUN_LOCK.lock().await;
    if cancellation.level() > CancellationLevel::Go {
        return Ok(Finished {
            exit: Exit::Cancelled,
            stdout: CapturedOutput::default(),
            stderr: CapturedOutput::default(),
            unredacted: None,
            duration: Duration::ZERO,
            left_running: Vec::new(),
            unkillable: Vec::new(),
            enforced: None,
            reached: Vec::new(),
            container: None,
        });
    }
    trace::log_command_start(command, &runner.secrets);
    let mark = Mark::set_next(*last_mark);
    *last_mark = mark.or(*last_mark);
    let result = run_started(runner, command, mark, cancellation, on_line).await;
    trace::log_command_end(command, &result);
    result
}

/// Starts a command after it has got the lock, and waits for its end.
async fn run_started(
    runner: &SystemRunner,
    command: &Command,
    mark: Option<Mark>,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(Stream, &str),
) -> Result<Finished, StartError> {
    let baseline = Baseline::now(mark);
    let started = Instant::now();
    let mut control_group = runner.control_group(command.sandbox.as_ref());
    let Spawned { pid, stdin, stdout, stderr, reply } = start(runner, command, &control_group, mark)?;
    let mut tree = ProcessTree::new(pid, baseline);
    let failed = |source| StartError::Spawn { program: command.program.clone(), source };
    let leader = Leader::new(pid).map_err(failed)?;
    let rest = |(pipe, written): (_, usize)| Some((pipe, command.stdin.as_deref()?.get(written..)?));
    let stdin = stdin.and_then(rest);
    let redactor = runner.secrets.redactor();
    let last_line = command.last_line.as_ref();
    let mut streams = Streams::new(stdin, stdout, stderr, &redactor, last_line, on_line).map_err(failed)?;

    let interruption = streams.transfer_until(async {
        tokio::select! {
            biased;
            () = leader.wait_for_end() => None,
            () = cancellation.reached(CancellationLevel::Stop) => Some(Exit::Cancelled),
            after = after(command.timeout) => Some(Exit::TimedOut { after }),
            never = tree.reap_orphans() => match never {},
        }
    });
    // A command that ended in the same moment ended by itself.
    let interruption = interruption.await.filter(|_| !leader.has_ended());
    let unkillable = match interruption {
        Some(_) => streams.transfer_until(tree.end(cancellation)).await,
        None => Vec::new(),
    };
    let duration = started.elapsed();
    streams.drain().await;
    let (status, left_running) = match interruption {
        Some(_) => (leader.reap(), Vec::new()),
        // A process that writes to a closed pipe would end before it is found.
        None => (leader.status().await, tree.left_running(&streams.open_pipes()).await),
    };
    let (stdout, stderr, unredacted) = streams.finish();
    let enforced = match reply.map(read_reply) {
        None => None,
        Some(Some(LaunchReply::Ready(enforced))) => command.sandbox.is_some().then_some(enforced),
        // The launcher was ended before its reply.
        Some(None) if interruption.is_some() => None,
        Some(reply) => return Err(refusal(runner, command, reply)),
    };
    let lost = || StartError::StatusLost { program: command.program.clone() };
    let exit = match interruption {
        Some(exit) => exit,
        None => exit_of(status.ok_or_else(lost)?),
    };
    let mut reached = control_group.reached();
    if let Some(groups) = runner.groups_of(command.sandbox.as_ref()) {
        groups.give_back(control_group);
    }
    if let (Some(_), Exit::Signal { number, .. }) = (&enforced, &exit) {
        let own = [(libc::SIGXFSZ, ReachedLimit::FileSize), (libc::SIGXCPU, ReachedLimit::Cpu)];
        reached.extend(own.iter().filter(|(signal, _)| signal == number).map(|(_, limit)| *limit));
    }
    Ok(Finished {
        exit,
        stdout,
        stderr,
        unredacted,
        duration,
        left_running,
        unkillable,
        enforced,
        reached,
        container: None,
    })
}

/// Started process, until it is reaped.
struct Leader {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
}

impl Leader {
    fn new(pid: Pid) -> io::Result<Self> {
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { pid, handle: raw::watch(handle)? })
    }

    /// Waits for the end of the process without reaping it, so that no other process gets its number.
    async fn wait_for_end(&self) {
        // An error means that the runtime ends.
        let _ended = self.handle.readable().await;
    }

    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(self.pid), options), Ok(Some(_)))
    }

    /// Reaps the process after its end. A tracer sees the end first and may keep it for a while.
    async fn status(&self) -> Option<WaitIdStatus> {
        let end = Instant::now() + MAX_TRACED;
        loop {
            match waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
                Ok(None) if Instant::now() < end => sleep(TRACED_INTERVAL).await,
                status => return status.ok().flatten(),
            }
        }
    }

    /// Reaps the process if it has ended; one that could not be killed may not have.
    fn reap(&self) -> Option<WaitIdStatus> {
        waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG).ok().flatten()
    }
}

fn exit_of(status: WaitIdStatus) -> Exit {
    match status.terminating_signal() {
        Some(number) => Exit::Signal { number, name: signal_name(number) },
        None => Exit::Code(status.exit_status().unwrap_or_default()),
    }
}

/// Returns the name of a signal, such as `SIGKILL`.
pub fn signal_name(number: i32) -> String {
    if let Ok(signal) = Signal::try_from(number) {
        return signal.as_str().to_owned();
    }
    match number - libc::SIGRTMIN() {
        0 => "SIGRTMIN".to_owned(),
        offset @ 1.. => format!("SIGRTMIN+{offset}"),
        // The C library uses the first real-time signals for its threads; they have no names.
        _ => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_usual_names() {
        for (number, expected) in [
            (9, "SIGKILL"),
            (31, "SIGSYS"),
            (32, "signal 32"),
            (33, "signal 33"),
            (34, "SIGRTMIN"),
            (37, "SIGRTMIN+3"),
            (64, "SIGRTMIN+30"),
        ] {
            assert_eq!(signal_name(number), expected);
        }
    }
}
