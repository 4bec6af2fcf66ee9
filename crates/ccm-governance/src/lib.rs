//! Governance of what ccm does: the gate that puts the operator's policy, approvals and the audit log behind the engine,
//! and signed manifests.
//!
//! [`Governance`] finds the policy, the approvers, the intents and the audit log of a machine. For a run,
//! [`policy::PolicyGate`] judges each command and each change and asks for approvals, and [`audit::RunAudit`] records what
//! happens, by the [`audit::AuditGate`] around the gate of the policy and the [`audit::AuditedExecutor`] around the
//! executors. A [`signed::SignedManifest`] answers every question of a policy at once.
//!
//! The engine knows none of this: it asks a gate. This crate must never load a manifest, know a resource type, or print.

pub mod approval;
pub mod audit;
mod governance;
pub mod policy;
pub mod signed;

pub use governance::{Governance, GovernanceDoors, GovernanceNotice, GovernancePlaces};
