//! ccm as a library: loads manifests, and brings a machine to the declared state.
//!
//! # Applying a manifest
//!
//! A [`Session`] reads a manifest into an [`Input`] and loads that into a [`LoadedManifest`], or into every
//! error in it. A manifest is planned, which changes nothing, or applied:
//!
//! ```
//! use ccm_runtime::{
//!     Config, Emitted, Event, ExitCode, GivenValues, MAX_MANIFEST_SIZE, ManifestSource, RunOptions, Session,
//! };
//!
//! # async fn apply() -> Result<ExitCode, Box<dyn std::error::Error>> {
//! let session = Session::open(Config::default());
//! let source = ManifestSource::File("site.yaml".into());
//! let input = session.read(source, &GivenValues::default(), MAX_MANIFEST_SIZE)?;
//! let manifest = match session.load(&input) {
//!     Ok(manifest) => manifest,
//!     Err(errors) => {
//!         eprint!("{}", errors.text());
//!         return Ok(ExitCode::NothingRun);
//!     }
//! };
//! let mut print = |emitted: Emitted<'_>| {
//!     if let Event::ResourceFinished(transaction) = emitted.event {
//!         println!("{}: {}", transaction.id, transaction.outcome.word());
//!     }
//! };
//! let plan = manifest.plan(RunOptions::default(), &mut print).await?;
//! if plan.summary.counts.failed > 0 {
//!     return Ok(plan.record.code);
//! }
//! let report = manifest.apply(RunOptions::default(), &mut print).await?;
//! Ok(report.record.code)
//! # }
//! ```
//!
//! A run needs a tokio runtime with time and I/O (`enable_all`); one for the current thread is enough.
//! `crates/ccm-runtime/examples/apply.rs` is a whole program. A failed resource is no `Err`: the
//! [`RunReport`] counts it and has the exit code.
//!
//! # What the process does first
//!
//! A run starts commands, and a command inherits what its process has. A program therefore begins with two
//! calls, before it opens a file or starts a thread: [`process::launcher::begin`] and
//! [`process::prepare_process`]. With the first, [`Config::launcher`] can name the program itself; without a
//! launcher, commands can have neither a user of their own nor a sandbox.
//!
//! Nothing else here may affect the process: no function prints, exits or listens to signals. Events go to the
//! [`Sink`] of a run, notices to [`Session::on_notice`]. Sessions share only one thing: a process runs one
//! command at a time, and commands of other sessions wait, because the kernel assigns orphans to a process
//! and not to a session.
//!
//! # Sessions
//!
//! A session owns secrets, [resource types](Config::types), [doors to the machine](Doors), caches and the
//! path of the state directory. Sessions of one process are isolated from each other, one after another or in
//! parallel on their own threads. A session stays on its thread; [`spawn()`] starts a thread for a session
//! beside the reactor of the program, so that work on files delays no timer and no connection.
//!
//! - [`Session::load`], [`Session::validate`] and [`Session::validate_for`] check a manifest.
//! - [`LoadedManifest::plan`], [`LoadedManifest::apply`] and, step by step, [`LoadedManifest::begin`] run it.
//!   [`RunOptions::canceller`] ends a run from any thread, and [`RunOptions::only`] and [`RunOptions::skip`] select
//!   resources. [`Session::begin_all`] applies several manifests under one lock, after [`Session::conflicts`].
//!   [`ActiveRun::verify_idempotent`] applies a manifest again to prove that nothing changes.
//! - [`Session::executor`] finds an executor of a manifest by its name, and [`ManifestExecutor::exec`] runs a command
//!   with it; `crates/ccm-runtime/examples/executor.rs` is a whole program.
//! - [`LoadedManifest::graph`] and [`LoadedManifest::render`] show it.
//! - [`Session::status`], [`Session::history`] and [`Session::pending`] read what runs recorded, and
//!   [`Session::next_steps`] what to do about pending refreshes.
//! - [`Session::begin_pause`] asks unattended runs to wait. A program honours that by [`Session::honoured_pause`].
//! - [`Session::facts`], [`Session::evaluate`] and [`Session::data`] evaluate facts, expressions and values
//!   by themselves.
//! - [`Session::read_rules`] reads a file with rules of Goss, and [`CheckedRules::judge`] judges them.
//!   [`LoadedManifest::check`] runs the health checks of a manifest.
//! - [`Session::explain`] and [`Session::schema`] return the reference of resource types as data.
//!
//! # Secrets
//!
//! Values that a manifest marks as sensitive become [`Secrets`] of the session, and a program adds its own.
//! They are in no event, no error in a manifest and no record: what leaves a session can be shown, except
//! values that a function returns as its result, such as [`Session::evaluate`].
//!
//! # A gate
//!
//! [`Config::gate`] takes a [`Gate`]: a program's own policy, which is asked before each command and each change,
//! sees the resource, the reason and the diff, and allows, denies or waits for an approval.
//!
//! ```
//! use ccm_runtime::{ChangeRequest, CommandRequest, Config, Gate, Verdict};
//!
//! struct NoShell;
//!
//! impl Gate for NoShell {
//!     async fn before_command(&self, request: &CommandRequest<'_>) -> Verdict {
//!         let (reason, hints) = ("a shell is not allowed".to_owned(), Vec::new());
//!         let is_shell = request.command.shell_text().is_some();
//!         if is_shell { Verdict::Deny { reason, hints } } else { Verdict::Allow }
//!     }
//!
//!     async fn before_change(&self, _: &ChangeRequest<'_>) -> Verdict {
//!         Verdict::Allow
//!     }
//! }
//!
//! let config = Config { gate: Box::new(NoShell), ..Config::default() };
//! ```
//!
//! # The operator's policy
//!
//! Runs obey the policy in `/etc/ccm`, if there is one: a session reads it before a run, and each command and change
//! is judged before the gate of the program is asked. [`Config::policy`] names another directory, and the module
//! [`policy`] judges commands without a run.
//!
//! # The audit log
//!
//! A run records itself in the audit log of the machine, if there is one: when it begins and ends, each command before
//! it starts, and each change. [`Config::audit`] names another place, and the module [`audit`] reads the log and
//! records what is no run.
//!
//! # Resource types of a program's own
//!
//! [`Config::types`] takes resource types beside the built-in ones. The module [`resource_type`] has
//! everything that a type needs, and a whole type as an example.

