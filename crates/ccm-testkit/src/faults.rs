//! A run of `ccm` that meets a fault at a system call of the test's choice: it is killed there, or the call fails.
//!
//! The binary is the real one and knows nothing of it. Its threads are watched by ptrace, its commands are not.

use std::io;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::isolated::children_of;
use crate::{Called, Ccm, wait_until};

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod trace;

/// What a run meets. Calls are counted from 1, and only those whose effect outlives the run or that wait for others:
/// writing, syncing, naming, making, removing, starting, reaping, locking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing; the calls are only counted.
    None,
    /// The process is killed before that call is done.
    KillBefore(usize),
    /// The process is killed right after it.
    KillAfter(usize),
    /// That call, of those that need space on a disk, finds none, and with `lasting` all that follow.
    NoSpace {
        /// Which of them.
        call: usize,
        /// Whether the disk stays full.
        lasting: bool,
    },
    /// That call, of those that bring something to a disk, fails, and with `lasting` all that follow.
    SyncFails {
        /// Which of them.
        call: usize,
        /// Whether the disk stays broken.
        lasting: bool,
    },
}

/// What a run with a fault came to.
#[derive(Clone, Debug)]
pub struct Faulted {
    /// How it ended and what it said; 137 if it was killed.
    pub called: Called,
    /// The calls that were counted for this kind of fault, in words.
    pub calls: Vec<String>,
    /// The call that met the fault, in words; none if there were not as many.
    pub struck: Option<String>,
}

/// The processes that tests have started and wait for themselves. It is held while one starts, and while a sweep looks
/// for others.
static OURS: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Starts a process that no sweep is to touch.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    let mut ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    ours.push(child.id());
    Ok(child)
}

/// Forgets such a process, which has ended and was reaped.
pub(crate) fn ended(pid: u32) {
    OURS.lock().unwrap_or_else(PoisonError::into_inner).retain(|ours| *ours != pid);
}

/// Says why no run can meet a fault here.
pub fn no_faults() -> Option<String> {
    if cfg!(not(target_arch = "x86_64")) {
        return Some("system calls are only known for x86_64".to_owned());
    }
    let status = std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    if status.trim() == "3" {
        return Some("this machine forbids ptrace (yama)".to_owned());
    }
    #[cfg(target_arch = "x86_64")]
    if let Err(error) = trace::run(Command::new("/bin/true"), Fault::None) {
        return Some(format!("processes can't be traced here: {error}"));
    }
    None
}

impl Ccm {
    /// Runs it to its end, or to the fault. What a killed run leaves running goes on until [`sweep`].
    ///
    /// Only for tests in a program of their own, because this one adopts what killed runs leave.
    #[cfg(target_arch = "x86_64")]
    pub fn run_with(self, fault: Fault) -> Faulted {
        let (directory, state) = self.places();
        let mut command = self.plain_command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let traced =
            trace::run(command, fault).unwrap_or_else(|error| panic!("ccm could not be traced: {error}"));
        let called = Called::of(traced.status, &traced.stdout, &traced.stderr, &directory, &state);
        Faulted { called, calls: traced.calls, struck: traced.struck }
    }

    /// The same where system calls are not known: tests ask [`no_faults`] first.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn run_with(self, _fault: Fault) -> Faulted {
        panic!("no faults here");
    }
}

/// Waits until no orphan of a killed run is a copy of ccm any more. Such a copy is on its way to its command, and until
/// it is there it holds whatever the run held.
pub fn wait_until_executed() {
    let is_ccm = |pid: u32| {
        let program = std::fs::read_link(format!("/proc/{pid}/exe"));
        program.is_ok_and(|program| program.file_name().is_some_and(|name| name == "ccm"))
    };
    wait_until("the orphans of a killed run are their commands", || {
        let ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
        !children_of(std::process::id()).filter(|pid| !ours.contains(pid)).any(is_ccm)
    });
}

/// Kills and reaps all that killed runs have left: the orphans that this process adopted, and theirs.
pub fn sweep() {
    let ours = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let mut none = true;
        for pid in children_of(std::process::id()).filter(|pid| !ours.contains(pid)) {
            none = false;
            let pid = Pid::from_raw(i32::try_from(pid).unwrap_or_default());
            // It may have ended by itself, and then it is only reaped. Its own children become ours.
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, Some(WaitPidFlag::__WALL));
        }
        if none {
            return;
        }
    }
}
