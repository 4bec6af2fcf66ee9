//! The runner of this machine.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use ccm_model::Stream;
use ccm_redaction::Secrets;
use nix::sys::signal::Signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, WaitId, WaitIdOptions, WaitIdStatus, getpid, pidfd_open, pidfd_send_signal, waitid,
};
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::launch_protocol::{LaunchReply, LaunchRequest, MAX_REPLIES};
use super::sandbox::Layer;
use super::spawn::{Spawned, Words, launch, spawn};
use super::streams::Streams;
use super::tree::{Before, Tree};
use super::{
    Cancellation, Captured, Command, Enforced, Exit, Finished, Level, Runner, Sandbox, StartError,
    environment, lookup, network, table, trace,
};
use crate::account::{self, Account, AccountError, Identity};
use crate::executor::LocalSystem;
use crate::private::PrivateDirectory;
use crate::{Local, after, raw};

/// Held by the command that runs. Two at once could not tell whose a process is that has lost its parent.
static TURN: Mutex<()> = Mutex::const_new(());

/// Says why no command can be run here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunnerError {
    /// This process can't become the one that adopts what its commands leave.
    #[error("this process can't adopt what its commands leave behind")]
    Subreaper {
        /// Why not.
        source: io::Error,
    },
    /// The kernel has no handles for processes; Linux has them since 5.3.
    #[error("the kernel does not offer handles for processes (pidfd)")]
    Handles {
        /// What it says.
        source: io::Error,
    },
    /// The table of processes can't be read.
    #[error("\"/proc\" does not show the processes of this machine")]
    Table,
    /// The end of commands can't be made visible.
    #[error("the signal SIGCHLD can't be given its default effect")]
    ChildSignal {
        /// Why not.
        source: io::Error,
    },
}

/// Runs commands on this machine.
///
/// Only one command runs at a time in a process, whatever the number of runners; others wait for their turn.
/// A runner makes its process a subreaper: what a command leaves without a parent becomes a child of it. It
/// must be polled in a runtime with I/O and time, in a process that ignores `SIGPIPE`, as Rust programs do.
#[derive(Debug)]
pub struct SystemRunner {
    environment: OnceLock<Vec<(String, String)>>,
    launcher: Option<PathBuf>,
    /// An empty network, if one can be had; made for the first sandbox.
    network: OnceLock<Option<OwnedFd>>,
    switched_off: Vec<Layer>,
    secrets: Secrets,
}

impl SystemRunner {
    /// Makes this process one that can run commands.
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
            launcher: None,
            network: OnceLock::new(),
            switched_off: Vec::new(),
            secrets: Secrets::new(),
        })
    }

    /// Names the program that commands with a user, a umask or a sandbox go through: one that begins with
    /// [`launcher::begin`](crate::launcher::begin). `/proc/self/exe` is this program itself.
    #[must_use]
    pub fn with_launcher(self, path: impl Into<PathBuf>) -> Self {
        Self { launcher: Some(path.into()), ..self }
    }

    /// Does without a layer of sandboxes, as on a kernel that lacks it.
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn without(mut self, layer: Layer) -> Self {
        self.switched_off.push(layer);
        self
    }

    /// The empty network for a sandbox without one. Unix sockets could be met in it by name, so that who has them gets
    /// one of its own.
    fn network(&self, sandbox: Option<&Sandbox>) -> Option<BorrowedFd<'_>> {
        sandbox.filter(|sandbox| !sandbox.network && !sandbox.unix_sockets)?;
        self.network.get_or_init(network::empty).as_ref().map(AsFd::as_fd)
    }

    /// Hides these values in what commands print, before anything else sees it. What becomes secret later
    /// counts for commands that start after that.
    #[must_use]
    pub fn hiding(self, secrets: Secrets) -> Self {
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
        account::account(user)
    }

    fn group(&self, name: &str) -> Result<u32, AccountError> {
        account::group(name)
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        self.environment.get_or_init(environment::of_this_user).clone()
    }

    fn inherited_environment(&self) -> Vec<(String, String)> {
        crate::environment()
    }

    fn own_identity(&self) -> io::Result<Identity> {
        Identity::own()
    }

    fn may_become(&self, identity: &Identity) -> Result<(), StartError> {
        let lookup = |source| StartError::Spawn { program: PathBuf::new(), source };
        to_become(identity, &Identity::own().map_err(lookup)?).map(drop)
    }

    fn private_directory(&self, owner: Option<&Identity>) -> io::Result<PrivateDirectory> {
        PrivateDirectory::make(owner)
    }

    fn private_place(&self) -> io::Result<PathBuf> {
        PrivateDirectory::place()
    }
}

