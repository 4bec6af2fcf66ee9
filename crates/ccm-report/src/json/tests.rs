use std::time::UNIX_EPOCH;

use ccm_model::{
    CancelledCause, CancelledRefresh, CheckCounts, Counts, EventLine, Failure, FailureKind, Fields, Location,
    Node, NodeEntry, NodeKey, NodeMap, PendingCause, PendingRefresh, Properties, Reason, RefreshBlocker,
    RefreshSummary, ResourceId, START_PROTOCOL, SUMMARY_PROTOCOL, SkipCause, Span, StopCause, Stream,
    StreamTail, UnfinishedRefresh,
};
use serde_json::{Value, json};

use super::*;

fn transaction(outcome: Outcome) -> Transaction {
    Transaction {
        id: ResourceId::new("exec", "job"),
        alias: None,
        at: UNIX_EPOCH + Duration::from_millis(1_500),
        duration: Duration::from_millis(2),
        provider: Some("posix".into()),
        requested_ensure: "present".to_owned(),
        action: None,
        noop: matches!(outcome, Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. }),
        would_fail: false,
        final_ensure: None,
        outcome,
        diff: None,
        properties: Properties::default(),
        presentation: Vec::new(),
        reason: None,
        guards: Vec::new(),
        health_checks: Vec::new(),
        triggered_by: Vec::new(),
        pending_refreshes: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        state: None,
    }
}

fn encoder() -> LineEncoder {
    LineEncoder::new(Ids::new(1), UNIX_EPOCH, "/m.yaml".to_owned(), "0.1.0")
}

fn parsed(line: &JsonLine<'_>) -> Value {
    assert_eq!(line.text.matches('\n').count(), 1, "{:?}", line.text);
    serde_json::from_str(line.text).expect("JSON")
}

fn encoded(outcome: Outcome) -> (Value, bool) {
    let event = Event::ResourceFinished(Box::new(transaction(outcome)));
    let mut encoder = encoder();
    let line = encoder.encode(&event).expect("a line");
    (parsed(&line), line.urgent)
}

#[test]
fn the_fields_are_those_of_the_protocol() {
    let (event, _) = encoded(Outcome::Unchanged);
    let names: Vec<&str> = event.as_object().expect("a map").keys().map(String::as_str).collect();
    let expected = "protocol event_id timestamp run_id type provider name alias requested_ensure final_ensure \
                    duration properties status action noop_message error changed refreshed failed skipped noop would_fail \
                    unmet_requirements outcome reason triggered_by pending owed warnings notes diff hints location failure rule skip";
    assert_eq!(names.join(" "), expected);
    assert_eq!(event["timestamp"], "1970-01-01T00:00:01.500000Z");
    assert_eq!(event["duration"], 2_000_000);
}

#[test]
fn every_outcome_has_its_booleans() {
    let message = || "Would have executed".to_owned();
    let failed = |changed| {
        Outcome::Failed(Box::new(Failure {
            changed,
            ..Failure::new(FailureKind::Exit, "no").because_of("top")
        }))
    };
    let stopped = StopCause::Signal { name: "SIGINT".to_owned(), number: 2 };
    let unmet = SkipCause::DependencyFailed { culprits: vec![ResourceId::new("exec", "a")] };
    let skipped = |cause| Outcome::Skipped { cause };
    // Changed, refreshed, failed, skipped, noop, and whether it must be written at once.
    for (outcome, name, expected) in [
        (Outcome::Unchanged, "unchanged", "......"),
        (Outcome::Changed, "changed", "c....!"),
        (Outcome::Refreshed, "refreshed", "cr...!"),
        (Outcome::WouldChange { message: message() }, "would_change", "c...n!"),
        (Outcome::WouldRefresh { message: message() }, "would_refresh", "cr..n!"),
        (failed(false), "failed", "..f..!"),
        (failed(true), "failed", "c.f..!"),
        (skipped(unmet), "skipped", "...s.."),
        (skipped(SkipCause::NotManaged { reason: "`if` is false".to_owned() }), "skipped", "...s.."),
        (skipped(SkipCause::NotSelected), "skipped", "...s.."),
        (skipped(SkipCause::Excluded), "skipped", "...s.."),
        (skipped(SkipCause::ManifestEnded { culprit: ResourceId::new("exec", "a") }), "skipped", "...s.."),
        (skipped(SkipCause::Stopped { by: stopped }), "skipped", "...s.."),
    ] {
        let (event, urgent) = encoded(outcome);
        let flag = |name: &str, letter| if event[name] == json!(true) { letter } else { '.' };
        let mut flags: String = [
            flag("changed", 'c'),
            flag("refreshed", 'r'),
            flag("failed", 'f'),
            flag("skipped", 's'),
            flag("noop", 'n'),
        ]
        .iter()
        .collect();
        flags.push(if urgent { '!' } else { '.' });
        assert_eq!((event["outcome"].as_str(), &*flags), (Some(name), expected));
        assert_eq!(event["noop_message"].is_string(), name.starts_with("would"));
        assert_eq!(event["error"], if name == "failed" { json!(["top", "no"]) } else { json!([]) });
        assert_eq!(event["reason"].is_string(), name == "skipped", "{event}");
    }
    let unchanged = Transaction { noop: true, ..transaction(Outcome::Unchanged) };
    let mut encoder = encoder();
    let line = encoder.encode(&Event::ResourceFinished(Box::new(unchanged))).expect("a line");
    assert_eq!(parsed(&line)["noop"], true);
}

