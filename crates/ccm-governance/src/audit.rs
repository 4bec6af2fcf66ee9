//! The audit log: its place, what runs record in it, and how it is read.
//!
//! Runs record themselves. Anything else that starts commands, such as a tool, opens the log with
//! [`Governance::open_audit_recorder`](crate::Governance::open_audit_recorder) and records each call in this order:
//! [`AuditRecorder::start`] before the command, and [`AuditRecorder::finish_and_seal`] behind it, or
//! [`AuditRecorder::refuse`] and [`AuditRecorder::seal`] in place of both. [`AuditRecorder::forward`] then hands the seal
//! to the [`seal_receivers`] of the policy.

mod access;
mod approvals;
mod executor;
mod gate;
mod place;
mod run_audit;

pub use ccm_audit::{
    Actor, AuditEntry, AuditError, AuditFinding, AuditLine, AuditRecorder, AuditedCommand, AuditedMachine,
    AuditedOutcome, Checkpoint, CheckpointError, FindingKind, ForwardDoors, ForwardFailure, KeyError, Line,
    LogVerification, NextKeyCheck, OpenError, OutputDigest, PublicKey, RecordedCheck, RecordedVerdict,
    RunStart, SEAL_MESSAGE_ID, SEAL_NAMESPACE, SEAL_PRINCIPAL, SealReceiver, Trust,
};

pub use access::{AuditAccessError, InitialisedAudit};
pub use executor::AuditedExecutor;
pub use gate::{AuditGate, VerdictSlot};
pub use place::AuditSource;
pub use run_audit::{AuditProblem, RunAudit, seal_receivers};

pub(crate) use approvals::ApprovalEvent;
pub(crate) use run_audit::requires_record;
