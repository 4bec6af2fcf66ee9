//! Runs of a manifest.

use std::cell::RefCell;
use std::future::poll_fn;
use std::path::PathBuf;
use std::pin::pin;
use std::time::Duration;

use ccm_engine::{Ledger, LedgerError};
use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError};
use ccm_host::{
    Files, FollowingExecutor, Host, LastLine, LocalExecutor, RunnerError, remove_private_leftovers,
};
use ccm_model::{Event, ResourceId, ResourceIndex, RunSummary, StopCause};
use ccm_report::{Recorded, RunIdentity, StoreError};
use tracing::{Instrument as _, debug_span};

use crate::canceller::Canceller;
use crate::containers::RunExecutor;
use crate::doors::Commands;
use crate::exit::ExitCode;
use crate::late::CatalogLate;
use crate::ledger::NameMissing;
use crate::manifest::{LoadedManifest, UnknownResources};
use crate::record::{Reported, RunRecord};
use crate::session::Notice;
use crate::sink::{Emitted, Sink};

/// Effect of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunMode {
    /// Noop: reads the state, changes nothing, and reports what would be changed.
    Plan,
    /// Brings the machine to the desired state.
    Apply,
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Applies only these resources and what they require; all resources if it is empty. References by alias
    /// are allowed.
    pub only: Vec<ResourceId>,
    /// Stops after the first resource that fails.
    pub fail_on_error: bool,
    /// Reports changes of content as unified diffs. The record of a run has them in any case.
    pub diff: bool,
    /// Describes the state of unchanged resources as well. It takes about as long as finding them unchanged.
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
    /// Handle that ends the run from outside. Copies of options share it, so a program replaces it after a
    /// cancelled run.
    pub canceller: Canceller,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            only: Vec::new(),
            fail_on_error: false,
            diff: false,
            describe_unchanged: false,
            json_lines: false,
            last_line: None,
            lock_wait: Duration::from_secs(30),
            keep_runs: 50,
            canceller: Canceller::new(),
        }
    }
}

