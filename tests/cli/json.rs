//! Events as JSON, on standard output and in the events file.

use std::io::{BufRead as _, BufReader};

use ccm_testkit::{Called, Scratch};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::expect::{expect_output, json_lines, outcomes};
use crate::{apply, apply_execs, ccm};

/// One of every outcome, live output, messages, and something secret.
pub(crate) const MIXED: &str = "
ccm:
  pre_message: before
  post_message: after
  resources:
    - exec:
        - makes: {command: touch [dir]/made, creates: '[dir]/made', environment: {TOKEN: swordfish}}
        - reads: {command: cat, stdin: swordfish, logoutput: true, refresh_only: true, subscribe: [exec#makes]}
        - fails: {command: 'false', alias: trouble}
        - depends: {command: 'true', require: [exec#trouble]}
        - idle: {command: 'true', onlyif: 'false', returns: [0, 2]}
";

pub(crate) fn apply_mixed(scratch: &Scratch, options: &[&str]) -> Called {
    apply(scratch, &MIXED.replace("[dir]", &scratch.path().to_string_lossy()), options)
}

#[test]
fn a_run_is_printed_as_json_lines() {
    let scratch = Scratch::new();
    let called = apply_mixed(&scratch, &["--output", "jsonl"]);
    assert_snapshot!("lines", called.shown());
    assert!(!called.stdout.contains("swordfish"));
    let lines = json_lines(&called.stdout);
    let ids: Vec<&str> = lines.iter().filter_map(|line| line["event_id"].as_str()).collect();
    assert!(ids.len() == 7 && ids.is_sorted_by(|earlier, later| earlier < later), "{ids:?}");
    assert!(lines.iter().all(|line| line["run_id"] == lines[0]["run_id"]));
}

#[test]
fn a_noop_run_is_printed_as_json_lines() {
    let scratch = Scratch::new();
    let called = apply_mixed(&scratch, &["--output", "jsonl", "--noop"]);
    let expected = [
        "exec#makes would_change",
        "exec#reads would_refresh",
        "exec#fails would_change",
        "exec#depends would_change",
        "exec#idle unchanged",
    ];
    assert_eq!((called.code, &outcomes(&called)[..]), (0, &expected.map(str::to_owned)[..]));
    assert!(!called.stdout.contains("swordfish"));
    let lines = json_lines(&called.stdout);
    let [start, events @ .., summary] = &lines[..] else { panic!("{}", called.shown()) };
    assert_eq!(
        [&start["noop"], &summary["noop"], &events[0]["noop"], &events[4]["noop"]],
        [true, true, true, true]
    );
    let messages = events.iter().map(|event| event["noop_message"].is_string());
    assert_eq!(messages.collect::<Vec<_>>(), [true, true, true, true, false]);
    let counts = ["total", "unchanged", "changed", "refreshed", "failed", "skipped"];
    assert_eq!(counts.map(|name| summary["counts"][name].as_u64()), [5, 1, 3, 1, 0, 0].map(Some));
    assert!(!scratch.state().exists());
}

#[test]
fn a_document_has_the_lines_of_the_run() {
    let scratch = Scratch::new();
    let called = apply_mixed(&scratch, &["--output", "json", "--events-file", "events"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let file = scratch.read("events").expect("the events file");
    let lines = json_lines(&file.replace(&*scratch.path().to_string_lossy(), "[dir]"));
    let [start, events @ .., summary] = &lines[..] else { panic!("{file}") };
    assert_eq!(document, serde_json::json!({"start": start, "events": events, "summary": summary}));
    assert_eq!(events.len(), 5);
    // Each event is on a line of its own.
    assert_eq!(called.stdout.lines().count(), 11, "{}", called.stdout);
}

#[test]
fn an_interrupted_run_is_a_whole_document() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, "        - sleep 3600:\n", &["--output", "json", "--timeout", "50ms"]);
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["summary"]["stopped"]["by"], "timeout");
    assert_eq!(document["summary"]["stopped"]["after"], 50_000_000);
    assert_eq!(called.code, 4);
}

#[test]
fn an_error_is_a_document() {
    let scratch = Scratch::new();
    scratch.write("bad.yaml", "ccm:\n  resources:\n    - exec:\n        - a: {timeuot: 1s}\n    - fil: {}\n");
    scratch.write("good.yaml", "ccm: {resources: [{exec: [{'true': {creates: /}}]}]}");
    let bad = ("bad.yaml", 4);
    let of_command = ("", 0);
    for (args, code, errors, (file, line), message) in [
        (&["apply", "bad.yaml", "--output", "json"][..], 1, 2, bad, "unknown property `timeuot`"),
        (&["apply", "bad.yaml", "--json"], 1, 2, bad, "unknown property `timeuot`"),
        (&["apply", "bad.yaml", "--output", "jsonl"], 1, 2, bad, "unknown property `timeuot`"),
        (&["apply", "--noop", "bad.yaml", "--output", "jsonl"], 1, 2, bad, "unknown property `timeuot`"),
        (&["apply", "bad.yaml", "good.yaml", "--json"], 1, 2, bad, "unknown property `timeuot`"),
        (&["apply", "missing.yaml", "--json"], 1, 1, of_command, "missing.yaml"),
        (&["apply", "good.yaml", "--only", "exec#b", "--json"], 64, 1, of_command, "`exec#b`"),
        (&["graph", "bad.yaml", "--output", "json"], 1, 2, bad, "unknown property `timeuot`"),
        (&["explain", "fil", "--json"], 1, 1, of_command, "fil"),
        (&["history", "ffff", "--json"], 1, 1, of_command, "`ffff`"),
        (&["facts", "no.such.fact", "--json"], 1, 1, of_command, "no.such.fact"),
        (&["eval", "1 +", "--output", "json"], 1, 1, ("expression", 1), "expression"),
        (&["hiera", "parse", "missing.yaml", "--json"], 1, 1, of_command, "missing.yaml"),
        (&["policy", "check", "--policy", "missing.yaml", "--json"], 1, 1, of_command, "missing.yaml"),
    ] {
        let called = ccm(&scratch, args).run();
        assert!(!called.stdout.is_empty(), "{args:?} {}", called.shown());
        let document: Value = serde_json::from_str(&called.stdout).expect("a document");
        let diagnostics = document["diagnostics"].as_array().expect("diagnostics");
        assert_eq!((called.code, &document["exit_code"]), (code, &json!(code)), "{}", called.shown());
        assert_eq!(document["protocol"], "io.choria.ccm.v1.error");
        assert!(document["error"].as_str().is_some_and(|error| !error.is_empty()), "{document}");
        assert_eq!(diagnostics.len(), errors, "{args:?} {document:#}");
        let found = diagnostics[0]["message"].as_str().expect("a message");
        assert!(found.contains(message), "{args:?} {document:#}");
        let location = &diagnostics[0]["location"];
        let expected = if file.is_empty() { (json!(null), json!(null)) } else { (json!(file), json!(line)) };
        assert_eq!((&location["file"], &location["line"]), (&expected.0, &expected.1), "{document:#}");
        if args.contains(&"jsonl") {
            assert_eq!(called.stdout.lines().count(), 1, "{}", called.stdout);
        }
        assert!(called.stderr.starts_with("error: "), "people read it, too: {}", called.shown());
    }
    let called = ccm(&scratch, &["apply", "bad.yaml", "--json"]).run();
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["error"], "2 errors in bad.yaml; nothing was run");
    assert_eq!(document["diagnostics"][0]["hints"][0], "did you mean `timeout`?");
    // JSON that nobody asked for would be taken for the value.
    assert_eq!(ccm(&scratch, &["eval", "1 +"]).run().stdout, "");
}

#[test]
fn an_error_document_holds_no_secret() {
    let scratch = Scratch::new();
    let manifest = "data:\n  # @sensitive\n  pw: hunter2secret\nccm:\n  resources:\n    - exec:\n        - \"{{ Data.pw }}\":\n            timeout: \"{{ Data.pw }}\"\n";
    let called = apply(&scratch, manifest, &["--output", "json"]);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(!called.stdout.is_empty() && !called.shown().contains("hunter2secret"), "{}", called.shown());
}

#[test]
fn a_run_that_honours_a_pause_is_a_document() {
    let scratch = Scratch::new();
    scratch.write("m.yaml", "ccm: {resources: []}");
    assert_eq!(ccm(&scratch, &["pause", "--for", "1h", "--reason", "upgrade"]).run().code, 0);
    for output in ["json", "jsonl"] {
        let called = ccm(&scratch, &["apply", "m.yaml", "--honour-pause", "--output", output]).run();
        let document: Value = serde_json::from_str(&called.stdout).expect("a document");
        assert_eq!((called.code, &document["paused"]["reason"]), (0, &json!("upgrade")), "{document}");
    }
}

#[test]
fn lines_come_while_the_run_goes_on() {
    let scratch = Scratch::new();
    let fifo = scratch.at("go");
    let status = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(status.success());
    scratch.write(
        "manifest.yaml",
        format!("ccm: {{resources: [{{exec: [{{first: {{command: 'true'}}}}, {{stays: {{creates: /}}}}, {{waits: {{command: cat {fifo}}}}}]}}]}}"),
    );
    let mut running = ccm(&scratch, &["apply", "manifest.yaml", "--output", "jsonl"]).start();
    let mut lines = BufReader::new(running.take_stdout().expect("a pipe")).lines();
    let mut next = || {
        let line = lines.next()?.expect("a line");
        Some(serde_json::from_str::<Value>(&line).expect("JSON"))
    };
    assert_eq!(next().expect("a line")["protocol"], "io.choria.ccm.v1.session.start");
    assert_eq!(next().expect("a line")["name"], "first");
    // Lines of unchanged resources are buffered, but not while the run waits.
    assert_eq!(next().expect("a line")["name"], "stays");
    // Only now can the second command end.
    std::fs::write(&fifo, "").expect("the command reads");
    assert_eq!(next().expect("a line")["name"], "waits");
    assert_eq!(next().expect("a line")["protocol"], "io.choria.ccm.v1.session.summary");
    assert_eq!(next(), None);
    assert_eq!(running.finish().code, 0);
}

#[test]
fn the_events_file_grows_with_any_output() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    let file = scratch.at("events");
    let called = apply_mixed(&scratch, &["--events-file", &file]);
    assert!(called.reported().contains("exec#makes changed"), "{}", called.shown());
    assert_eq!(json_lines(&scratch.read("events").expect("the file")).len(), 7);
    let mode = std::fs::metadata(&file).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}");
    for options in [&["--noop"][..], &["--output", "jsonl"], &["-q"]] {
        let args = ["apply", "manifest.yaml"];
        let called = ccm(&scratch, &args).args(options).variable("CCM_EVENTS_FILE", &file).run();
        assert_eq!(called.code, 0, "{}", called.shown());
    }
    let lines = json_lines(&scratch.read("events").expect("the file"));
    assert_eq!(lines.len(), 7 + 3 * 3, "unchanged ones, too");
}

