//! Runs of a manifest.

use std::cell::RefCell;
use std::future::poll_fn;
use std::path::PathBuf;
use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use ccm_engine::{EarlierOutcomes, Ledger, LedgerError};
use ccm_governance::audit::{AuditProblem, RunAudit};
use ccm_governance::signed::SignedSources;
use ccm_host::state::{Directory, Lock};
use ccm_host::{Commands, Files, Host, LastLine, VersionCommands};
use ccm_model::{Event, ResourceId, RunSummary, SessionStarted};
use ccm_report::{Recorded, RunIdentity, StoreError};
use ccm_resources::HealthChecks;
use tracing::{Instrument as _, debug_span};

use crate::begin::BeginError;
use crate::canceller::Canceller;
use crate::exit::ExitCode;
use crate::graph::ManifestGraph;
use crate::late::CatalogLate;
use crate::manifest::LoadedManifest;
use crate::plan::{ReadPlan, RunPlan};
use crate::record::{Reported, RunRecord};
use crate::selection::{NamedResources, UnknownResources};
use crate::sink::{Emitted, Sink};
use crate::stack::{RunStack, StackParts};

/// Effect of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Noop: reads the state, changes nothing, and reports what would be changed.
    Plan,
    /// Brings the machine to the desired state.
    Apply,
    /// Runs the health checks and nothing else, without a lock and without a record but that of the audit log.
    Monitor,
}

/// Detail of the record of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordDetail {
    /// The graph of the resources is recorded if the run changes something or fails.
    #[default]
    Changes,
    /// The graph of the resources is recorded in any case.
    Full,
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Applies only these resources and what they require; all resources if it is empty. References by alias
    /// are allowed.
    pub only: Vec<ResourceId>,
    /// Leaves these resources out; dependants run as if they were unchanged. The resource of a child manifest stands
    /// for all of it. References by alias are allowed.
    pub skip: Vec<ResourceId>,
    /// Runs the health checks of the resources and nothing else.
    pub monitor_only: bool,
    /// Stops after the first resource that fails.
    pub fail_on_error: bool,
    /// Reports changes of content as unified diffs. The record of a run has them in any case.
    pub diff: bool,
    /// Describes the state and the properties of unchanged resources as well. It takes about as long as finding them unchanged.
    pub describe_unchanged: bool,
    /// Emits each event with its line of JSON.
    pub json_lines: bool,
    /// Receives the last line that a running command printed, to be shown while it runs. Commands that are
    /// sensitive or only read the state of the system are left out. `None` costs nothing.
    pub last_line: Option<LastLine>,
    /// Time to wait for another run to end, 30 seconds by default.
    pub lock_wait: Duration,
    /// Number of recorded runs to keep, including this one, 50 by default. As many older runs are kept that
    /// changed something or failed.
    pub keep_runs: usize,
    /// Detail of the record.
    pub record: RecordDetail,
    /// Plan that the run follows: a change that is not the one of the plan fails.
    /// [`Session::check_plan`](crate::Session::check_plan) has to be called before the first change.
    pub plan: Option<Arc<ReadPlan>>,
    /// Handle that ends the run from outside. Copies of options share it, so a program replaces it after a
    /// cancelled run.
    pub canceller: Canceller,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            skip: Vec::new(),
            monitor_only: false,
            fail_on_error: false,
            diff: false,
            describe_unchanged: false,
            json_lines: false,
            last_line: None,
            lock_wait: Duration::from_secs(30),
            keep_runs: 50,
            record: RecordDetail::default(),
            plan: None,
            canceller: Canceller::new(),
        }
    }
}

