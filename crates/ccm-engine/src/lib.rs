//! Engine of a run: the contract of resource types and providers, the harness that takes one resource from
//! its state to its outcome, and the walk over all of them.
//!
//! # A run
//!
//! [`Run`] holds everything that a run needs: the catalog, the [resource types](ResourceType), the doors to
//! the machine, a [gate](Gate), a [ledger](Ledger). [`Run::apply`] walks the catalog in the order of its
//! graph, emits an event for each step and returns the summary. The engine prints nothing and knows no
//! resource type.
//!
//! For each resource the harness
//!
//! 1. resolves [late values](LateValues),
//! 2. binds the resource to a [provider](Provider) and reads its state,
//! 3. lets the type [decide](ResourceKind::decide),
//! 4. asks the gate about the change and, unless in noop, makes it,
//! 5. reads the state again after a change, and lets the type [verify](ResourceKind::verify) it,
//! 6. runs the health checks of the resource, whether it was changed or not.
//!
//! Every resource ends with exactly one outcome, whatever happens. An error inside a resource, a panic
//! included, is the failure of that resource.
//!
//! # A resource type
//!
//! A type implements [`TypedResource`](ccm_properties::TypedResource): its properties, its [`ResourceKind`] with the pure decision, and its
//! providers. Only the engine handles noop, failure, refresh and verification, so that a provider can't get
//! noop wrong: [`Provider::execute`] is never called in noop.
//! `ccm_runtime::resource_type` has a whole type as an example.
//!
//! # Limits
//!
//! This crate must never know a resource type, the text of a manifest, the expression language or a listener, emit
//! a secret in an event, or touch the machine except through the doors of its [`Run`].

mod batch;
mod bound_resource;
mod claim_index;
mod contract;
mod export;
mod gate;
mod groups;
mod harness;
mod health;
mod late;
mod ledger;
mod names;
mod noop_changes;
mod noop_executor;
mod prefetch;
mod refreshes;
mod rules;
mod run;
mod shown;
mod state_cache;
mod step;
mod typed;
mod walk;
mod witness;

pub use bound_resource::{BoundResource, DynProvider, bind};
pub use contract::{
    Binder, Context, Decision, Described, ManagedExtent, ManagedPath, Provider, ReadPurpose, ResourceKind,
    ResourceType, Rule, Suitability, Trigger, Undescribed, Verified,
};
pub use export::{
    DynExport, Export, ExportRemark, ExportedState, ExportedValue, InstanceScope, Instances, NotExported,
    NotExportedKind, Related,
};
pub use gate::{
    ChangeRequest, CommandRequest, DynGate, Gate, GatedResource, OpenGate, PlannedChange, Verdict,
};
pub use health::{HealthProbe, NoHealthProbe, ProbeRequest, Probed};
pub use late::{LateValues, NoLateValues, Resolved, RunProgress};
#[doc(hidden)]
pub use ledger::ledger_read_back;
pub use ledger::{
    Ledger, LedgerDamage, LedgerError, LedgerRun, PendingLedger, RecordedRefresh, damaged, pending,
};
pub use run::{EarlierOutcomes, Run, Stop};
pub use state_cache::Suitabilities;
pub use witness::{Decided, DecidedChange, DecisionWitness};