#[test]
fn a_run_does_not_start_if_its_events_file_can_not_be_opened() {
    let scratch = Scratch::new();
    scratch.write("target", "");
    std::os::unix::fs::symlink(scratch.at("target"), scratch.at("link")).expect("a link");
    let missing = scratch.at("missing/events");
    for path in [&*scratch.at("link"), &*missing, &*scratch.at("")] {
        let execs = "        - touch [dir]/ran:\n";
        let called = apply_execs(&scratch, execs, &["--events-file", path]);
        assert_eq!((called.code, scratch.has("ran")), (1, false), "{}", called.shown());
        assert!(called.stderr.contains("can't be opened; nothing was run"), "{}", called.shown());
    }
    assert_eq!(scratch.read("target").as_deref(), Some(""));
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).variable("CCM_EVENTS_FILE", "-").run();
    assert_eq!((called.code, scratch.has("ran")), (64, false), "{}", called.shown());
}

#[test]
fn an_incomplete_events_file_is_reported_at_the_end() {
    let scratch = Scratch::new();
    let execs = "        - touch [dir]/one:\n        - touch [dir]/two:\n";
    let called = apply_execs(&scratch, execs, &["--events-file", "/dev/full"]);
    expect_output(&called, 4, &["[dir]/one changed", "[dir]/two changed", "2 resources"]);
    let error = "events file /dev/full is not complete\n  caused by: No space left on device";
    assert!(called.stderr.contains(error), "{}", called.shown());
    assert!(
        called.stderr.ends_with("hint: free space on the file system of this path\n"),
        "{}",
        called.shown()
    );
    assert!(scratch.has("one") && scratch.has("two"));
    let called = apply_execs(&scratch, execs, &["--events-file", "/dev/full", "--detailed-exitcodes"]);
    assert_eq!(called.code, 6);
}

