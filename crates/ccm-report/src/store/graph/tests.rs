use std::borrow::Cow;
use std::io::Read as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ccm_host::state::Directory;
use ccm_model::{
    Event, Failure, FailureKind, Outcome, Reason, ResourceId, SessionStarted, SkipCause, Transaction,
};
use ccm_testkit::Scratch;

use super::*;

const RUN: &str = "01a1f706-10c9-7000-8000-000000000000";

struct Source(GraphPart);

impl GraphSource for Source {
    fn graph(&self) -> GraphPart {
        self.0.clone()
    }
}

fn began() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_800_000_000)
}

fn started() -> Event {
    Event::SessionStarted(SessionStarted {
        at: began(),
        noop: false,
        monitor_only: false,
        resources: 3,
        host: String::new(),
        manifest: String::new(),
        run_id: String::new(),
        message: None,
    })
}

fn finished(id: &str, begin: u64, duration: u64, outcome: Outcome, rule: Option<&'static str>) -> Event {
    Event::ResourceFinished(Box::new(Transaction {
        id: ResourceId::parse(id).expect("a reference"),
        alias: None,
        at: began() + Duration::from_micros(begin),
        duration: Duration::from_micros(duration),
        provider: None,
        requested_ensure: String::new(),
        action: None,
        final_ensure: None,
        outcome,
        noop: false,
        would_fail: false,
        diff: None,
        properties: ccm_model::Properties::default(),
        presentation: Vec::new(),
        reason: rule.map(|rule| Reason { rule: Cow::Borrowed(rule), text: Cow::Borrowed("because") }),
        guards: Vec::new(),
        health_checks: Vec::new(),
        triggered_by: Vec::new(),
        pending_refreshes: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        state: None,
    }))
}

fn node(id: &str, line: usize, edges: &[(usize, RecordedEdgeKind)]) -> GraphNode {
    let edges = edges.iter().map(|(on, kind)| RecordedEdge { on: *on, kind: *kind }).collect();
    GraphNode { id: ResourceId::parse(id).expect("a reference"), file: 0, line, edges }
}

fn sample() -> Source {
    use RecordedEdgeKind::{Derived, Group, Require, Subscribe};
    let manifest = RecordedManifest {
        name: "/etc/ccm/site.yaml".to_owned(),
        digest: "ab12".to_owned(),
        facts: [("os.family".to_owned(), "debian".to_owned())].into(),
        data: [("port".to_owned(), "8080".to_owned()), ("key".to_owned(), "[redacted]".to_owned())].into(),
    };
    let nodes = vec![
        node("file#/etc/a\n\u{202e}\"b", 3, &[]),
        node("exec#build", 5, &[(0, Require)]),
        node("service#web", 9, &[(0, Subscribe), (1, Derived)]),
        node("apply#child", 12, &[(2, Group)]),
    ];
    Source(GraphPart { manifest, files: vec!["site.yaml".to_owned()], nodes })
}

fn failed() -> Outcome {
    Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "it failed")))
}

fn events() -> [Event; 4] {
    [
        started(),
        finished("file#/etc/a\n\u{202e}\"b", 5, 10, Outcome::Unchanged, Some("in_state")),
        finished("exec#build", 20, 1_000_000, Outcome::Changed, Some("unless_failed")),
        finished("service#web", 1_000_030, 50, failed(), Some("in_state")),
    ]
}

/// Records events, and returns the text of the graph if there is one.
fn recorded(events: &[Event], source: &Source, is_full: bool) -> Option<Vec<u8>> {
    let scratch = Scratch::new();
    let directory = Directory::open_private(scratch.path()).expect("a directory");
    let mut record = GraphRecord::default();
    record.set_full(is_full);
    for event in events {
        record.accept(event, (&directory, RUN), source);
    }
    record.finish().expect("a graph");
    let mut text = Vec::new();
    directory.read(GRAPH).ok()?.read_to_end(&mut text).expect("a text");
    Some(text)
}

#[test]
fn a_graph_is_read_as_it_was_recorded() {
    let text = recorded(&events(), &sample(), false).expect("a graph");
    let graph = read(&text).expect("a graph");
    let GraphPart { manifest, nodes, .. } = sample().0;
    assert_eq!((graph.began, &graph.manifests), (Some(began()), &vec![manifest]));
    assert_eq!(graph.order, [0, 1, 2]);
    for (read, given) in graph.nodes.iter().zip(&nodes) {
        assert_eq!((&read.id, read.line, &read.edges), (&given.id, given.line, &given.edges));
        assert_eq!(read.file, "site.yaml");
    }
    let results: Vec<_> = graph.nodes.iter().map(|node| node.result.clone()).collect();
    let result = |begin, duration, outcome, rule: &str| {
        let (begin, duration) = (Duration::from_micros(begin), Duration::from_micros(duration));
        Some(RecordedResult { begin, duration, outcome, rule: Some(rule.to_owned()) })
    };
    assert_eq!(
        results,
        [
            result(5, 10, RecordedOutcome::Unchanged, "in_state"),
            result(20, 1_000_000, RecordedOutcome::Changed, "unless_failed"),
            result(1_000_030, 50, RecordedOutcome::Failed, "in_state"),
            None,
        ]
    );
}

