use std::sync::Arc;
use std::time::{Duration, SystemTime};

use proptest::prelude::*;

use super::*;
use ccm_model::{
    Action, CancelledCause, CancelledRefresh, CheckStatus, Event, Failure, FailureKind, Fields, GuardResult,
    HealthCheckResult, Location, MissingPrerequisite, Node, NodeEntry, NodeKey, NodeMap, Outcome, OutputLine,
    PendingCause, PendingRefresh, PerformanceValue, Properties, Reason, RefreshSummary, ResourceId,
    RunSummary, SessionStarted, Span, StopCause, Stream, StreamTail, Transaction, UnfinishedRefresh, Verb,
};

fn redacted(values: &[&str], text: &str) -> String {
    Redactor::new(values.iter().copied()).redact(text).into_owned()
}

#[test]
fn values_are_hidden_in_every_form() {
    let secret = "p\"s'w$r d/ä\\";
    for written in [
        secret.to_owned(),
        r#"p\"s'w$r d/ä\\"#.to_owned(),
        r#"p\"s\'w$r d/ä\\"#.to_owned(),
        r#"p"s'\''w$r d/ä\"#.to_owned(),
        r#"p\"s'w\$r d/ä\\"#.to_owned(),
        "cCJzJ3ckciBkL8OkXA".to_owned(),
        "p%22s%27w%24r%20d%2F%C3%A4%5C".to_owned(),
        "p%22s%27w%24r%20d/%C3%A4%5C".to_owned(),
        "p%22s%27w%24r+d%2F%C3%A4%5C".to_owned(),
        "p%22s%27w%24r%20d%2f%c3%a4%5c".to_owned(),
    ] {
        assert_eq!(redacted(&[secret], &format!("<{written}>")), "<[redacted]>", "{written}");
    }
}

#[test]
fn values_in_json_urls_and_web_forms_are_hidden() {
    let secret = "S3cr3t/Pass word~1*ä";
    for written in [
        "S3cr3t\\/Pass word~1*ä",
        "S3cr3t\\/Pass word~1*\\u00e4",
        "S3cr3t/Pass word~1*\\u00E4",
        "S3cr3t%2FPass+word~1%2A%C3%A4",
        "S3cr3t%2FPass+word%7E1*%C3%A4",
        "S3cr3t%2fPass+word%7e1*%c3%a4",
        "S3cr3t/Pass%20word~1%2A%C3%A4",
    ] {
        assert_eq!(redacted(&[secret], &format!("<{written}>")), "<[redacted]>", "{written}");
    }
    assert_eq!(redacted(&["S3cr3t/Pass word+1"], "a=S3cr3t%2FPass+word%2B1&b"), "a=[redacted]&b");
}

