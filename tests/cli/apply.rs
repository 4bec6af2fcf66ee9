//! Reports and exit codes of runs.

use std::io::{BufRead as _, BufReader};

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::json;

use crate::expect::{expect_error, expect_output, json_lines, outcomes};
use crate::{apply, apply_endless, apply_execs, ccm};

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
fn only_the_first_run_changes_something() {
    let scratch = Scratch::new();
    assert_snapshot!("first_run", apply_execs(&scratch, CHAIN, &[]).shown());
    let second = apply_execs(&scratch, CHAIN, &["--output", "jsonl"]);
    let unchanged = ["exec#directory unchanged", "exec#file unchanged", "exec#reload unchanged"];
    assert_eq!((second.code, &outcomes(&second)[..]), (0, &unchanged.map(str::to_owned)[..]));
}

#[test]
fn noop_shows_the_chain_and_changes_nothing() {
    let scratch = Scratch::new();
    assert_snapshot!("noop", apply_execs(&scratch, CHAIN, &["--noop"]).shown());
    assert_eq!(scratch.names(), ["manifest.yaml"]);
    assert_eq!(apply_execs(&scratch, CHAIN, &["--noop", "--detailed-exitcodes"]).code, 2);
    apply_execs(&scratch, CHAIN, &[]);
    assert_eq!(apply_execs(&scratch, CHAIN, &["--noop", "--detailed-exitcodes"]).code, 0);
}

#[test]
fn a_failed_run_is_reported_with_output() {
    let scratch = Scratch::new();
    assert_snapshot!("failed_run", apply_execs(&scratch, MIXED, &[]).shown());
}

#[test]
fn verbose_gives_reasons() {
    let scratch = Scratch::new();
    assert_snapshot!("verbose", apply_execs(&scratch, MIXED, &["--verbose"]).shown());
}

#[test]
fn quiet_prints_failures_only() {
    let scratch = Scratch::new();
    assert_eq!(apply_execs(&scratch, CHAIN, &["-q"]).shown(), "exit code 0\n");
    let called = apply_execs(&scratch, MIXED, &["-q"]);
    let parts =
        ["exec#fails failed", "one\n", "two\n", "exec#depends ", "exec#depends on that ", "6 resources"];
    expect_output(&called, 4, &parts);
    let of_others = ["exec#works", "exec#never", "exec#idle"].map(|name| called.stdout.contains(name));
    assert_eq!(of_others, [false; 3], "{}", called.shown());
}

#[test]
fn detailed_exit_codes_distinguish_changes() {
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
    let called = apply_execs(&scratch, MIXED, &["--fail-on-error", "--output", "jsonl"]);
    let expected = [
        "exec#works changed",
        "exec#fails failed",
        "exec#depends skipped dependency_failed",
        "exec#depends on that skipped dependency_failed",
        "exec#never skipped stopped",
        "exec#idle skipped stopped",
    ];
    assert_eq!((called.code, &outcomes(&called)[..]), (4, &expected.map(str::to_owned)[..]));
    let stopped = &json_lines(&called.stdout)[7]["stopped"];
    assert_eq!([&stopped["by"], &stopped["culprit"]], ["failed", "exec#fails"]);
}

#[test]
fn only_applies_what_is_named_and_what_it_requires() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, CHAIN, &["--only", "exec#file"]);
    let parts =
        ["exec#directory changed", "exec#file changed", "exec#reload ", "exec#file changed", "`--only`"];
    expect_output(&called, 0, &parts);
    assert!(scratch.has("d/f"));
}

