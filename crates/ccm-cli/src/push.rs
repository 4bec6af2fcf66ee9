//! `ccm push`: a manifest, applied on other machines over ssh.

mod command;
mod document;
mod ends;
mod hosts;
mod page;
mod preparation;
mod progress;
mod report;

use std::cell::RefCell;
use std::rc::Rc;

use ccm_push::{
    ChangeSets, EndCause, Fleet, FleetEvent, Halt, HostChanges, HostEnd, InterruptLevel, PushHost, Schedule,
};
use ccm_runtime::ExitCode;
use ccm_runtime::model::{Counts, RunSummary, StopCause};
use ccm_runtime::process::signals::{Signal, Signals};
use ccm_runtime::process::{Clock as _, SystemClock};
use tokio::sync::watch;

use crate::arguments::{DocumentFormat, PushArguments};
use crate::console::Console;
use crate::error::{CommandError, CommandResult, signal_code};
use crate::page::{is_standard_output, write_page};
use progress::Progress;

/// Host of a push, and what has become of it.
struct PushedHost {
    name: String,
    /// Command line that only connects to it.
    attempt: String,
    /// `None` of a host that was not begun.
    end: Option<HostResult>,
}

/// Result of a host.
struct HostResult {
    cause: EndCause,
    /// Number of its set of changes, if it has one.
    set: Option<usize>,
    /// Version of its ccm.
    version: Option<String>,
    run_id: Option<String>,
    summary: Option<RunSummary>,
    refused: Option<ccm_push::wire::RefusedLine>,
    /// Last line of standard error.
    last_line: Option<String>,
    /// Codes of requests for an approval.
    codes: Vec<String>,
}

/// Everything that a push has brought.
struct PushResult {
    hosts: Vec<PushedHost>,
    sets: ChangeSets,
    halt: Option<Halt>,
    is_noop: bool,
}

/// Pushes a manifest to other machines.
pub(crate) fn run(arguments: &PushArguments, console: &Console) -> CommandResult {
    // Before the first thread is started, because a thread could receive a signal.
    let signals = Signals::listen()?;
    let selection = hosts::selection(arguments, console)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let fleet = tokio::select! {
            biased;
            Ok(Signal { name, number }) = signals.next() => {
                let cause = StopCause::Signal { name: name.to_owned(), number };
                return Err(CommandError::stopped(&cause, "ccm"));
            }
            fleet = preparation::fleet(arguments, selection, console) => fleet?,
        };
        let began = SystemClock::new().now();
        let (result, signal) = drive(arguments, fleet, &signals, console).await;
        let text = match arguments.output.format {
            DocumentFormat::Json => document::text(&result),
            DocumentFormat::Text => report::text(&result),
        };
        let on_page = arguments.html.as_deref();
        if !on_page.is_some_and(is_standard_output) {
            console.print(&text)?;
        }
        if let Some(path) = on_page {
            let page = page::text(&result, &subject(arguments), began);
            write_page(path, &page.map_err(|error| CommandError::of(&error))?, console)?;
        }
        Ok(signal.map_or_else(|| result.code(arguments.detailed_exitcodes), signal_code))
    })
}

/// Returns what is pushed, for people.
fn subject(arguments: &PushArguments) -> String {
    let of_source = || arguments.from.from.clone();
    let manifest = arguments.manifest.as_ref().map(|path| path.display().to_string());
    arguments.run.clone().or(manifest).or_else(of_source).unwrap_or_default()
}