#[test]
fn a_run_without_a_change_records_no_graph_unless_it_is_asked_for() {
    let skipped = Outcome::Skipped { cause: SkipCause::NotSelected };
    let steady = [
        started(),
        finished("exec#build", 20, 5, Outcome::Unchanged, None),
        finished("service#web", 30, 5, skipped, None),
    ];
    assert_eq!(recorded(&steady, &sample(), false), None);
    let graph = read(&recorded(&steady, &sample(), true).expect("a graph")).expect("a graph");
    let outcomes: Vec<_> =
        graph.nodes.iter().map(|node| node.result.as_ref().map(|found| found.outcome)).collect();
    let (unchanged, skipped) = (Some(RecordedOutcome::Unchanged), Some(RecordedOutcome::Skipped));
    assert_eq!(outcomes, [None, unchanged, skipped, None]);
}

#[test]
fn every_beginning_of_a_graph_can_be_read() {
    let text = recorded(&events(), &sample(), false).expect("a graph");
    let whole = read(&text).expect("a graph");
    let head = text.iter().position(|byte| *byte == b'\n').expect("a line");
    for end in 0..text.len() {
        let Some(found) = read(&text[..end]) else {
            assert!(end < head, "{end}");
            continue;
        };
        assert!(end >= head, "{end}");
        assert!(found.nodes.len() <= whole.nodes.len() && whole.order.starts_with(&found.order), "{end}");
        for (found, whole) in found.nodes.iter().zip(&whole.nodes) {
            assert_eq!((&found.id, found.line), (&whole.id, whole.line), "{end}");
            assert!(found.result.is_none() || found.result == whole.result, "{end}");
            assert!(found.edges.iter().all(|edge| whole.edges.contains(edge)), "{end}");
        }
    }
}

