//! `ccm status`: the last run of each manifest, checks and metrics.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ccm_testkit::{Called, Scratch, wait_until};
use serde_json::{Value, json};

use crate::expect::{expect_error, expect_output};
use crate::{apply_execs, ccm, in_place};

const REFUSED: &str = "ccm: {resources: [{fil: {name: /a}}]}";

fn status(scratch: &Scratch, options: &[&str]) -> Called {
    ccm(scratch, &["status"]).args(options).run()
}

fn document(scratch: &Scratch, options: &[&str]) -> Value {
    let called = status(scratch, &[options, &["--output", "json"]].concat());
    serde_json::from_str(&called.stdout).expect("a document")
}

fn apply_as(scratch: &Scratch, name: &str, manifest: &str) -> i32 {
    scratch.write(name, manifest);
    ccm(scratch, &["apply", name]).run().code
}

#[test]
fn a_manifest_is_listed_once_whatever_way_leads_to_it() {
    let scratch = Scratch::new();
    scratch.write("sub/m.yaml", "ccm: {resources: [{exec: {name: 'true', creates: /}}]}");
    std::os::unix::fs::symlink("sub", scratch.path().join("link")).expect("a link");
    let name = |directory: &str| scratch.at(&format!("{directory}/m.yaml"));
    for (given, recorded) in [
        ("sub/m.yaml", "sub"),
        ("sub/../sub/./m.yaml", "sub"),
        ("link/../sub/m.yaml", "sub"),
        // A link that may get another target later is another name.
        ("link/m.yaml", "link"),
        ("sub/../link/m.yaml", "link"),
    ] {
        assert_eq!(ccm(&scratch, &["apply", given]).run().code, 0, "{given}");
        let listed = ccm(&scratch, &["history", "--output", "json"]).run();
        let runs: Value = serde_json::from_str(&listed.stdout).expect("a list");
        // The paths of the test are not shown.
        let expected = name(recorded).replace(&*scratch.path().to_string_lossy(), "[dir]");
        assert_eq!(runs[0]["manifest"], json!(expected), "{given}");
    }
    let listed = status(&scratch, &[]).stdout;
    assert_eq!(listed.lines().filter(|line| line.ends_with("m.yaml")).count(), 2, "{listed}");
}

