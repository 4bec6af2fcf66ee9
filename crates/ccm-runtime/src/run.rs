//! Runs of a manifest.

use std::path::PathBuf;
use std::time::Duration;

use ccm_engine::{Ledger, LedgerError};
use ccm_host::state::{Directory, Lock, LockError, LockHolder, StateError};
use ccm_host::{Files, Host, LocalExecutor, RunnerError, remove_private_leftovers};
use ccm_model::{Event, ResourceId, ResourceIndex, RunSummary, StopCause};
use ccm_report::{JsonLine, Recorded, RunIdentity};
use tracing::{Instrument as _, debug_span};

use crate::canceller::Canceller;
use crate::doors::Commands;
use crate::exit::ExitCode;
use crate::late::CatalogLate;
use crate::ledger::NameMissing;
use crate::manifest::{Manifest, UnknownResources};
use crate::record::Record;
use crate::session::{Notice, Session};

/// Effect of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Noop: reads the state, changes nothing, and reports what would be changed.
    Plan,
    /// Brings the machine to the desired state.
    Apply,
}

/// Options of a run.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// Applies only these resources and what they require; all resources if it is empty. References by alias are allowed.
    pub only: Vec<ResourceId>,
    /// Stops after the first resource that fails.
    pub fail_on_error: bool,
    /// Reports changes of content as unified diffs.
    pub diff: bool,
    /// Describes unchanged resources as well, for whoever writes the events down.
    pub describe_unchanged: bool,
    /// Emits each event with its line of JSON.
    pub json_lines: bool,
    /// Time to wait for another run to end.
    pub lock_wait: Duration,
    /// Number of recorded runs to keep, this one among them.
    pub keep_runs: usize,
    /// Handle that ends the run from outside. Copies of options share it, so a program that runs again after a run was
    /// cancelled puts a new one in.
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
            lock_wait: Duration::from_secs(30),
            keep_runs: 50,
            canceller: Canceller::new(),
        }
    }
}

/// An event of a run. It holds no secret.
#[derive(Clone, Copy, Debug)]
pub struct Emitted<'a> {
    /// The event.
    pub event: &'a Event,
    /// Its line of JSON, if that is wanted ([`RunOptions::json_lines`]) and the event has one.
    pub line: Option<&'a JsonLine<'a>>,
}

/// Receiver of the events of a run.
pub type Sink<'a> = &'a mut dyn FnMut(Emitted<'_>);

/// Error of beginning a run. Nothing was run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BeginError {
    /// The canceller was raised while the run waited for another one to end.
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
pub struct Run<'s> {
    session: &'s Session,
    mode: Mode,
    options: RunOptions,
    commands: &'s dyn Commands,
    files: Box<dyn Files>,
    place: Option<PathBuf>,
    state: Option<Directory>,
    _lock: Option<Lock>,
    ledger: Option<Ledger>,
    record: Record,
    only: Option<Vec<ResourceIndex>>,
}

/// Result of a run.
#[derive(Debug)]
pub struct Report {
    /// Name of the run in the record.
    pub identity: RunIdentity,
    /// Outcomes, counted, and what is owed to later runs.
    pub summary: RunSummary,
    /// State of the record, if the run was recorded.
    pub recorded: Option<Recorded>,
}

