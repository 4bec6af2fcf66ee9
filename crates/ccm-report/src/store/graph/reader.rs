//! Reader of the graph of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use ccm_model::{ResourceId, parse_timestamp};
use serde::Deserialize;
use serde_json::Value;

use super::{
    PROTOCOL, RecordedEdge, RecordedEdgeKind, RecordedManifest, RecordedNode, RecordedOutcome,
    RecordedResult, RunGraph,
};

/// Line that is an object. Each kind has a field that the others lack.
#[derive(Default, Deserialize)]
#[serde(default)]
struct HeadLine {
    protocol: Option<String>,
    begin: Option<String>,
    manifest: Option<String>,
    digest: String,
    files: Vec<String>,
    facts: BTreeMap<String, String>,
    data: BTreeMap<String, String>,
    rule: Option<String>,
}

/// Reads a graph. Lines that are damaged or of an unknown kind are left out. Returns `None` if the head is not that of
/// a graph of this version.
pub(in crate::store) fn read(text: &[u8]) -> Option<RunGraph> {
    let mut lines = text.split(|byte| *byte == b'\n');
    let head: HeadLine = serde_json::from_slice(lines.next()?).ok()?;
    if head.protocol.as_deref() != Some(PROTOCOL) {
        return None;
    }
    let began = head.begin.as_deref().and_then(parse_timestamp);
    let mut reader =
        GraphReader { graph: RunGraph { began, ..RunGraph::default() }, ..GraphReader::default() };
    for line in lines {
        match line.first() {
            Some(b'{') => reader.head(line),
            Some(b'[') => reader.row(line),
            _ => {}
        }
    }
    let mut graph = reader.graph;
    let count = graph.nodes.len();
    for node in &mut graph.nodes {
        node.edges.retain(|edge| edge.on < count);
    }
    Some(graph)
}

#[derive(Default)]
struct GraphReader {
    graph: RunGraph,
    files: Vec<String>,
    rules: Vec<String>,
}

impl GraphReader {
    fn head(&mut self, line: &[u8]) {
        let Ok(head) = serde_json::from_slice::<HeadLine>(line) else { return };
        if let Some(rule) = head.rule {
            self.rules.push(rule);
        }
        if let Some(name) = head.manifest {
            self.files = head.files;
            let manifest = RecordedManifest { name, digest: head.digest, facts: head.facts, data: head.data };
            self.graph.manifests.push(manifest);
        }
    }

    fn row(&mut self, line: &[u8]) {
        let Ok(row) = serde_json::from_slice::<Vec<Value>>(line) else { return };
        match &row[..] {
            [Value::String(type_name), Value::String(name), file, line, edges @ ..] => {
                let file = number(file).and_then(|file| self.files.get(file)).cloned();
                self.graph.nodes.push(RecordedNode {
                    id: ResourceId::new(type_name.as_str(), name.as_str()),
                    file: file.unwrap_or_default(),
                    line: number(line).unwrap_or_default(),
                    edges: edges.iter().filter_map(edge).collect(),
                    result: None,
                });
            }
            [position, begin, duration, Value::String(outcome), rest @ ..] => {
                let result = (number(position), begin.as_u64(), duration.as_u64());
                let (Some(position), Some(begin), Some(duration)) = result else { return };
                let Some(outcome) = RecordedOutcome::of_letter(outcome) else { return };
                let Some(node) = self.graph.nodes.get_mut(position) else { return };
                if node.result.is_none() {
                    self.graph.order.push(position);
                }
                node.result = Some(RecordedResult {
                    begin: Duration::from_micros(begin),
                    duration: Duration::from_micros(duration),
                    outcome,
                    rule: rest.first().and_then(number).and_then(|rule| self.rules.get(rule)).cloned(),
                });
            }
            _ => {}
        }
    }
}

fn number(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|number| usize::try_from(number).ok())
}

fn edge(value: &Value) -> Option<RecordedEdge> {
    let text = value.as_str()?;
    let (letter, on) = text.split_at_checked(1)?;
    Some(RecordedEdge { kind: RecordedEdgeKind::of_letter(letter)?, on: on.parse().ok()? })
}
