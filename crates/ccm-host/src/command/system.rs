//! The runner of this machine.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use ccm_model::{Secrets, Stream};
use nix::sys::signal::Signal;
use rustix::process::{Pid, PidfdFlags, WaitId, WaitIdOptions, WaitIdStatus, getpid, pidfd_open, waitid};
use tokio::io::unix::AsyncFd;
use tokio::sync::Mutex;

use super::spawn::{Spawned, spawn};
use super::streams::Streams;
use super::tree::{Before, Tree};
use super::{
    Cancellation, Captured, Command, Exit, Finished, Level, Runner, StartError, environment, lookup, table,
};
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
        Ok(Self { environment: OnceLock::new(), secrets: Secrets::new() })
    }

    /// Hides these values in what commands print, before anything else sees it. What becomes secret later
    /// counts for commands that start after that.
    #[must_use]
    pub fn hiding(self, secrets: Secrets) -> Self {
        Self { secrets, ..self }
    }
}

impl Runner for SystemRunner {
    fn find(&self, name: &str, path: &str, cwd: &Path) -> Result<PathBuf, StartError> {
        lookup::find(name, path, cwd)
    }

    fn base_environment(&self) -> Vec<(String, String)> {
        self.environment.get_or_init(environment::of_this_user).clone()
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(run(command, cancellation, &self.secrets, on_line))
    }
}

async fn run(
    command: &Command,
    cancellation: &Cancellation,
    secrets: &Secrets,
    on_line: &mut dyn FnMut(Stream, &str),
) -> Result<Finished, StartError> {
    let _turn = TURN.lock().await;
    if cancellation.level() > Level::Go {
        return Ok(Finished {
            exit: Exit::Cancelled,
            stdout: Captured::default(),
            stderr: Captured::default(),
            duration: Duration::ZERO,
            left_running: Vec::new(),
            unkillable: Vec::new(),
        });
    }
    let before = Before::now();
    let started = Instant::now();
    let Spawned { pid, stdin, stdout, stderr } =
        spawn(command).map_err(|error| lookup::diagnose(command, error))?;
    let mut tree = Tree::new(pid, before);
    let failed = |source| StartError::Spawn { program: command.program.clone(), source };
    let leader = Leader::new(pid).map_err(failed)?;
    let stdin = stdin.zip(command.stdin.as_deref());
    let mut streams = Streams::new(stdin, stdout, stderr, &secrets.redactor(), on_line).map_err(failed)?;

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
    let (stdout, stderr) = streams.finish();

    let status = leader.reap();
    let (exit, left_running) = if let Some(exit) = interruption {
        (exit, Vec::new())
    } else {
        let left_running = tree.left_running().await;
        let lost = || StartError::StatusLost { program: command.program.clone() };
        (exit_of(status.ok_or_else(lost)?), left_running)
    };
    Ok(Finished { exit, stdout, stderr, duration, left_running, unkillable })
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
    match Signal::try_from(number) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) => format!("SIGRTMIN+{}", number - libc::SIGRTMIN()),
    }
}