#[test]
fn ids_ascend_although_the_clock_goes_back() {
    let mut encoder = encoder();
    let start = SessionStarted {
        at: UNIX_EPOCH + Duration::from_secs(9),
        noop: true,
        monitor_only: false,
        resources: 1,
        host: String::new(),
        manifest: String::new(),
        run_id: String::new(),
        message: Some("two\nlines".to_owned()),
    };
    let summary = RunSummary {
        noop: true,
        duration: Duration::from_secs(2),
        counts: Counts { total: 1, unchanged: 1, ..Counts::default() },
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: Some(StopCause::Timeout { after: Duration::from_secs(2) }),
        message: None,
        refreshes: RefreshSummary::default(),
    };
    let events = [
        Event::SessionStarted(start),
        Event::ResourceFinished(Box::new(transaction(Outcome::Unchanged))),
        Event::SessionFinished(Box::new(summary)),
    ];
    let lines: Vec<Value> =
        events.iter().map(|event| parsed(&encoder.encode(event).expect("a line"))).collect();
    let ids: Vec<&str> = lines.iter().filter_map(|line| line["event_id"].as_str()).collect();
    assert!(ids.is_sorted_by(|earlier, later| earlier < later), "{ids:?}");
    assert!(*encoder.identity().run_id < *ids[0]);
    assert_eq!(lines[0]["message"], "two\nlines");
    assert_eq!(lines[2]["timestamp"], "1970-01-01T00:00:11.000000Z");
    assert_eq!(lines[2]["stopped"]["message"], "the run was stopped after 2s by --timeout");
}

#[test]
fn pending_refreshes_have_their_origin_and_cause() {
    let refresh = || PendingRefresh {
        source: ResourceId::new("file", "/a"),
        run_id: "01".to_owned(),
        since: UNIX_EPOCH + Duration::from_millis(1),
        is_assumed: false,
    };
    let triggered = Transaction { pending_refreshes: vec![refresh()], ..transaction(Outcome::Refreshed) };
    let event = Event::ResourceFinished(Box::new(triggered));
    let event = parsed(&encoder().encode(&event).expect("a line"));
    let origin = json!({ "source": "file#/a", "run_id": "01", "since": "1970-01-01T00:00:00.001000Z" });
    assert_eq!(event["owed"], json!([origin]));

    let subscriber = || ResourceId::new("exec", "b");
    let refreshes = RefreshSummary {
        pending: vec![UnfinishedRefresh {
            subscriber: subscriber(),
            refresh: refresh(),
            cause: PendingCause::Failed,
        }],
        cancelled: vec![CancelledRefresh {
            subscriber: subscriber(),
            refresh: refresh(),
            cause: CancelledCause::NoSource,
        }],
        damage: Some("torn".to_owned()),
        unwritten: vec!["no".to_owned()],
    };
    let summary = RunSummary {
        noop: false,
        duration: Duration::ZERO,
        counts: Counts::default(),
        checks: CheckCounts::default(),
        monitor_only: false,
        stopped: None,
        message: None,
        refreshes,
    };
    let summary = parsed(&encoder().encode(&Event::SessionFinished(Box::new(summary))).expect("a line"));
    let with = |cause: &str, message: &str| {
        let mut value = json!({ "subscriber": "exec#b" });
        let fields = value.as_object_mut().expect("a map");
        fields.extend(origin.as_object().expect("a map").clone());
        fields.insert("cause".to_owned(), cause.into());
        fields.insert("message".to_owned(), message.into());
        value
    };
    assert_eq!(summary["owed"], json!([with("failed", "it failed")]));
    assert_eq!(summary["settled"], json!([with("no_source", "file#/a is not in the manifest")]));
    assert_eq!((&summary["ledger_damage"], &summary["ledger_error"]), (&json!("torn"), &json!(["no"])));
}

