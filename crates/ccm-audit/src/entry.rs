//! Content of the lines of the log.

use ccm_model::{SourceVersion, StartedBy};
use serde::{Deserialize, Serialize};

/// Person or program that caused an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    /// Name of the user, or the number of one without a name.
    pub user: String,
    /// Number of the user.
    pub uid: u32,
    /// User who called `sudo`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sudo_user: Option<String>,
    /// systemd unit that started ccm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

impl From<StartedBy> for Actor {
    fn from(started_by: StartedBy) -> Self {
        let StartedBy { uid, user, sudo_user, unit, .. } = started_by;
        Self { user: user.unwrap_or_else(|| uid.to_string()), uid, sudo_user, unit }
    }
}

/// Verdict of a policy, as it is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedVerdict {
    /// `allow`, `ask` or `deny`; `none` if no policy judged.
    pub verdict: String,
    /// Rule, guard class or pattern that led to the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Id of the approval that was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
}

impl RecordedVerdict {
    /// Returns the verdict where there is no policy.
    pub fn none() -> Self {
        Self { verdict: "none".to_owned(), ..Self::default() }
    }
}

/// Output of a command: its length and checksum, and nothing of its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputDigest {
    /// Number of bytes, with secrets replaced.
    pub bytes: u64,
    /// SHA-256 of the bytes; missing for output so long that ccm does not keep all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// Result of a health check, as it is recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedCheck {
    /// Name of the check.
    pub name: String,
    /// `ok`, `warning`, `critical` or `unknown`.
    pub status: String,
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
        /// SHA-256 of the text of the manifest.
        sha256: String,
        /// SHA-256 over the files of the policy.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        policy: Option<String>,
        /// Version of the source that the manifest comes from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        source: Option<SourceVersion>,
        /// The run changes nothing.
        #[serde(default, skip_serializing_if = "is_false")]
        noop: bool,
        /// User who started the run.
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
        /// Run or call that the command belongs to.
        run: String,
        /// Purpose of the command, such as `guard`.
        purpose: String,
        /// Resource that the command belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<String>,
        /// User who asked for the command, if another one started the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
        /// Program and arguments.
        argv: Vec<String>,
        /// Working directory.
        cwd: String,
        /// User that the command runs as.
        user: String,
        /// Image of the container that the command runs in.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image: Option<String>,
        /// Verdict of the policy.
        #[serde(flatten)]
        verdict: RecordedVerdict,
        /// Process that begins the command.
        pid: i32,
        /// Start of that process, in clock ticks since the boot.
        started: u64,
    },
    /// A command has ended.
    Finished {
        /// Id of the intent.
        intent: String,
        /// End of the command, such as `exit code 0`.
        outcome: String,
        /// Time that it took, in milliseconds.
        duration_ms: u64,
        /// Standard output. Missing for sensitive commands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stdout: Option<OutputDigest>,
        /// Standard error. Missing for sensitive commands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stderr: Option<OutputDigest>,
    },
    /// A command was refused, and not started.
    Refused {
        /// Run or call that the command belongs to.
        run: String,
        /// Purpose of the command, such as `guard`.
        purpose: String,
        /// Resource that the command belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        resource: Option<String>,
        /// User who asked for the command, if another one started the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Actor>,
        /// Program and arguments; empty for a change that ccm would make itself.
        argv: Vec<String>,
        /// Verdict of the policy.
        #[serde(flatten)]
        verdict: RecordedVerdict,
        /// Reason of the refusal.
        reason: String,
    },
    /// ccm is about to change a resource. It is on the disk before the change is made.
    Change {
        /// Id of the run.
        run: String,
        /// The resource.
        resource: String,
        /// Verdict of the policy.
        #[serde(flatten)]
        verdict: RecordedVerdict,
    },
    /// A resource was changed, failed, or has health checks that ran.
    Resource {
        /// Id of the run.
        run: String,
        /// The resource.
        resource: String,
        /// Outcome, such as `changed`.
        outcome: String,
        /// Error of a resource that failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// Health checks that ran.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        checks: Vec<RecordedCheck>,
    },
    /// Something happened to the approval of an intent.
    Approval {
        /// Id of the intent.
        intent: String,
        /// Event, such as `used` or `rejected`.
        event: String,
        /// Person who approved or rejected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approver: Option<String>,
        /// Reason, if one is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A seal could not be handed on. It is tried again with the next one.
    ForwardFailed {
        /// Receiver, such as `journald`.
        receiver: String,
        /// Number of the seal.
        seal: u64,
        /// Error.
        reason: String,
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(value: &bool) -> bool {
    !*value
}
