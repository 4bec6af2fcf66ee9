//! `ccm apply`: the wiring of a run.

use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::time::Duration;

use ccm_model::RunSummary;
use ccm_runtime::process::signals::{Signal, Signals};
use ccm_runtime::process::{NonBlockingWriter, after};
use ccm_runtime::{Canceller, Emitted, ExitCode, Level, Manifest, Mode, RecordEnd, Run, RunOptions, Sink};

use crate::arguments::{Apply, Output};
use crate::console::Console;
use crate::debug_log::DebugLog;
use crate::listeners::{self, Listeners};
use crate::state::cannot_start;
use crate::{diagnostics, idempotence, manifest, session, show, state, watch};

/// Applies a manifest, from the command line to the exit code.
pub(crate) fn run(arguments: &Apply, console: &Console, log: &DebugLog) -> ExitCode {
    let session = session::open_with(console, &arguments.state);
    let input = match manifest::read(console, &session, &arguments.manifest, &arguments.values) {
        Ok(input) => input,
        Err(code) => return code,
    };
    // Nobody waits until it is freed piece by piece: the process ends when it has been used.
    let manifest = match session.load(&input) {
        Ok(manifest) => ManuallyDrop::new(manifest),
        Err(errors) => return manifest::not_loaded(console, &errors, &input),
    };
    if !arguments.quiet {
        diagnostics::print(console, manifest.warnings());
    }
    if arguments.render {
        return show_rendered(console, &manifest);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cannot_start(console, &error),
    };
    let events_file = match listeners::events_file(arguments, console) {
        Ok(events_file) => events_file,
        Err(code) => return code,
    };
    let mode = if arguments.noop { Mode::Plan } else { Mode::Apply };
    let is_written = arguments.output != Output::Text || events_file.is_some();
    let canceller = Canceller::new();
    let options = RunOptions {
        only: arguments.only.clone(),
        fail_on_error: arguments.fail_on_error,
        diff: arguments.diff,
        describe_unchanged: is_written,
        json_lines: is_written,
        lock_wait: arguments.lock_wait,
        keep_runs: arguments.keep_runs,
        canceller: canceller.clone(),
    };
    runtime.block_on(async {
        let signals = match Signals::listen() {
            Ok(signals) => signals,
            Err(error) => return cannot_start(console, &error),
        };
        // It holds the lock until everything is written.
        let begun = tokio::select! {
            biased;
            begun = manifest.begin(mode, options) => begun,
            signal = signals.next() => return wait_ended(console, signal),
        };
        let mut run = match begun {
            Ok(run) => run,
            Err(error) => return state::not_begun(console, &session, &error),
        };
        let (output, screen) = match NonBlockingWriter::open() {
            Ok(outlets) => outlets,
            Err(error) => return cannot_start(console, &error),
        };
        log.write_through(&screen);
        let listeners = RefCell::new(Listeners::new(arguments, events_file, (output.clone(), screen)));
        if let Err(error) = watch::begin(signals, arguments.timeout, canceller.clone()) {
            return cannot_start(console, &error);
        }
        let mut sink = Report { listeners: &listeners };
        let mut summary = with_progress(run.apply(&mut sink), &listeners).await;
        let mut code = ExitCode::of(&summary, arguments.detailed_exitcodes);
        if arguments.verify_idempotent {
            let verified = idempotence::verify(&mut run, &summary, code, &listeners);
            match with_progress(verified, &listeners).await {
                Ok(verification) => {
                    record_ended(console, &verification.first);
                    idempotence::show(console, &verification);
                    if verification.is_verified() {
                        listeners.borrow_mut().verified();
                    }
                    (summary, code) = (verification.summary, verification.code);
                }
                Err(error) => code = idempotence::not_verified(console, &session, input.name(), &error, code),
            }
        }
        let ended = listeners.into_inner().end_report();
        tokio::select! {
            biased;
            () = output.drained() => log.write_at_once(),
            () = given_up(&canceller) => {}
        }
        let code = ended.finish(console, output.result(), code);
        end_record(console, &mut run, &summary, code)
    })
}

/// Sink of the events of a run that reports them.
pub(crate) struct Report<'l> {
    pub(crate) listeners: &'l RefCell<Listeners>,
}

impl Sink for Report<'_> {
    fn accept(&mut self, Emitted { event, line }: Emitted<'_>) {
        self.listeners.borrow_mut().accept(&event, line.as_ref());
    }

    fn flush(&mut self) {
        self.listeners.borrow_mut().write_out();
    }
}

/// Shows what takes long while a run goes on.
async fn with_progress<T>(run: impl Future<Output = T>, listeners: &RefCell<Listeners>) -> T {
    let mut progress = pin!(listeners::show_progress(listeners));
    tokio::select! {
        biased;
        result = run => result,
        never = &mut progress => match never {},
    }
}

/// Writes that a signal ended the wait for the lock.
fn wait_ended(console: &Console, signal: std::io::Result<Signal>) -> ExitCode {
    let signal = match signal {
        Ok(signal) => signal,
        Err(error) => return cannot_start(console, &error),
    };
    console.error(&format!("{} ended the wait for another run; nothing was run", signal.name), &[], &[]);
    ExitCode::Signal(u8::try_from(signal.number).unwrap_or_default())
}

/// Ends the record of a run, and returns the exit code.
fn end_record(console: &Console, run: &mut Run<'_>, summary: &RunSummary, code: ExitCode) -> ExitCode {
    let ended = run.end(summary, code);
    record_ended(console, &ended);
    ended.code
}

/// Writes what of a record could not be written.
pub(crate) fn record_ended(console: &Console, ended: &RecordEnd) {
    if let Some(error) = &ended.error {
        console.error_of(error, "the run itself went on to its end", &[]);
    }
    for error in &ended.not_removed {
        console.error_of(error, "the run itself is not affected", &["remove it by hand".to_owned()]);
    }
}

/// Prints the manifest with all values put in.
fn show_rendered(console: &Console, manifest: &Manifest<'_>) -> ExitCode {
    match manifest.render() {
        Ok(text) => show::print(console, &text),
        Err(errors) => {
            diagnostics::print(console, &errors);
            console.error("the manifest can't be rendered; nothing was run", &[], &[]);
            ExitCode::NothingRun
        }
    }
}

/// Waits until a reader who stands still need not be waited for any more, because the run is to end.
async fn given_up(canceller: &Canceller) {
    const AFTER_STOP: Duration = Duration::from_secs(2);
    // A reader who reads is given the time to do so.
    const AFTER_KILL: Duration = Duration::from_millis(500);
    canceller.reached(Level::Stop).await;
    tokio::select! {
        () = canceller.reached(Level::Kill) => {
            after(Some(AFTER_KILL)).await;
        }
        _ = after(Some(AFTER_STOP)) => {}
    }
}
