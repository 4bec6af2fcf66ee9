//! Limits of a sandbox, enforced by its control group or for each process.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::PathBuf;

use rustix::process::{Resource, Rlimit, setrlimit};

use crate::command::limits::SandboxLimits;

/// Maximum number of signals that the processes of the user may have queued. The kernel counts them for each
/// user of the machine; without a lower limit, a sandbox could use up those of all other processes of its user.
const MAX_QUEUED_SIGNALS: u64 = 1024;

/// Joins the control groups of the sandbox. This process has one thread.
pub(super) fn join(memberships: &[PathBuf]) -> io::Result<()> {
    // Zero stands for the process that writes.
    memberships.iter().try_for_each(|file| OpenOptions::new().write(true).open(file)?.write_all(b"0"))
}

/// Limits of each process, where no control group limits all of them together.
pub(super) struct OwnLimits<'l> {
    pub(super) limits: &'l SandboxLimits,
    /// The user namespace of the sandbox counts its processes.
    pub(super) processes: bool,
    pub(super) memory: bool,
}

impl OwnLimits<'_> {
    /// Sets the limits for this process and all that it starts.
    pub(super) fn set(&self) -> io::Result<()> {
        let SandboxLimits { processes, memory, file_size, cpu } = self.limits;
        let seconds = cpu.map(|cpu| cpu.as_secs().max(1));
        for (resource, max, grace) in [
            (Resource::Nproc, self.processes.then_some(processes.max), 0),
            (Resource::As, self.memory.then_some(memory.max), 0),
            (Resource::Fsize, *file_size, 0),
            (Resource::Sigpending, Some(MAX_QUEUED_SIGNALS), 0),
            // The signal at the lower limit shows the reason. If ignored, a kill follows a second later.
            (Resource::Cpu, seconds, 1),
        ] {
            let Some(max) = max else { continue };
            let highest = rustix::process::getrlimit(resource).maximum.unwrap_or(u64::MAX);
            let maximum = max.saturating_add(grace).min(highest);
            setrlimit(resource, Rlimit { current: Some(max.min(highest)), maximum: Some(maximum) })?;
        }
        Ok(())
    }
}