#[test]
fn values_are_hidden_as_shells_and_other_languages_write_them() {
    let printable = "pä'w~ $x:~<a>&/=\"+`\\!*(é)";
    let other = "it's\u{1b}\u{7f}\n\"\\/ä\u{2028}&<";
    for (secret, forms) in [
        (
            printable,
            &[
                // bash, Python and Rust.
                r#"pä\'w~\ \$x:\~\<a\>\&/=\"+\`\\\!\*\(é\)"#,
                r#"p\303\244\'w~ $x:~<a>&/="+`\\!*(\303\251)"#,
                r#"pä'"'"'w~ $x:~<a>&/="+`\!*(é)"#,
                r#"pä'w~ $x:~<a>&/=\"+`\\!*(é)"#,
                // `encodeURIComponent` and `encodeURI`, `url.PathEscape`, and `urlencode` of PHP.
                "p%C3%A4'w~%20%24x%3A~%3Ca%3E%26%2F%3D%22%2B%60%5C!*(%C3%A9)",
                "p%C3%A4'w~%20$x:~%3Ca%3E&/=%22+%60%5C!*(%C3%A9)",
                "p%c3%a4'w~%20$x:~%3ca%3e&/=%22+%60%5c!*(%c3%a9)",
                "p%C3%A4%27w~%20$x:~%3Ca%3E&%2F=%22+%60%5C%21%2A%28%C3%A9%29",
                "p%C3%A4%27w%7E+%24x%3A%7E%3Ca%3E%26%2F%3D%22%2B%60%5C%21%2A%28%C3%A9%29",
                // JSON of Go, Flask, Gson, Django and .NET.
                r#"pä'w~ $x:~\u003ca\u003e\u0026/=\"+`\\!*(é)"#,
                r#"p\u00e4\u0027w~ $x:~\u003ca\u003e\u0026/=\"+`\\!*(\u00e9)"#,
                r#"pä\u0027w~ $x:~\u003ca\u003e\u0026/\u003d\"+`\\!*(é)"#,
                r#"p\u00e4'w~ $x:~\u003Ca\u003E\u0026/=\"+`\\!*(\u00e9)"#,
                r"p\u00E4\u0027w~ $x:~\u003Ca\u003E\u0026/=\u0022\u002B\u0060\\!*(\u00E9)",
                // JSON of PHP with some or all of its flags.
                r#"p\u00e4\u0027w~ $x:~<a>&\/=\"+`\\!*(\u00e9)"#,
                r"p\u00e4\u0027w~ $x:~\u003Ca\u003E\u0026\/=\u0022+`\\!*(\u00e9)",
                r"pä\u0027w~ $x:~\u003Ca\u003E\u0026/=\u0022+`\\!*(é)",
                r#"pä'w~ $x:~\u003Ca\u003E\u0026\/=\"+`\\!*(é)"#,
                r#"p\u00e4'w~ $x:~\u003Ca\u003E&/=\"+`\\!*(\u00e9)"#,
                r#"pä'w~ $x:~<a>&\u002f=\"+`\\!*(é)"#,
            ][..],
        ),
        (
            other,
            &[
                "it\\'s\\E\\177\\n\"\\\\/ä\\342\\200\\250&<",
                r#"it\'s\E\177\n"\\/\303\244\342\200\250&<"#,
                r#"it's\u{1b}\u{7f}\n\"\\/ä\u{2028}&<"#,
                r#"it's\u001b\u007f\n\"\\/\u00e4\u2028&<"#,
                "it's\\u001b\u{7f}\\n\\\"\\\\/ä\\u2028&<",
                "it's\\u001b\u{7f}\\n\\\"\\\\\\/ä\\u2028&<",
                "it's\\u001b\u{7f}\\n\\\"\\\\/ä\\u2028\\u0026\\u003c",
            ],
        ),
    ] {
        for form in forms {
            assert_eq!(redacted(&[secret], &format!("<{form}>")), "<[redacted]>", "{form}");
        }
    }
}

#[test]
fn base64_is_found_after_other_bytes() {
    let secret = "correct horse battery?>~";
    for (encoded, prefix) in [
        // The value alone, after `x`, after `xy` and after `xyz`, with `!` after it.
        ("Y29ycmVjdCBob3JzZSBiYXR0ZXJ5Pz5+", ""),
        ("eGNvcnJlY3QgaG9yc2UgYmF0dGVyeT8+fiE=", "eG"),
        ("eHljb3JyZWN0IGhvcnNlIGJhdHRlcnk/Pn4h", "eH"),
        ("eHl6Y29ycmVjdCBob3JzZSBiYXR0ZXJ5Pz5+IQ==", "eH"),
        ("eGNvcnJlY3QgaG9yc2UgYmF0dGVyeT8-fiE=", "eG"),
    ] {
        let shown = redacted(&[secret], encoded);
        assert!(shown.contains(REDACTED), "{encoded}: {shown}");
        assert!(shown.len() <= REDACTED.len() + 8, "{encoded}: {shown}");
        assert!(shown.starts_with(prefix), "{encoded}: {shown}");
    }
}

#[test]
fn each_long_line_of_a_value_is_hidden_by_itself() {
    let key = "-----BEGIN\nabcdefgh\nshort\n  indented line\r\n";
    for (text, shown) in [
        ("abcdefgh", "[redacted]"),
        ("short", "short"),
        ("indented line", "[redacted]"),
        ("-----BEGIN\nabcdefgh\nshort\n  indented line", "[redacted]"),
    ] {
        assert_eq!(redacted(&[key], text), shown, "{text}");
    }
}

#[test]
fn values_of_fewer_than_four_bytes_are_not_hidden() {
    for (values, text, shown) in [
        (&["abc"][..], "abc abcd", "abc abcd"),
        (&["abcd"], "abc abcd", "abc [redacted]"),
        (&["ab\n\n"], "ab\n", "ab\n"),
        (&[], "secret", "secret"),
    ] {
        assert_eq!(redacted(values, text), shown, "{values:?}");
    }
}

