//! Findings of a verification.

/// One thing that is wrong with a log, or worth knowing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditFinding {
    /// Name of the file.
    pub file: String,
    /// Number of the line in the file, from 1.
    pub row: u64,
    /// Kind of the finding.
    pub kind: FindingKind,
}

/// Kind of a [`AuditFinding`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FindingKind {
    /// The bytes are no line of a log.
    #[error("it is not a line of an audit log")]
    NotALine,
    /// The line or the one before it was changed.
    #[error("line {line} does not continue line {}: one of them was changed", line - 1)]
    Changed {
        /// Number of the line.
        line: u64,
    },
    /// Lines are missing.
    #[error("lines {from} to {to} are missing")]
    Missing {
        /// Number of the first of them.
        from: u64,
        /// Number of the last of them.
        to: u64,
    },
    /// The line stands in the wrong place: lines were reordered or inserted.
    #[error("line {found} stands where line {expected} belongs")]
    Reordered {
        /// Number that belongs here.
        expected: u64,
        /// Number of the line.
        found: u64,
    },
    /// The log does not begin with its first line.
    #[error("the log does not begin with its first line")]
    NoBeginning,
    /// The first line of a file is not that of its number.
    #[error("it is not the first line of file {segment} of the log")]
    NoSegment {
        /// Number of the file.
        segment: u32,
    },
    /// Files are missing that were not retired.
    #[error(
        "the files {from} to {to} of the log are missing, and no sealed line says that they were retired"
    )]
    MissingSegments {
        /// Number of the first of them.
        from: u32,
        /// Number of the last of them.
        to: u32,
    },
    /// A retired file does not fit what follows it.
    #[error("line {line} does not continue file {segment}, which was retired")]
    OtherRetired {
        /// Number of the line.
        line: u64,
        /// Number of the retired file.
        segment: u32,
    },
    /// The seal is not signed by the key that the seal before it names.
    #[error("seal {number} is not signed by its key")]
    WrongSeal {
        /// Number of the seal that belongs here.
        number: u64,
    },
    /// The seal is signed by a key that was to be destroyed.
    #[error("seal {number} is signed by an older key, which a copy must have kept")]
    OldKey {
        /// Number of the seal that belongs here.
        number: u64,
    },
    /// The seal is that of another place.
    #[error("seal {number} is not that of this place: the lines before it were changed")]
    MisplacedSeal {
        /// Number of the seal that belongs here.
        number: u64,
    },
    /// The line is that of another machine.
    #[error("it is that of another machine ({machine})")]
    OtherMachine {
        /// Id of the other machine.
        machine: String,
    },
    /// The log begins with another key than the given one.
    #[error("the log begins with the key {found}, not with the given one")]
    OtherFirstKey {
        /// Fingerprint of the key.
        found: String,
    },
    /// The first key is not in the log any more.
    #[error("the first file was retired, so that the given key can't be compared; use a checkpoint")]
    FirstKeyRetired,
    /// The log ends before a checkpoint.
    #[error("the log ends at line {found}, before line {line} of the checkpoint: its end was cut off")]
    CutOff {
        /// Number of the last line.
        found: u64,
        /// Line of the checkpoint.
        line: u64,
    },
    /// The log has another line than a checkpoint.
    #[error("line {line} is not that of the checkpoint: the log was written anew")]
    OtherThanCheckpoint {
        /// Line of the checkpoint.
        line: u64,
    },
    /// The line of a checkpoint was retired.
    #[error("line {line} of the checkpoint was retired")]
    CheckpointRetired {
        /// Line of the checkpoint.
        line: u64,
    },
    /// The log ends before its key.
    #[error("the log ends before its key: it was cut back, or put back from a copy")]
    CutBack,
    /// The key of the next seal is missing.
    #[error(
        "the key of the next seal is missing, so that a log that was cut back to an older seal would look the same"
    )]
    KeyMissing,
    /// The key of the next seal can't be read.
    #[error("the key of the next seal can't be compared with the end of the log: {reason}")]
    KeyUnusable {
        /// Reason.
        reason: String,
    },
    /// The log was written by a newer ccm.
    #[error("it was written by a newer ccm (format {found})")]
    Newer {
        /// Format of the log.
        found: u32,
    },
    /// Note: the last line is incomplete, as after a kill.
    #[error("the last {bytes} bytes are an incomplete line, which the next run cuts off")]
    Torn {
        /// Number of bytes.
        bytes: u64,
    },
    /// Note: no seal covers the last lines yet.
    #[error("the last {lines} lines are not sealed yet")]
    Unsealed {
        /// Number of lines.
        lines: u64,
    },
    /// Note: the clock went back.
    #[error("the clock went back, from {from} to {to}")]
    ClockBack {
        /// Time of the line before.
        from: String,
        /// Time of the line.
        to: String,
    },
}

impl FindingKind {
    /// Returns `true` if the verification is incomplete, and nothing shows that somebody has changed the log.
    pub fn is_incomplete(&self) -> bool {
        matches!(self, Self::KeyMissing | Self::KeyUnusable { .. })
    }

    /// Returns `true` for what also happens to a log that nobody has changed.
    pub fn is_note(&self) -> bool {
        matches!(self, Self::Torn { .. } | Self::Unsealed { .. } | Self::ClockBack { .. })
    }
}