#[test]
fn a_reader_that_goes_away_changes_no_exit_code() {
    for output in ["text", "jsonl", "json"] {
        let scratch = Scratch::new();
        let manifest = format!(
            "ccm: {{resources: [{{exec: [{{a: {{command: touch {}}}}}, {{b: {{command: touch {}}}}}]}}]}}",
            scratch.at("a"),
            scratch.at("b")
        );
        scratch.write("manifest.yaml", manifest);
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let called = ccm(&scratch, &["apply", "manifest.yaml", "--output", output]).stdout(writer).run();
        assert_eq!(called.code, 0, "{output}: {}", called.shown());
        assert!(scratch.has("a") && scratch.has("b"));
    }
}

#[test]
fn no_document_steers_a_terminal() {
    let scratch = Scratch::new();
    // CSI as one character, DEL and an override of the direction of text, which JSON allows as they are.
    let (raw, escaped) = ("a\u{9b}31m\u{7f}\u{202e}b", r"a\u009b31m\u007f\u202eb");
    scratch.write("data.yaml", format!("data: {{\"{escaped}\": \"{escaped}\"}}\n"));
    let exec = format!("says: {{command: printf, args: [\"%s\", \"{escaped}\"]}}");
    scratch.write("manifest.yaml", format!("ccm: {{name: x, resources: [{{exec: [{exec}]}}]}}\n"));
    let fact = format!("x={raw}");
    let lines = ["apply", "manifest.yaml", "--output", "jsonl", "--events-file", "events"];
    let run = &json_lines(&ccm(&scratch, &lines).run().stdout)[0]["run_id"];
    let run = run.as_str().expect("the id of a run");
    let calls: [(&[&str], bool); 10] = [
        (&lines, true),
        (&["apply", "manifest.yaml", "--output", "json"], true),
        (&["facts", "x", "--fact", &fact], true),
        (&["facts", "x", "--fact", &fact, "--yaml"], true),
        (&["eval", "Facts.x", "--fact", &fact], true),
        (&["hiera", "parse", "data.yaml"], true),
        (&["hiera", "parse", "data.yaml", "--yaml"], true),
        (&["history", "--output", "json"], false),
        (&["history", run, "--output", "json"], true),
        (&["history", run, "1", "--output", "json"], true),
    ];
    for (args, has_it) in calls {
        let called = ccm(&scratch, args).run();
        let shown = called.stdout.contains(escaped);
        assert_eq!((called.code, shown), (0, has_it), "{args:?} {}", called.shown());
        let raw = [&called.stdout, &scratch.read("events").expect("events")]
            .iter()
            .any(|text| text.contains(['\u{9b}', '\u{7f}', '\u{202e}']));
        assert!(!raw, "{args:?} {}", called.shown());
    }
    for line in json_lines(&scratch.read("events").expect("events")) {
        assert!(line["type"] != "exec" || line["properties"]["args"][1] == raw, "{line}");
    }
}