#[test]
fn skip_leaves_out_what_is_named_and_nothing_else() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, CHAIN, &["--skip", "exec#reload", "-v"]);
    let parts = [
        "exec#directory changed",
        "exec#file changed",
        "exec#reload skipped",
        "excluded by `--skip`",
        "exec#reload still needs a refresh: exec#file changed",
        "excluded by `--skip`; a run without that option refreshes it",
        "1 skipped",
    ];
    expect_output(&called, 0, &parts);
    let next = apply_execs(&scratch, CHAIN, &[]);
    expect_output(&next, 0, &["exec#reload refreshed", "pending refresh"]);
    // What requires a resource runs although the resource does not.
    let execs = "        - fails: {command: 'false', alias: f}\n        - needs: {command: 'true', require: [exec#f]}\n";
    let called = apply_execs(&scratch, execs, &["--skip", "exec#f", "--detailed-exitcodes"]);
    expect_output(&called, 2, &["exec#needs changed", "ran 1; 1 skipped"]);
    assert!(!called.stdout.contains("fails"), "{}", called.shown());
    let noop = apply_execs(&scratch, execs, &["--skip", "exec#f", "--noop"]);
    expect_output(&noop, 0, &["exec#needs would change", "would run 1; 1 skipped"]);
    // Of what `--only` selects, `--skip` leaves out.
    let called = apply_execs(&scratch, execs, &["--only", "exec#needs", "--skip", "exec#f"]);
    expect_output(&called, 0, &["exec#needs changed", "ran 1; 1 skipped"]);
}

#[test]
fn skip_refuses_unknown_resources() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, CHAIN, &["--skip", "exec#flie"]);
    expect_error(&called, 64, "", &["--skip", "`exec#flie`", "nothing was run"], &["`exec#file`"]);
    assert_eq!(scratch.names(), ["manifest.yaml"]);
}

#[test]
fn only_refuses_unknown_resources() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, CHAIN, &["--only", "exec#flie", "--only", "exec#reload"]);
    expect_error(&called, 64, "", &["--only", "`exec#flie`", "nothing was run"], &["`exec#file`"]);
    assert_eq!(scratch.names(), ["manifest.yaml"]);
}

#[test]
fn a_run_ends_at_its_time_limit() {
    let (_scratch, called) = apply_endless(&["--output", "jsonl"]);
    let expected = ["exec#waits failed", "exec#true skipped stopped"];
    assert_eq!((called.code, &outcomes(&called)[..]), (4, &expected.map(str::to_owned)[..]));
    assert_eq!(json_lines(&called.stdout)[3]["stopped"]["by"], "timeout");
}

#[test]
fn a_run_that_never_waits_ends_at_its_time_limit() {
    let scratch = Scratch::new();
    let lines: Vec<String> =
        (0..20_000).map(|number| format!("        - x{number}: {{creates: /}}\n")).collect();
    let execs = lines.concat();
    let called = apply_execs(&scratch, &execs, &["--timeout", "1ms"]);
    assert_eq!(called.code, 4);
    assert!(called.stdout.contains("\n  the run was stopped after 1ms by --timeout\n  not reached: exec#x"));
}

#[test]
fn a_command_has_its_own_deadline() {
    let scratch = Scratch::new();
    let execs = "        - sleep 3600: {timeout: 100ms}\n        - 'true':\n";
    let called = apply_execs(&scratch, execs, &[]);
    expect_output(
        &called,
        4,
        &["exec#sleep 3600 failed", "100ms", "hint: ", "`timeout`", "exec#true changed"],
    );
}

#[test]
fn a_manifest_can_come_from_standard_input() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["apply", "-"]).input("ccm: {resources: [{exec: {name: 'true'}}]}").run();
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.reported().contains("exec#true changed"), "{}", called.shown());
}

#[test]
fn the_messages_of_the_manifest_are_printed_before_and_after_the_run() {
    let scratch = Scratch::new();
    let manifest = "ccm: {pre_message: before, post_message: after, resources: [{exec: {name: 'true'}}]}";
    let called = apply(&scratch, manifest, &[]);
    expect_output(&called, 0, &["\nbefore\n", "exec#true changed", "\nafter\n", "1 resource in "]);
}

