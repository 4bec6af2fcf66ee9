//! Requests of a program, one after another. Those that come without a pause are one run.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use ccm_governance::signed::ReadRecord;
use ccm_host::{Files, absolute};
use ccm_manifest::DataFile;
use ccm_model::{CheckCounts, Counts, Event, RefreshSummary, RunSummary, error_layers};

use super::request::{errors, failure, read, state};
use super::{REQUESTS, SharedOutcomes, declared_input};
use crate::begin::{BeginError, SharedState};
use crate::exit::ExitCode;
use crate::input::{GivenValues, Input};
use crate::machine::MachineSources;
use crate::record::RunRecord;
use crate::run::{RecordEnd, RunMode, RunOptions};
use crate::session::Session;
use crate::sink::Emitted;

/// Requests of a program, answered one after another.
pub struct EnsureRequests<'s> {
    session: &'s Session,
    values: GivenValues,
    mode: RunMode,
    options: RunOptions,
    /// Directory of the session that the requests belong to.
    store: Option<PathBuf>,
    run: Option<RequestRun<'s>>,
}

/// What the requests of one run share.
struct RequestRun<'s> {
    shared: SharedState<'s>,
    sources: RequestSources,
    outcomes: Option<Rc<SharedOutcomes>>,
    /// Record, and door to files; `None` while a request is carried out.
    parts: Option<(RunRecord, Box<dyn Files>)>,
    summary: RunSummary,
}

/// Facts, variables and values, which are read once.
#[derive(Clone)]
struct RequestSources {
    machine: Rc<MachineSources>,
    directory: PathBuf,
    hiera: Vec<DataFile>,
}

impl<'s> EnsureRequests<'s> {
    /// Prepares to answer requests. `store` is the directory of the session that they belong to.
    pub fn new(
        session: &'s Session,
        values: GivenValues,
        mode: RunMode,
        options: RunOptions,
        store: Option<PathBuf>,
    ) -> Self {
        let options = RunOptions { json_lines: true, describe_unchanged: true, ..options };
        Self { session, values, mode, options, store, run: None }
    }

    /// Ensures the resource of a request, and returns the answer.
    pub async fn answer(&mut self, text: &str) -> String {
        let redacted = |session: &Session, text: &str| session.secrets.redact(text).into_owned();
        let declared = match read(text) {
            Ok(declared) => declared,
            Err(found) => return errors(&self.session.errors_in("the request", text, found)),
        };
        let mut run = match self.run.take() {
            Some(run) => run,
            None => match self.begin().await {
                Ok(run) => run,
                Err(message) => return failure(&redacted(self.session, &message)),
            },
        };
        let RequestSources { machine, directory, hiera } = run.sources.clone();
        let mut input = declared_input(declared, self.values.clone(), machine, directory, hiera);
        if let Some(outcomes) = &run.outcomes {
            input = input.in_session(Rc::clone(outcomes));
        }
        let answer = if run.shared.is_audited() {
            // The audit log has a beginning and an end of each request.
            drop(run);
            self.answer_alone(&input).await
        } else {
            let answer = self.answer_in(&mut run, &input).await;
            self.run = Some(run);
            answer
        };
        answer.unwrap_or_else(|answer| answer)
    }

    /// Ends the run, because no request comes for a while. Returns the end of its record, if there was a run.
    pub fn pause(&mut self) -> Option<RecordEnd> {
        // The lock is held until the record is complete.
        let RequestRun { shared: _shared, parts, summary, .. } = self.run.take()?;
        let code = ExitCode::of(&summary, false);
        let recorded = parts?.0.end_joined(&summary, code.number())?;
        let (error, not_removed) = (recorded.record.err(), recorded.not_removed);
        let code = if error.is_some() { code.and_failed() } else { code };
        Some(RecordEnd { code, is_recorded: true, error, not_removed })
    }

