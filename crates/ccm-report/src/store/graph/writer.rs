//! Writer of the graph of a run.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;
use std::io;
use std::time::{Duration, SystemTime};

use ccm_host::state::{AppendFile, Directory};
use ccm_model::{Event, ResourceId, Transaction, display_timestamp, escape_json};
use serde_json::json;

use super::{GRAPH, GraphPart, GraphSource, PROTOCOL, RecordedOutcome};
use crate::output_buffer::OutputBuffer;

/// Graph of a run while it is recorded.
///
/// Nothing is written before the first resource that changed or failed: until then the results are only remembered. The
/// file is not synced. What it holds is a comfort, and a sleeping disk or a slow one is not worth it.
#[derive(Debug, Default)]
pub(in crate::store) struct GraphRecord {
    /// Writes the graph of a run without changes as well.
    is_full: bool,
    began: Option<SystemTime>,
    /// Results before the first change.
    early: Vec<EarlyResult>,
    file: Option<GraphFile>,
    /// First error of making the file.
    error: Option<io::Error>,
}

/// Result of a resource.
#[derive(Debug)]
struct EarlyResult {
    id: ResourceId,
    begin: Duration,
    duration: Duration,
    outcome: RecordedOutcome,
    rule: Option<std::borrow::Cow<'static, str>>,
}

/// The file, and what its lines refer to.
#[derive(Debug)]
struct GraphFile {
    lines: OutputBuffer<AppendFile>,
    /// Number of resources in the file.
    resources: usize,
    /// The manifest of this part of the run is in the file.
    has_part: bool,
    /// Positions of the resources without a result.
    positions: HashMap<ResourceId, usize>,
    /// Further positions of an id. Names are equal once secrets are removed from them.
    same: HashMap<ResourceId, VecDeque<usize>>,
    /// Positions of rules.
    rules: HashMap<String, usize>,
}

impl GraphRecord {
    /// Writes the graph of a run without changes as well.
    pub(in crate::store) fn set_full(&mut self, is_full: bool) {
        self.is_full = is_full;
    }

    /// Takes the error of the file, if it could not be made or written.
    pub(in crate::store) fn finish(self) -> io::Result<()> {
        match (self.error, self.file) {
            (Some(error), _) => Err(error),
            (None, Some(file)) => file.lines.finish().map(drop),
            (None, None) => Ok(()),
        }
    }

    pub(in crate::store) fn failed(&self) -> bool {
        self.error.is_some() || self.file.as_ref().is_some_and(|file| file.lines.failed())
    }

    /// Writes the collected lines.
    pub(in crate::store) fn write_out(&mut self) {
        if let Some(file) = &mut self.file {
            file.lines.write_out();
        }
    }

    /// Records an event.
    pub(in crate::store) fn accept(
        &mut self,
        event: &Event,
        (directory, run_id): (&Directory, &str),
        source: &dyn GraphSource,
    ) {
        match event {
            Event::SessionStarted(started) => {
                self.began.get_or_insert(started.at);
                self.early.clear();
                if let Some(file) = &mut self.file {
                    file.end_part();
                }
                if self.is_full {
                    self.begin_part((directory, run_id), source);
                }
            }
            Event::ResourceFinished(transaction) => {
                let Some(result) = self.result(transaction) else { return };
                let is_change = matches!(
                    result.outcome,
                    RecordedOutcome::Changed | RecordedOutcome::Refreshed | RecordedOutcome::Failed
                );
                if is_change && self.file.as_ref().is_none_or(|file| !file.has_part) {
                    self.begin_part((directory, run_id), source);
                }
                match self.file.as_mut().filter(|file| file.has_part) {
                    Some(file) => file.add(&result, is_change),
                    None => self.early.push(result),
                }
            }
            _ => {}
        }
    }

    fn result(&self, transaction: &Transaction) -> Option<EarlyResult> {
        let began = self.began?;
        Some(EarlyResult {
            id: transaction.id.clone(),
            begin: transaction.at.duration_since(began).unwrap_or_default(),
            duration: transaction.duration,
            outcome: RecordedOutcome::from(&transaction.outcome),
            rule: transaction.reason.as_ref().map(|reason| reason.rule.clone()),
        })
    }

