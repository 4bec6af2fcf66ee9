//! Limits of what a sandbox uses.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits of a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimits {
    /// Maximum number of processes and threads.
    pub processes: SandboxLimit,
    /// Maximum number of bytes of memory: of all processes together if a control group limits them, else of
    /// the address space of each process.
    pub memory: SandboxLimit,
    /// Maximum size in bytes of a file that the command writes.
    pub file_size: Option<u64>,
    /// Maximum processor time of each process, in whole seconds.
    pub cpu: Option<Duration>,
}

/// Limit that every sandbox has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxLimit {
    /// Largest value.
    pub max: u64,
    /// `true` if the manifest sets the limit. The command is then refused if the limit can't be enforced.
    pub is_requested: bool,
}

impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            processes: SandboxLimit::by_default(512),
            memory: SandboxLimit::by_default(2 << 30),
            file_size: None,
            cpu: None,
        }
    }
}

impl SandboxLimit {
    /// Returns a limit that the manifest sets.
    pub fn requested(max: u64) -> Self {
        Self { max, is_requested: true }
    }

    fn by_default(max: u64) -> Self {
        Self { max, is_requested: false }
    }
}

/// Limit that a command ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReachedLimit {
    /// A process or thread could not be started.
    Processes,
    /// The kernel killed a process because the sandbox had no memory left.
    Memory,
    /// The command was killed because a file grew too large.
    FileSize,
    /// The command was killed because it used too much processor time.
    Cpu,
    /// The kernel killed a process because the container had no memory left.
    ContainerMemory,
}

impl fmt::Display for ReachedLimit {
    /// Writes the property that holds the limit.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Processes => "processes",
            Self::Memory => "memory",
            Self::FileSize => "file_size",
            Self::Cpu => "cpu",
            Self::ContainerMemory => "memory_limit",
        })
    }
}
