//! The audit log: where it lies, what runs record in it, and how it is read.

mod access;
mod executor;
mod gate;
mod place;
mod run_audit;

pub use ccm_audit::{
    Actor, AuditEntry, AuditError, AuditFinding, AuditRecorder, AuditedCommand, AuditedMachine, Checkpoint,
    CheckpointError, FindingKind, ForwardFailure, KeyError, Line, LogLine, LogVerification, OpenError,
    OutputDigest, PublicKey, RecordedVerdict, SEAL_MESSAGE_ID, SEAL_NAMESPACE, SEAL_PRINCIPAL, Trust,
};

pub use access::{AuditAccessError, InitialisedAudit};
pub use place::AuditSource;
pub use run_audit::AuditProblem;

pub(crate) use executor::AuditedExecutor;
pub(crate) use gate::{AuditGate, VerdictSlot};
pub(crate) use run_audit::RunAudit;