/// A run that holds the lock of the state directory until it is dropped, maybe together with other runs.
pub struct ActiveRun<'m> {
    pub(crate) manifest: &'m LoadedManifest<'m>,
    /// Manifests that are applied before or after this one.
    pub(crate) others: Vec<&'m LoadedManifest<'m>>,
    pub(crate) mode: RunMode,
    pub(crate) options: RunOptions,
    pub(crate) commands: &'m dyn Commands,
    pub(crate) files: Box<dyn Files>,
    pub(crate) state_path: Option<PathBuf>,
    pub(crate) state: Option<Rc<Directory>>,
    pub(crate) lock: Option<Rc<Lock>>,
    pub(crate) audit: Option<Rc<RunAudit>>,
    /// The beginning of the run is in the audit log, and its end is not.
    pub(crate) is_audited: bool,
    pub(crate) ledger: Option<Ledger>,
    pub(crate) record: RunRecord,
    pub(crate) selection: NamedResources,
    /// Plan that is made of the run, or that the run follows.
    pub(crate) plan: RunPlan,
}

/// Result of a run.
#[derive(Debug)]
pub struct RunReport {
    /// Name of the run in the record.
    pub identity: RunIdentity,
    /// Counted outcomes and pending refreshes.
    pub summary: RunSummary,
    /// End of the record, with the exit code.
    pub record: RecordEnd,
}

/// End of the record of a run.
#[derive(Debug)]
#[must_use]
pub struct RecordEnd {
    /// Exit code of the run or plan, without details: an incomplete record counts as a failure.
    pub code: ExitCode,
    /// `true` if the run was recorded. A plan is not.
    pub is_recorded: bool,
    /// Reason why the record is not complete.
    pub error: Option<StoreError>,
    /// Reasons why old runs could not be removed.
    pub not_removed: Vec<StoreError>,
}

impl LoadedManifest<'_> {
    /// Reports the changes that a run would make, and changes nothing.
    pub async fn plan(&self, options: RunOptions, sink: &mut dyn Sink) -> Result<RunReport, BeginError> {
        self.run(RunMode::Plan, options, sink).await
    }

    /// Brings the machine to the desired state, and records the run.
    pub async fn apply(&self, options: RunOptions, sink: &mut dyn Sink) -> Result<RunReport, BeginError> {
        self.run(RunMode::Apply, options, sink).await
    }

    /// Runs the health checks and nothing else. Only the audit log has a record of that.
    pub async fn monitor(&self, options: RunOptions, sink: &mut dyn Sink) -> Result<RunReport, BeginError> {
        self.run(RunMode::Monitor, options, sink).await
    }

    async fn run(
        &self,
        mode: RunMode,
        options: RunOptions,
        sink: &mut dyn Sink,
    ) -> Result<RunReport, BeginError> {
        let mut run = self.begin(mode, options).await?;
        let summary = run.apply(sink).await;
        let record = run.end(&summary, ExitCode::of(&summary, false)).await;
        Ok(RunReport { identity: run.identity().clone(), summary, record })
    }
}

impl LoadedManifest<'_> {
    /// Returns the resources of earlier calls of a session that did not succeed, and those whose changes trigger a refresh.
    fn earlier_outcomes(&self) -> (Vec<ResourceId>, Vec<ResourceId>) {
        let own = self.catalog.resources.iter().find(|resource| resource.group.is_none());
        let outcomes = self.input.outcomes.as_deref();
        let found = outcomes.map(|found| found.outcomes_for(own.map(|own| &own.id), &self.loaded.earlier));
        found.unwrap_or_default()
    }
}

/// Record of the resource that a run waits for, which `status` shows.
struct ActivityRecord<'r> {
    lock: Option<&'r Lock>,
    recorded: Option<ResourceId>,
}

impl ActivityRecord<'_> {
    fn record(&mut self, resource: Option<&ResourceId>) {
        if let Some(lock) = self.lock
            && self.recorded.as_ref() != resource
        {
            lock.set_activity(&resource.map(ToString::to_string).unwrap_or_default());
            self.recorded = resource.cloned();
        }
    }
}

