//! Loading and applying within this process.

use std::io;
use std::io::sink;
use std::path::Path;
use std::sync::OnceLock;

use ccm_engine::{EarlierOutcomes, NoLateValues, OpenGate, ResourceType, Run, Stop};
use ccm_expr::{Timestamp, Value};
use ccm_host::state::Directory;
use ccm_host::{Cancellation, Clock as _, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_manifest::{FactPath, Request, Sources};
use ccm_model::{Catalog, Diagnostic, SourceMap};
use ccm_properties::TypeSpec;
use ccm_redaction::Secrets;
use ccm_report::{Ids, JsonLines, LineEncoder, RunStore, TextOptions, TextReport};
use ccm_resources::{HealthChecks, types};
use tokio::runtime::{Builder, Runtime};

#[derive(Clone, Copy)]
pub(crate) enum Listener {
    None,
    Text,
    Events,
    Store,
}

/// Sources of a manifest with a few facts and no files.
struct OneMachine;

impl Sources for OneMachine {
    fn read(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn facts(&self, _: &[FactPath], _: &mut SourceMap) -> Result<Value, Vec<Diagnostic>> {
        let info = Value::map([("hostname", Value::text("bench")), ("procs", Value::Int(2))]);
        Ok(Value::map([("host", Value::map([("info", info)])), ("role", Value::text("web"))]))
    }

    fn environment(&self, _: &mut SourceMap) -> Result<Vec<(String, String)>, Vec<Diagnostic>> {
        Ok(Vec::new())
    }

    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// Manifest, with what a process sets up once before it applies one.
pub(crate) struct BenchManifest {
    catalog: Catalog,
    noop: bool,
    runner: SystemRunner,
    runtime: Runtime,
}

impl BenchManifest {
    pub(crate) fn new(text: &str) -> Self {
        let types = types();
        let specs: Vec<&dyn TypeSpec> = types.iter().map(|found| *found as _).collect();
        let request = Request {
            name: "bench.yaml".to_owned(),
            text: text.into(),
            directory: "/".into(),
            hiera: Vec::new(),
            assignments: Vec::new(),
            allows_new_keys: false,
            resources: None,
            root: None,
            earlier: None,
        };
        let loaded = ccm_manifest::load(request, &specs, &OneMachine);
        Self {
            catalog: loaded.catalog.expect("a manifest without errors"),
            noop: false,
            runner: SystemRunner::new().expect("a runner"),
            runtime: Builder::new_current_thread().enable_all().build().expect("a runtime"),
        }
    }

    pub(crate) fn in_noop(self) -> Self {
        Self { noop: true, ..self }
    }

    pub(crate) fn apply(&self, listener: Listener) {
        let Self { runner, runtime, .. } = self;
        let (files, clock) = (SystemFiles::new(Cancellation::never()), SystemClock::new());
        let executor = LocalExecutor::new(runner, runner, &files);
        let types = types();
        let types: Vec<&dyn ResourceType> = types.iter().map(|found| *found as _).collect();
        let run = Run {
            catalog: &self.catalog,
            others: &[],
            types: &types,
            host: Host { executor: &executor, system: runner, files: &files, clock: &clock },
            late: &NoLateValues,
            secrets: &Secrets::new(),
            stop: Stop { cancellation: &Cancellation::never(), cause: &OnceLock::new() },
            noop: self.noop,
            fail_on_error: true,
            monitor_only: false,
            diff: false,
            directory: Path::new("/"),
            state_directory: None,
            health: &HealthChecks,
            gate: &OpenGate,
            earlier: EarlierOutcomes::default(),
            ledger: None,
            witness: None,
            describe_unchanged: matches!(listener, Listener::Events),
            only: None,
            skip: &[],
        };
        let summary = match listener {
            Listener::None => runtime.block_on(run.apply(&mut drop)),
            Listener::Text => {
                let mut report = TextReport::new(sink(), TextOptions::default());
                runtime.block_on(run.apply(&mut |event| report.accept(&event)))
            }
            Listener::Events => {
                let mut encoder = encoder(&clock);
                let mut lines = JsonLines::new(sink());
                runtime.block_on(run.apply(&mut |event| {
                    if let Some(line) = encoder.encode(&event) {
                        lines.accept(&line);
                    }
                }))
            }
            Listener::Store => {
                let scratch = tempfile::tempdir().expect("a directory");
                let state =
                    Directory::open_private(&scratch.path().join("state")).expect("a state directory");
                let mut encoder = encoder(&clock);
                let mut store = RunStore::begin(&state, encoder.identity(), 50);
                runtime.block_on(run.apply(&mut |event| {
                    if store.wants(&event)
                        && let Some(line) = encoder.encode(&event)
                    {
                        store.accept(&line);
                    }
                }))
            }
        };
        assert_eq!(summary.counts.failed, 0, "nothing fails in a benchmark");
    }
}

fn encoder(clock: &SystemClock) -> LineEncoder {
    LineEncoder::new(Ids::new(1), clock.now(), "/bench.yaml".to_owned(), "0")
}