impl<'s> Manifest<'s> {
    /// Begins a run: opens the state directory, waits for the lock and opens the ledger. A plan takes no lock and writes
    /// nothing.
    pub async fn begin(&self, mode: Mode, options: RunOptions) -> Result<Run<'s>, BeginError> {
        let session = self.session;
        let only = self.select(&options.only)?;
        let doors = &session.doors;
        let commands = doors.commands(&session.secrets, session.launcher.as_deref())?;
        // A plan only has to know where the state would be.
        let place = session.state_path().ok();
        let state = match mode {
            Mode::Plan => None,
            Mode::Apply => Some(Directory::open_private(&session.state_path()?)?),
        };
        let mut lock = None;
        if let Some(state) = &state {
            remove_private_leftovers();
            let holder = LockHolder { manifest: self.input.full_name().to_owned(), since: doors.clock.now() };
            let mut on_wait = |other: &str| (session.notices)(&Notice::Waiting(other));
            lock = Some(tokio::select! {
                // A lock that is free is taken, so that a run that was cancelled before it began leaves a record.
                biased;
                taken = Lock::take(state, &holder, options.lock_wait, &mut on_wait) => taken?,
                cause = options.canceller.stopped() => return Err(BeginError::Cancelled(cause)),
            });
        }
        let mut record = Record::new(self.input.full_name(), state.as_ref(), &*doors.clock);
        self.check_name()?;
        let ledger = self.ledger(record.identity(), state.as_ref(), place.as_deref())?;
        record.begin(state.as_ref(), options.keep_runs);
        let files = doors.doors.files(options.canceller.cancellation());
        Ok(Run { session, mode, options, commands, files, place, state, _lock: lock, ledger, record, only })
    }

    /// Reports what would be changed, and changes nothing.
    pub async fn plan(&self, options: RunOptions, sink: Sink<'_>) -> Result<Report, BeginError> {
        self.run(Mode::Plan, options, sink).await
    }

    /// Brings the machine to the desired state, and records the run.
    pub async fn apply(&self, options: RunOptions, sink: Sink<'_>) -> Result<Report, BeginError> {
        self.run(Mode::Apply, options, sink).await
    }

    async fn run(&self, mode: Mode, options: RunOptions, sink: Sink<'_>) -> Result<Report, BeginError> {
        let mut run = self.begin(mode, options).await?;
        let summary = run.apply(self, sink).await;
        let mut code = ExitCode::of(&summary, false);
        if run.record_failed() {
            code = code.and_failed();
        }
        let recorded = run.end(&summary, code);
        Ok(Report { identity: run.identity().clone(), summary, recorded })
    }
}

impl Run<'_> {
    /// Applies the manifest that the run began with, or the same one read again, and returns what it amounted to.
    pub async fn apply(&mut self, manifest: &Manifest<'_>, sink: Sink<'_>) -> RunSummary {
        let Self { session, mode, options, commands, files, place, ledger, record, only, .. } = self;
        let identity = record.identity();
        let span = debug_span!("run", id = %identity.run_id, manifest = %identity.manifest);
        let executor = LocalExecutor::new(*commands, *commands, &**files);
        let run = ccm_engine::Run {
            catalog: &manifest.catalog,
            types: &session.types.iter().map(|found| *found as _).collect::<Vec<_>>(),
            host: Host {
                executor: &executor,
                system: *commands,
                files: &**files,
                clock: &*session.doors.clock,
            },
            late: &CatalogLate { late: &manifest.loaded.late },
            secrets: &session.secrets,
            stop: options.canceller.stop(),
            noop: *mode == Mode::Plan,
            fail_on_error: options.fail_on_error,
            diff: options.diff,
            directory: manifest.input.directory(),
            state_directory: place.as_deref(),
            describe_unchanged: options.describe_unchanged,
            only: only.as_deref(),
            ledger: ledger.as_ref(),
        };
        let mut on_event = |event: Event| {
            let line = record.accept(&event, options.json_lines);
            sink(Emitted { event: &event, line: line.as_ref() });
        };
        run.apply(&mut on_event).instrument(span).await
    }

    /// Returns the name of the run in its record and its events.
    pub fn identity(&self) -> &RunIdentity {
        self.record.identity()
    }

    /// Returns `true` if something of the record could not be written.
    pub fn record_failed(&self) -> bool {
        self.record.failed()
    }

    /// Ends the record. Returns `None` if the run is not recorded, or the record was ended before.
    pub fn end(&mut self, summary: &RunSummary, code: ExitCode) -> Option<Recorded> {
        self.record.end(summary, code.number())
    }

    /// Begins another run under the same lock, which verifies that the one before is idempotent. The record of that one
    /// should be ended.
    pub fn begin_verification(&mut self, manifest: &Manifest<'_>) -> Result<(), BeginError> {
        self.only = manifest.select(&self.options.only)?;
        self.record.begin_verification(&*self.session.doors.clock);
        self.record.begin(self.state.as_ref(), self.options.keep_runs);
        self.ledger = manifest.ledger(self.record.identity(), self.state.as_ref(), self.place.as_deref())?;
        Ok(())
    }
}
