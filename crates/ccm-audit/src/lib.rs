//! An audit log that nobody can rewrite without being noticed.
//!
//! The log is text: one JSON object a line, each with the SHA-256 of the line before it. At the end of a run a seal
//! signs the last of these with a key that is then replaced and destroyed, so that a line before the newest seal can't
//! be changed by anybody, root included: the key that could sign the change is gone. What is cut off at the end is
//! noticed by a copy of a seal that lies elsewhere, a [`Checkpoint`].
//!
//! An [`AuditRecorder`] writes [`AuditEntry`]s of a run or a tool to an [`AuditLog`], which ends in a [`Seal`].
//! [`verify`] checks a log and returns every [`AuditFinding`], and [`read_log`] reads its lines.
//!
//! This crate must never change or remove a line that was written, record a secret or an output, or decide what may
//! run.

mod checkpoint;
mod entry;
mod error;
mod export;
mod findings;
mod forward;
mod key;
mod line;
mod log;
mod reading;
mod recorder;
mod seal;
mod segment;
mod tail;
mod verification;

pub use checkpoint::{Checkpoint, CheckpointError};
pub use entry::{Actor, AuditEntry, OutputDigest, RecordedCheck, RecordedVerdict};
pub use error::{AuditError, KeyError};
pub use export::export;
pub use findings::{AuditFinding, FindingKind};
pub use forward::{ForwardDoors, ForwardFailure, SEAL_MESSAGE_ID, SealReceiver};
pub use key::{PublicKey, SEAL_NAMESPACE, SEAL_PRINCIPAL};
pub use line::Line;
pub use log::{AuditLog, AuditedMachine, OpenError, end_of_log};
pub use reading::{AuditLine, read_log};
pub use recorder::{AuditRecorder, AuditedCommand, AuditedOutcome, RunStart};
pub use seal::{OpenIntent, Seal};
pub use tail::TailError;
pub use verification::{LogVerification, NextKeyCheck, Trust, verify};