#[test]
fn an_unchanged_resource_is_reported_before_the_run_waits_for_a_command() {
    let scratch = Scratch::new();
    let fifo = scratch.at("go");
    let status = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(status.success());
    let execs = format!("[{{stays: {{command: 'true', creates: /}}}}, {{waits: {{command: cat {fifo}}}}}]");
    scratch.write("manifest.yaml", format!("ccm: {{resources: [{{exec: {execs}}}]}}"));
    let mut running = ccm(&scratch, &["apply", "manifest.yaml", "-v"]).start();
    let mut lines = BufReader::new(running.take_stdout().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("text");
    assert!(next().ends_with("/manifest.yaml"));
    assert!(next().starts_with("    exec     stays "));
    // Only now can the second command end.
    std::fs::write(&fifo, "").expect("the command reads");
    assert!(next().contains(" exec     waits "));
    assert!(next().starts_with("      because: "));
    assert!(next().starts_with("2 resources"));
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
    expect_error(&called, 4, "", &["report", "No space left on device"], &[]);
}

#[test]
fn quiet_prints_no_warnings() {
    let scratch = Scratch::new();
    assert_eq!(
        apply_execs(&scratch, "        - 'true': {refresh_only: true}\n", &["-q"]).shown(),
        "exit code 0\n"
    );
}

#[test]
fn creates_below_a_file_does_not_exist() {
    let scratch = Scratch::new();
    let called = apply_execs(
        &scratch,
        "        - 'true': {creates: /etc/passwd/x, unchanged_returns: [0], returns: []}\n",
        &[],
    );
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stdout.contains("does not exist after the command"), "{}", called.shown());
}

#[test]
fn a_command_gets_no_variables_of_the_caller() {
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
fn control_characters_in_a_name_are_escaped() {
    let scratch = Scratch::new();
    let execs = "        - \"x\\nINFO  exec#fake stable\\u001b[2J\": {command: 'true'}\n";
    let called = apply_execs(&scratch, execs, &[]);
    assert!(called.stdout.contains(" x\\nINFO  exec#fake stable\\u{1b}[2J   "), "{}", called.shown());
}

#[test]
fn graph_prints_three_formats() {
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
    let parts = [
        "exec#bad failed",
        "apply#child.yaml failed: failed: 1 of its 2 resources failed: exec#bad\n      something may have been changed",
        "exec#after unmet: skipped: exec#bad failed\n",
        "  failed: exec#bad\n4 resources in ",
        "; 2 failed, 1 dependency failed (run ",
    ];
    expect_output(&called, 4, &parts);
    assert!(!called.stdout.contains("failed: apply#"), "{}", called.shown());
    let called = apply(&scratch, text, &["--output", "jsonl"]);
    let line = json_lines(&called.stdout)
        .into_iter()
        .find(|line| line["type"] == "apply")
        .expect("a line of the child");
    assert_eq!(line["failure"], json!({"kind": "child", "property": null, "changed": true}));
    assert_eq!(line["error"], json!(["1 of its 2 resources failed: exec#bad"]));
    assert_eq!([&line["skipped"], &line["changed"], &line["failed"]], [false, true, true]);
}

#[test]
fn validate_counts_the_resources_of_a_valid_manifest() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'false', creates: /}}]}");
    let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
    assert_eq!(called.shown(), "exit code 0\n--- stdout\nmanifest.yaml is valid: 1 resource\n");
}

#[test]
fn a_command_that_does_not_start_is_located_at_its_property() {
    let scratch = Scratch::new();
    let execs = "
        - a: {command: nosuch-program}
        - b: {cwd: /nosuch, command: 'true'}
        - c: {command: 'true', onlyif: nosuch-guard}
        - d: {cwd: /nosuch, command: 'true', onlyif: 'true'}
        - nosuch-name: {}
        - e: {command: 'true', user: nosuch-user}
";
    let called = apply_execs(&scratch, execs, &[]);
    let locations = called.stdout.lines().filter_map(|line| line.trim().strip_prefix("at manifest.yaml:"));
    assert_eq!(
        locations.collect::<Vec<_>>(),
        ["5:15", "6:15", "7:32", "8:15", "9:11", "10:32"],
        "{}",
        called.shown()
    );
}