/// Error of beginning a run. Nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginError {
    /// The canceller was raised while the run waited for another run to end.
    #[error("the wait for another run was cancelled")]
    Cancelled(StopCause),
    /// [`RunOptions::only`] names a resource that is not in the manifest.
    #[error(transparent)]
    Selection(#[from] UnknownResources),
    /// Commands can't be run.
    #[error(transparent)]
    Runner(#[from] RunnerError),
    /// The state directory can't be used.
    #[error(transparent)]
    State(#[from] StateError),
    /// The lock can't be taken.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The manifest needs a name.
    #[error(transparent)]
    Name(#[from] NameMissing),
    /// The ledger can't be used.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

/// A run that holds the lock of the state directory until it is dropped.
pub struct ActiveRun<'m> {
    pub(crate) manifest: &'m LoadedManifest<'m>,
    mode: RunMode,
    pub(crate) options: RunOptions,
    commands: &'m dyn Commands,
    files: Box<dyn Files>,
    state_path: Option<PathBuf>,
    state: Option<Directory>,
    lock: Option<Lock>,
    ledger: Option<Ledger>,
    record: RunRecord,
    only: Option<Vec<ResourceIndex>>,
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
    /// Begins a run: opens the state directory, waits for the lock and opens the ledger. A plan takes no lock
    /// and writes nothing.
    pub async fn begin(&self, mode: RunMode, options: RunOptions) -> Result<ActiveRun<'_>, BeginError> {
        let session = self.session;
        let only = self.select(&options.only)?;
        let doors = &session.doors;
        let commands = doors.commands(&session.secrets, session.launcher.as_deref())?;
        // A plan only needs the path of the state directory.
        let state_path = session.state_path().ok();
        let state = match mode {
            RunMode::Plan => None,
            RunMode::Apply => Some(Directory::open_private(&session.state_path()?)?),
        };
        let mut lock = None;
        if let Some(state) = &state {
            remove_private_leftovers();
            let holder = LockHolder { manifest: self.input.full_name().to_owned(), since: doors.clock.now() };
            let mut on_wait = |other: &str| (session.notices)(&Notice::Waiting(other));
            lock = Some(tokio::select! {
                // A free lock is taken even if the run is already cancelled, so that such a run leaves a
                // record.
                biased;
                taken = Lock::take(state, &holder, options.lock_wait, &mut on_wait) => taken?,
                cause = options.canceller.stopped() => return Err(BeginError::Cancelled(cause)),
            });
        }
        let mut record = RunRecord::new(self.input.full_name(), state.as_ref(), &*doors.clock);
        self.check_name()?;
        let ledger = self.ledger(record.identity(), state.as_ref(), state_path.as_deref())?;
        record.begin(state.as_ref(), options.keep_runs);
        let files = doors.doors.files(options.canceller.cancellation());
        Ok(ActiveRun {
            manifest: self,
            mode,
            options,
            commands,
            files,
            state_path,
            state,
            lock,
            ledger,
            record,
            only,
        })
    }

    /// Reports the changes that a run would make, and changes nothing.
    pub async fn plan(&self, options: RunOptions, sink: &mut dyn Sink) -> Result<RunReport, BeginError> {
        self.run(RunMode::Plan, options, sink).await
    }

    /// Brings the machine to the desired state, and records the run.
    pub async fn apply(&self, options: RunOptions, sink: &mut dyn Sink) -> Result<RunReport, BeginError> {
        self.run(RunMode::Apply, options, sink).await
    }

    async fn run(
        &self,
        mode: RunMode,
        options: RunOptions,
        sink: &mut dyn Sink,
    ) -> Result<RunReport, BeginError> {
        let mut run = self.begin(mode, options).await?;
        let summary = run.apply(sink).await;
        let record = run.end(&summary, ExitCode::of(&summary, false));
        Ok(RunReport { identity: run.identity().clone(), summary, record })
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

impl ActiveRun<'_> {
    /// Applies the manifest, and returns the summary.
    pub async fn apply(&mut self, sink: &mut dyn Sink) -> RunSummary {
        self.apply_as(self.manifest, sink).await
    }

    /// Applies the manifest of the run, or a copy that was read again.
    pub(crate) async fn apply_as(
        &mut self,
        manifest: &LoadedManifest<'_>,
        sink: &mut dyn Sink,
    ) -> RunSummary {
        let Self { mode, options, commands, files, state_path, state, ledger, record, only, lock, .. } = self;
        let session = manifest.session;
        let identity = record.identity().clone();
        let host = session.doors.machine.kernel().hostname;
        let span = debug_span!("run", id = %identity.run_id, manifest = %identity.manifest);
        let local = LocalExecutor::new(*commands, *commands, &**files);
        let cancellation = options.canceller.cancellation();
        let executor = RunExecutor::new(&local, session, cancellation, &identity, state.as_ref());
        let following = options
            .last_line
            .clone()
            .map(|last_line| FollowingExecutor { executor: executor.executor(), last_line });
        let run = ccm_engine::Run {
            catalog: &manifest.catalog,
            types: &session.types.iter().map(|found| *found as _).collect::<Vec<_>>(),
            host: Host {
                executor: following.as_ref().map_or(executor.executor(), |following| following),
                system: *commands,
                files: &**files,
                clock: &*session.doors.clock,
            },
            late: &CatalogLate { late: &manifest.loaded.late },
            secrets: &session.secrets,
            stop: options.canceller.stop(),
            noop: *mode == RunMode::Plan,
            fail_on_error: options.fail_on_error,
            diff: options.diff || record.is_kept(),
            directory: manifest.input.directory(),
            state_directory: state_path.as_deref(),
            describe_unchanged: options.describe_unchanged,
            only: only.as_deref(),
            gate: &*session.gate,
            ledger: ledger.as_ref(),
        };
        let reported = Reported { lines: options.json_lines, diffs: options.diff };
        let sink = RefCell::new(sink);
        let current = RefCell::new(None);
        let mut on_event = |mut event: Event| {
            match &mut event {
                Event::SessionStarted(started) => {
                    started.host.clone_from(&host);
                    started.manifest.clone_from(&identity.manifest);
                    started.run_id.clone_from(&identity.run_id);
                }
                Event::ResourceStarted(started) => *current.borrow_mut() = Some(started.id.clone()),
                Event::ResourceFinished(_) => *current.borrow_mut() = None,
                _ => {}
            }
            let line = record.accept(&mut event, reported);
            sink.borrow_mut().accept(Emitted { event, line });
        };
        let mut activity = ActivityRecord { lock: lock.as_ref(), recorded: None };
        let mut applied = pin!(run.apply(&mut on_event).instrument(span));
        let summary = poll_fn(|context| {
            let polled = applied.as_mut().poll(context);
            // While the run waits, usually for a command, no events come that could be passed on together.
            if polled.is_pending() {
                sink.borrow_mut().flush();
                activity.record(current.borrow().as_ref());
            }
            polled
        })
        .await;
        executor.close().await;
        summary
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
    pub fn end(&mut self, summary: &RunSummary, code: ExitCode) -> RecordEnd {
        let mut code = if self.record.failed() { code.and_failed() } else { code };
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
        self.record.begin(self.state.as_ref(), self.options.keep_runs);
        let identity = self.record.identity();
        self.ledger = again.ledger(identity, self.state.as_ref(), self.state_path.as_deref())?;
        Ok(())
    }

    /// Selects the same resources in the manifest that was read again.
    pub(crate) fn select_again(&mut self, again: &LoadedManifest<'_>) -> Result<(), UnknownResources> {
        self.only = again.select(&self.options.only)?;
        Ok(())
    }
}
