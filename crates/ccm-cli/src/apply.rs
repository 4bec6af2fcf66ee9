//! `ccm apply`: the wiring of a run.

use std::cell::RefCell;
use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::pin::pin;
use std::time::Duration;

use ccm_host::signals::{Signal, Signals};
use ccm_host::{Level, Outlet};
use ccm_model::{Event, RunSummary};
use ccm_report::Recorded;
use ccm_runtime::{Canceller, Emitted, ExitCode, Manifest, Mode, Run, RunOptions};

use crate::arguments::{Apply, Output};
use crate::listeners::{self, EventsFile, Listeners};
use crate::{debug_log, diagnostics, idempotence, manifest, messages, session, show, state, watch};

/// Applies a manifest, from the command line to the exit code.
pub(crate) fn run(arguments: &Apply) -> ExitCode {
    let session = session::open_with(&arguments.state);
    let input = match manifest::read(&session, &arguments.manifest, &arguments.values) {
        Ok(input) => input,
        Err(code) => return code,
    };
    // Nobody waits until it is freed piece by piece: the process ends when it has been used.
    let manifest = match manifest::load(&session, &input, !arguments.quiet) {
        Ok(manifest) => ManuallyDrop::new(manifest),
        Err(code) => return code,
    };
    if arguments.render {
        return show_rendered(&manifest);
    }
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return cannot_start(&error),
    };
    let events_file = match EventsFile::open(arguments) {
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
            Err(error) => return cannot_start(&error),
        };
        // It holds the lock until everything is written.
        let begun = tokio::select! {
            biased;
            begun = manifest.begin(mode, options) => begun,
            signal = signals.next() => return wait_ended(signal),
        };
        let mut run = match begun {
            Ok(run) => run,
            Err(error) => return state::not_begun(&error),
        };
        let (output, screen) = match Outlet::open() {
            Ok(outlets) => outlets,
            Err(error) => return cannot_start(&error),
        };
        debug_log::write_through(&screen);
        let listeners = RefCell::new(Listeners::new(arguments, events_file, (output.clone(), screen)));
        if let Err(error) = watch::begin(signals, arguments.timeout, canceller.clone()) {
            return cannot_start(&error);
        }
        let mut summary = shown(&mut run, &manifest, &listeners, &mut |_| {}).await;
        let mut code = ExitCode::of(&summary, arguments.detailed_exitcodes);
        if arguments.verify_idempotent {
            let verify = idempotence::Verification { session: &session, input: &input };
            (summary, code) = verify.run(&mut run, &listeners, summary, code).await;
        }
        told(listeners.into_inner(), &mut run, &output, &canceller, &summary, code).await
    })
}

/// Says that a signal ended the wait for the lock.
fn wait_ended(signal: std::io::Result<Signal>) -> ExitCode {
    let signal = match signal {
        Ok(signal) => signal,
        Err(error) => return cannot_start(&error),
    };
    messages::error(&format!("{} ended the wait for another run; nothing was run", signal.name), &[], &[]);
    ExitCode::Signal(u8::try_from(signal.number).unwrap_or_default())
}

/// Ends the report and the record of a run, and returns how ccm ends for all that.
async fn told(
    listeners: Listeners,
    run: &mut Run<'_>,
    output: &Outlet,
    canceller: &Canceller,
    summary: &RunSummary,
    code: ExitCode,
) -> ExitCode {
    let ended = listeners.end_report();
    tokio::select! {
        biased;
        () = output.emptied() => debug_log::write_at_once(),
        () = given_up(canceller) => {}
    }
    let code = ended.finish(output.result(), code);
    end_record(run, summary, code)
}

/// Ends the record of a run, says what could not be written, and returns how ccm ends for all that.
pub(crate) fn end_record(run: &mut Run<'_>, summary: &RunSummary, code: ExitCode) -> ExitCode {
    let mut code = if run.record_failed() { code.and_failed() } else { code };
    let Some(Recorded { record, kept }) = run.end(summary, code) else { return code };
    if let Err(error) = record {
        messages::from_error(&error, "the run itself went on to its end", &[]);
        code = code.and_failed();
    }
    for error in kept {
        messages::from_error(&error, "the run itself is not affected", &["remove it by hand".to_owned()]);
    }
    code
}

/// Applies a manifest, and shows what happens and what takes long.
pub(crate) async fn shown(
    run: &mut Run<'_>,
    manifest: &Manifest<'_>,
    listeners: &RefCell<Listeners>,
    observe: &mut dyn FnMut(&Event),
) -> RunSummary {
    let mut sink = |Emitted { event, line }: Emitted<'_>| {
        observe(event);
        listeners.borrow_mut().accept(event, line);
    };
    let mut run = pin!(run.apply(manifest, &mut sink));
    let mut run = pin!(poll_fn(|context| {
        let polled = run.as_mut().poll(context);
        // While the run waits, for a command as a rule, no more lines come that could be written together.
        if polled.is_pending() {
            listeners.borrow_mut().write_out();
        }
        polled
    }));
    let mut progress = pin!(listeners::show_progress(listeners));
    tokio::select! {
        biased;
        summary = &mut run => summary,
        never = &mut progress => match never {},
    }
}

/// Prints the manifest with all values put in.
fn show_rendered(manifest: &Manifest<'_>) -> ExitCode {
    match manifest.render() {
        Ok(text) => show::print(&text),
        Err(mistakes) => {
            diagnostics::print(&mistakes);
            messages::error("the manifest can't be rendered; nothing was run", &[], &[]);
            ExitCode::NothingRun
        }
    }
}

/// Waits until a reader who stands still need not be waited for any more, because the run is to end.
async fn given_up(canceller: &Canceller) {
    const AFTER_STOP: Duration = Duration::from_secs(2);
    // One who reads is given the time to do so.
    const AFTER_KILL: Duration = Duration::from_millis(500);
    canceller.reached(Level::Stop).await;
    tokio::select! {
        () = canceller.reached(Level::Kill) => {
            ccm_host::after(Some(AFTER_KILL)).await;
        }
        _ = ccm_host::after(Some(AFTER_STOP)) => {}
    }
}

/// Says that ccm itself could not be set up.
pub(crate) fn cannot_start(error: &dyn std::error::Error) -> ExitCode {
    let causes: Vec<String> =
        std::iter::successors(Some(error), |error| (*error).source()).map(ToString::to_string).collect();
    messages::error("ccm can't start a run", &causes, &[]);
    ExitCode::NothingRun
}