#[test]
fn a_document_is_valid_json_with_any_number_of_events() {
    for count in [0, 1, 3] {
        let mut encoder = encoder();
        let mut out = Vec::new();
        let mut document = JsonDocument::new(&mut out);
        for _ in 0..count {
            let event = Event::ResourceFinished(Box::new(transaction(Outcome::Changed)));
            document.accept(&encoder.encode(&event).expect("a line"));
        }
        document.finish().expect("a document");
        let found: Value = serde_json::from_slice(&out).expect("JSON");
        assert_eq!(found["events"].as_array().map(Vec::len), Some(count));
    }
}

#[test]
fn a_verification_names_its_run_and_the_repeated_changes() {
    let mut encoder = encoder();
    let first = encoder.identity().run_id.clone();
    encoder.begin_verification(UNIX_EPOCH);
    assert_ne!(encoder.identity().run_id, first);
    let start = SessionStarted {
        at: UNIX_EPOCH,
        noop: false,
        monitor_only: false,
        resources: 1,
        host: String::new(),
        manifest: String::new(),
        run_id: String::new(),
        message: None,
    };
    let start = parsed(&encoder.encode(&Event::SessionStarted(start)).expect("a line"));
    assert_eq!((&start["verifies"], &start["run_id"]), (&json!(first), &json!(encoder.identity().run_id)));
    let in_noop = Outcome::WouldChange { message: String::new() };
    let failed = Outcome::Failed(Box::new(Failure::new(FailureKind::Exit, "no")));
    for outcome in [Outcome::Unchanged, Outcome::Changed, in_noop, Outcome::Refreshed, failed] {
        encoder.encode(&Event::ResourceFinished(Box::new(transaction(outcome))));
    }
    assert_eq!(
        encoder.verifies.expect("it verifies").changed_again,
        [ResourceId::new("exec", "job"), ResourceId::new("exec", "job")],
        "what changed and what was refreshed"
    );
}

/// Returns the fields that a line shares with its event.
fn event_fields(line: &str) -> Value {
    let mut line: Value = serde_json::from_str(line).expect("JSON");
    let is_end = line["protocol"] == SUMMARY_PROTOCOL;
    let is_start = line["protocol"] == START_PROTOCOL;
    line.as_object_mut().expect("a map").retain(|name, _| match &**name {
        "run_id" | "manifest" => is_start,
        "event_id" | "version" => false,
        "timestamp" => !is_end,
        _ => true,
    });
    line
}