mod advice;
pub mod backups;
mod begin;
mod canceller;
mod changeable;
mod conflicts;
mod containers;
mod data_document;
mod doors;
mod early_policy;
mod encrypted_values;
#[cfg(feature = "secrets")]
pub mod encryption;
pub mod ensure;
mod evaluate;
mod event_queue;
mod events_file;
mod executor;
mod exit;
mod explain;
mod findings;
mod graph;
mod input;
mod late;
mod ledger;
mod machine;
mod manifest;
mod manifest_checks;
mod notices;
mod pause;
mod plain_path;
pub mod plan;
pub mod printed;
mod private_file;
pub mod process;
#[cfg(feature = "archive")]
pub mod push;
mod record;
mod reference_names;
mod refusal;
#[cfg(feature = "archive")]
pub mod release;
pub mod resource;
pub mod resource_type;
mod rule_file;
mod run;
mod selection;
mod session;
mod session_doors;
mod sink;
#[cfg(feature = "archive")]
pub mod source;
mod spawn;
mod stack;
mod statement;
pub mod status;
pub mod timer;
mod validate;
mod verification;

pub use ccm_check::{AttributeOutcome, AttributeResult, CheckStatus, Rule, RuleResult, RulesReport};
pub use ccm_data::assignment;
pub use ccm_data::hierarchy::EntryOutcome;
pub use ccm_data::layers::{ValueOrigin, ValueSource};
pub use ccm_engine::{
    ChangeRequest, CommandRequest, DynGate, Gate, GatedResource, LedgerDamage, LedgerError, OpenGate,
    PendingLedger, PlannedChange, RecordedRefresh, ResourceType, Verdict,
};
pub use ccm_expr::Value;
pub use ccm_facts::{CustomFacts, Warning as FactWarning, reference as fact_reference};
pub use ccm_governance::audit::{AuditProblem, AuditSource};
pub use ccm_governance::policy::{CheckedPolicy, PolicyError, PolicySource};
pub use ccm_governance::{Governance, GovernanceNotice, approval, audit, policy, signed};
pub use ccm_graph::RenderFormat;
pub use ccm_host::state::{LockError, StateError};
pub use ccm_host::{
    Cancellation, CancellationLevel, Clock, Command, CommandOrigin, Commands, CredentialError, Files, Local,
    Machine, Role, Runner, RunnerError, TextError,
};
pub use ccm_host::{LocalZone, SigningError, SigningKey};
pub use ccm_manifest::{DataFile, ExpressionNames};
pub use ccm_model as model;
pub use ccm_model::{
    Artifacts, Catalog, CheckCounts, Claim, ClaimKind, Counts, Diagnostic, Event, Failure, FailureKind,
    Findings, HealthCheckResult, Intent, Location, ManifestErrors, Outcome, OutputLine, Reason,
    RefreshSummary, ResourceId, ResourceStarted, RunSummary, SessionStarted, Severity, SkipCause, SourceMap,
    StopCause, Stream, Transaction, error_layers,
};
pub use ccm_page as page;
pub use ccm_redaction::Secrets;
pub use ccm_report as report;
pub use ccm_report::{
    ChangedAgain, History, JsonLine, ReportError, RunIdentity, RunOutcome, Screen, StoreError, StoredRun,
    StoredSummary,
};

