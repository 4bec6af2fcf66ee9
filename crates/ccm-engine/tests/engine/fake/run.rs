//! Runs of fakes.

use std::future::{Future as _, poll_fn};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::rc::Rc;
use std::sync::OnceLock;
use std::task::Poll;

use ccm_engine::{
    DecisionWitness, DynGate, EarlierOutcomes, HealthProbe, LateValues, Ledger, NoHealthProbe, NoLateValues,
    OpenGate, Run, Stop,
};
use ccm_host::{CancellationLevel, CancellationSource, Host, LocalExecutor, Runner};
use ccm_model::{Catalog, Event, ResourceIndex, RunSummary, StopCause};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeClock, FakeFiles, FakeRunner};

use super::calls::{calls, questions, reset};
use super::catalog::catalog;
use super::lines::line;
use super::resource_type::FakeType;

/// Options of a run.
#[derive(Default)]
pub(crate) struct Options<'a> {
    pub noop: bool,
    pub fail_on_error: bool,
    pub monitor_only: bool,
    pub only: Option<&'a [ResourceIndex]>,
    pub skip: &'a [ResourceIndex],
    pub stopped_before: bool,
    pub late: Option<&'a dyn LateValues>,
    pub secrets: Secrets,
    pub ledger: Option<&'a Ledger>,
    pub runner: Option<&'a dyn Runner>,
    pub gate: Option<&'a dyn DynGate>,
    pub health: Option<&'a dyn HealthProbe>,
    /// Existing files.
    pub there: &'a [&'a str],
    /// Links to directories.
    pub links: &'a [(&'a str, &'a str)],
    /// Only what is not unchanged is described.
    pub leaves_unchanged: bool,
    /// Resources that were managed before.
    pub earlier: EarlierOutcomes<'a>,
    pub witness: Option<&'a dyn DecisionWitness>,
}

/// Result of a run.
pub(crate) struct Ran {
    /// One line for each resource, in the order of the walk.
    pub lines: Vec<String>,
    /// Calls of providers.
    pub calls: Vec<String>,
    /// Number of calls of the type.
    pub questions: usize,
    pub events: Vec<Event>,
    pub summary: RunSummary,
}

pub(crate) fn run(lines: &[&str]) -> Ran {
    run_with(&catalog(lines), &Options::default())
}

pub(crate) fn noop(lines: &[&str]) -> Ran {
    run_with(&catalog(lines), &Options { noop: true, ..Options::default() })
}

pub(crate) fn run_with(catalog: &Catalog, options: &Options<'_>) -> Ran {
    run_until(catalog, options).expect("the run comes to its end")
}

/// Runs a catalog until it waits. Returns `None` if that is not its end.
pub(crate) fn run_until(catalog: &Catalog, options: &Options<'_>) -> Option<Ran> {
    let (source, cancellation) = CancellationSource::new();
    let source = Rc::new(source);
    let cause = Rc::new(OnceLock::new());
    let stop = {
        let (source, cause) = (Rc::clone(&source), Rc::clone(&cause));
        move || {
            let _ = cause.set(StopCause::Signal { name: "SIGINT".to_owned(), number: 2 });
            source.raise(CancellationLevel::Stop);
        }
    };
    if options.stopped_before {
        stop();
    }
    reset(stop);
    let fake_runner = FakeRunner::default();
    let runner = options.runner.unwrap_or(&fake_runner);
    let there = options.there.iter().map(PathBuf::from).collect();
    let directory_links = options.links.iter().map(|(link, to)| (link.into(), to.into())).collect();
    let files = FakeFiles { files: there, directory_links, ..FakeFiles::default() };
    let clock = FakeClock::default();
    let executor = LocalExecutor::new(runner, &fake_runner, &files);
    let run = Run {
        catalog,
        others: &[],
        types: &[&FakeType],
        host: Host { executor: &executor, system: &fake_runner, files: &files, clock: &clock },
        late: options.late.unwrap_or(&NoLateValues),
        secrets: &options.secrets,
        stop: Stop { cancellation: &cancellation, cause: &cause },
        noop: options.noop,
        fail_on_error: options.fail_on_error,
        monitor_only: options.monitor_only,
        only: options.only,
        skip: options.skip,
        diff: false,
        directory: Path::new("/"),
        state_directory: None,
        health: options.health.unwrap_or(&NoHealthProbe),
        gate: options.gate.unwrap_or(&OpenGate),
        earlier: options.earlier,
        ledger: options.ledger,
        witness: options.witness,
        describe_unchanged: !options.leaves_unchanged,
    };
    let mut events = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let summary = runtime.block_on(async {
        let mut on_event = |event| events.push(event);
        let mut apply = pin!(run.apply(&mut on_event));
        poll_fn(|context| match apply.as_mut().poll(context) {
            Poll::Ready(summary) => Poll::Ready(Some(summary)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    })?;
    let lines = events.iter().filter_map(line).collect();
    Some(Ran { lines, calls: calls(), questions: questions(), events, summary })
}
