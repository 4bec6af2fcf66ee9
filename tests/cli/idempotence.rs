//! `--verify-idempotent`: a second run, which must change nothing.

use std::fs;

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::Value;

use crate::expect::{expect_error, expect_output, json_lines};
use crate::{apply, apply_execs, apply_files, ccm};

/// Execs that change nothing again: one is triggered by a change, and one reports that it changed nothing.
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
fn a_manifest_is_verified_if_a_second_run_changes_nothing() {
    let scratch = Scratch::new();
    assert_snapshot!("verified", apply_execs(&scratch, STEADY, &[VERIFY]).shown());
    assert_eq!(apply_execs(&scratch, STEADY, &[VERIFY, "--detailed-exitcodes"]).code, 0);
    fs::remove_file(scratch.at("made")).expect("a file");
    assert_eq!(apply_execs(&scratch, STEADY, &[VERIFY, "--detailed-exitcodes"]).code, 2);
}

#[test]
fn resources_that_change_again_are_named_with_reason_and_trigger() {
    let scratch = Scratch::new();
    assert_snapshot!("not_idempotent", apply_execs(&scratch, UNSTEADY, &[VERIFY]).shown());
    assert_eq!(apply_execs(&scratch, UNSTEADY, &[VERIFY, "--detailed-exitcodes"]).code, 6);
}

#[test]
fn two_resources_that_undo_each_other_are_named() {
    let scratch = Scratch::new();
    let file = "        - [dir]/f: {content: a}\n    - exec:\n        - sh -c 'echo b > [dir]/f':\n            unless: grep -q b [dir]/f\n";
    let called = apply_files(&scratch, file, &[VERIFY, "-q"]);
    let exec = "exec#sh -c 'echo b > [dir]/f'";
    expect_error(&called, 4, "", &["2 resources", "\ncaused by: file#[dir]/f: ", exec], &["`unless`"]);
}

#[test]
fn verbose_prints_both_runs_and_quiet_none() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, STEADY, &[VERIFY, "-v"]);
    let first = ["exec#make changed", "exec#guard changed", "exec#reload refreshed", "exec#look "];
    expect_output(
        &called,
        0,
        &[&first[..], &["4 resources", "Verifying", "exec#make ", "`creates`"]].concat(),
    );
    let (_, second) = called.stdout.split_once("Verifying").expect("the second run");
    for part in [" guard ", "`unless`", " reload ", "`refresh_only`", " look ", "4 resources"] {
        assert!(second.contains(part), "{part}: {}", called.shown());
    }
    assert_eq!(apply_execs(&scratch, STEADY, &[VERIFY, "-q"]).shown(), "exit code 0\n");
}

#[test]
fn a_run_that_fails_is_not_verified() {
    let scratch = Scratch::new();
    let execs = "        - sh -c 'echo >> [dir]/ran; false':\n";
    let called = apply_execs(&scratch, execs, &[VERIFY]);
    expect_output(&called, 4, &["exec#sh -c", "failed", "1 resource in "]);
    assert!(called.stderr.starts_with("note: ") && called.stderr.lines().count() == 1, "{}", called.shown());
    assert!(!called.stdout.contains("Verif"), "{}", called.shown());
    assert_eq!(scratch.read("ran").as_deref(), Some("\n"));
}

#[test]
fn a_second_run_that_fails_or_is_stopped_verifies_nothing() {
    let scratch = Scratch::new();
    let execs = "        - second:\n            command: mkdir [dir]/made\n            returns: []\n            unchanged_returns: [0]\n";
    let failed = apply_execs(&scratch, execs, &[VERIFY]);
    expect_output(&failed, 4, &["1 unchanged", "Verifying", "exec#second failed", "File exists"]);
    assert!(!failed.stdout.contains("Verified"), "{}", failed.shown());
    assert_eq!(failed.stderr, "");
    let slow = "        - \"test -e [dir]/slow && sleep 3600; touch [dir]/slow\":\n            provider: shell\n            returns: []\n            unchanged_returns: [0]\n";
    let ended = apply_execs(&scratch, slow, &[VERIFY, "--timeout", "2s"]);
    assert_eq!(ended.code, 4, "{}", ended.shown());
    assert!(ended.stdout.contains("  the run was stopped after 2s by --timeout\n"), "{}", ended.shown());
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
fn a_manifest_that_breaks_itself_is_reported() {
    let scratch = Scratch::new();
    let execs = "        - echo 'ccm? {}' > [dir]/manifest.yaml: {provider: shell}\n";
    let called = apply_execs(&scratch, execs, &[VERIFY]);
    expect_output(&called, 4, &["exec#echo 'ccm? {}' > [dir]/manifest.yaml changed", "1 resource in "]);
    assert!(called.stderr.contains("`ccm? {}`\n --> manifest.yaml:1:1\n"), "{}", called.shown());
    let last = called.stderr.lines().last().unwrap_or_default();
    assert!(last.contains("second run") && !called.stderr.contains("nothing was run"), "{}", called.shown());
}

#[test]
fn standard_input_is_applied_twice() {
    let scratch = Scratch::new();
    let call = |manifest: &str| ccm(&scratch, &["apply", VERIFY, "-"]).input(manifest).run();
    assert_eq!(call("ccm: {resources: [{exec: {name: 'true', creates: /}}]}").code, 0);
    let called = call("ccm: {resources: [{exec: {name: 'true'}}]}");
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stderr.contains("exec#true: it has no `creates` and no guards"), "{}", called.shown());
}

#[test]
fn events_name_the_verified_run() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, UNSTEADY, &[VERIFY, "--output", "jsonl"]);
    let lines = json_lines(&called.stdout);
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
fn noop_and_render_can_not_be_verified() {
    let scratch = Scratch::new();
    for other in ["--noop", "--render"] {
        let called = apply_execs(&scratch, STEADY, &[VERIFY, other]);
        assert_eq!(called.code, 64, "{}", called.shown());
    }
    assert_eq!(scratch.names(), ["manifest.yaml"]);
}

#[test]
fn a_refresh_that_stays_pending_is_reported() {
    let scratch = Scratch::new();
    let execs = "        - make: {command: touch [dir]/made, creates: '[dir]/made'}
        - reload: {command: 'true', refresh_only: true, subscribe: [exec#make], control: {if: '1 > 2'}}
";
    let called = apply_execs(&scratch, execs, &[VERIFY]);
    let pending = ["exec#reload ", "exec#make ", "`ccm status --pending`", "1 skipped (run ", "Verified"];
    expect_output(&called, 0, &pending);
    assert!(called.stderr.contains("1 refresh") && called.stderr.contains("--pending"), "{}", called.shown());
}