async fn run(
    runner: &SystemRunner,
    command: &Command,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(Stream, &str),
) -> Result<Finished, StartError> {
    let _turn = TURN.lock().await;
    if cancellation.level() > Level::Go {
        return Ok(Finished {
            exit: Exit::Cancelled,
            stdout: Captured::default(),
            stderr: Captured::default(),
            unredacted: None,
            duration: Duration::ZERO,
            left_running: Vec::new(),
            unkillable: Vec::new(),
            enforced: None,
        });
    }
    trace::starting(command, &runner.secrets);
    let result = run_started(runner, command, cancellation, on_line).await;
    trace::ended(command, &result);
    result
}

/// Starts a command that has the turn, and follows it to its end.
async fn run_started(
    runner: &SystemRunner,
    command: &Command,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(Stream, &str),
) -> Result<Finished, StartError> {
    let before = Before::now();
    let started = Instant::now();
    let Spawned { pid, stdin, stdout, stderr, reply } = start(runner, command)?;
    let mut tree = Tree::new(pid, before);
    let failed = |source| StartError::Spawn { program: command.program.clone(), source };
    let leader = Leader::new(pid).map_err(failed)?;
    let stdin = stdin.zip(command.stdin.as_deref());
    let mut streams =
        Streams::new(stdin, stdout, stderr, &runner.secrets.redactor(), on_line).map_err(failed)?;

    let interruption = streams.during(async {
        tokio::select! {
            biased;
            () = leader.ended() => None,
            () = cancellation.reached(Level::Stop) => Some(Exit::Cancelled),
            after = after(command.timeout) => Some(Exit::TimedOut { after }),
            never = tree.tidy() => match never {},
        }
    });
    // What ended in the same moment ended by itself.
    let interruption = interruption.await.filter(|_| !leader.has_ended());
    let unkillable = match interruption {
        Some(_) => streams.during(tree.end(cancellation)).await,
        None => Vec::new(),
    };
    let duration = started.elapsed();
    streams.drain().await;
    let (stdout, stderr, unredacted) = streams.finish();

    let status = leader.reap();
    let enforced = match reply.map(read_reply) {
        None => None,
        Some(Some(LaunchReply::Ready(enforced))) => command.sandbox.is_some().then_some(enforced),
        // It was ended before it got there.
        Some(None) if interruption.is_some() => None,
        Some(reply) => {
            // Nothing is left of what never began.
            let _left_running = tree.left_running().await;
            return Err(refusal(runner, command, reply));
        }
    };
    let (exit, left_running) = if let Some(exit) = interruption {
        (exit, Vec::new())
    } else {
        let left_running = tree.left_running().await;
        let lost = || StartError::StatusLost { program: command.program.clone() };
        (exit_of(status.ok_or_else(lost)?), left_running)
    };
    Ok(Finished { exit, stdout, stderr, unredacted, duration, left_running, unkillable, enforced })
}

