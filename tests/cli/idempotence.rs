//! `--verify-idempotent`: a second run that is to change nothing again.

use std::fs;

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::Value;

use crate::{apply, apply_execs, apply_files, ccm};

/// Converges at once: what is triggered is right to run when it is, and so is what says that it changed nothing.
const STEADY: &str = "        - make: {command: touch [dir]/made, creates: '[dir]/made'}
        - guard: {command: touch [dir]/guarded, unless: test -e [dir]/guarded}
        - reload: {command: 'true', refresh_only: true, subscribe: [exec#make]}
        - look: {command: 'true', returns: [], unchanged_returns: [0]}
";

/// Two that change again, one that is triggered by one of them, and one that is not.
const UNSTEADY: &str = "        - date: {command: 'true'}
        - make: {command: touch [dir]/made, creates: '[dir]/other'}
        - reload: {command: 'true', refresh_only: true, subscribe: [exec#make, exec#look]}
        - look: {command: 'true', returns: [], unchanged_returns: [0]}
";

const VERIFY: &str = "--verify-idempotent";

#[test]
fn a_manifest_that_changes_nothing_again_is_verified() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, STEADY, &[VERIFY]).shown());
    assert_eq!(apply_execs(&scratch, STEADY, &[VERIFY, "--detailed-exitcodes"]).code, 0);
    fs::remove_file(scratch.at("made")).expect("a file");
    assert_eq!(apply_execs(&scratch, STEADY, &[VERIFY, "--detailed-exitcodes"]).code, 2);
}

#[test]
fn what_changes_again_is_named_with_its_reason_and_its_triggers() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, UNSTEADY, &[VERIFY]).shown());
    assert_eq!(apply_execs(&scratch, UNSTEADY, &[VERIFY, "--detailed-exitcodes"]).code, 6);
}

#[test]
fn two_resources_that_undo_each_other_are_named() {
    let scratch = Scratch::new();
    let file = "        - [dir]/f: {content: a}\n    - exec:\n        - sh -c 'echo b > [dir]/f':\n            unless: grep -q b [dir]/f\n";
    let called = apply_files(&scratch, file, &[VERIFY, "-q"]);
    assert_snapshot!(called.shown());
}

#[test]
fn verbose_shows_all_of_both_runs_and_quiet_none() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, STEADY, &[VERIFY, "-v"]).shown());
    assert_eq!(apply_execs(&scratch, STEADY, &[VERIFY, "-q"]).shown(), "exit code 0\n");
}

#[test]
fn a_run_that_fails_is_not_verified() {
    let scratch = Scratch::new();
    let execs = "        - sh -c 'echo >> [dir]/ran; false':\n";
    assert_snapshot!(apply_execs(&scratch, execs, &[VERIFY]).shown());
    assert_eq!(scratch.read("ran").as_deref(), Some("\n"));
}

#[test]
fn a_second_run_that_fails_or_is_ended_has_proved_nothing() {
    let scratch = Scratch::new();
    let execs = "        - second:\n            command: mkdir [dir]/made\n            returns: []\n            unchanged_returns: [0]\n";
    let failed = apply_execs(&scratch, execs, &[VERIFY]);
    assert_snapshot!(failed.shown());
    let slow = "        - \"test -e [dir]/slow && sleep 3600; touch [dir]/slow\":\n            provider: shell\n            returns: []\n            unchanged_returns: [0]\n";
    let ended = apply_execs(&scratch, slow, &[VERIFY, "--timeout", "2s"]);
    assert_eq!(ended.code, 4, "{}", ended.shown());
    assert!(
        ended.stdout.contains("  the run was stopped after 2s, the time it was given\n"),
        "{}",
        ended.shown()
    );
    assert!(!ended.stdout.contains("Verified"), "{}", ended.shown());
}

