//! Records of runs, written for a test.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::LocalZone;
use ccm_host::state::Directory;
use ccm_model::{
    Artifact, Artifacts, CheckCounts, Counts, Event, ExecutionMetadata, Failure, FailureKind, METADATA_FILE,
    Outcome, RefreshSummary, ResourceId, RunSummary, STDERR_FILE, STDOUT_FILE, SessionStarted, Transaction,
};
use ccm_page::run_page;
use ccm_report::{
    GraphNode, GraphPart, GraphSource, History, Ids, LineEncoder, RecordedEdge, RecordedEdgeKind,
    RecordedManifest, RunStore, StoredSummary,
};
use ccm_testkit::Scratch;

/// Resource of a recorded run.
#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) id: ResourceId,
    pub(crate) outcome: Outcome,
    pub(crate) requires: Vec<usize>,
    /// Text for every field that can have one.
    pub(crate) text: Option<String>,
    pub(crate) milliseconds: u64,
}

impl Recorded {
    pub(crate) fn new(id: &str, outcome: Outcome, requires: &[usize]) -> Self {
        let id = ResourceId::parse(id).expect("a reference");
        Self { id, outcome, requires: requires.to_vec(), text: None, milliseconds: 5 }
    }
}

pub(crate) fn failed() -> Outcome {
    Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "exit code 2 not in allowed returns [0]")))
}

struct Source(GraphPart);

impl GraphSource for Source {
    fn graph(&self) -> GraphPart {
        self.0.clone()
    }
}

pub(crate) fn began() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

/// Records a run that began some seconds after the first one.
pub(crate) fn record(scratch: &Scratch, seconds: u64, manifest: &RecordedManifest, resources: &[Recorded]) {
    write(scratch, (seconds, true), manifest, resources);
}

/// Records a run, with or without its graph.
pub(crate) fn write(
    scratch: &Scratch,
    (seconds, has_graph): (u64, bool),
    manifest: &RecordedManifest,
    resources: &[Recorded],
) {
    let state = Directory::open_private(&scratch.path().join("state")).expect("a directory");
    let began = began() + Duration::from_secs(seconds);
    let mut encoder = LineEncoder::new(Ids::new(u128::from(seconds)), began, manifest.name.clone(), "0.1.0");
    let mut store = RunStore::begin(&state, encoder.identity(), 50);
    let nodes = resources.iter().enumerate().map(|(at, resource)| GraphNode {
        id: resource.id.clone(),
        file: 0,
        line: at + 3,
        edges: resource
            .requires
            .iter()
            .map(|on| RecordedEdge { on: *on, kind: RecordedEdgeKind::Require })
            .collect(),
    });
    let files = vec![manifest.name.clone()];
    let source = Source(GraphPart { manifest: manifest.clone(), files, nodes: nodes.collect() });
    let start = SessionStarted {
        at: began,
        noop: false,
        monitor_only: false,
        resources: resources.len(),
        host: "web1".to_owned(),
        manifest: manifest.name.clone(),
        run_id: String::new(),
        message: None,
    };
    let mut counts = Counts::default();
    let mut events = vec![Event::SessionStarted(start)];
    let mut at = began;
    for (position, resource) in resources.iter().enumerate() {
        counts.add(&resource.outcome, false);
        if let Some(text) = &resource.text {
            events.push(Event::ArtifactsLeft(Box::new(artifacts(&resource.id, position + 1, text))));
        }
        events.push(Event::ResourceFinished(Box::new(transaction(resource, at))));
        at += Duration::from_millis(resource.milliseconds);
    }
    let duration = at.duration_since(began).unwrap_or_default();
    let summary = RunSummary {
        noop: false,
        duration,
        counts,
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: None,
        message: None,
        refreshes: RefreshSummary::default(),
    };
    events.push(Event::SessionFinished(Box::new(summary.clone())));
    for event in &events {
        if let Event::ArtifactsLeft(artifacts) = event {
            store.keep(artifacts);
        }
        if has_graph {
            store.record_graph(event, &source);
        }
        if store.wants(event)
            && let Some(line) = encoder.encode(event)
        {
            store.accept(&line);
        }
    }
    let code = if counts.failed > 0 { 4 } else { 0 };
    store.finish(StoredSummary::of(encoder.identity(), began, &summary, code)).record.expect("a record");
}

fn artifacts(id: &ResourceId, position: usize, text: &str) -> Artifacts {
    let metadata =
        ExecutionMetadata { exit_code: Some(2), duration_ms: Some(5), ..ExecutionMetadata::default() };
    let file = |name: &'static str, content: Vec<u8>| Artifact { name: name.into(), content };
    let files = vec![
        file(METADATA_FILE, serde_json::to_vec(&metadata).expect("JSON")),
        file(STDOUT_FILE, text.as_bytes().to_vec()),
        file(STDERR_FILE, text.as_bytes().to_vec()),
    ];
    Artifacts { id: id.clone(), position, files }
}

/// Returns the event of a resource.
pub(crate) fn transaction(resource: &Recorded, at: SystemTime) -> Transaction {
    let text = resource.text.clone().unwrap_or_default();
    let texts: Vec<String> = resource.text.iter().cloned().collect();
    let mut outcome = resource.outcome.clone();
    if let (Outcome::Failed(failure), Some(text)) = (&mut outcome, &resource.text) {
        failure.hints.push(text.clone());
        failure.chain.push(text.clone());
    }
    let action = ccm_model::Action::new(ccm_model::Verb::Change).of(text.clone());
    let action = action.changing("mode", Some(text.clone()), Some(text.clone()));
    Transaction {
        id: resource.id.clone(),
        alias: resource.text.clone(),
        at,
        duration: Duration::from_millis(resource.milliseconds),
        provider: None,
        requested_ensure: "present".to_owned(),
        action: Some(action),
        final_ensure: None,
        outcome,
        noop: false,
        would_fail: false,
        diff: resource.text.as_ref().map(|text| format!("--- a\n+++ b\n@@ -1 +1 @@\n-{text}\n+{text}\n")),
        properties: ccm_model::Properties::default(),
        presentation: Vec::new(),
        reason: Some(ccm_model::Reason { rule: text.clone().into(), text: text.into() }),
        guards: Vec::new(),
        health_checks: Vec::new(),
        triggered_by: Vec::new(),
        pending_refreshes: Vec::new(),
        warnings: texts.clone(),
        notes: texts,
        state: None,
    }
}

pub(crate) fn manifest() -> RecordedManifest {
    RecordedManifest { name: "/etc/ccm/site.yaml".to_owned(), ..RecordedManifest::default() }
}

pub(crate) fn history(scratch: &Scratch) -> History {
    History::open(&scratch.path().join("state")).expect("a history")
}

/// Returns the page of the newest run.
pub(crate) fn page(scratch: &Scratch) -> String {
    let history = history(scratch);
    let view = history.view(history.find("last").expect("a run")).expect("a record");
    run_page(&view, &LocalZone::of_this_process()).expect("a page")
}