    async fn begin(&self) -> Result<RequestRun<'s>, String> {
        let session = self.session;
        let in_words = |error: &dyn std::error::Error| error_layers(error).join(": ");
        let outcomes = match &self.store {
            None => None,
            Some(path) => {
                let noop = self.mode == RunMode::Plan;
                let opened = session.open_outcomes(path, REQUESTS, noop, self.options.lock_wait).await;
                Some(Rc::new(opened.map_err(|error| in_words(&error))?))
            }
        };
        let shared = SharedState::open(session, REQUESTS, self.mode, &self.options).await;
        let shared = shared.map_err(|error: BeginError| in_words(&error))?;
        let directory = absolute(Path::new(".")).map_err(|error| in_words(&error))?;
        let dotenv = (!self.values.no_dotenv).then(|| directory.join(".env"));
        let reads = ReadRecord::new(session.records_reads());
        let machine = MachineSources::new(&session.shared, self.values.facts.clone(), dotenv, reads);
        let hiera = session.data_of_directory(&self.values, &machine, &directory);
        let hiera = hiera.map_err(|error| in_words(&error))?;
        let sources = RequestSources { machine: Rc::new(machine), directory, hiera };
        let parts = Some((shared.joined_record(REQUESTS, &self.options), shared.files(&self.options)));
        let summary = RunSummary {
            noop: self.mode == RunMode::Plan,
            monitor_only: false,
            duration: Duration::ZERO,
            counts: Counts::default(),
            checks: CheckCounts::default(),
            stopped: None,
            message: None,
            refreshes: RefreshSummary::default(),
        };
        Ok(RequestRun { shared, sources, outcomes, parts, summary })
    }

    /// Answers a request as a part of the run.
    async fn answer_in(&self, run: &mut RequestRun<'s>, input: &Input) -> Result<String, String> {
        let manifest = self.session.load(input).map_err(|found| errors(&found))?;
        let checked = manifest.check_name().map_err(BeginError::from);
        checked.and_then(|()| manifest.check_signed()).map_err(|error| self.refusal(&error))?;
        let parts = run.parts.take();
        let parts = parts.unwrap_or_else(|| {
            (run.shared.joined_record(REQUESTS, &self.options), run.shared.files(&self.options))
        });
        let mut active = run.shared.join(&manifest, self.options.clone(), parts);
        let mut answer = None;
        let (counts, noop) = (&mut run.summary.counts, self.mode == RunMode::Plan);
        let mut sink = |emitted: Emitted<'_>| {
            if let Event::ResourceFinished(transaction) = &emitted.event {
                counts.add(&transaction.outcome, noop);
                answer = emitted.line.map(|line| state(line.text));
            }
        };
        let summary = active.apply_as(&manifest, &mut sink).await;
        run.parts = Some((active.record, active.files));
        run.summary.duration = run.summary.duration.saturating_add(summary.duration);
        add_checks(&mut run.summary.checks, &summary.checks);
        run.summary.stopped = run.summary.stopped.take().or(summary.stopped);
        Ok(answer.unwrap_or_else(|| failure("the run ended before the resource")))
    }

    /// Answers a request as a run of its own.
    async fn answer_alone(&self, input: &Input) -> Result<String, String> {
        let manifest = self.session.load(input).map_err(|found| errors(&found))?;
        let mut answer = None;
        let mut sink = |emitted: Emitted<'_>| {
            if let Event::ResourceFinished(_) = &emitted.event {
                answer = emitted.line.map(|line| state(line.text));
            }
        };
        let report = match self.mode {
            RunMode::Plan => manifest.plan(self.options.clone(), &mut sink).await,
            _ => manifest.apply(self.options.clone(), &mut sink).await,
        };
        report.map_err(|error| self.refusal(&error))?;
        Ok(answer.unwrap_or_else(|| failure("the run ended before the resource")))
    }

    fn refusal(&self, error: &BeginError) -> String {
        failure(&self.session.secrets.redact(&error_layers(error).join(": ")))
    }
}

fn add_checks(all: &mut CheckCounts, of_one: &CheckCounts) {
    all.ok += of_one.ok;
    all.warning += of_one.warning;
    all.critical += of_one.critical;
    all.unknown += of_one.unknown;
    all.not_run += of_one.not_run;
}

/// Time without a request after which a run ends, so that others get the lock.
pub const PAUSE_BETWEEN_RUNS: Duration = Duration::from_millis(20);