#[test]
fn blanks_are_hidden_and_the_placeholder_is_not() {
    for (values, text, shown) in [
        (&["", "    "][..], "a    b", "a[redacted]b"),
        (&["secret\n"], "secret", "[redacted]"),
        (&["redacted"], "redacted", "redacted"),
    ] {
        assert_eq!(redacted(values, text), shown, "{values:?}");
    }
}

#[test]
fn values_that_overlap_are_hidden_as_one() {
    for (values, text, shown) in [
        (&["abcdef", "defghi"][..], "xabcdefghix", "x[redacted]x"),
        (&["abcd", "abcdefgh"], "abcdefgh abcdef", "[redacted] [redacted]ef"),
        (&["abab"], "ababab", "[redacted]"),
        (&["abcd"], "abcdabcd", "[redacted][redacted]"),
    ] {
        assert_eq!(redacted(values, text), shown, "{values:?}");
    }
}

#[test]
fn the_beginning_of_a_value_is_hidden_where_a_text_was_cut() {
    for (text, shown) in [
        ("found the text `correct hor…`", "found the text `[redacted]…`"),
        ("corr... (truncated, 5 more chars)", "[redacted]... (truncated, 5 more chars)"),
        ("see cor…", "see cor…"),
        ("the horse…", "the horse…"),
    ] {
        assert_eq!(redacted(&["correct horse battery"], text), shown);
    }
}

#[test]
fn a_long_value_is_found_by_its_pieces() {
    let value: String =
        (0..20_000_u32).map(|number| char::from(b'a' + (number * number % 26) as u8)).collect();
    let redactor = Redactor::new([&*value]);
    assert!(!redactor.redact(&format!("<{value}>")).contains(&value[..64]));
    assert!(redactor.finds(&value.as_bytes()[4_000..14_000]));
}

#[test]
fn debug_output_holds_no_value() {
    let secrets = Secrets::new();
    secrets.add(["correct horse"]);
    assert!(!format!("{secrets:?} {:?}", secrets.redactor()).contains("horse"));
}

#[test]
fn lines_of_a_diff_are_hidden_whole() {
    let redactor = Redactor::new(["correct horse"]);
    let diff = "--- /a\n+++ /a\n-user=me pass=correct horse\n+user=me\n correct horse";
    let shown = redactor.redact_lines(diff);
    assert_eq!(shown, "--- /a\n+++ /a\n-[redacted]\n+user=me\n [redacted]");
}