#[test]
fn a_refused_manifest_is_recorded_and_shown() {
    let scratch = Scratch::new();
    apply_execs(&scratch, "        - 'true': {creates: /}\n", &[]);
    expect_output(
        &status(&scratch, &[]),
        0,
        &["unchanged", "[dir]/manifest.yaml\n", "no refresh is pending"],
    );
    for (name, manifest, error) in [
        ("manifest.yaml", REFUSED, "unknown resource type `fil`"),
        ("manifest.yaml", "\u{1}", ""),
        ("manifest.yaml", "ccm: {resources: []}\nother: 1\n", "other"),
    ] {
        assert_eq!(apply_as(&scratch, name, manifest), 1);
        let found = document(&scratch, &[]);
        let last = &found["last_run"];
        assert_eq!((&last["outcome"], &last["exit_code"]), (&json!("refused"), &json!(1)), "{found}");
        assert!(last["errors"].as_str().expect("errors").contains(error), "{found}");
        let called = ccm(&scratch, &["history", "last"]).run();
        expect_output(&called, 0, &["the manifest was refused; nothing was run\n", error]);
    }
    expect_output(&status(&scratch, &[]), 0, &["refused", "[dir]/manifest.yaml was refused: "]);
    let run = fs::read_dir(scratch.state().join("runs")).expect("the runs").flatten().last().expect("a run");
    for file in fs::read_dir(run.path()).expect("files").flatten() {
        assert_eq!(file.metadata().expect("metadata").permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_call_that_records_no_run_records_no_refusal() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", REFUSED);
    for options in [&["manifest.yaml", "--noop"][..], &["manifest.yaml", "--render"], &["missing.yaml"]] {
        assert_eq!(ccm(&scratch, &["apply"]).args(options).run().code, 1);
    }
    assert_eq!(ccm(&scratch, &["validate", "manifest.yaml"]).run().code, 1);
    assert!(!scratch.state().exists());
}

#[test]
fn a_refusal_during_a_run_is_recorded_at_once() {
    let scratch = Scratch::new();
    let execs = "        - waits: {provider: shell, command: 'touch [dir]/begun; while ! test -e [dir]/go; do sleep 0.01; done'}\n";
    scratch.write("long.yaml", format!("ccm:\n  resources:\n    - exec:\n{}", in_place(&scratch, execs)));
    let running = ccm(&scratch, &["apply", "long.yaml"]).start();
    wait_until("the run has begun", || scratch.has("begun"));
    assert_eq!(apply_as(&scratch, "bad.yaml", REFUSED), 1);
    let found = document(&scratch, &[]);
    assert_eq!((&found["is_going_on"], &found["is_locked"]), (&json!(true), &json!(true)), "{found}");
    assert_eq!(found["current_resource"], "exec#waits");
    expect_output(&status(&scratch, &[]), 0, &["[dir]/long.yaml is going on, at exec#waits\n"]);
    // The only run of this manifest is the one that is going on.
    let called = status(&scratch, &["--check", "--manifest", "long.yaml"]);
    assert_eq!((called.code, &*called.stdout), (3, "UNKNOWN: [dir]/long.yaml: the first run is going on\n"));
    scratch.write("go", "");
    assert_eq!(running.finish().code, 0);
    let found = document(&scratch, &[]);
    assert_eq!((&found["is_going_on"], &found["current_resource"]), (&json!(false), &json!(null)));
}

#[test]
fn a_check_prints_one_line_and_exits_with_its_level() {
    let scratch = Scratch::new();
    let called = status(&scratch, &["--check"]);
    assert_eq!((called.code, &*called.stdout), (3, "UNKNOWN: no run is recorded\n"));
    let unchanged = "ccm: {resources: [{exec: {name: 'true', creates: /}}]}";
    assert_eq!(apply_as(&scratch, "good.yaml", unchanged), 0);
    expect_output(&status(&scratch, &["--check"]), 0, &["OK: [dir]/good.yaml unchanged ", " ago\n"]);
    expect_output(&status(&scratch, &["--check", "--max-age", "2h"]), 0, &["OK: "]);
    expect_output(&status(&scratch, &["--check", "--max-age", "0"]), 2, &["CRITICAL: ", "last run "]);
    assert_eq!(apply_as(&scratch, "a|b.yaml", "ccm: {resources: [{exec: {name: 'false'}}]}"), 4);
    let called = status(&scratch, &["--check"]);
    expect_output(&called, 2, &["CRITICAL: [dir]/a¦b.yaml failed ", "1 failed\n"]);
    assert_eq!(called.stdout.lines().count(), 1);
    expect_output(&status(&scratch, &["--check", "--manifest", "good.yaml"]), 0, &["OK: "]);
    let found = document(&scratch, &["--check"]);
    assert_eq!((&found["level"], &found["manifests"][0]["state"]), (&json!("CRITICAL"), &json!("failed")));
    scratch.write("broken/runs", "a file in its place");
    fs::set_permissions(scratch.at("broken"), fs::Permissions::from_mode(0o700)).expect("permissions");
    expect_output(&status(&scratch, &["--check", "--state-dir", "broken"]), 3, &["UNKNOWN: "]);
}

/// Writes into the record of the last run that a unit started it.
fn of_a_timer(scratch: &Scratch) {
    let mut runs: Vec<_> = fs::read_dir(scratch.state().join("runs")).expect("runs").flatten().collect();
    runs.sort_by_key(fs::DirEntry::file_name);
    let events = runs.last().expect("a run").path().join("events.jsonl");
    let text = fs::read_to_string(&events).expect("events");
    fs::write(&events, text.replace("\"unit\":null", "\"unit\":\"ccm-site.service\"")).expect("events");
}

#[test]
fn a_check_judges_manifests_that_exist_by_runs_that_were_no_refused_tries() {
    let scratch = Scratch::new();
    let unchanged = "ccm: {resources: [{exec: {name: 'true', creates: /}}]}";
    assert_eq!(apply_as(&scratch, "try/x.yaml", REFUSED), 1);
    let tried = "UNKNOWN: [dir]/try/x.yaml was only tried by hand, and refused\n";
    expect_output(&status(&scratch, &["--check"]), 3, &[tried]);
    assert_eq!(apply_as(&scratch, "site.yaml", unchanged), 0);
    expect_output(&status(&scratch, &["--check"]), 0, &["OK: [dir]/site.yaml unchanged "]);
    // A refused try by hand does not hide the run before it.
    assert_eq!(apply_as(&scratch, "site.yaml", REFUSED), 1);
    expect_output(&status(&scratch, &["--check"]), 0, &["OK: [dir]/site.yaml unchanged "]);
    expect_output(&status(&scratch, &[]), 0, &["refused", "[dir]/site.yaml\n"]);
    // A timer that is refused is a problem.
    of_a_timer(&scratch);
    expect_output(&status(&scratch, &["--check"]), 2, &["CRITICAL: [dir]/site.yaml refused "]);
    expect_output(&status(&scratch, &[]), 0, &["ccm-site ", "[dir]/site.yaml\n"]);
    assert_eq!(apply_as(&scratch, "gone.yaml", "ccm: {resources: [{exec: {name: 'false'}}]}"), 4);
    expect_output(&status(&scratch, &["--check", "--manifest", "gone.yaml"]), 2, &["CRITICAL: "]);
    fs::remove_file(scratch.at("gone.yaml")).expect("the manifest");
    let called = status(&scratch, &["--check", "--manifest", "gone.yaml"]);
    expect_output(&called, 3, &["UNKNOWN: [dir]/gone.yaml is gone\n"]);
    expect_output(&status(&scratch, &[]), 0, &["failed", "[dir]/gone.yaml (gone)\n"]);
    let found = document(&scratch, &["--manifest", "gone.yaml"]);
    let manifest = &found["manifests"][0];
    assert_eq!((&manifest["gone"], &manifest["judged"]), (&json!(true), &json!(false)), "{found:#}");
}

#[test]
fn a_forgotten_manifest_is_left_out_until_it_runs_again() {
    let scratch = Scratch::new();
    let failing = "ccm: {resources: [{exec: {name: 'false'}}]}";
    for name in ["a/site.yaml", "b/site.yaml"] {
        assert_eq!(apply_as(&scratch, name, failing), 4);
    }
    let ambiguous = status(&scratch, &["forget", "site.yaml"]);
    let candidates = &["may be one of several", "[dir]/a/site.yaml", "[dir]/b/site.yaml"];
    expect_error(&ambiguous, 1, "", candidates, &["the whole path"]);
    expect_error(&status(&scratch, &["forget", "c.yaml"]), 1, "", &["\"c.yaml\""], &["`ccm status`"]);
    expect_output(&status(&scratch, &["forget", "a/site.yaml"]), 0, &["[dir]/a/site.yaml is left out"]);
    fs::remove_file(scratch.at("b/site.yaml")).expect("the manifest");
    expect_output(&status(&scratch, &["forget", &scratch.at("b/site.yaml")]), 0, &["[dir]/b/site.yaml"]);
    let called = status(&scratch, &["--check"]);
    assert_eq!((called.code, &*called.stdout), (3, "UNKNOWN: every recorded manifest is forgotten\n"));
    assert_eq!(document(&scratch, &[])["manifests"], json!([]));
    assert!(!status(&scratch, &["--output", "prometheus"]).stdout.contains("site.yaml"));
    // The history keeps the runs.
    assert_eq!(ccm(&scratch, &["history"]).run().stdout.matches("site.yaml").count(), 2);
    assert_eq!(apply_as(&scratch, "a/site.yaml", failing), 4);
    expect_output(&status(&scratch, &["--check"]), 2, &["CRITICAL: [dir]/a/site.yaml failed "]);
}

#[test]
fn metrics_have_help_and_type_and_unique_samples() {
    let scratch = Scratch::new();
    assert_eq!(apply_as(&scratch, "a\"b\\.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}"), 0);
    assert_eq!(apply_as(&scratch, "c.yaml", REFUSED), 1);
    let called = status(&scratch, &["--output", "prometheus"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let (mut names, mut samples) = (Vec::new(), Vec::new());
    for line in called.stdout.lines() {
        if let Some(family) = line.strip_prefix("# HELP ") {
            names.push(family.split(' ').next().expect("a name"));
            continue;
        }
        let name = *names.last().expect("help comes first");
        if let Some(family) = line.strip_prefix("# TYPE ") {
            assert_eq!(family, format!("{name} gauge"));
            continue;
        }
        let (sample, value) = line.rsplit_once(' ').expect("a value");
        assert!(value.parse::<f64>().is_ok(), "{line}");
        assert_eq!(sample.split('{').next(), Some(name));
        samples.push(sample);
    }
    assert!(names.iter().all(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')));
    let count = samples.len();
    samples.sort_unstable();
    samples.dedup();
    assert_eq!(samples.len(), count);
    assert!(called.stdout.contains("ccm_last_run_exit_code{manifest=\"[dir]/a\\\"b\\\\.yaml\"} 0\n"));
    assert!(called.stdout.contains("ccm_last_run_state{manifest=\"[dir]/c.yaml\",state=\"refused\"} 1\n"));
}