/// Adds the names of the machine, the manifest and the run to the first event.
fn add_names(started: &mut SessionStarted, host: &str, identity: &RunIdentity) {
    host.clone_into(&mut started.host);
    started.manifest.clone_from(&identity.manifest);
    started.run_id.clone_from(&identity.run_id);
}

impl ActiveRun<'_> {
    /// Records and applies the manifest, and returns the summary.
    pub async fn apply(&mut self, sink: &mut dyn Sink) -> RunSummary {
        self.record.begin(self.state.as_deref(), &self.options);
        // If a record is required, an error keeps everything from being started.
        let _recorded = self.begin_audit();
        self.apply_as(self.manifest, sink).await
    }

    /// Records the beginning of the run in the audit log, unless that was done.
    pub(crate) fn begin_audit(&mut self) -> Result<(), AuditProblem> {
        self.begin_audit_of(self.manifest)
    }

    fn begin_audit_of(&mut self, manifest: &LoadedManifest<'_>) -> Result<(), AuditProblem> {
        let Some(audit) = self.audit.as_ref().filter(|_| !self.is_audited) else { return Ok(()) };
        self.is_audited = true;
        let identity = self.record.identity();
        let text = (&*manifest.input.request().text, manifest.input.source().version());
        audit.begin_run((&identity.run_id, &identity.manifest), text, self.mode == RunMode::Plan)
    }

    /// Applies the manifest of the run, or a copy that was read again.
    pub(crate) async fn apply_as(
        &mut self,
        manifest: &LoadedManifest<'_>,
        sink: &mut dyn Sink,
    ) -> RunSummary {
        let Self {
            mode,
            options,
            others,
            commands,
            files,
            state_path,
            state,
            ledger,
            record,
            selection,
            lock,
            audit,
            plan,
            ..
        } = self;
        let (plan, witness) = (&*plan, plan.witness());
        let (session, identity) = (manifest.session, record.identity().clone());
        let host = session.doors.machine.kernel().hostname;
        let span = debug_span!("run", id = %identity.run_id, manifest = %identity.manifest);
        let signed_sources =
            manifest.input.reads().signed().map(|signed| SignedSources { inner: &**files, signed });
        let files: &dyn Files = signed_sources.as_ref().map_or(&**files, |signed| signed);
        let version = manifest.input.source().version_directory();
        let of_version = version.map(|directory| VersionCommands::new(*commands, directory));
        let commands: &dyn Commands = of_version.as_ref().map_or(*commands, |commands| commands);
        let (outcomes, references) = (manifest.input.outcomes.as_deref(), &manifest.loaded.earlier);
        let (failed, changed) = manifest.earlier_outcomes();
        let stack = RunStack::of(StackParts {
            manifest,
            commands,
            files,
            state: state.as_deref(),
            identity: &identity,
            cancellation: options.canceller.cancellation(),
            last_line: options.last_line.clone(),
            audit: audit.clone(),
            plan,
        });
        let run = ccm_engine::Run {
            catalog: &manifest.catalog,
            others: &others.iter().map(|other| &other.catalog).collect::<Vec<_>>(),
            types: &session.types.iter().map(|found| *found as _).collect::<Vec<_>>(),
            host: Host { executor: stack.executor(), system: commands, files, clock: &*session.doors.clock },
            late: &CatalogLate { late: &manifest.loaded.late },
            secrets: &session.secrets,
            stop: options.canceller.stop(),
            noop: *mode == RunMode::Plan,
            monitor_only: options.monitor_only || *mode == RunMode::Monitor,
            fail_on_error: options.fail_on_error,
            diff: options.diff || record.is_kept() || witness.is_some(),
            directory: manifest.input.directory(),
            state_directory: state_path.as_deref(),
            describe_unchanged: options.describe_unchanged,
            only: selection.only.as_deref(),
            skip: &selection.skip,
            health: &HealthChecks,
            gate: stack.gate(),
            earlier: EarlierOutcomes { failed: &failed, changed: &changed },
            // Nothing is refreshed, so that everything that is pending stays so.
            ledger: ledger.as_ref().filter(|_| !options.monitor_only),
            witness,
        };
        let reported = Reported { lines: options.json_lines, diffs: options.diff };
        let (record, sink, current) = (RefCell::new(record), RefCell::new(sink), RefCell::new(None));
        let mut on_event = |mut event: Event| {
            match &mut event {
                Event::SessionStarted(started) => add_names(started, &host, &identity),
                Event::ResourceStarted(started) => *current.borrow_mut() = Some(started.id.clone()),
                Event::ResourceFinished(_) => *current.borrow_mut() = None,
                _ => {}
            }
            if let (Some(audit), Event::ResourceFinished(transaction)) = (audit.as_deref(), &event) {
                audit.resource(transaction);
            }
            if let (Some(outcomes), Event::ResourceFinished(transaction)) = (outcomes, &event) {
                outcomes.record(transaction, references);
            }
            let mut record = record.borrow_mut();
            record.accept_graph(&event, &ManifestGraph { manifest });
            plan.accept(&event);
            let line = record.accept(&mut event, reported);
            sink.borrow_mut().accept(Emitted { event, line });
        };
        let mut activity = ActivityRecord { lock: lock.as_deref(), recorded: None };
        let mut applied = pin!(run.apply(&mut on_event).instrument(span));
        let summary = poll_fn(|context| {
            let polled = applied.as_mut().poll(context);
            // While the run waits, usually for a command, no events come that could be passed on together.
            if polled.is_pending() {
                sink.borrow_mut().flush();
                record.borrow_mut().write_out();
                activity.record(current.borrow().as_ref());
            }
            polled
        })
        .await;
        stack.close().await;
        summary
    }

    /// Returns the manifest of the run.
    pub fn manifest(&self) -> &LoadedManifest<'_> {
        self.manifest
    }

    /// Returns the name of the run in its record and its events.
    pub fn identity(&self) -> &RunIdentity {
        self.record.identity()
    }

    /// Returns the id of the newest run that was recorded before this one.
    pub fn earlier_run(&self) -> Option<&str> {
        self.record.earlier.as_deref()
    }

    /// Ends the record with the exit code of the run. An ended record stays unchanged.
    pub async fn end(&mut self, summary: &RunSummary, code: ExitCode) -> RecordEnd {
        let mut code = if self.record.failed() { code.and_failed() } else { code };
        if let Some(audit) = self.audit.as_deref().filter(|_| self.is_audited) {
            self.is_audited = false;
            audit.end_run(&summary.counts, code.number());
            audit.forward(self.commands).await;
            if audit.is_incomplete() {
                code = code.and_failed();
            }
        }
        let Some(Recorded { record, not_removed }) = self.record.end(summary, code.number()) else {
            return RecordEnd { code, is_recorded: false, error: None, not_removed: Vec::new() };
        };
        let error = record.err();
        if error.is_some() {
            code = code.and_failed();
        }
        RecordEnd { code, is_recorded: true, error, not_removed }
    }

    /// Begins another run under the same lock, which verifies that the previous run is idempotent. The record
    /// of the previous run has to be ended.
    pub(crate) fn begin_verification(&mut self, again: &LoadedManifest<'_>) -> Result<(), LedgerError> {
        self.record.begin_verification(&*again.session.doors.clock);
        self.record.begin(self.state.as_deref(), &self.options);
        // If a record is required, an error keeps everything from being started.
        let _recorded = self.begin_audit_of(again);
        let identity = self.record.identity();
        self.ledger = again.ledger(identity, self.state.as_deref(), self.state_path.as_deref())?;
        Ok(())
    }

    /// Selects the same resources in the manifest that was read again.
    pub(crate) fn select_again(&mut self, again: &LoadedManifest<'_>) -> Result<(), UnknownResources> {
        self.selection = NamedResources::of_each(&[again], &self.options)?.pop().unwrap_or_default();
        Ok(())
    }
}