#[test]
fn no_part_of_an_event_keeps_a_value() {
    const SECRET: &str = "correct horse";
    let says = |what: &str| format!("{what} {SECRET}");
    let id = || ResourceId::new("exec", says("name"));
    let pending = || PendingRefresh {
        source: id(),
        run_id: "1".to_owned(),
        since: SystemTime::UNIX_EPOCH,
        is_assumed: false,
    };
    let text = |what: &str| Node::text(says(what), Span::default());
    let entry = |key: String, value: Node| NodeEntry {
        key: NodeKey { text: key.into(), span: Span::default() },
        value,
    };
    let nested = Node { value: ccm_model::NodeValue::List(vec![text("element")]), span: Span::default() };
    let map = Node {
        value: ccm_model::NodeValue::Map(NodeMap::new(vec![entry(says("key"), nested)])),
        span: Span::default(),
    };
    let mut failure = Failure::new(FailureKind::Exit, says("chain")).with_hint(says("hint"));
    failure.location = Some(Box::new(Location { file: says("file"), line: 1, column: 1 }));
    failure.missing = Some(MissingPrerequisite::Program(says("program")).into());
    failure.output.push(StreamTail { stream: Stream::Stderr, lines: vec![says("line")], bytes_before: 0 });
    let transaction = |outcome: Outcome| {
        let properties = Properties::new(NodeMap::new(vec![entry("args".to_owned(), map.clone())]), None);
        Event::ResourceFinished(Box::new(Transaction {
            id: id(),
            alias: Some(says("alias")),
            requested_ensure: says("ensure"),
            action: Some(Action::new(Verb::Run).of(says("command")).changing(
                says("aspect"),
                Some(says("from")),
                Some(says("to")),
            )),
            final_ensure: Some(says("ensure")),
            outcome,
            reason: Some(Reason::new("rule", says("reason"))),
            guards: vec![guard_of(says("guard"), says("stderr"))],
            health_checks: vec![check_of(&says)],
            triggered_by: vec![id()],
            pending_refreshes: vec![pending()],
            warnings: vec![says("warning")],
            notes: vec![says("note")],
            state: Some(Fields::from([("a", serde_json::json!([says("state")]))])),
            diff: Some(says("+diff")),
            ..transaction_of(properties)
        }))
    };
    let stopped = || StopCause::Failed { culprit: id() };
    let refreshes = || {
        let unfinished = |cause| UnfinishedRefresh { subscriber: id(), refresh: pending(), cause };
        let skipped = PendingCause::from(ccm_model::SkipCause::NotManaged { reason: says("reason") });
        RefreshSummary {
            pending: vec![
                unfinished(skipped),
                unfinished(PendingCause::OtherManifest { manifest: says("manifest") }),
            ],
            cancelled: vec![CancelledRefresh {
                subscriber: id(),
                refresh: pending(),
                cause: CancelledCause::NoSource,
            }],
            damage: Some(says("damage")),
            unwritten: vec![says("path")],
        }
    };
    let skipped = |cause| Outcome::Skipped { cause };
    let events = [
        Event::SessionStarted(SessionStarted {
            at: SystemTime::UNIX_EPOCH,
            noop: false,
            monitor_only: false,
            resources: 1,
            host: says("host"),
            manifest: says("manifest"),
            run_id: "01".to_owned(),
            message: Some(says("message")),
        }),
        Event::ResourceStarted(ccm_model::ResourceStarted { id: id() }),
        Event::OutputReceived(OutputLine { id: id(), stream: Stream::Stdout, line: says("line") }),
        transaction(Outcome::Failed(Box::new(failure))),
        transaction(Outcome::WouldChange { message: says("noop") }),
        transaction(Outcome::WouldRefresh { message: says("noop") }),
        transaction(skipped(ccm_model::SkipCause::DependencyFailed { culprits: vec![id()] })),
        transaction(skipped(ccm_model::SkipCause::NotManaged { reason: says("reason") })),
        transaction(skipped(ccm_model::SkipCause::Stopped { by: stopped() })),
        Event::SessionFinished(Box::new(summary_of(says("message"), stopped(), refreshes()))),
    ];
    let redactor = Redactor::new([SECRET]);
    for event in events {
        assert!(format!("{event:?}").contains(SECRET));
        let shown = format!("{:?}", redactor.redact_event(event));
        assert!(!shown.contains(SECRET) && shown.contains(REDACTED), "{shown}");
    }
}

fn summary_of(message: String, stopped: StopCause, refreshes: RefreshSummary) -> RunSummary {
    RunSummary {
        stopped: Some(stopped),
        message: Some(message),
        noop: false,
        duration: Duration::ZERO,
        counts: ccm_model::Counts::default(),
        checks: ccm_model::CheckCounts::default(),
        monitor_only: false,
        refreshes,
    }
}

fn guard_of(command: String, stderr: String) -> GuardResult {
    let (exit_code, allows) = (Some(2), Some(false));
    GuardResult { property: "onlyif".into(), command, exit_code, stderr: Some(stderr), allows }
}

fn check_of(says: &impl Fn(&str) -> String) -> HealthCheckResult {
    HealthCheckResult {
        name: says("check"),
        status: CheckStatus::Critical,
        output: says("output"),
        tries: 1,
        duration: Duration::ZERO,
        values: vec![PerformanceValue {
            label: says("label"),
            unit: says("unit"),
            warning: Some(says("range")),
            critical: Some(says("range")),
            ..PerformanceValue::default()
        }],
    }
}

fn transaction_of(properties: Properties) -> Transaction {
    Transaction {
        id: ResourceId::new("exec", "a"),
        alias: None,
        at: SystemTime::UNIX_EPOCH,
        duration: Duration::ZERO,
        provider: None,
        requested_ensure: String::new(),
        action: None,
        final_ensure: None,
        outcome: Outcome::Changed,
        noop: false,
        would_fail: false,
        properties,
        presentation: Vec::new(),
        reason: None,
        guards: Vec::new(),
        health_checks: Vec::new(),
        triggered_by: Vec::new(),
        pending_refreshes: Vec::new(),
        warnings: Vec::new(),
        notes: Vec::new(),
        state: None,
        diff: None,
    }
}