#[test]
fn damaged_lines_are_left_out() {
    let damaged = [
        "[]",
        "[1]",
        "[1,2,3,4]",
        "[99,1,1,\"c\"]",
        "[0,-1,1,\"c\"]",
        "[0,1,1,\"?\"]",
        "[0,1,1,\"\"]",
        "{}",
        "[\"x\"]",
        "[\"x\",\"y\",\"z\",1.5,\"r\",\"q1\",\"r999\",\"ä\"]",
        "null",
        "{\"rule\":1}",
        "[[[[",
        "{\"files\":0}",
    ];
    for line in damaged {
        let text =
            format!("{{\"protocol\":\"{PROTOCOL}\"}}\n[\"exec\",\"a\",0,1]\n{line}\n[0,1,2,\"c\",7]\n");
        let graph = read(text.as_bytes()).expect("a graph");
        assert_eq!(graph.order, [0], "{line}");
        assert!(graph.nodes.iter().all(|node| node.edges.is_empty()), "{line}");
    }
    for text in ["", "\n", "{}", "{\"protocol\":\"io.choria.ccm.v2.run.graph\"}", "\0\0"] {
        assert_eq!(read(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn manifests_that_are_one_run_are_parts_of_one_graph() {
    let one = Source(GraphPart { nodes: vec![node("exec#a", 1, &[])], ..GraphPart::default() });
    let two = vec![node("exec#a", 1, &[]), node("exec#b", 2, &[(0, RecordedEdgeKind::Require)])];
    let two = Source(GraphPart { nodes: two, ..GraphPart::default() });
    let scratch = Scratch::new();
    let directory = Directory::open_private(scratch.path()).expect("a directory");
    let mut record = GraphRecord::default();
    for (source, ids) in [(&one, vec!["exec#a"]), (&two, vec!["exec#a", "exec#b"])] {
        record.accept(&started(), (&directory, RUN), source);
        for id in ids {
            record.accept(&finished(id, 1, 1, Outcome::Changed, None), (&directory, RUN), source);
        }
    }
    record.finish().expect("a graph");
    let mut text = Vec::new();
    directory.read(GRAPH).expect("a file").read_to_end(&mut text).expect("a text");
    let graph = read(&text).expect("a graph");
    assert_eq!((graph.manifests.len(), graph.order), (2, vec![0, 1, 2]));
    assert_eq!(graph.nodes[2].edges, [RecordedEdge { on: 1, kind: RecordedEdgeKind::Require }]);
}

#[test]
fn equal_names_have_their_own_results() {
    let nodes = vec![node("exec#[redacted]", 1, &[]), node("exec#[redacted]", 2, &[])];
    let source = Source(GraphPart { nodes, ..GraphPart::default() });
    let run = |at, outcome| finished("exec#[redacted]", at, 1, outcome, None);
    let events = [started(), run(1, Outcome::Unchanged), run(2, Outcome::Changed), run(3, Outcome::Changed)];
    let graph = read(&recorded(&events, &source, false).expect("a graph")).expect("a graph");
    let outcomes: Vec<_> =
        graph.nodes.iter().filter_map(|node| Some(node.result.as_ref()?.outcome)).collect();
    assert_eq!(outcomes, [RecordedOutcome::Unchanged, RecordedOutcome::Changed]);
}

#[test]
fn edges_and_results_take_at_most_60_bytes_a_resource() {
    const COUNT: usize = 2000;
    let name = |at: usize| format!("file#/{at}");
    let nodes = (0..COUNT).map(|at| {
        let edges = [at.saturating_sub(1), at / 2].map(|on| (on, RecordedEdgeKind::Require));
        node(&name(at), at, &edges[..usize::from(at > 0) + usize::from(at > 2)])
    });
    let source = Source(GraphPart { nodes: nodes.collect(), ..GraphPart::default() });
    let run = (0..COUNT).map(|at| {
        let begin = 3_600_000_000 + at as u64 * 10_000;
        finished(&name(at), begin, 9_999_999, Outcome::Changed, Some("content_differs"))
    });
    let events: Vec<Event> = std::iter::once(started()).chain(run).collect();
    let text = recorded(&events, &source, false).expect("a graph");
    let names: usize = (0..COUNT).map(|at| format!("[\"file\",\"/{at}\",0,{at}]\n").len()).sum();
    let each = (text.len() - names) / COUNT;
    assert!(each <= 60, "{each} bytes");
}

/// Duration of a resource in milliseconds, and its dependencies.
type TimedNode<'t> = (u64, &'t [usize]);

/// Builds a graph from durations in milliseconds and dependencies. Each resource begins after the one before it.
fn graph(nodes: &[TimedNode<'_>]) -> RunGraph {
    let mut begin = Duration::ZERO;
    let node = |(at, (duration, edges)): (usize, &TimedNode<'_>)| {
        let duration = Duration::from_millis(*duration);
        let result = RecordedResult { begin, duration, outcome: RecordedOutcome::Changed, rule: None };
        begin += duration;
        let edge = |on: &usize| RecordedEdge { on: *on, kind: RecordedEdgeKind::Require };
        RecordedNode {
            id: ResourceId::new("exec", at.to_string()),
            file: String::new(),
            line: 0,
            edges: edges.iter().map(edge).collect(),
            result: Some(result),
        }
    };
    let nodes: Vec<RecordedNode> = nodes.iter().enumerate().map(node).collect();
    RunGraph { order: (0..nodes.len()).collect(), nodes, ..RunGraph::default() }
}

#[test]
fn the_critical_path_is_the_longest_chain() {
    let table: [(&[TimedNode<'_>], &[usize], u64); 9] = [
        (&[], &[], 0),
        (&[(0, &[])], &[], 0),
        (&[(5, &[])], &[0], 5),
        (&[(5, &[]), (7, &[])], &[1], 7),
        (&[(5, &[]), (5, &[])], &[0], 5),
        (&[(5, &[]), (7, &[]), (1, &[0])], &[1], 7),
        (&[(5, &[]), (7, &[]), (3, &[0, 1]), (9, &[0])], &[0, 3], 14),
        // A dependency may be declared later, and a long chain of short ones may win.
        (&[(2, &[2]), (9, &[]), (3, &[3]), (5, &[])], &[3, 2, 0], 10),
        // A cycle, which only a damaged record has.
        (&[(9, &[1]), (9, &[0]), (1, &[])], &[2], 1),
    ];
    for (nodes, expected, milliseconds) in table {
        let path = graph(nodes).critical_path();
        assert_eq!(
            path,
            CriticalPath { nodes: expected.to_vec(), duration: Duration::from_millis(milliseconds) }
        );
    }
    let long: Vec<Vec<usize>> =
        (0..50_000).map(|at: usize| at.checked_sub(1).into_iter().collect()).collect();
    let long: Vec<TimedNode<'_>> = long.iter().map(|edges| (1, &edges[..])).collect();
    assert_eq!(graph(&long).critical_path().nodes.len(), 50_000);
}

#[test]
fn the_last_dependency_to_end_unblocks() {
    let found = graph(&[(5, &[]), (7, &[]), (3, &[0, 1]), (0, &[])]);
    assert_eq!([found.unblocked_by(0), found.unblocked_by(2), found.unblocked_by(9)], [None, Some(1), None]);
    assert_eq!(found.duration(), Duration::from_millis(15));
}
