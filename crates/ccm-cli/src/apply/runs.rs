//! The runs of the manifests, one after another.

use std::pin::pin;
use std::time::Duration;

use ccm_runtime::process::{NonBlockingWriter, after};
use ccm_runtime::report::{ManifestResult, ProgressLine};
use ccm_runtime::{
    ActiveRun, CancellationLevel, Canceller, Emitted, Event, EventsFile, ExitCode, LoadedManifest,
    RecordDetail, RecordEnd, RunMode, RunOptions, RunSummary, Session, Sink,
};

use super::ApplyContext;
use crate::arguments::{RecordFormat, ReportFormat};
use crate::console::Console;
use crate::error::CommandError;
use crate::idempotence;
use crate::listeners::{EndedReport, Listeners};
use crate::reactor::SharedRun;
use crate::write_hints::file_system_hint_of;

/// Time after a run in which its report must be read, or else the record is ended and the lock is freed before.
const PATIENCE_WITH_RECORD: Duration = Duration::from_secs(1);

/// Result of the runs of all manifests.
pub(super) struct RunResults {
    pub(super) code: ExitCode,
    /// Something changed, or would change.
    pub(super) any_change: bool,
}

/// Run that ended, with its result. Its record is still open.
struct EndedRun {
    position: usize,
    summary: RunSummary,
    code: ExitCode,
}

impl ApplyContext {
    /// Returns the options of the runs.
    pub(super) fn options(&self, has_events_file: bool) -> RunOptions {
        let Self { arguments, shared, last_line, .. } = self;
        let is_json = matches!(arguments.run.output.format, ReportFormat::Json | ReportFormat::Jsonl);
        let emits_json = is_json || has_events_file;
        let defaults = RunOptions::default();
        self.planned_options(RunOptions {
            only: arguments.only.clone(),
            skip: arguments.skip.clone(),
            fail_on_error: arguments.fail_on_error,
            monitor_only: arguments.monitor_only,
            diff: arguments.diff,
            describe_unchanged: emits_json,
            json_lines: emits_json,
            last_line: last_line.clone(),
            lock_wait: arguments.run.lock_wait.unwrap_or(defaults.lock_wait),
            keep_runs: arguments.run.keep_runs.unwrap_or(defaults.keep_runs),
            record: match arguments.record {
                RecordFormat::Changes => RecordDetail::Changes,
                RecordFormat::Full => RecordDetail::Full,
            },
            plan: None,
            canceller: shared.canceller.clone(),
        })
    }

