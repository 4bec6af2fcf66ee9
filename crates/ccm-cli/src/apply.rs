//! `ccm apply`: the wiring of a run.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::Duration;

use ccm_model::RunSummary;
use ccm_runtime::process::signals::Signals;
use ccm_runtime::process::{LastLine, NonBlockingWriter, after};
use ccm_runtime::{
    ActiveRun, BeginError, CancellationLevel, Canceller, Emitted, Event, ExitCode, Input, LoadedManifest,
    ManifestSource, RecordEnd, RunMode, RunOptions, Session, Sink, error_layers, spawn,
};

use crate::arguments::{ApplyArguments, ReportFormat};
use crate::console::Console;
use crate::debug_log::DebugLog;
use crate::listeners::{self, Listeners};
use crate::reactor::{SharedRun, supervise};
use crate::state::report_setup_error;
use crate::{diagnostics, idempotence, manifest, session, state};

/// Applies a manifest, from the command line to the exit code.
pub(crate) fn run(arguments: ApplyArguments, console: &Console, log: &DebugLog) -> ExitCode {
    match run_on_own_thread(arguments, console, log) {
        Ok(code) => code,
        Err(error) => report_setup_error(console, &error),
    }
}

/// Applies the manifest on its own thread, and waits for the end.
fn run_on_own_thread(
    arguments: ApplyArguments,
    console: &Console,
    log: &DebugLog,
) -> std::io::Result<ExitCode> {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let shared = Arc::new(SharedRun::default());
    let timeout = arguments.timeout;
    let config = session::config(console, arguments.state.state_dir.clone());
    let context =
        ApplyContext { arguments, console: console.clone(), log: log.clone(), shared: Arc::clone(&shared) };
    runtime.block_on(async {
        let job = spawn(config, async move |session| context.run(session).await)?;
        Ok(supervise(job, &signals, timeout, &shared, console).await)
    })
}

/// Context of the thread that applies a manifest.
struct ApplyContext {
    arguments: ApplyArguments,
    console: Console,
    log: DebugLog,
    shared: Arc<SharedRun>,
}

impl ApplyContext {
    async fn run(self, session: Session) -> ExitCode {
        let Self { arguments, console, log, shared } = &self;
        let session = session::with_notices(session, console);
        let input = match self.read(&session).await {
            Ok(input) => input,
            Err(code) => return code,
        };
        let manifest = match session.load(&input) {
            // The process ends with this run. Freeing 10000 resources would be 8 percent of its work.
            Ok(manifest) => ManuallyDrop::new(manifest),
            Err(errors) => {
                let code = manifest::report_manifest_errors(console, &errors, &input);
                self.record_refusal(&session, input.source(), &errors.text()).await;
                return code;
            }
        };
        if !arguments.quiet {
            diagnostics::print(console, manifest.warnings());
        }
        if arguments.render {
            return show_rendered(console, &manifest);
        }
        let events_file = match listeners::events_file(arguments, console) {
            Ok(events_file) => events_file,
            Err(code) => return code,
        };
        shared.mark_loaded();
        let mode = if arguments.noop { RunMode::Plan } else { RunMode::Apply };
        let is_json = matches!(arguments.output, ReportFormat::Json | ReportFormat::Jsonl);
        let emits_json = is_json || events_file.is_some();
        let (last_line, progress) = listeners::progress(arguments, console);
        let options = self.run_options(emits_json, last_line);
        // The run holds the lock until everything is written.
        let mut run = match manifest.begin(mode, options).await {
            Ok(run) => run,
            Err(error) => {
                let code = state::report_begin_error(console, &session, &error);
                if matches!(error, BeginError::Name(_) | BeginError::Ledger(_)) {
                    self.record_refusal(&session, input.source(), &error_layers(&error).join(": ")).await;
                }
                return code;
            }
        };
        let (output, error_output) = match NonBlockingWriter::open() {
            Ok(writers) => writers,
            Err(error) => return report_setup_error(console, &error),
        };
        log.write_through(&error_output);
        let writers = (output.clone(), error_output);
        let listeners = Listeners::new(arguments, events_file, writers, run.earlier_run(), progress);
        shared.mark_begun(listeners);
        let mut summary = run.apply(&mut ListenerSink { shared, verifies: false }).await;
        let mut code = ExitCode::of(&summary, arguments.detailed_exitcodes);
        if arguments.verify_idempotent {
            let mut sink = ListenerSink { shared, verifies: true };
            match run.verify_idempotent(&summary, code, &mut sink).await {
                Ok(verification) => {
                    report_record_errors(console, &verification.first);
                    idempotence::show(console, &verification);
                    if let Some(listeners) =
                        shared.listeners().as_mut().filter(|_| verification.is_verified())
                    {
                        listeners.verified();
                    }
                    (summary, code) = (verification.summary, verification.code);
                }
                Err(error) => {
                    code = idempotence::report_missing_verification(
                        console,
                        &session,
                        input.name(),
                        &error,
                        code,
                    );
                }
            }
        }
        let ended = shared.listeners().take().map(Listeners::end_report);
        tokio::select! {
            biased;
            () = async {
                output.drained().await;
                log.write_directly();
                if let Some(ended) = &ended {
                    ended.events_drained().await;
                }
            } => {}
            () = grace_time_after_cancellation(&shared.canceller) => {}
        }
        let code = ended.map_or(code, |ended| ended.finish(console, output.result(), code));
        end_record(console, &mut run, &summary, code)
    }

