use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proptest::prelude::*;
use serde::de::DeserializeOwned;
use serde_json::{Value as Json, json};

use super::*;
use crate::{
    Artifact, Artifacts, CancelledCause, CancelledRefresh, Catalog, CheckCounts, CheckStatus, Control,
    Counts, Dependency, Failure, FailureKind, Fields, Group, GroupIndex, GuardResult, HealthCheckResult,
    Intent, Location, MissingPrerequisite, Node, NodeEntry, NodeKey, NodeMap, NodeValue, Outcome, OutputLine,
    PendingCause, PendingRefresh, PerformanceValue, Presentation, Properties, Reason, RefreshBlocker,
    RefreshSummary, Refusal, RefusalKind, Resource, ResourceId, ResourceIndex, ResourceStarted, RunSummary,
    Scalar, ScalarStyle, SessionStarted, SkipCause, SourceId, Span, Spanned, StopCause, Stream, StreamTail,
    Transaction, UnfinishedRefresh,
};

fn id(text: &str) -> ResourceId {
    ResourceId::parse(text).expect("a reference")
}

fn since() -> SystemTime {
    UNIX_EPOCH + Duration::from_micros(1_732_000_000_123_456)
}

/// Asserts that a value is the same after it was written and read.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> Json {
    let text = serde_json::to_string(value).expect("JSON");
    assert_eq!(serde_json::from_str::<T>(&text).expect(&text), *value, "{text}");
    serde_json::from_str(&text).expect("JSON")
}

fn skip_causes() -> Vec<SkipCause> {
    vec![
        SkipCause::DependencyFailed { culprits: vec![id("exec#a"), id("file#/b#c")] },
        SkipCause::DependsOnNoop { noop: vec![id("exec#a")] },
        SkipCause::NotManaged { reason: "`if` is false".to_owned() },
        SkipCause::NotSelected,
        SkipCause::Excluded,
        SkipCause::ManifestEnded { culprit: id("exec#a") },
        SkipCause::Stopped { by: StopCause::Failed { culprit: id("exec#a") } },
        SkipCause::Stopped { by: StopCause::Signal { name: "SIGINT".to_owned(), number: 2 } },
        SkipCause::Stopped { by: StopCause::Timeout { after: Duration::from_nanos(7) } },
        SkipCause::Unknown,
    ]
}

fn failures() -> Vec<Failure> {
    let missing = [
        MissingPrerequisite::Principal("app".to_owned()),
        MissingPrerequisite::Program("nginx".to_owned()),
        MissingPrerequisite::Unit("a.service".to_owned()),
        MissingPrerequisite::Path(PathBuf::from("/a")),
        MissingPrerequisite::Package("nginx".to_owned()),
        MissingPrerequisite::NoHold("nginx".to_owned()),
        MissingPrerequisite::NoMount(PathBuf::from("/a")),
        MissingPrerequisite::Writable(PathBuf::from("/a")),
    ];
    let full = |missing| Failure {
        location: Some(Box::new(Location { file: "m.yaml".to_owned(), line: 4, column: 11 })),
        changed: true,
        output: [Stream::Stdout, Stream::Stderr, Stream::Journal]
            .map(|stream| StreamTail { stream, lines: vec!["x".to_owned()], bytes_before: 9 })
            .into(),
        ..Failure::new(FailureKind::Exit, "exit code 1")
            .because_of("top")
            .with_hint("raise `timeout`")
            .of_property("timeout")
            .with_missing(missing)
    };
    let kind = RefusalKind::ApprovalRequired { intent: Some(Intent("01a2".to_owned())) };
    let refused = Refusal { kind, reason: "rule 2".to_owned(), hints: vec!["approve it".to_owned()] };
    let others = [Failure::new(FailureKind::Internal, "no"), Failure::refused(&refused)];
    missing.into_iter().map(full).chain(others).collect()
}

