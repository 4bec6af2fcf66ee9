//! Runs of `ccm` with a fault at a chosen system call: the process is killed there, or the call fails. The
//! threads of the real binary are traced by ptrace; its commands are not.

use std::io;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::isolated::children_of;
use crate::{Called, Ccm, skipped, wait_until};

#[cfg(target_arch = "x86_64")]
mod calls;
#[cfg(target_arch = "x86_64")]
mod trace;

/// Fault of a run. Calls are counted from 1, and only calls whose effect outlives the run or that wait for
/// other processes: writing, syncing, naming, making, removing, starting, reaping, locking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// No fault; the calls are only counted.
    None,
    /// The process is killed before the call.
    KillBefore(usize),
    /// The process is killed after the call.
    KillAfter(usize),
    /// A call that needs space on a disk fails.
    NoSpace {
        /// Number among the calls that need space.
        call: usize,
        /// `true` if all later calls fail too.
        lasting: bool,
    },
    /// A call that syncs to a disk fails.
    SyncFails {
        /// Number among the calls that sync.
        call: usize,
        /// `true` if all later calls fail too.
        lasting: bool,
    },
}

/// Result of a run with a fault.
#[derive(Clone, Debug)]
pub struct Faulted {
    /// Exit code and output; the code is 137 if the process was killed.
    pub called: Called,
    /// Counted calls for this kind of fault, in words.
    pub calls: Vec<String>,
    /// Call with the fault, in words; `None` if the run made fewer calls.
    pub struck: Option<String>,
}

/// Processes that tests have started and wait for themselves. Locked while one starts, and during a sweep.
static OWN_PROCESSES: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Starts a process that a sweep does not kill.
pub(crate) fn start(command: &mut Command) -> io::Result<Child> {
    let mut ours = OWN_PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    ours.push(child.id());
    Ok(child)
}

/// Removes an ended and reaped process from the list.
pub(crate) fn remove_ended(pid: u32) {
    OWN_PROCESSES.lock().unwrap_or_else(PoisonError::into_inner).retain(|ours| *ours != pid);
}

/// Returns `true` if faults are possible here. Records a skip otherwise.
#[must_use]
pub fn needs_faults() -> bool {
    let reason = no_faults();
    if let Some(reason) = &reason {
        skipped(reason);
    }
    reason.is_none()
}

fn no_faults() -> Option<String> {
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
    /// Runs the call to its end, or to the fault. Orphans of a killed run go on until [`sweep`]. The test
    /// needs its own test program, because its process adopts the orphans of killed runs.
    #[cfg(target_arch = "x86_64")]
    pub fn run_with(self, fault: Fault) -> Faulted {
        let (directory, state) = self.directories();
        let mut command = self.plain_command();
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let traced =
            trace::run(command, fault).unwrap_or_else(|error| panic!("ccm could not be traced: {error}"));
        let called = Called::of(traced.status, &traced.stdout, &traced.stderr, &directory, &state);
        Faulted { called, calls: traced.calls, struck: traced.struck }
    }

    /// Panics, because system calls of this architecture are not known. Tests call [`needs_faults`] first.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn run_with(self, _fault: Fault) -> Faulted {
        panic!("no faults here");
    }
}

/// Waits until every orphan of a killed run has executed its command, and no longer holds the files and locks
/// of the run as a copy of ccm.
pub fn wait_until_executed() {
    // In the middle of the change of its program, a process shows nothing to other users than root.
    let is_or_hidden = |target: io::Result<PathBuf>, expected: &str| match target {
        Ok(target) => target.file_name().is_some_and(|name| name == expected),
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    };
    let is_ccm = |pid: u32| is_or_hidden(std::fs::read_link(format!("/proc/{pid}/exe")), "ccm");
    // The kernel shows the new program before it closes the files of the old one.
    let has_lock = |pid: u32| match std::fs::read_dir(format!("/proc/{pid}/fd")) {
        Ok(open) => open.flatten().any(|entry| is_or_hidden(std::fs::read_link(entry.path()), "lock")),
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    };
    wait_until("the orphans of a killed run are their commands", || {
        let ours = OWN_PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
        !children_of(std::process::id())
            .filter(|pid| !ours.contains(pid))
            .any(|pid| is_ccm(pid) || has_lock(pid))
    });
}

/// Kills and reaps the orphans of killed runs, and their descendants.
pub fn sweep() {
    let ours = OWN_PROCESSES.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let mut none = true;
        for pid in children_of(std::process::id()).filter(|pid| !ours.contains(pid)) {
            none = false;
            let pid = Pid::from_raw(i32::try_from(pid).unwrap_or_default());
            // A process that has ended is only reaped. Its children become those of this process.
            let _ = kill(pid, Signal::SIGKILL);
            let _ = waitpid(pid, Some(WaitPidFlag::__WALL));
        }
        if none {
            return;
        }
    }
}