    /// Returns the options of the command line.
    fn run_options(&self, emits_json: bool, last_line: Option<LastLine>) -> RunOptions {
        let Self { arguments, shared, .. } = self;
        let defaults = RunOptions::default();
        RunOptions {
            only: arguments.only.clone(),
            fail_on_error: arguments.fail_on_error,
            diff: arguments.diff,
            describe_unchanged: emits_json,
            json_lines: emits_json,
            last_line,
            lock_wait: arguments.lock_wait.unwrap_or(defaults.lock_wait),
            keep_runs: arguments.keep_runs.unwrap_or(defaults.keep_runs),
            canceller: shared.canceller.clone(),
        }
    }

    /// Reads the manifest. One that exists but can't be read is recorded as refused.
    async fn read(&self, session: &Session) -> Result<Input, ExitCode> {
        let Self { arguments, console, .. } = self;
        match manifest::try_read(session, &arguments.manifest, &arguments.values) {
            Ok(input) => Ok(input),
            Err(error) => {
                let code = manifest::report_input_error(console, &error);
                if !manifest::is_missing(&error) {
                    let source = manifest::source(&arguments.manifest);
                    self.record_refusal(session, &source, &error_layers(&error).join(": ")).await;
                }
                Err(code)
            }
        }
    }

    /// Records that the manifest was refused, unless the call would not have recorded a run.
    async fn record_refusal(&self, session: &Session, source: &ManifestSource, errors: &str) {
        let Self { arguments, console, .. } = self;
        if arguments.noop || arguments.render {
            return;
        }
        let keep_runs = arguments.keep_runs.unwrap_or(RunOptions::default().keep_runs);
        if let Err(error) = session.record_refusal(source, errors, keep_runs).await {
            console.warning_of(&error);
        }
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
fn end_record(console: &Console, run: &mut ActiveRun<'_>, summary: &RunSummary, code: ExitCode) -> ExitCode {
    let ended = run.end(summary, code);
    report_record_errors(console, &ended);
    ended.code
}

/// Reports why a record is not complete, and why old runs could not be removed.
pub(crate) fn report_record_errors(console: &Console, ended: &RecordEnd) {
    if let Some(error) = &ended.error {
        console.error_of(error, "the run itself was completed", &[]);
    }
    for error in &ended.not_removed {
        console.error_of(error, "the run itself is not affected", &["remove this record by hand".to_owned()]);
    }
}

/// Prints the manifest with all values filled in.
fn show_rendered(console: &Console, manifest: &LoadedManifest<'_>) -> ExitCode {
    match manifest.render() {
        Ok(text) => console.print(&text),
        Err(errors) => {
            diagnostics::print(console, &errors);
            console.error("the manifest can't be rendered; nothing was run", &[], &[]);
            ExitCode::NothingRun
        }
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