#[test]
fn a_line_is_read_as_its_event() {
    let id = |name: &str| ResourceId::new("exec", name);
    let refresh = |is_assumed| PendingRefresh {
        source: ResourceId::new("file", "/a#b"),
        run_id: "01".to_owned(),
        since: UNIX_EPOCH + Duration::from_micros(1),
        is_assumed,
    };
    let failure = || {
        Outcome::Failed(Box::new(Failure {
            location: Some(Box::new(Location { file: "m.yaml".to_owned(), line: 4, column: 11 })),
            changed: true,
            ..Failure::new(FailureKind::Timeout, "no")
                .because_of("top")
                .with_hint("raise `timeout`")
                .of_property("timeout")
        }))
    };
    let timeout = || StopCause::Timeout { after: Duration::from_secs(1) };
    let skipped = |cause| Outcome::Skipped { cause };
    let outcomes = [
        Outcome::Unchanged,
        Outcome::Changed,
        Outcome::Refreshed,
        Outcome::WouldChange { message: "Would have executed".to_owned() },
        Outcome::WouldRefresh { message: "Would have executed".to_owned() },
        failure(),
        Outcome::Failed(Box::new(Failure::new(FailureKind::Internal, "no"))),
        skipped(SkipCause::DependencyFailed { culprits: vec![id("a")] }),
        skipped(SkipCause::DependsOnNoop { noop: vec![id("a"), id("b")] }),
        skipped(SkipCause::NotManaged { reason: "`if` is false".to_owned() }),
        skipped(SkipCause::NotSelected),
        skipped(SkipCause::ManifestEnded { culprit: id("a") }),
        skipped(SkipCause::Stopped { by: timeout() }),
        skipped(SkipCause::Stopped { by: StopCause::Failed { culprit: id("a") } }),
    ];
    let mut events = vec![Event::SessionStarted(SessionStarted {
        at: UNIX_EPOCH + Duration::from_secs(9),
        noop: true,
        monitor_only: false,
        resources: 1,
        host: String::new(),
        manifest: String::new(),
        run_id: String::new(),
        message: Some("two\nlines".to_owned()),
    })];
    let property = |name: &str, text: &str| NodeEntry {
        key: NodeKey { text: name.into(), span: Span::default() },
        value: Node::text(text, Span::default()),
    };
    for outcome in outcomes {
        let bare = transaction(outcome);
        let full = Transaction {
            alias: Some("alias".to_owned()),
            properties: Properties::new(NodeMap::new(vec![property("command", "make")]), None),
            final_ensure: Some("absent".to_owned()),
            reason: Some(Reason::new("always", "it has no `creates` and no guards")),
            triggered_by: vec![id("a")],
            pending_refreshes: vec![refresh(false), refresh(true)],
            warnings: vec!["look".to_owned()],
            notes: vec!["there".to_owned()],
            state: Some(Fields::from([("exitcode", 7.into()), ("a", json!({ "b": [null, 0.5] }))])),
            diff: Some("-a\n+b\n".to_owned()),
            ..bare.clone()
        };
        events.extend([bare, full].map(|transaction| Event::ResourceFinished(Box::new(transaction))));
    }
    let unfinished = |cause| UnfinishedRefresh { subscriber: id("b"), refresh: refresh(false), cause };
    let cancelled = |cause| CancelledRefresh { subscriber: id("b"), refresh: refresh(true), cause };
    for stopped in [None, Some(timeout()), Some(StopCause::Signal { name: "SIGINT".to_owned(), number: 2 })] {
        events.push(Event::SessionFinished(Box::new(RunSummary {
            noop: false,
            duration: Duration::from_nanos(2_000_000_001),
            counts: Counts { total: 1, unchanged: 1, ..Counts::default() },
            checks: CheckCounts { ok: 1, ..CheckCounts::default() },
            monitor_only: true,
            stopped,
            message: Some("bye".to_owned()),
            refreshes: RefreshSummary {
                pending: vec![
                    unfinished(PendingCause::Failed),
                    unfinished(PendingCause::from(SkipCause::Stopped { by: timeout() })),
                    unfinished(PendingCause::from(SkipCause::NotManaged { reason: "off".to_owned() })),
                    unfinished(PendingCause::Noop { blocked_by: None }),
                    unfinished(PendingCause::Noop { blocked_by: Some(RefreshBlocker::NoopManifest) }),
                    unfinished(PendingCause::NoValue),
                    unfinished(PendingCause::OtherManifest { manifest: "/m.yaml".to_owned() }),
                ],
                cancelled: vec![
                    cancelled(CancelledCause::NoSubscriber),
                    cancelled(CancelledCause::NoSource),
                    cancelled(CancelledCause::NoSubscription),
                ],
                damage: Some("torn".to_owned()),
                unwritten: vec!["no".to_owned()],
            },
        })));
    }
    check_lines(events);
}

/// Checks that each event is read again from its line.
fn check_lines(mut events: Vec<Event>) {
    let mut encoder = encoder();
    if let Event::SessionStarted(start) = &mut events[0] {
        let RunIdentity { run_id, manifest, .. } = encoder.identity().clone();
        (start.run_id, start.manifest, start.host) = (run_id, manifest, "web1".to_owned());
    }
    for event in events {
        let text = encoder.encode(&event).expect("a line").text.to_owned();
        let line = EventLine::read(text.as_bytes()).expect(&text);
        assert_eq!(format!("{}\n", json!(line)), text, "the line is written as it was");
        assert_eq!(Event::from(line), event, "{text}");
        assert_eq!(serde_json::from_str::<Event>(&text).expect(&text), event);
        assert_eq!(json!(event), event_fields(&text), "an event has the fields of its line");
    }
}

#[test]
fn output_of_commands_is_in_no_line() {
    let mut failure = Failure::new(FailureKind::Exit, "exit code 1");
    let lines = vec!["printed".to_owned()];
    failure.output.push(StreamTail { stream: Stream::Stderr, lines, bytes_before: 0 });
    let (event, _) = encoded(Outcome::Failed(Box::new(failure)));
    assert_eq!(event["failure"]["kind"], "exit");
    assert!(!event.to_string().contains("printed"), "{event}");
}