/// Pushes to all hosts. Returns what has become of them, and the number of a signal that came meanwhile.
async fn drive(
    arguments: &PushArguments,
    fleet: Fleet,
    signals: &Signals,
    console: &Console,
) -> (PushResult, Option<i32>) {
    let hosts = fleet.hosts.iter().map(|PushHost { name, host, .. }| PushedHost {
        name: name.to_string(),
        attempt: fleet.connector.ssh.attempt(name, host),
        end: None,
    });
    let hosts: Vec<PushedHost> = hosts.collect();
    let total = hosts.len();
    let state = Rc::new(RefCell::new((
        PushResult { hosts, sets: ChangeSets::default(), halt: None, is_noop: arguments.noop },
        Progress::new(arguments, total, console),
    )));
    let schedule = Schedule::new(total, arguments.at_once.into(), arguments.canary, arguments.max_failures);
    let (interrupt, interrupts) = watch::channel(InterruptLevel::None);
    let on_event = {
        let state = Rc::clone(&state);
        move |event: FleetEvent| {
            let (result, progress) = &mut *state.borrow_mut();
            match event {
                FleetEvent::Begun(_) => progress.begun(),
                FleetEvent::Progress(_) => {}
                FleetEvent::Ended(at, end) => {
                    let end = result.take(at, *end);
                    progress.ended(&result.hosts[at].name, &end);
                    let has_failed = end.has_failed();
                    result.hosts[at].end = Some(end);
                    return has_failed;
                }
            }
            false
        }
    };
    let mut running = std::pin::pin!(fleet.run(schedule, interrupts, Rc::new(RefCell::new(on_event))));
    let mut signal = None;
    let schedule = loop {
        tokio::select! {
            biased;
            schedule = &mut running => break schedule,
            Ok(arrived) = signals.next() => {
                signal.get_or_insert(arrived.number);
                interrupt.send_modify(|level| *level = next_level(*level));
                state.borrow_mut().1.interrupted(arrived.name, *interrupt.borrow());
            }
        }
    };
    let (result, progress) = &mut *state.borrow_mut();
    progress.finish();
    result.halt = schedule.halt();
    let empty = PushResult { hosts: Vec::new(), sets: ChangeSets::default(), halt: None, ..*result };
    (std::mem::replace(result, empty), signal)
}

fn next_level(level: InterruptLevel) -> InterruptLevel {
    match level {
        InterruptLevel::None => InterruptLevel::NoFurther,
        InterruptLevel::NoFurther => InterruptLevel::EndRuns,
        InterruptLevel::EndRuns | InterruptLevel::Leave => InterruptLevel::Leave,
    }
}

impl PushResult {
    /// Keeps what a host has printed, its changes only once if others have the same.
    fn take(&mut self, at: usize, end: HostEnd) -> HostResult {
        let HostEnd { cause, mut transcript } = end;
        let changes = HostChanges {
            transactions: std::mem::take(&mut transcript.transactions),
            outputs: std::mem::take(&mut transcript.outputs),
            ended_early: transcript.summary.as_ref().is_none_or(|summary| summary.stopped.is_some()),
        };
        let codes = ends::codes(&changes.transactions);
        // What came before the end of a connection was done.
        let has_run = matches!(cause, EndCause::Ran(_)) || !changes.transactions.is_empty();
        let set = has_run.then(|| self.sets.add(at, changes));
        HostResult {
            cause,
            set,
            version: transcript.version.take(),
            run_id: transcript.started.take().map(|started| started.run_id).filter(|id| !id.is_empty()),
            summary: transcript.summary.take(),
            refused: transcript.refused.take(),
            last_line: transcript.last_error_line(),
            codes,
        }
    }

    /// Returns the exit code: 4 if any host failed or was not reached, or was not begun because of others.
    fn code(&self, is_detailed: bool) -> ExitCode {
        let has_failed = |host: &PushedHost| host.end.as_ref().is_none_or(HostResult::has_failed);
        let failed = self.hosts.iter().any(has_failed);
        let changed = self.hosts.iter().filter_map(|host| host.end.as_ref()).any(HostResult::has_changed);
        match (failed, changed && is_detailed) {
            (true, true) => ExitCode::ChangesAndFailures,
            (true, false) => ExitCode::Failures,
            (false, true) => ExitCode::Changes,
            (false, false) => ExitCode::Success,
        }
    }
}

impl HostResult {
    fn has_failed(&self) -> bool {
        self.cause != EndCause::Ran(0)
    }

    fn has_changed(&self) -> bool {
        self.counts().is_some_and(Counts::any_change)
    }

    fn counts(&self) -> Option<&Counts> {
        self.summary.as_ref().map(|summary| &summary.counts)
    }
}