/// Returns the redacted text of a stream that comes in pieces.
fn streamed<'p>(values: &[String], pieces: impl IntoIterator<Item = &'p [u8]>) -> Vec<u8> {
    let redactor = Arc::new(Redactor::new(values.iter().map(String::as_str)));
    let mut stream = StreamRedactor::new(redactor);
    let mut shown = Vec::new();
    for piece in pieces {
        stream.push(piece, &mut |bytes| shown.extend_from_slice(bytes));
    }
    stream.finish(&mut |bytes| shown.extend_from_slice(bytes));
    shown
}

/// Returns the expected result of [`streamed`], by a search at every offset.
fn by_hand(values: &[String], printed: &[u8]) -> Vec<u8> {
    let forms = reference::forms(values);
    let mut hidden = Vec::new();
    for start in 0..printed.len() {
        for form in &forms {
            let rest = &printed[start..];
            if rest.starts_with(form.as_bytes()) {
                hidden.push(start..start + form.len());
            } else if form.as_bytes().starts_with(rest) && rest.len() >= 4 {
                hidden.push(start..printed.len());
            }
        }
    }
    let mut shown = Vec::new();
    let mut at = 0;
    for range in united(hidden) {
        shown.extend_from_slice(&printed[at..range.start]);
        shown.extend_from_slice(REDACTED.as_bytes());
        at = range.end;
    }
    shown.extend_from_slice(&printed[at..]);
    shown
}

#[test]
fn a_line_that_begins_no_value_is_not_held_back() {
    let redactor = Arc::new(Redactor::new(["correct horse"]));
    let mut stream = StreamRedactor::new(redactor);
    let mut shown = Vec::new();
    for (piece, so_far) in [
        ("a line\n", "a line\n"),
        ("corr", "a line\n"),
        ("upt\ncorrect hors", "a line\ncorrupt\n"),
        ("e\n", "a line\ncorrupt\n[redacted]\n"),
        ("correct", "a line\ncorrupt\n[redacted]\n"),
    ] {
        stream.push(piece.as_bytes(), &mut |bytes| shown.extend_from_slice(bytes));
        assert_eq!(String::from_utf8_lossy(&shown), so_far);
    }
    stream.finish(&mut |bytes| shown.extend_from_slice(bytes));
    assert_eq!(String::from_utf8_lossy(&shown), "a line\ncorrupt\n[redacted]\n[redacted]");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    #[test]
    fn a_stream_is_redacted_as_a_whole_however_it_is_cut(
        values in prop::collection::vec("[ab]{4,7}", 0..4),
        printed in "[abc]{0,40}",
        cuts in prop::collection::vec(0_usize..9, 1..20),
    ) {
        let mut rest = printed.as_bytes();
        let mut pieces = Vec::new();
        for cut in cuts {
            let (piece, after) = rest.split_at(cut.min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces.push(rest);
        let shown = streamed(&values, pieces);
        let expected = by_hand(&values, printed.as_bytes());
        prop_assert_eq!(String::from_utf8_lossy(&shown), String::from_utf8_lossy(&expected));
    }

    #[test]
    fn no_value_and_no_long_beginning_of_it_leaves_a_stream(
        value in "[a-z '\"\\\\]{4,20}",
        around in "[A-Z]{0,5}",
        length in 0_usize..30,
        read in 1_usize..7,
    ) {
        let printed = format!("{around}{value}{around}{value}");
        let printed = &printed.as_bytes()[..length.min(printed.len())];
        let shown = streamed(std::slice::from_ref(&value), printed.chunks(read));
        let shown = String::from_utf8_lossy(&shown).into_owned();
        prop_assert!(!shown.contains(&value));
        let last = shown.rsplit(REDACTED).next().unwrap_or_default();
        let leaked = (4..=value.len()).any(|length| last.ends_with(&value[..length]));
        prop_assert!(!leaked, "{}", shown);
    }
}

#[test]
fn a_dump_in_hexadecimal_is_found() {
    let redactor = Redactor::new(["pä-7"]);
    for dumped in ["70c3a42d37", "70C3A42D37"] {
        assert_eq!(redactor.redact(&format!("0a{dumped}0a")), "0a[redacted]0a");
    }
}
