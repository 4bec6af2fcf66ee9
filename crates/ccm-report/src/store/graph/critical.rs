//! Critical path of a run: the chain of dependencies that took longest.

use std::time::Duration;

use ccm_model::{display_duration, escape_control};
use serde_json::{Value, json};

use super::{RecordedNode, RecordedResult, RunGraph};
use crate::screen::Screen;
use crate::store::{History, StoredRun};
use crate::table::{Column, table};

/// Chain of dependencies whose durations have the greatest sum. No other order of the run is faster, however much is done
/// at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CriticalPath {
    /// Positions of the resources, the first one first.
    pub nodes: Vec<usize>,
    /// Sum of their durations.
    pub duration: Duration,
}

impl RunGraph {
    /// Returns the critical path. It is empty if no resource has a result.
    pub fn critical_path(&self) -> CriticalPath {
        let duration =
            |at: usize| self.nodes[at].result.as_ref().map_or(Duration::ZERO, |found| found.duration);
        let mut longest = vec![Duration::ZERO; self.nodes.len()];
        let mut before = vec![None; self.nodes.len()];
        for at in self.sorted() {
            let edges = &self.nodes[at].edges;
            let earlier = edges.iter().map(|edge| edge.on).filter(|on| !longest[*on].is_zero());
            // Of equal ones the first in the manifest, so that the path is the same each time.
            let earlier = earlier.max_by_key(|on| (longest[*on], std::cmp::Reverse(*on)));
            before[at] = earlier;
            longest[at] = earlier.map_or(Duration::ZERO, |on| longest[on]).saturating_add(duration(at));
        }
        let last = (0..longest.len()).max_by_key(|at| (longest[*at], std::cmp::Reverse(*at)));
        let Some(last) = last.filter(|last| !longest[*last].is_zero()) else {
            return CriticalPath::default();
        };
        let mut nodes: Vec<usize> = std::iter::successors(Some(last), |at| before[*at]).collect();
        nodes.reverse();
        CriticalPath { nodes, duration: longest[last] }
    }

    /// Returns the positions of the resources, dependencies first. Members of a cycle, which no run has, are left out.
    fn sorted(&self) -> Vec<usize> {
        let mut dependants: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut unmet: Vec<usize> = Vec::with_capacity(self.nodes.len());
        for (at, node) in self.nodes.iter().enumerate() {
            unmet.push(node.edges.len());
            for edge in &node.edges {
                dependants[edge.on].push(at);
            }
        }
        let mut order: Vec<usize> = (0..unmet.len()).filter(|at| unmet[*at] == 0).collect();
        let mut next = 0;
        while let Some(at) = order.get(next) {
            next += 1;
            for dependant in std::mem::take(&mut dependants[*at]) {
                unmet[dependant] -= 1;
                if unmet[dependant] == 0 {
                    order.push(dependant);
                }
            }
        }
        order
    }

    /// Returns the dependency that ended last before a resource, and so let it begin.
    pub fn unblocked_by(&self, at: usize) -> Option<usize> {
        let end = |on: &usize| self.nodes.get(*on)?.result.as_ref().map(RecordedResult::end);
        let edges = self.nodes.get(at)?.edges.iter().map(|edge| edge.on);
        edges.filter(|on| end(on).is_some()).max_by_key(|on| (end(on), std::cmp::Reverse(*on)))
    }

    /// Returns the time from the beginning of the run to the end of the last resource.
    pub fn duration(&self) -> Duration {
        let results = self.nodes.iter().filter_map(|node| node.result.as_ref());
        results.map(RecordedResult::end).max().unwrap_or_default()
    }
}

impl RecordedResult {
    /// Returns the time from the beginning of the run to the end of the work.
    pub fn end(&self) -> Duration {
        self.begin.saturating_add(self.duration)
    }
}

impl History {
    /// Returns the critical path of a run as text.
    pub fn critical_text(&self, run: &StoredRun, graph: &RunGraph) -> String {
        let path = graph.critical_path();
        if path.nodes.is_empty() {
            return "the record has no durations\n".to_owned();
        }
        let row = |at: &usize| {
            let RecordedNode { id, result, .. } = &graph.nodes[*at];
            let (begin, duration, outcome) =
                result.as_ref().map_or(("-".to_owned(), "-".to_owned(), "-"), |result| {
                    (display_duration(result.begin), display_duration(result.duration), result.outcome.word())
                });
            [begin, duration, outcome.to_owned(), escape_control(&id.to_string()).into_owned()]
        };
        let rows: Vec<_> = path.nodes.iter().map(row).collect();
        let heads = [
            Column::new("BEGIN"),
            Column::new("DURATION"),
            Column::new("OUTCOME").optional(),
            Column::new("RESOURCE").cut_to(16),
        ];
        let (run, of) = (self.short(&run.id), display_duration(graph.duration()));
        let resources = if path.nodes.len() == 1 { "resource" } else { "resources" };
        let head = format!(
            "critical path of run {run}: {} of {of}, {} {resources}\n",
            display_duration(path.duration),
            path.nodes.len()
        );
        Screen::folded(self.screen, &head).into_owned() + &table(heads, &rows, self.screen)
    }

    /// Returns the critical path of a run as JSON.
    pub fn critical_json(&self, run: &StoredRun, graph: &RunGraph) -> Value {
        let path = graph.critical_path();
        let nanoseconds = |duration: Duration| u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let resource = |at: &usize| {
            let RecordedNode { id, result, .. } = &graph.nodes[*at];
            json!({
                "resource": id.to_string(),
                "begin": result.as_ref().map(|result| nanoseconds(result.begin)),
                "duration": result.as_ref().map(|result| nanoseconds(result.duration)),
                "outcome": result.as_ref().map(|result| result.outcome.word().replace(' ', "_")),
            })
        };
        json!({
            "run_id": run.id,
            "duration": nanoseconds(path.duration),
            "of": nanoseconds(graph.duration()),
            "resources": path.nodes.iter().map(resource).collect::<Vec<_>>(),
        })
    }
}