#[test]
fn names_and_kinds_are_words() {
    for (value, expected) in [
        (round_trip(&id("file#/a#b")), json!("file#/a#b")),
        (round_trip(&FailureKind::Verification), json!("verification")),
        (round_trip(&Stream::Stderr), json!("stderr")),
        (
            round_trip(&MissingPrerequisite::Program("nginx".to_owned())),
            json!({ "kind": "program", "name": "nginx" }),
        ),
        (
            round_trip(&MissingPrerequisite::Principal("app".to_owned())),
            json!({ "kind": "principal", "name": "app" }),
        ),
        (round_trip(&RefreshBlocker::NoopManifest), json!("noop_manifest")),
        (
            round_trip(&Reason::new("creates_exists", "text")),
            json!({ "rule": "creates_exists", "text": "text" }),
        ),
        (
            round_trip(&SkipCause::Stopped { by: StopCause::Timeout { after: Duration::from_secs(1) } }),
            json!({ "cause": "stopped", "by": "timeout", "after": 1_000_000_000 }),
        ),
    ] {
        assert_eq!(value, expected);
    }
    assert!(serde_json::from_str::<ResourceId>("\"exec\"").is_err());
    let all = [
        FailureKind::Properties,
        FailureKind::Value,
        FailureKind::Provider,
        FailureKind::Read,
        FailureKind::Guard,
        FailureKind::Conflict,
        FailureKind::Change,
        FailureKind::Start,
        FailureKind::Exit,
        FailureKind::Signal,
        FailureKind::Timeout,
        FailureKind::Stopped,
        FailureKind::Expectation,
        FailureKind::Capture,
        FailureKind::Verification,
        FailureKind::HealthCheck,
        FailureKind::Ledger,
        FailureKind::Internal,
        FailureKind::Unknown,
    ];
    for kind in all {
        round_trip(&kind);
    }
}

#[test]
fn values_of_later_versions_are_read_as_unknown() {
    assert_eq!(serde_json::from_value::<FailureKind>(json!("magic")).expect("a kind"), FailureKind::Unknown);
    let later = json!({ "cause": "denied", "rule": 7 });
    assert_eq!(serde_json::from_value::<SkipCause>(later).expect("a cause"), SkipCause::Unknown);
}

#[test]
fn every_outcome_comes_back() {
    let message = || "Would have executed".to_owned();
    let plain = [Outcome::Unchanged, Outcome::Changed, Outcome::Refreshed];
    let noop = [Outcome::WouldChange { message: message() }, Outcome::WouldRefresh { message: message() }];
    let skipped = skip_causes().into_iter().map(|cause| Outcome::Skipped { cause });
    let failed = failures().into_iter().map(|failure| Outcome::Failed(Box::new(failure)));
    for outcome in plain.into_iter().chain(noop).chain(skipped).chain(failed) {
        let written = round_trip(&outcome);
        assert_eq!(written["outcome"], json!(OutcomeName::from(&outcome)));
    }
}

#[test]
fn a_summary_comes_back() {
    let refresh = |is_assumed| PendingRefresh {
        source: id("file#/a"),
        run_id: "01".to_owned(),
        since: since(),
        is_assumed,
    };
    let unfinished = |cause| UnfinishedRefresh { subscriber: id("exec#b"), refresh: refresh(false), cause };
    let cancelled = |cause| CancelledRefresh { subscriber: id("exec#b"), refresh: refresh(true), cause };
    let causes = [
        PendingCause::Failed,
        PendingCause::from(SkipCause::NotSelected),
        PendingCause::from(SkipCause::Excluded),
        PendingCause::from(SkipCause::NotManaged { reason: "off".to_owned() }),
        PendingCause::Noop { blocked_by: None },
        PendingCause::Noop { blocked_by: Some(RefreshBlocker::NoopManifest) },
        PendingCause::NoValue,
        PendingCause::OtherManifest { manifest: "/m.yaml".to_owned() },
    ];
    let left = [CancelledCause::NoSubscriber, CancelledCause::NoSource, CancelledCause::NoSubscription];
    let written = round_trip(&RunSummary {
        noop: true,
        duration: Duration::from_micros(5),
        counts: Counts { total: 1, changed: 1, ..Counts::default() },
        checks: CheckCounts { ok: 1, not_run: 2, ..CheckCounts::default() },
        monitor_only: true,
        stopped: Some(StopCause::Signal { name: "SIGTERM".to_owned(), number: 15 }),
        message: Some("bye".to_owned()),
        refreshes: RefreshSummary {
            pending: causes.map(unfinished).into(),
            cancelled: left.map(cancelled).into(),
            damage: Some("torn".to_owned()),
            unwritten: vec!["no space".to_owned()],
        },
    });
    assert_eq!(written["duration"], 5_000);
    let pending = |cause: serde_json::Value| {
        let mut refresh = json!({
            "subscriber": "exec#b", "source": "file#/a", "run_id": "01", "since": "2024-11-19T07:06:40.123456Z",
        });
        refresh.as_object_mut().expect("a map").extend(cause.as_object().expect("a map").clone());
        refresh
    };
    let expected = [
        json!({ "cause": "failed" }),
        json!({ "cause": "skipped", "skip": { "cause": "not_selected" } }),
        json!({ "cause": "skipped", "skip": { "cause": "excluded" } }),
        json!({ "cause": "skipped", "skip": { "cause": "not_managed", "reason": "off" }, "kept_by": "control" }),
        json!({ "cause": "noop" }),
        json!({ "cause": "noop", "kept_by": "noop_manifest" }),
        json!({ "cause": "no_value" }),
        json!({ "cause": "other_manifest", "manifest": "/m.yaml" }),
    ];
    assert_eq!(written["refreshes"]["owed"], serde_json::Value::Array(expected.map(pending).into()));
    assert_eq!(written["refreshes"]["settled"][0]["assumed"], true);
    let files = vec![Artifact { name: "stdout.txt".into(), content: b"\xff\n".to_vec() }];
    round_trip(&Artifacts { id: id("exec#b"), position: 2, files });
    round_trip(&Fields::from([("b", 1.into()), ("a", json!([null, { "c": 0.5 }]))]));
}

