//! Loading and applying within this process.

use std::cell::OnceCell;
use std::io::sink;
use std::path::Path;

use ccm_engine::{NoLateValues, ResourceType, Run, Stop};
use ccm_host::{Cancellation, Host, SystemClock, SystemFiles, SystemRunner};
use ccm_model::{Catalog, SourceId, TypeSpec};
use ccm_report::{TextReport, Verbosity};
use ccm_resources::types;

/// Who hears of a run.
#[derive(Clone, Copy)]
pub(crate) enum Listener {
    /// Nobody.
    None,
    /// The text report, into nothing.
    Text,
}

/// A manifest, loaded.
pub(crate) struct Loaded {
    catalog: Catalog,
}

impl Loaded {
    pub(crate) fn new(text: &str) -> Self {
        let types = types();
        let specs: Vec<&dyn TypeSpec> = types.iter().map(|found| *found as _).collect();
        let loaded = ccm_manifest::load(SourceId(0), text, &specs);
        Self { catalog: loaded.catalog.expect("a manifest without mistakes") }
    }

    /// Walks it.
    pub(crate) fn apply(&self, listener: Listener) {
        let runner = SystemRunner::new().expect("a runner");
        let clock = SystemClock::new();
        let types = types();
        let types: Vec<&dyn ResourceType> = types.iter().map(|found| *found as _).collect();
        let run = Run {
            catalog: &self.catalog,
            types: &types,
            host: Host { runner: &runner, files: &SystemFiles, clock: &clock },
            late: &NoLateValues,
            stop: Stop { cancellation: &Cancellation::never(), cause: &OnceCell::new() },
            noop: false,
            fail_on_error: true,
            diff: false,
            directory: Path::new("/"),
            state_directory: None,
            only: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let summary = match listener {
            Listener::None => runtime.block_on(run.apply(&mut drop)),
            Listener::Text => {
                let mut report = TextReport::new(sink(), Verbosity::Normal);
                runtime.block_on(run.apply(&mut |event| report.accept(&event)))
            }
        };
        assert_eq!(summary.counts.failed, 0, "nothing fails in a benchmark");
    }
}
