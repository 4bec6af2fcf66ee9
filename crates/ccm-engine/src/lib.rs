//! The provider contract, the harness that drives one resource, and the walk over all of them.
//!
//! The engine knows noop, failure, refresh and verification, and nothing of any resource type. It emits
//! events and never prints.

mod ahead;
mod contract;
mod gate;
mod groups;
mod harness;
mod known;
mod late;
mod ledger;
mod managed;
mod names;
mod noop_changes;
mod refreshes;
mod rules;
mod run;
mod shown;
mod step;
mod together;
mod typed;
mod walk;

pub use contract::{
    Binder, Context, Decision, Described, Provider, Reading, ResourceKind, ResourceType, Rule, Suitability,
    Trigger, Verified,
};
pub use gate::{ChangeRequest, CommandRequest, Gate, GatedResource, OpenGate, PlannedChange, Verdict};
pub use late::{LateValues, NoLateValues, Progress, Resolved};
#[cfg(feature = "testing")]
pub use ledger::ledger_read_back;
pub use ledger::{
    Ledger, LedgerDamage, LedgerError, LedgerRun, PendingLedger, PendingRefresh, damaged, pending,
};
pub use managed::{Managed, bind};
pub use run::{Run, Stop};
pub use typed::TypedResource;