/// Starts the command: by itself if that is enough, else through the launcher.
fn start(runner: &SystemRunner, command: &Command) -> Result<Spawned, StartError> {
    let failed = |source| StartError::Spawn { program: command.program.clone(), source };
    let words = Words::of(command).map_err(failed)?;
    let reads = command.stdin.is_some();
    let Some((property, identity)) = needs_launcher(command)? else {
        return spawn(&words, reads).map_err(|source| {
            let path = command.environment.iter().find(|(name, _)| name == "PATH");
            let path = path.map_or("", |(_, path)| path);
            lookup::diagnose(&command.program, &command.cwd, path, source)
        });
    };
    let launcher = runner.launcher.as_ref().ok_or(StartError::NoLauncher { property })?;
    let request = request(runner, command, words, identity);
    launch(launcher, &request, runner.network(command.sandbox.as_ref()), reads)
        .map_err(|source| StartError::Launcher { launcher: launcher.clone(), source })
}

fn request(
    runner: &SystemRunner,
    command: &Command,
    words: Words,
    identity: Option<Identity>,
) -> LaunchRequest {
    LaunchRequest {
        program: command.program.clone(),
        arguments: words.arguments,
        environment: words.environment,
        cwd: command.cwd.clone(),
        identity,
        umask: command.umask,
        sandbox: command.sandbox.clone(),
        switched_off: runner.switched_off.clone(),
        has_network: runner.network(command.sandbox.as_ref()).is_some(),
        is_rehearsal: false,
    }
}

/// Starts a launcher that does everything but become the program, and waits for its reply.
fn preflight(runner: &SystemRunner, command: &Command) -> Result<Option<Enforced>, StartError> {
    /// It touches what the sandbox names, which may be on a file system that does not answer.
    const LONGEST: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
    const KILLED: Timespec = Timespec { tv_sec: 1, tv_nsec: 0 };
    let Some((property, identity)) = needs_launcher(command)? else { return Ok(None) };
    let launcher = runner.launcher.as_ref().ok_or(StartError::NoLauncher { property })?;
    let failed = |source| StartError::Launcher { launcher: launcher.clone(), source };
    let words = Words::of(command).map_err(failed)?;
    let request = LaunchRequest { is_rehearsal: true, ..request(runner, command, words, identity) };
    let network = runner.network(command.sandbox.as_ref());
    let started = launch(launcher, &request, network, false).map_err(failed)?;
    let handle = pidfd_open(started.pid, PidfdFlags::empty()).map_err(|error| failed(error.into()))?;
    let has_ended = |within: &Timespec| {
        let wait = || poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(within));
        rustix::io::retry_on_intr(wait).is_ok_and(|ended| ended > 0)
    };
    if !has_ended(&LONGEST) {
        let _gone = pidfd_send_signal(&handle, rustix::process::Signal::KILL);
        has_ended(&KILLED);
    }
    let _reaped = waitid(WaitId::Pid(started.pid), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    match started.reply.and_then(read_reply) {
        Some(LaunchReply::Ready(enforced)) => Ok(command.sandbox.is_some().then_some(enforced)),
        reply => Err(refusal(runner, command, reply)),
    }
}

/// Tells which property needs a launcher, and who it has to become; none if a plain start is enough.
fn needs_launcher(command: &Command) -> Result<Option<(&'static str, Option<Identity>)>, StartError> {
    let identity = match &command.identity {
        None => None,
        Some(wanted) => {
            let lookup = |source| StartError::Spawn { program: command.program.clone(), source };
            to_become(wanted, &Identity::own().map_err(lookup)?)?
        }
    };
    let needs = [
        ("user", identity.is_some()),
        ("umask", command.umask.is_some()),
        ("sandbox", command.sandbox.is_some()),
    ];
    let property = needs.iter().find(|(_, needed)| *needed).map(|(property, _)| *property);
    Ok(property.map(|property| (property, identity)))
}