    /// Writes the resources of a manifest, and the results so far.
    fn begin_part(&mut self, (directory, run_id): (&Directory, &str), source: &dyn GraphSource) {
        if self.error.is_some() {
            return;
        }
        if self.file.is_none() {
            match directory.create(GRAPH) {
                Ok(file) => {
                    let mut file = GraphFile::new(file);
                    let begin = self.began.map(|began| display_timestamp(began, 6));
                    file.line(&json!({ "protocol": PROTOCOL, "run_id": run_id, "begin": begin }).to_string());
                    self.file = Some(file);
                }
                Err(error) => {
                    self.error = Some(error);
                    return;
                }
            }
        }
        let Some(file) = &mut self.file else { return };
        file.begin_part(source.graph());
        for result in std::mem::take(&mut self.early) {
            file.add(&result, false);
        }
    }
}

impl GraphFile {
    fn new(file: AppendFile) -> Self {
        Self {
            lines: OutputBuffer::new(file),
            resources: 0,
            has_part: false,
            positions: HashMap::new(),
            same: HashMap::new(),
            rules: HashMap::new(),
        }
    }

    fn line(&mut self, json: &str) {
        self.lines.push(&escape_json(json), Duration::ZERO, false);
        self.lines.push("\n", Duration::ZERO, false);
    }

    fn end_part(&mut self) {
        self.has_part = false;
        self.positions.clear();
        self.same.clear();
    }

    fn begin_part(&mut self, part: GraphPart) {
        self.has_part = true;
        let GraphPart { manifest, files, nodes } = part;
        let head = json!({
            "manifest": manifest.name,
            "digest": manifest.digest,
            "files": files,
            "facts": manifest.facts,
            "data": manifest.data,
        });
        self.line(&head.to_string());
        let first = self.resources;
        self.resources += nodes.len();
        self.positions.reserve(nodes.len());
        let mut line = String::new();
        for (position, node) in nodes.into_iter().enumerate() {
            line.clear();
            // Serializing texts and writing to a `String` can't fail.
            let name = serde_json::to_string(&*node.id.name).unwrap_or_default();
            let type_name = serde_json::to_string(&*node.id.type_name).unwrap_or_default();
            let _ = write!(line, "[{type_name},{name},{},{}", node.file, node.line);
            for edge in &node.edges {
                let _ = write!(line, ",\"{}{}\"", edge.kind.letter(), first + edge.on);
            }
            line.push(']');
            self.line(&line);
            let position = first + position;
            if let Some(earlier) = self.positions.get(&node.id) {
                let earlier = *earlier;
                self.same.entry(node.id.clone()).or_default().push_back(position);
                self.positions.insert(node.id, earlier);
            } else {
                self.positions.insert(node.id, position);
            }
        }
    }

    fn add(&mut self, result: &EarlyResult, is_urgent: bool) {
        let Some(position) = self.positions.remove(&result.id) else { return };
        if let Some(next) = self.same.get_mut(&result.id).and_then(VecDeque::pop_front) {
            self.positions.insert(result.id.clone(), next);
        }
        let rule = result.rule.as_deref().map(|rule| self.rule(rule));
        let (begin, duration) = (result.begin.as_micros(), result.duration.as_micros());
        let rule = rule.map_or_else(String::new, |rule| format!(",{rule}"));
        let line = format!("[{position},{begin},{duration},\"{}\"{rule}]\n", result.outcome.letter());
        self.lines.push(&line, result.duration, is_urgent);
    }

    /// Returns the position of a rule, which is written where it is named first.
    fn rule(&mut self, rule: &str) -> usize {
        if let Some(known) = self.rules.get(rule) {
            return *known;
        }
        let number = self.rules.len();
        self.rules.insert(rule.to_owned(), number);
        self.line(&json!({ "rule": rule }).to_string());
        number
    }
}