fn health_check() -> HealthCheckResult {
    HealthCheckResult {
        name: "disk".to_owned(),
        status: CheckStatus::Warning,
        output: "DISK WARNING".to_owned(),
        tries: 2,
        duration: Duration::from_micros(5),
        values: vec![PerformanceValue {
            label: "/".to_owned(),
            value: Some(93.5),
            unit: "%".to_owned(),
            warning: Some("90".to_owned()),
            max: Some(100.0),
            ..PerformanceValue::default()
        }],
    }
}

fn transaction(outcome: Outcome) -> Transaction {
    Transaction {
        id: id("exec#a"),
        alias: Some("b".to_owned()),
        at: since(),
        duration: Duration::from_micros(5),
        provider: Some("posix".into()),
        requested_ensure: "present".to_owned(),
        action: None,
        noop: matches!(outcome, Outcome::WouldChange { .. }),
        final_ensure: Some("absent".to_owned()),
        outcome,
        properties: Properties::default(),
        presentation: Vec::new(),
        would_fail: true,
        reason: Some(Reason::new("always", "there is no guard")),
        guards: vec![GuardResult {
            property: "unless".into(),
            command: "test -e /a".to_owned(),
            exit_code: Some(2),
            stderr: Some("test: no".to_owned()),
            allows: Some(true),
        }],
        health_checks: vec![health_check()],
        triggered_by: vec![id("file#/a")],
        pending_refreshes: Vec::new(),
        warnings: vec!["look".to_owned()],
        notes: vec!["there".to_owned()],
        state: Some(Fields::from([("exitcode", 7.into())])),
        diff: Some("-a\n+b\n".to_owned()),
    }
}

#[test]
fn every_event_comes_back() {
    let files = vec![Artifact { name: "stdout.txt".into(), content: b"\xff\n".to_vec() }];
    let start = SessionStarted {
        at: since(),
        noop: true,
        monitor_only: false,
        resources: 1,
        host: "web1".to_owned(),
        manifest: "/m.yaml".to_owned(),
        run_id: "01".to_owned(),
        message: Some("hello".to_owned()),
    };
    let summary = RunSummary {
        noop: false,
        duration: Duration::from_micros(5),
        counts: Counts::default(),
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: Some(StopCause::Failed { culprit: id("exec#a") }),
        message: None,
        refreshes: RefreshSummary::default(),
    };
    let line = OutputLine { id: id("exec#a"), stream: Stream::Stderr, line: "x".to_owned() };
    let with_protocol = [
        (Event::SessionStarted(start), START_PROTOCOL),
        (Event::ResourceStarted(ResourceStarted { id: id("exec#a") }), "io.choria.ccm.v1.resource.start"),
        (Event::OutputReceived(line), "io.choria.ccm.v1.resource.output"),
        (
            Event::ArtifactsLeft(Box::new(Artifacts { id: id("exec#a"), position: 2, files })),
            "io.choria.ccm.v1.resource.artifacts",
        ),
        (Event::SessionFinished(Box::new(summary)), SUMMARY_PROTOCOL),
    ];
    for (event, protocol) in with_protocol {
        assert_eq!(round_trip(&event)["protocol"], protocol);
    }
    let outcomes = [Outcome::Changed, Outcome::WouldChange { message: "Would have executed".to_owned() }];
    let skipped = skip_causes().into_iter().map(|cause| Outcome::Skipped { cause });
    let failed = Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "exit code 1")));
    for transaction in outcomes.into_iter().chain(skipped).chain([failed]).map(transaction) {
        round_trip(&transaction);
        let written = round_trip(&Event::ResourceFinished(Box::new(transaction)));
        assert_eq!(written["protocol"], TRANSACTION_PROTOCOL);
    }
    let unknown = json!({ "protocol": "io.choria.ccm.v1.resource.other" });
    assert!(serde_json::from_value::<Event>(unknown).is_err());
}