/// Who a process with these numbers of its own has to become; none if it is that already.
fn to_become(wanted: &Identity, own: &Identity) -> Result<Option<Identity>, StartError> {
    if own.uid == 0 {
        let sorted = |identity: &Identity| {
            let mut groups = identity.groups.clone();
            groups.sort_unstable();
            (identity.uid, identity.gid, groups)
        };
        return Ok((sorted(wanted) != sorted(own)).then(|| wanted.clone()));
    }
    let is_ours = |group: &u32| *group == own.gid || own.groups.contains(group);
    if wanted.uid != own.uid {
        return Err(StartError::NotRoot { property: "user", uid: own.uid });
    }
    if wanted.gid != own.gid || !wanted.groups.iter().all(is_ours) {
        return Err(StartError::NotRoot { property: "group", uid: own.uid });
    }
    Ok(None)
}

/// Reads the last reply of a launcher that became the program or ended.
fn read_reply(reply: OwnedFd) -> Option<LaunchReply> {
    let mut bytes = Vec::new();
    // The pipe does not block: a launcher that still exists was ended without a reply.
    let _end = File::from(reply).take(MAX_REPLIES).read_to_end(&mut bytes);
    LaunchReply::decode_last(&bytes)
}

/// The error of a launcher that did not become the program.
fn refusal(runner: &SystemRunner, command: &Command, reply: Option<LaunchReply>) -> StartError {
    match reply {
        Some(LaunchReply::Failed(StartError::NotFound { .. }))
            if command.sandbox.is_some() && std::fs::metadata(&command.program).is_ok() =>
        {
            StartError::OutsideSandbox { program: command.program.clone() }
        }
        Some(LaunchReply::Failed(StartError::WorkingDirectory { path, source }))
            if command.sandbox.is_some()
                && source.kind() == io::ErrorKind::NotFound
                && std::fs::metadata(&path).is_ok_and(|found| found.is_dir()) =>
        {
            StartError::DirectoryOutsideSandbox { path }
        }
        Some(LaunchReply::Failed(error)) => error,
        _ => StartError::NoAnswer { launcher: runner.launcher.clone().unwrap_or_default() },
    }
}

/// The process that was started, until it is reaped.
struct Leader {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
}

impl Leader {
    fn new(pid: Pid) -> io::Result<Self> {
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        Ok(Self { pid, handle: raw::watch(handle)? })
    }

    /// Waits for its end and leaves it unreaped, so that its number stays its own.
    async fn ended(&self) {
        // An error means that the runtime ends, and then nobody waits.
        let _ended = self.handle.readable().await;
    }

    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(self.pid), options), Ok(Some(_)))
    }

    /// Reaps it if it has ended; what could not be killed may not have.
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

fn signal_name(number: i32) -> String {
    if let Ok(signal) = Signal::try_from(number) {
        return signal.as_str().to_owned();
    }
    match number - libc::SIGRTMIN() {
        0 => "SIGRTMIN".to_owned(),
        offset @ 1.. => format!("SIGRTMIN+{offset}"),
        // The C library keeps the first real-time signals for its threads, and they have no names.
        _ => format!("signal {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(uid: u32, gid: u32, groups: &[u32]) -> Identity {
        Identity { uid, gid, groups: groups.to_vec() }
    }

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

    #[test]
    fn only_root_becomes_somebody_else() {
        let root = identity(0, 0, &[0, 4]);
        let user = identity(7, 8, &[8, 9]);
        for (own, wanted, expected) in [
            (&root, identity(0, 0, &[4, 0]), Ok(false)),
            (&root, identity(0, 0, &[]), Ok(true)),
            (&root, identity(7, 8, &[9]), Ok(true)),
            (&user, user.clone(), Ok(false)),
            (&user, identity(7, 8, &[]), Ok(false)),
            (&user, identity(7, 9, &[]), Err("group")),
            (&user, identity(7, 8, &[10]), Err("group")),
            (&user, identity(0, 8, &[]), Err("user")),
        ] {
            let found = match to_become(&wanted, own) {
                Ok(identity) => Ok(identity.is_some()),
                Err(StartError::NotRoot { property, .. }) => Err(property),
                Err(other) => unreachable!("{other}"),
            };
            assert_eq!(found, expected, "{own:?} {wanted:?}");
        }
    }
}
