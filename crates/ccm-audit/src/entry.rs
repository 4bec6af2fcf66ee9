//! What the lines of the log record.

use serde::{Deserialize, Serialize};

/// Person or program that caused an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Name of the user, or the number of one without a name.
    pub user: String,
    /// Number of the user.
    pub uid: u32,
}

/// Content of a line.
///
/// It never holds output, values of the environment, standard input or secrets: the caller redacts its texts before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AuditEntry {
    /// First line of the log.
    LogBegun {
        /// Version of the format.
        format: u32,
        /// Id of the machine.
        machine: String,
        /// Public key of the first seal, as a line of OpenSSH.
        key: String,
    },
    /// First line of a further file of the log.
    SegmentBegun {
        /// Number of the file, from 1.
        segment: u32,
        /// Id of the machine.
        machine: String,
        /// Public key of the next seal.
        key: String,
        /// Number of seals before.
        seals: u64,
        /// Intents that have not ended, as in a seal.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        open: Vec<String>,
    },
    /// A run began.
    RunBegun {
        /// Id of the run.
        run: String,
        /// Manifest, as it was given.
        manifest: String,
        /// Who started the run.
        by: Actor,
    },
    /// A run ended.
    RunEnded {
        /// Id of the run.
        run: String,
        /// Exit code of the run.
        exit_code: u8,
        /// Number of resources that were changed.
        changed: u64,
        /// Number of resources that failed.
        failed: u64,
    },
    /// A command is about to be started. It is on the disk before the command is.
    Intent {
        /// Id of the intent.
        intent: String,
        /// Run that the command belongs to.
        run: String,
        /// Resource that the command belongs to.
        resource: Option<String>,
        /// Program and arguments.
        argv: Vec<String>,
        /// Working directory.
        cwd: String,
        /// User that the command runs as.
        user: String,
        /// Verdict of the policy.
        verdict: String,
        /// Process that begins the command.
        pid: i32,
        /// Start of that process, in clock ticks since the boot.
        started: u64,
    },
    /// A command has ended.
    Finished {
        /// Id of the intent.
        intent: String,
        /// How it ended, such as `exit code 0`.
        outcome: String,
        /// Time that it took, in milliseconds.
        duration_ms: u64,
    },
    /// A command was begun by a process that is gone.
    Interrupted {
        /// Id of the intent.
        intent: String,
    },
    /// An incomplete line was cut off.
    Repaired {
        /// Number of bytes.
        bytes: u64,
        /// SHA-256 of the bytes.
        sha256: String,
    },
    /// The oldest file of the log leaves.
    Retired {
        /// Number of the file.
        segment: u32,
        /// Number of its lines.
        lines: u64,
        /// Hash of its last line.
        last: String,
    },
    /// Signature over all lines before.
    Seal {
        /// Text that is signed.
        statement: String,
        /// Signature in the armour of OpenSSH.
        signature: String,
    },
}

/// Version of the format that this ccm writes, and the newest that it reads.
pub(crate) const FORMAT: u32 = 1;
