//! ccm as a library.
//!
//! A [`Session`] owns everything that is shared by the runs of one user: secrets, the clock, cancellation and the place
//! of the state. It reads a manifest into an [`Input`], loads that into a [`Manifest`] or into every mistake in it, and a
//! manifest can be planned, which changes nothing, or applied:
//!
//! ```no_run
//! use ccm_runtime::{Config, Emitted, MAX_MANIFEST_SIZE, RunOptions, Session, Source, Values};
//!
//! # async fn apply() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::open(Config::default());
//! let input = session.read(Source::File("site.yaml".into()), &Values::default(), MAX_MANIFEST_SIZE)?;
//! let manifest = session.load(&input)?;
//! let mut print = |emitted: Emitted<'_>| println!("{:?}", emitted.event);
//! let plan = manifest.plan(RunOptions::default(), &mut print).await?;
//! println!("{} resources would change", plan.summary.counts.changed);
//! # Ok(())
//! # }
//! ```
//!
//! Nothing here prints, ends the process, or listens to signals: events go to the sink of a run, notices to
//! [`Session::on_notice`], and a [`Canceller`] ends runs from another thread. A session stays on its thread, and two
//! sessions share nothing. A run needs a tokio runtime with time and I/O; one for the current thread is enough.

mod advice;
mod canceller;
mod doors;
mod evaluate;
mod event_queue;
mod events_file;
mod exit;
mod explain;
mod findings;
mod input;
mod late;
mod ledger;
mod machine;
mod manifest;
pub mod printed;
pub mod process;
mod record;
mod run;
mod session;
mod sink;
mod spawn;
mod status;
mod text;
mod validate;
mod verification;

pub use ccm_data::assignment;
pub use ccm_data::hierarchy::Outcome as EntryOutcome;
pub use ccm_data::layers::{Origin, Source as ValueSource};
pub use ccm_engine::{LedgerDamage, LedgerError, PendingLedger, PendingRefresh, ResourceType};
pub use ccm_expr::Value;
pub use ccm_graph::Format;
pub use ccm_host::state::{LockError, StateError};
pub use ccm_host::{Level, RunnerError};
pub use ccm_manifest::{DataFile, Named};
pub use ccm_model::{
    Counts, Diagnostic, Event, Failure, Outcome, Reason, ResourceId, RunSummary, SkipCause, StopCause,
    Transaction,
};
pub use ccm_redaction::Secrets;
pub use ccm_report::{
    ChangedAgain, History, JsonLine, ReportError, RunIdentity, StoreError, StoredRun, StoredSummary,
};

pub use advice::{NextStep, StateAdvice};
pub use canceller::Canceller;
pub use doors::{Commands, Doors, SystemDoors};
pub use evaluate::{DataOptions, EvaluatedData, Evaluation, EvaluationError};
pub use event_queue::{EventQueue, QueueSink, QueuedEvent, event_queue};
pub use events_file::EventsFile;
pub use exit::ExitCode;
pub use explain::{Explanation, PropertyReference, TypeReference, UnknownName};
pub use findings::{Findings, ManifestErrors};
pub use input::{Data, Facts, Input, InputError, MAX_MANIFEST_SIZE, Source, Values};
pub use ledger::NameMissing;
pub use machine::url_hint;
pub use manifest::{Manifest, UnknownResource, UnknownResources};
pub use run::{BeginError, Mode, RecordEnd, Report, Run, RunOptions};
pub use session::{Config, Notice, Session};
pub use sink::{Emitted, Sink};
pub use spawn::{Job, JobError, spawn};
pub use status::{Pending, Status, StatusError};
pub use text::{InvalidByte, TextError};
pub use validate::{SharedFinding, Validation, ValidationError, shared_findings};
pub use verification::{Verification, VerificationError};
