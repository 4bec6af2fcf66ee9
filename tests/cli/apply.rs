//! Runs: what they print, and how they end.

use std::io::{BufRead as _, BufReader};

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::{apply, apply_endless, apply_execs, ccm, without_limit};

/// A directory, a file in it, and what follows from it.
const CHAIN: &str = "
        - directory: {command: mkdir [dir]/d, creates: '[dir]/d'}
        - file: {command: touch [dir]/d/f, creates: '[dir]/d/f', require: [exec#directory]}
        - reload: {command: echo reloaded, logoutput: true, refresh_only: true, subscribe: [exec#file]}
";

/// One of every outcome that a run can have.
const MIXED: &str = "
        - works: {command: 'true'}
        - fails:
            command: echo one; echo two >&2; exit 7
            provider: shell
        - depends: {command: 'true', require: [exec#fails]}
        - depends on that: {command: 'true', subscribe: [exec#depends]}
        - idle: {command: 'true', refresh_only: true, subscribe: [exec#never]}
        - never: {command: 'true', onlyif: 'false'}
";

#[test]
fn the_first_run_changes_and_the_second_does_not() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, CHAIN, &[]).shown());
    assert_snapshot!(apply_execs(&scratch, CHAIN, &[]).shown());
}

#[test]
fn noop_shows_the_chain_and_changes_nothing() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, CHAIN, &["--noop"]).shown());
    assert_eq!(scratch.names(), ["manifest.yaml"]);
    assert_eq!(apply_execs(&scratch, CHAIN, &["--noop", "--detailed-exitcodes"]).code, 2);
    apply_execs(&scratch, CHAIN, &[]);
    assert_eq!(apply_execs(&scratch, CHAIN, &["--noop", "--detailed-exitcodes"]).code, 0);
}

#[test]
fn a_failure_is_told_with_all_that_helps() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, MIXED, &[]).shown());
}

#[test]
fn verbose_gives_reasons() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, MIXED, &["--verbose"]).shown());
}

#[test]
fn quiet_says_nothing_unless_something_fails() {
    let scratch = Scratch::new();
    assert_eq!(apply_execs(&scratch, CHAIN, &["-q"]).shown(), "exit code 0\n");
    assert_snapshot!(apply_execs(&scratch, MIXED, &["-q"]).shown());
}

#[test]
fn detailed_exit_codes_tell_changes_apart() {
    let scratch = Scratch::new();
    let detailed = ["--detailed-exitcodes"];
    assert_eq!(apply_execs(&scratch, CHAIN, &detailed).code, 2);
    assert_eq!(apply_execs(&scratch, CHAIN, &detailed).code, 0);
    assert_eq!(apply_execs(&scratch, MIXED, &detailed).code, 6);
    assert_eq!(apply_execs(&scratch, "        - 'false':\n", &detailed).code, 4);
    assert_eq!(apply_execs(&scratch, "        - 'false':\n", &[]).code, 4);
}

#[test]
fn fail_on_error_stops_the_run() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, MIXED, &["--fail-on-error"]).shown());
}

#[test]
fn only_applies_what_is_named_and_what_it_requires() {
    let scratch = Scratch::new();
    assert_snapshot!(apply_execs(&scratch, CHAIN, &["--only", "exec#file"]).shown());
    assert!(scratch.has("d/f"));
}

#[test]
fn only_names_what_is_there_or_nothing_runs() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, CHAIN, &["--only", "exec#flie", "--only", "exec#reload"]);
    assert_snapshot!(called.shown(), @"
    exit code 64
    --- stderr
    error: --only names `exec#flie`, which is not in the manifest; nothing was run
    hint: did you mean `exec#file`?
    ");
    assert_eq!(scratch.names(), ["manifest.yaml"]);
}

#[test]
fn the_time_of_a_run_can_be_limited() {
    let (_scratch, called) = apply_endless(&[]);
    assert_snapshot!(without_limit(&called.shown()));
}

#[test]
fn the_time_of_a_run_ends_one_that_never_waits() {
    let scratch = Scratch::new();
    let lines: Vec<String> =
        (0..20_000).map(|number| format!("        - x{number}: {{creates: /}}\n")).collect();
    let execs = lines.concat();
    let called = apply_execs(&scratch, &execs, &["--timeout", "1ms"]);
    assert_eq!(called.code, 4);
    assert!(called.stdout.ends_with("  the run was stopped after 1ms, the time it was given\n"));
}

#[test]
fn a_command_has_its_own_deadline() {
    let scratch = Scratch::new();
    let execs = "        - sleep 3600: {timeout: 100ms}\n        - 'true':\n";
    assert_snapshot!(apply_execs(&scratch, execs, &[]).shown());
}

#[test]
fn a_manifest_can_come_from_standard_input() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["apply", "-"]).input("ccm: {resources: [{exec: {name: 'true'}}]}").run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.contains("exec#true changed"), "{}", called.shown());
}

#[test]
fn the_messages_of_the_manifest_frame_the_run() {
    let scratch = Scratch::new();
    let manifest = "ccm: {pre_message: before, post_message: after, resources: [{exec: {name: 'true'}}]}";
    assert_snapshot!(apply(&scratch, manifest, &[]).shown());
}

