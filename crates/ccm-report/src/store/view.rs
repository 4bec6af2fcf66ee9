//! Everything that the record of a run holds, for a page about it.

use std::path::Path;

use ccm_model::EventLine;

use super::{ExecutionTail, History, RunGraph, StoreError, StoredRun};

/// Maximum number of executions whose outputs are read.
const MAX_EXECUTIONS: usize = 2000;

/// A run with everything that its record holds.
#[derive(Clone, Debug)]
pub struct RunView<'h> {
    /// The run.
    pub run: &'h StoredRun,
    /// Beginning of its id, unique among the recorded runs.
    pub short: &'h str,
    /// Events.
    pub events: Vec<EventLine>,
    /// Graph; without a recorded one, that of the events.
    pub graph: RunGraph,
    /// The record has a graph, with unchanged resources and dependencies.
    pub has_graph: bool,
    /// Executions, with the ends of their outputs.
    pub executions: Vec<ExecutionTail>,
    /// The last run of the same manifest before this one whose graph is recorded.
    pub earlier: Option<EarlierRun<'h>>,
}

/// Run that another one is compared with.
#[derive(Clone, Debug)]
pub struct EarlierRun<'h> {
    /// The run.
    pub run: &'h StoredRun,
    /// Beginning of its id, unique among the recorded runs.
    pub short: &'h str,
    /// Graph.
    pub graph: RunGraph,
}

impl History {
    /// Reads everything that the record of a run holds.
    pub fn view<'h>(&'h self, run: &'h StoredRun) -> Result<RunView<'h>, StoreError> {
        let events = self.events(run)?;
        let recorded = self.graph(run);
        let has_graph = recorded.is_some();
        Ok(RunView {
            run,
            short: self.short(&run.id),
            graph: recorded.unwrap_or_else(|| RunGraph::of_events(&events)),
            has_graph,
            executions: self.execution_tails(run, MAX_EXECUTIONS),
            earlier: if has_graph { self.earlier(run) } else { None },
            events,
        })
    }

    fn earlier<'h>(&'h self, run: &StoredRun) -> Option<EarlierRun<'h>> {
        let manifest = Path::new(run.manifest());
        let mut before = self.runs().iter().filter(|other| other.id < run.id && other.is_of(manifest));
        before.find_map(|run| Some(EarlierRun { run, short: self.short(&run.id), graph: self.graph(run)? }))
    }
}