#[test]
fn a_serialised_event_holds_no_content_and_no_output() {
    let key = NodeKey { text: "content".into(), span: Span::default() };
    let content = NodeEntry { key, value: Node::text("swordfish", Span::default()) };
    for failure in failures() {
        let event = Event::ResourceFinished(Box::new(Transaction {
            properties: Properties::new(NodeMap::new(vec![content.clone()]), None),
            presentation: vec![("content", Presentation::Digest)],
            ..transaction(Outcome::Failed(Box::new(failure)))
        }));
        let written = json!(event);
        assert_eq!(written["properties"]["content"]["size"], 9);
        assert!(!written.to_string().contains("swordfish") && !written.to_string().contains("bytes_before"));
        let again = serde_json::from_value::<Event>(written.clone()).expect("an event");
        assert_eq!(json!(again), written);
    }
}

fn node() -> impl Strategy<Value = Node> {
    use ScalarStyle::{Block, Computed, Plain, Quoted, Redacted};
    let style = prop::sample::select(vec![Plain, Quoted, Block, Computed, Redacted]);
    let scalar =
        (".*", style).prop_map(|(text, style)| NodeValue::Scalar(Scalar { text: text.into(), style }));
    let spanned = |value, start| Node { value, span: Span { source: SourceId(1), start, end: u32::MAX } };
    let leaf = (scalar, any::<u32>()).prop_map(move |(value, start)| spanned(value, start));
    leaf.prop_recursive(4, 16, 4, move |inner| {
        let entry = (".*", inner.clone()).prop_map(|(key, value)| NodeEntry {
            key: NodeKey { text: key.into(), span: Span::default() },
            value,
        });
        let map =
            prop::collection::vec(entry, 0..4).prop_map(|entries| NodeValue::Map(NodeMap::new(entries)));
        let list = prop::collection::vec(inner, 0..4).prop_map(NodeValue::List);
        (prop_oneof![map, list], any::<u32>()).prop_map(move |(value, start)| spanned(value, start))
    })
}

proptest! {
    #[test]
    fn a_catalog_comes_back(value in node()) {
        let span = Span { source: SourceId(2), start: 3, end: 4 };
        let map = |key: &str| NodeMap::new(vec![NodeEntry { key: NodeKey { text: key.into(), span }, value: value.clone() }]);
        let resource = |control, defaults| Resource {
            id: id("exec#a"),
            span,
            aliases: vec!["b".into()],
            ensure: Some(Spanned { value: "present".to_owned(), span }),
            provider: Some(Spanned { value: "posix".to_owned(), span }),
            require: vec![Dependency { on: ResourceIndex(0), span }],
            subscribe: vec![Dependency { on: ResourceIndex(0), span }],
            autorequired: vec![ResourceIndex(0)],
            autorequire: Some(true),
            properties: Properties::new(map("own"), defaults),
            settings: Arc::new(map("setting")),
            rendered: Arc::new(map("rendered")),
            control,
            is_monitored: true,
            group: Some(GroupIndex(0)),
            node_of: Some(GroupIndex(0)),
        };
        let catalog = Catalog {
            name: Some("site".to_owned()),
            pre_message: Some("before".to_owned()),
            post_message: Some("after".to_owned()),
            fail_on_error: true,
            checks: Some(Box::new(resource(Control::Managed, None))),
            resources: vec![
                resource(Control::Managed, None),
                resource(Control::NotManaged { reason: "no".to_owned() }, Some(Arc::new(map("default")))),
                resource(Control::Late, None),
            ],
            groups: vec![Group {
                parent: None,
                noop: true,
                fail_on_error: true,
                directory: PathBuf::from("/srv"),
            }],
        };
        let written = round_trip(&CatalogDocument { protocol: CatalogProtocol::V1, catalog: Cow::Owned(catalog) });
        prop_assert_eq!(&written["protocol"], CATALOG_PROTOCOL);
    }
}