pub use advice::{NextStep, StateAdvice};
pub use begin::{BeginError, BeginFailure};
pub use canceller::Canceller;
pub use conflicts::{ConflictingResource, ManifestConflict};
pub use data_document::DataDocument;
pub use doors::{Doors, SystemDoors};
pub use evaluate::{DataOptions, EvaluatedData, EvaluatedExpression, ExpressionError};
pub use event_queue::{EventQueue, QueueSink, QueuedEvent, event_queue};
pub use events_file::EventsFile;
pub use executor::{CommandText, ExecutorCommand, ExecutorError, ExecutorResult, ManifestExecutor};
pub use exit::ExitCode;
pub use explain::{Explanation, PropertyReference, TypeReference, UnknownName};
pub use findings::{
    ErrorDocument, Finding, ValidatedChild, ValidatedManifest, ValidationDocument, schema_of_events,
};
pub use graph::PictureError;
pub use input::{GivenData, GivenFacts, GivenValues, Input, InputError, MAX_MANIFEST_SIZE, ManifestSource};
pub use ledger::NameMissing;
pub use machine::{RELATIVE_PATH_HINT, url_hint};
pub use manifest::LoadedManifest;
pub use manifest_checks::{CheckedResource, ManifestCheckReport};
pub use pause::{EndedPause, MAX_PAUSE, Pause, PauseError};
pub use private_file::write_private;
pub use reference_names::PassiveDoors;
pub use refusal::RefusalError;
pub use rule_file::{CheckedRules, JudgeOptions, RuleFileError, RuleJudgementError};
pub use run::{ActiveRun, RecordDetail, RecordEnd, RunMode, RunOptions, RunReport};
pub use selection::{SelectionOption, UnknownResource, UnknownResources};
pub use session::{Config, InputBounds, Notice, Session};
pub use sink::{Emitted, Sink};
pub use spawn::{Job, JobError, spawn};
pub use validate::{SharedFinding, Validation, ValidationError, ValidationExtent, shared_findings};
pub use verification::{Verification, VerificationError};