#[test]
fn the_second_run_reads_everything_anew() {
    let scratch = Scratch::new();
    scratch.write("content", "old");
    let manifest = "
data: {wanted: \"{{ file('content') }}\"}
ccm:
  resources:
    - file:
        - [dir]/copy: {content: \"${ Data.wanted }\"}
    - exec:
        - change: {command: \"printf new > [dir]/content\", provider: shell, unless: grep -q new [dir]/content}
";
    let called = apply(&scratch, &manifest.replace("[dir]", &scratch.path().to_string_lossy()), &[VERIFY]);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stderr.contains(&format!("file#{}", "[dir]/copy")), "{}", called.shown());
    assert_eq!(scratch.read("copy").as_deref(), Some("new"));
}

#[test]
fn captured_values_are_those_of_the_second_run() {
    let scratch = Scratch::new();
    let execs = "        - count:
            command: echo >> [dir]/lines; wc -l < [dir]/lines
            provider: shell
            returns: []
            unchanged_returns: [0]
            capture: {lines: stdout.raw}
    - file:
        - [dir]/copy: {content: \"${ Captures.count.lines }\"}
";
    let called = apply_execs(&scratch, execs, &[VERIFY]);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert_eq!(scratch.read("copy").as_deref(), Some("2\n"));
}

#[test]
fn a_manifest_that_spoils_itself_is_told() {
    let scratch = Scratch::new();
    let execs = "        - echo 'ccm? {}' > [dir]/manifest.yaml: {provider: shell}\n";
    assert_snapshot!(apply_execs(&scratch, execs, &[VERIFY]).shown());
}

#[test]
fn standard_input_is_applied_twice() {
    let scratch = Scratch::new();
    let call = |manifest: &str| ccm(&scratch, &["apply", VERIFY, "-"]).input(manifest).run();
    assert_eq!(call("ccm: {resources: [{exec: {name: 'true', creates: /}}]}").code, 0);
    let called = call("ccm: {resources: [{exec: {name: 'true'}}]}");
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stderr.contains("exec#true: nothing says that it need not run"), "{}", called.shown());
}

#[test]
fn events_say_which_run_verifies_which() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, UNSTEADY, &[VERIFY, "--output", "jsonl"]);
    let lines: Vec<Value> =
        called.stdout.lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect();
    let is = |protocol: &str| {
        let lines =
            lines.iter().filter(move |line| line["protocol"] == format!("io.choria.ccm.v1.{protocol}"));
        lines.collect::<Vec<_>>()
    };
    let (starts, summaries) = (is("session.start"), is("session.summary"));
    assert_eq!((starts.len(), summaries.len(), lines.len()), (2, 2, 12));
    assert_eq!(starts[1]["verifies"], starts[0]["run_id"]);
    assert_ne!(starts[1]["run_id"], starts[0]["run_id"]);
    assert!(starts[0].get("verifies").is_none() && summaries[0].get("changed_again").is_none());
    assert_eq!(summaries[1]["changed_again"], serde_json::json!(["exec#date", "exec#make", "exec#reload"]));
    let ids: Vec<&str> = lines.iter().filter_map(|line| line["event_id"].as_str()).collect();
    assert!(ids.is_sorted_by(|earlier, later| earlier < later), "{ids:?}");
    assert!(called.stderr.starts_with("error: not idempotent: "), "{}", called.stderr);
}

#[test]
fn a_document_holds_both_runs() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, STEADY, &[VERIFY, "--output", "json"]);
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["summary"]["counts"]["changed"], 2);
    let verification = &document["verification"];
    assert_eq!(verification["start"]["verifies"], document["start"]["run_id"]);
    assert_eq!(verification["events"].as_array().map(Vec::len), Some(4));
    assert_eq!(verification["summary"]["changed_again"], serde_json::json!([]));
    assert_eq!(called.stderr, "");
}

#[test]
fn both_runs_are_recorded() {
    let scratch = Scratch::new();
    apply_execs(&scratch, UNSTEADY, &[VERIFY]);
    let called = ccm(&scratch, &["history", "--output", "json"]).run();
    let runs: Value = serde_json::from_str(&called.stdout).expect("the history");
    let codes: Vec<&Value> = runs.as_array().into_iter().flatten().map(|run| &run["exit_code"]).collect();
    assert_eq!(codes, [4, 0], "the latest comes first");
}

#[test]
fn it_makes_no_sense_where_nothing_is_applied() {
    let scratch = Scratch::new();
    for other in ["--noop", "--render"] {
        let called = apply_execs(&scratch, STEADY, &[VERIFY, other]);
        assert_eq!(called.code, 64, "{}", called.shown());
    }
    assert_eq!(scratch.names(), ["manifest.yaml"]);
}

#[test]
fn what_is_still_owed_is_named() {
    let scratch = Scratch::new();
    let execs = "        - make: {command: touch [dir]/made, creates: '[dir]/made'}
        - reload: {command: 'true', refresh_only: true, subscribe: [exec#make], control: {if: '1 > 2'}}
";
    assert_snapshot!(apply_execs(&scratch, execs, &[VERIFY]).shown());
}