#[test]
fn a_catalog_has_the_documented_shape() {
    let span = Span { source: SourceId(0), start: 3, end: 7 };
    let entry =
        |key: &str, value| NodeEntry { key: NodeKey { text: key.into(), span }, value: Node { value, span } };
    let scalar = |text: &str| NodeValue::Scalar(Scalar { text: text.into(), style: ScalarStyle::Plain });
    let list = NodeValue::List(vec![Node { value: scalar("0"), span }]);
    let map = NodeValue::Map(NodeMap::new(vec![entry("A", scalar("b"))]));
    let own = NodeMap::new(vec![entry("returns", list), entry("environment", map)]);
    let resource =
        Resource { id: id("exec#a"), span, properties: Properties::new(own, None), ..Resource::default() };
    let catalog = Catalog { resources: vec![resource], ..Catalog::default() };
    let written = json!(CatalogDocument { protocol: CatalogProtocol::V1, catalog: Cow::Owned(catalog) });
    let span = json!({ "source": 0, "start": 3, "end": 7 });
    let key = |text: &str| json!({ "text": text, "span": span });
    let scalar =
        |text: &str| json!({ "value": { "scalar": { "text": text, "style": "plain" } }, "span": span });
    let variables = json!({ "map": [{ "key": key("A"), "value": scalar("b") }] });
    assert_eq!(written["catalog"]["resources"][0]["id"], "exec#a");
    assert_eq!(
        written["catalog"]["resources"][0]["properties"]["own"],
        json!([
            { "key": key("returns"), "value": { "value": { "list": [scalar("0")] }, "span": span } },
            { "key": key("environment"), "value": { "value": variables, "span": span } },
        ])
    );
}

/// A line of version 0.1.
const EARLIER: &str = r#"{"protocol":"io.choria.ccm.v1.transaction.event","event_id":"01a2","timestamp":"2026-11-22T03:16:14.666352Z","run_id":"01a2","type":"exec","provider":null,"name":"install","alias":null,"requested_ensure":"present","final_ensure":null,"duration":21545,"properties":{"command":"true"},"status":null,"noop_message":null,"error":[],"changed":false,"refreshed":false,"failed":false,"skipped":true,"noop":false,"unmet_requirements":["exec#build"],"outcome":"skipped","reason":"exec#build failed","triggered_by":[],"owed":[],"warnings":[],"notes":[],"diff":null}"#;

#[test]
fn lines_of_earlier_and_of_later_versions_are_read() {
    let read = |line: &str| match EventLine::read(line.as_bytes()) {
        Ok(EventLine::Transaction(line)) => Transaction::from(*line),
        other => panic!("{other:?}"),
    };
    let transaction = read(EARLIER);
    let cause = SkipCause::DependencyFailed { culprits: vec![id("exec#build")] };
    assert_eq!(transaction.outcome, Outcome::Skipped { cause });
    assert_eq!(transaction.reason_text(), Some("exec#build failed"));
    assert_eq!(transaction.properties.get("command").and_then(Node::as_text), Some("true"));

    let later =
        EARLIER.replace("\"diff\":null", "\"diff\":null,\"new\":{\"a\":1},\"skip\":{\"cause\":\"denied\"}");
    assert_eq!(read(&later).outcome, Outcome::Skipped { cause: SkipCause::Unknown });
    let failed = EARLIER.replace("\"outcome\":\"skipped\"", "\"outcome\":\"failed\",\"failure\":7");
    assert!(
        matches!(read(&failed).outcome, Outcome::Failed(failure) if failure.kind == FailureKind::Unknown)
    );
}

#[test]
fn unreadable_lines_and_other_versions_are_errors() {
    let read = |line: &str| EventLine::read(line.as_bytes());
    let other = EARLIER.replace("ccm.v1.", "ccm.v2.");
    assert!(matches!(read(&other), Err(LineError::Version { protocol }) if protocol.contains("v2")));
    for unknown in ["ccm.v1.other", "elsewhere.v1"] {
        let line = EARLIER.replace("ccm.v1.transaction.event", unknown);
        assert!(matches!(read(&line), Err(LineError::Protocol { .. })), "{line}");
    }
    for malformed in ["", "5", "{}", &EARLIER[..99], &EARLIER.replace("21545", "-1")] {
        assert!(matches!(read(malformed), Err(LineError::Malformed(_))), "{malformed}");
    }
    assert!(START_PROTOCOL.contains(&format!(".v{PROTOCOL_VERSION}.")));
}