#[test]
fn an_unchanged_resource_is_reported_before_the_run_waits_for_a_command() {
    let scratch = Scratch::new();
    let fifo = scratch.at("go");
    let status = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(status.success());
    let execs = format!("[{{stays: {{command: 'true', creates: /}}}}, {{waits: {{command: cat {fifo}}}}}]");
    scratch.write("manifest.yaml", format!("ccm: {{resources: [{{exec: {execs}}}]}}"));
    let mut running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
    let mut lines = BufReader::new(running.take_stdout().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("text");
    assert!(next().starts_with("INFO  exec#stays stable"));
    // Only now can the second command end.
    std::fs::write(&fifo, "").expect("the command reads");
    assert!(next().starts_with("WARN  exec#waits changed"));
    assert!(next().starts_with("Summary: 2 resources"));
    assert_eq!(running.finish().code, 0);
}

#[test]
fn a_reader_that_goes_away_does_not_end_the_run() {
    let scratch = Scratch::new();
    scratch.write(
        "manifest.yaml",
        format!(
            "ccm: {{resources: [{{exec: [{{a: {{command: touch {0}}}}}, {{b: {{command: touch {1}}}}}]}}]}}",
            scratch.at("a"),
            scratch.at("b")
        ),
    );
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).stdout(writer).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(scratch.has("a") && scratch.has("b"));
}

#[test]
fn a_report_that_can_not_be_written_is_a_failure() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}");
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).stdout(full).run();
    assert_snapshot!(called.shown(), @r"
    exit code 4
    --- stderr
    error: can't write the report
      caused by: No space left on device (os error 28)
    ");
}

#[test]
fn quiet_keeps_warnings_back() {
    let scratch = Scratch::new();
    assert_eq!(
        apply_execs(&scratch, "        - 'true': {refresh_only: true}\n", &["-q"]).shown(),
        "exit code 0\n"
    );
}

#[test]
fn creates_below_a_file_is_not_there() {
    let scratch = Scratch::new();
    let called = apply_execs(
        &scratch,
        "        - 'true': {creates: /etc/passwd/x, unchanged_returns: [0], returns: []}\n",
        &[],
    );
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.contains("is still not there after the command"), "{}", called.shown());
}

#[test]
fn nothing_of_the_callers_environment_reaches_a_command() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: printenv, logoutput: true}}]}");
    let called = ccm(&scratch, &["apply", "manifest.yaml"])
        .variable("SECRET", "swordfish")
        .variable("LD_PRELOAD", "")
        .variable("LC_ALL", "de_DE.UTF-8")
        .run();
    let mut names: Vec<&str> = called
        .stdout
        .lines()
        .filter_map(|line| line.split_once("| "))
        .filter_map(|(_, variable)| variable.split_once('='))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "USER"], "{}", called.shown());
}

#[test]
fn colour_is_for_terminals_alone() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, MIXED, &[]);
    assert!(!called.stdout.contains('\u{1b}') && !called.stderr.contains('\u{1b}'));
}

#[test]
fn a_name_can_not_steer_the_terminal_or_fake_a_line() {
    let scratch = Scratch::new();
    let execs = "        - \"x\\nINFO  exec#fake stable\\u001b[2J\": {command: 'true'}\n";
    let called = apply_execs(&scratch, execs, &[]);
    assert!(
        called.stdout.contains("exec#x\\nINFO  exec#fake stable\\u{1b}[2J changed"),
        "{}",
        called.shown()
    );
}

#[test]
fn the_graph_can_be_shown() {
    let scratch = Scratch::new();
    scratch.write(
        "manifest.yaml",
        "
ccm:
  resources:
    - exec:
        - b: {command: 'true', require: [exec#a]}
        - a: {command: 'true'}
        - c: {command: 'true', subscribe: [exec#a, exec#b]}
",
    );
    for format in ["text", "dot", "mermaid"] {
        let called = ccm(&scratch, &["graph", "manifest.yaml", "--format", format]).run();
        assert_snapshot!(format!("graph_{format}"), called.shown());
    }
}

#[test]
fn a_child_manifest_fails_with_its_resources() {
    let scratch = Scratch::new();
    let text = "
ccm:
  resources:
    - apply: [child.yaml: {alias: child}]
    - exec: [after: {command: 'true', require: [apply#child]}]
";
    scratch.write(
        "child.yaml",
        "ccm: {resources: [{exec: [{bad: {command: 'false'}}, {good: {command: 'true'}}]}]}",
    );
    let called = apply(&scratch, text, &[]);
    assert_eq!(called.code, 4);
    for line in [
        "apply#child.yaml failed ensure=present runtime=…: 1 of its 2 resources failed: exec#bad",
        "      something may have been changed",
        "exec#after unmet ensure=present: exec#bad failed",
        "Summary: 4 resources in …: 1 changed, 2 failed, 1 unmet",
        "  failed: exec#bad",
    ] {
        assert!(called.shown().contains(line), "{line}: {}", called.shown());
    }
    assert!(!called.stdout.contains("failed: apply#"), "{}", called.shown());
    let called = apply(&scratch, text, &["--output", "jsonl"]);
    let lines =
        called.stdout.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    let line = lines.into_iter().find(|line| line["type"] == "apply").expect("a line of the child");
    assert_eq!(line["failure"], json!({"kind": "child", "property": null, "changed": true}));
    assert_eq!(line["error"], json!(["1 of its 2 resources failed: exec#bad"]));
    assert_eq!([&line["skipped"], &line["changed"], &line["failed"]], [false, true, true]);
}

#[test]
fn a_valid_manifest_is_called_so() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'false'}}]}");
    let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
    assert_eq!(called.shown(), "exit code 0\n--- stdout\nmanifest.yaml is valid: 1 resource\n");
}