    /// Applies the manifests in their order, and ends the report and the records.
    pub(super) async fn apply(
        &self,
        session: &Session,
        manifests: &[&LoadedManifest<'_>],
        mut runs: Vec<ActiveRun<'_>>,
        (mode, events_file): (RunMode, Option<EventsFile>),
        (output, error_output): (NonBlockingWriter, NonBlockingWriter),
    ) -> RunResults {
        let Self { arguments, console, shared, last_line, .. } = self;
        console.mark_output();
        console.error_output().write_through(&error_output);
        let earlier_run = runs.first().and_then(ActiveRun::earlier_run).map(str::to_owned);
        let own = runs.iter().map(|run| run.identity().run_id.clone());
        let other_runs: Vec<String> = earlier_run.into_iter().chain(own).collect();
        let writers = (output.clone(), error_output);
        let progress = ProgressLine::new(last_line.clone().unwrap_or_default(), console.secrets().clone());
        let listeners = Listeners::new(arguments, events_file, writers, other_runs, manifests, progress);
        shared.listen(listeners);
        if mode == RunMode::Apply || arguments.noop {
            shared.mark_begun();
        }
        let mut results: Vec<ManifestResult> =
            manifests.iter().map(|manifest| ManifestResult::not_run(manifest.input().full_name())).collect();
        let mut total = RunResults { code: ExitCode::Success, any_change: false };
        let mut last: Option<EndedRun> = None;
        for position in 0..runs.len() {
            if let Some(ended) = &last {
                let has_failed = matches!(ended.code, ExitCode::Failures | ExitCode::ChangesAndFailures);
                if shared.canceller.cause().is_some() || has_failed && arguments.fail_on_error {
                    break;
                }
            }
            if let Some(EndedRun { position, summary, code }) = last.take() {
                total.code = total.code.and(end_record(console, &mut runs[position], &summary, code).await);
            }
            let run = &mut runs[position];
            let name = run.manifest().input().full_name().to_owned();
            if manifests.len() > 1
                && let Some(listeners) = shared.listeners().as_mut()
            {
                listeners.begin_manifest(&name, position == 0);
            }
            let (summary, code) = self.apply_one(session, run, mode).await;
            total.any_change |= summary.counts.any_change();
            if let Some(result) = results.iter_mut().find(|result| result.manifest == name) {
                *result = ManifestResult::of_run(&name, &summary, code.number());
            }
            last = Some(EndedRun { position, summary, code });
        }
        if manifests.len() > 1
            && let Some(listeners) = shared.listeners().as_mut()
        {
            listeners.end_manifests(&results, mode == RunMode::Plan);
        }
        let ended = shared.listeners().take().map(Listeners::end_report);
        let mut code = last.as_ref().map_or(ExitCode::Success, |last| last.code);
        let is_read = {
            let mut all_is_read = pin!(all_is_read(&output, ended.as_ref()));
            let mut gives_up = pin!(grace_time_after_cancellation(&shared.canceller));
            let is_read = tokio::select! {
                biased;
                () = &mut all_is_read => Some(true),
                () = &mut gives_up => Some(false),
                _ = after(Some(PATIENCE_WITH_RECORD)) => None,
            };
            if is_read.is_none() {
                // The machine is changed. Neither its records nor other runs wait for a person to go on reading.
                if let Some(EndedRun { position, summary, .. }) = last.take() {
                    code = end_record(console, &mut runs[position], &summary, code).await;
                }
                runs.clear();
            }
            if let Some(is_read) = is_read {
                is_read
            } else {
                tokio::select! {
                    biased;
                    () = all_is_read => true,
                    () = gives_up => false,
                }
            }
        };
        if is_read {
            console.error_output().write_directly();
        } else {
            console.error_output().write_without_waiting();
        }
        // A report that could not be written is a failure of the last run.
        let code = ended.map_or(code, |ended| ended.finish(console, output.result(), code));
        total.code = total.code.and(match last {
            Some(EndedRun { position, summary, .. }) => {
                end_record(console, &mut runs[position], &summary, code).await
            }
            None => code,
        });
        total
    }

    /// Applies a manifest, and verifies that it is idempotent if the command line asks for that.
    async fn apply_one(
        &self,
        session: &Session,
        run: &mut ActiveRun<'_>,
        mode: RunMode,
    ) -> (RunSummary, ExitCode) {
        let Self { arguments, console, shared, .. } = self;
        let mut summary = run.apply(&mut ListenerSink { shared, verifies: false }).await;
        let mut code = ExitCode::of(&summary, arguments.run.detailed_exitcodes);
        if !arguments.verify_idempotent || mode == RunMode::Plan {
            return (summary, code);
        }
        let name = run.manifest().input().name().to_owned();
        let mut sink = ListenerSink { shared, verifies: true };
        match run.verify_idempotent(&summary, code, &mut sink).await {
            Ok(verification) => {
                report_record_errors(console, &verification.first);
                idempotence::show(console, &verification);
                if let Some(listeners) = shared.listeners().as_mut().filter(|_| verification.is_verified()) {
                    listeners.verified();
                }
                (summary, code) = (verification.summary, verification.code);
            }
            Err(error) => {
                code = idempotence::report_missing_verification(console, session, &name, &error, code);
            }
        }
        (summary, code)
    }
}

/// Sink that passes the events of a run to the listeners.
struct ListenerSink<'s> {
    shared: &'s SharedRun,
    /// The run verifies the previous run.
    verifies: bool,
}

impl Sink for ListenerSink<'_> {
    fn accept(&mut self, Emitted { event, line }: Emitted<'_>) {
        if let Some(listeners) = &mut *self.shared.listeners() {
            if self.verifies && matches!(event, Event::SessionStarted(_)) {
                listeners.begin_verification();
            }
            listeners.accept(&event, line.as_ref());
        }
    }

    fn flush(&mut self) {
        if let Some(listeners) = &mut *self.shared.listeners() {
            listeners.write_out();
        }
    }
}

/// Ends the record of a run, and returns the exit code.
async fn end_record(
    console: &Console,
    run: &mut ActiveRun<'_>,
    summary: &RunSummary,
    code: ExitCode,
) -> ExitCode {
    let ended = run.end(summary, code).await;
    report_record_errors(console, &ended);
    ended.code
}

/// Reports why a record is not complete, and why old runs could not be removed.
pub(crate) fn report_record_errors(console: &Console, ended: &RecordEnd) {
    if let Some(error) = &ended.error {
        let found = CommandError::of(error).therefore("the run itself was completed");
        console.error(&found.hints(file_system_hint_of(error)));
    }
    for error in &ended.not_removed {
        let found = CommandError::of(error).therefore("the run itself is not affected");
        console.error(&found.hint("remove this record by hand"));
    }
}

/// Waits until the report and the events are read, or until they can't be written.
async fn all_is_read(output: &NonBlockingWriter, ended: Option<&EndedReport>) {
    output.drained().await;
    if let Some(ended) = ended {
        ended.events_drained().await;
    }
}

/// Waits until ccm gives up on a stalled reader: a short time after the run is cancelled. Never returns if the
/// run is not cancelled.
async fn grace_time_after_cancellation(canceller: &Canceller) {
    const AFTER_STOP: Duration = Duration::from_secs(2);
    // A reader that still reads gets time to do so.
    const AFTER_KILL: Duration = Duration::from_millis(500);
    canceller.reached(CancellationLevel::Stop).await;
    tokio::select! {
        () = canceller.reached(CancellationLevel::Kill) => {
            after(Some(AFTER_KILL)).await;
        }
        _ = after(Some(AFTER_STOP)) => {}
    }
}
