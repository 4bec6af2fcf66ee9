//! Run as a trace, in the format that Chromium's `about:tracing` and Perfetto read.

use serde_json::{Value, json};

use super::{RecordedEdgeKind, RunGraph, StoredRun};

impl StoredRun {
    /// Returns the run as a trace: a slice for each resource, and an arrow from the dependency that let it begin. Times are
    /// microseconds since the beginning of the run.
    pub fn trace(&self, graph: &RunGraph) -> Value {
        let name = |name: &str, value: &str| json!({ "name": name, "ph": "M", "pid": 1, "tid": 1, "args": { "name": value } });
        let mut events = vec![name("process_name", self.manifest()), name("thread_name", "resources")];
        for (at, node) in graph.nodes.iter().enumerate() {
            let Some(result) = &node.result else { continue };
            let (begin, duration) = (microseconds(result.begin), microseconds(result.duration));
            let on = |kinds: &[RecordedEdgeKind]| {
                let edges = node.edges.iter().filter(|edge| kinds.contains(&edge.kind));
                edges.map(|edge| graph.nodes[edge.on].id.to_string()).collect::<Vec<_>>()
            };
            events.push(json!({
                "name": node.id.to_string(),
                "cat": result.outcome.word(),
                "ph": "X",
                "ts": begin,
                "dur": duration,
                "pid": 1,
                "tid": 1,
                "args": {
                    "outcome": result.outcome.word(),
                    "rule": result.rule,
                    "location": if node.line == 0 { None } else { Some(format!("{}:{}", node.file, node.line)) },
                    "require": on(&[RecordedEdgeKind::Require, RecordedEdgeKind::Derived, RecordedEdgeKind::Group]),
                    "subscribe": on(&[RecordedEdgeKind::Subscribe]),
                },
            }));
            let from = graph.unblocked_by(at).and_then(|on| graph.nodes[on].result.as_ref());
            if let Some(from) = from {
                // An arrow begins and ends within slices.
                let from = microseconds(from.begin) + microseconds(from.duration).saturating_sub(1);
                let arrow = |phase: &str, at: u64| json!({ "name": "unblocks", "cat": "dependency", "ph": phase, "id": events.len(), "ts": at, "pid": 1, "tid": 1 });
                let mut end = arrow("f", begin);
                end["bp"] = json!("e");
                let begin = arrow("s", from);
                events.extend([begin, end]);
            }
        }
        json!({ "displayTimeUnit": "ms", "otherData": { "run_id": self.id }, "traceEvents": events })
    }
}

fn microseconds(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
