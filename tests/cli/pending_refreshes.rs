//! Refreshes that stay pending from one run to the next.

mod ledgers;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use ccm_testkit::{Called, RunningCcm, Scratch, needs_own_mounts, wait_until};
use insta::assert_snapshot;
use serde_json::Value;

use crate::ccm;
use crate::expect::{expect_error, expect_output, json_lines, outcomes};

/// Two resources, each of which writes its process number and, if told to hold, waits for a file.
fn prepared() -> Scratch {
    let scratch = Scratch::new();
    let program = "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho $$ > began-$1\n[ ! -e hold-$1 ] || while [ ! -e go ]; do sleep 0.01; done\necho >> done-$1\n";
    scratch.write_program("step", program);
    write(&scratch, "", "");
    scratch
}

/// Returns these resources after a run that was killed before the refresh, and their manifest.
fn with_pending_refresh() -> (Scratch, String) {
    let scratch = prepared();
    kill_during(&scratch, "subscriber");
    let manifest = scratch.read("manifest.yaml").expect("a manifest");
    (scratch, manifest)
}

/// Writes the manifest; `head` stands below `ccm`, `more` at its end.
fn write(scratch: &Scratch, head: &str, more: &str) {
    let (step, done) = (scratch.at("step"), scratch.at("done-source"));
    let manifest = format!(
        "ccm:\n{head}  resources:\n    - exec:\n        - source: {{command: {step} source, creates: {done}}}\n{more}\
         \x20       - subscriber: {{command: {step} subscriber, refresh_only: true, subscribe: [exec#source]}}\n"
    );
    scratch.write("manifest.yaml", manifest);
}

fn apply(scratch: &Scratch, options: &[&str]) -> Called {
    ccm(scratch, &["apply", "manifest.yaml"]).args(options).run()
}

fn pending(scratch: &Scratch) -> Value {
    let called = ccm(scratch, &["status", "--pending", "--output", "json"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    serde_json::from_str(&called.stdout).expect("a document")
}

/// Kills a run with KILL while that step is at it, and its command after it.
fn kill_during(scratch: &Scratch, step: &str) {
    scratch.write(&format!("hold-{step}"), "");
    let running: RunningCcm = ccm(scratch, &["apply", "manifest.yaml"]).start();
    let began = format!("began-{step}");
    wait_until("the step has begun", || scratch.read(&began).is_some_and(|pid| pid.ends_with('\n')));
    running.signal("KILL");
    assert_eq!(running.finish().code, 137);
    let pid = scratch.read(&began).expect("its number");
    let killed = std::process::Command::new("/bin/kill").args(["-KILL", pid.trim()]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    fs::remove_file(scratch.at(&format!("hold-{step}"))).expect("it is there");
}

fn ledgers(scratch: &Scratch) -> Vec<PathBuf> {
    let entries = fs::read_dir(scratch.state().join("refreshes")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[test]
fn a_refresh_survives_a_run_that_is_killed_while_its_source_runs() {
    let scratch = prepared();
    kill_during(&scratch, "source");
    // The killed source may have changed something; here it looks as if it had.
    scratch.write("done-source", "");
    let next = apply(&scratch, &["--output", "jsonl"]);
    assert_eq!(outcomes(&next), ["exec#source unchanged", "exec#subscriber refreshed"], "{}", next.shown());
    let event = &json_lines(&next.stdout)[2];
    assert_eq!([&event["triggered_by"][0], &event["owed"][0]["source"]], ["exec#source"; 2], "{event}");
    assert_eq!(scratch.read("done-subscriber").as_deref(), Some("\n"));
    let third = apply(&scratch, &["--output", "jsonl"]);
    assert_eq!(outcomes(&third), ["exec#source unchanged", "exec#subscriber unchanged"], "{}", third.shown());
    assert!(ledgers(&scratch).is_empty());
}

#[test]
fn a_refresh_survives_a_run_that_is_killed_while_its_subscriber_runs() {
    let scratch = prepared();
    write(&scratch, "  name: site\n", "");
    kill_during(&scratch, "subscriber");
    let status = ccm(&scratch, &["status"]).run();
    expect_output(&status, 0, &["killed", "[dir]/manifest.yaml\n"]);
    let (_, below_the_run) = status.stdout.split_once("manifest.yaml\n").expect("lines");
    let pending_only = ccm(&scratch, &["status", "--pending"]).run();
    assert_snapshot!("status", pending_only.shown());
    assert_eq!(pending_only.stdout, below_the_run);
    let listed = pending(&scratch);
    let refresh = &listed["pending"][0]["refreshes"][0];
    assert_eq!(
        (&refresh["subscriber"], &refresh["source"]),
        (&"exec#subscriber".into(), &"exec#source".into())
    );
    assert_eq!(
        (&listed["pending"][0]["key"], &refresh["manifest"]),
        (&"site".into(), &"[dir]/manifest.yaml".into())
    );
    let before = fs::read(&ledgers(&scratch)[0]).expect("a ledger");
    let noop = apply(&scratch, &["--noop", "--output", "jsonl"]);
    assert_eq!(outcomes(&noop), ["exec#source unchanged", "exec#subscriber would_refresh"]);
    assert_eq!(apply(&scratch, &["--noop", "--detailed-exitcodes"]).code, 2);
    assert_eq!(fs::read(&ledgers(&scratch)[0]).expect("a ledger"), before);
    let called = apply(&scratch, &["--output", "json"]);
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let event = &document["events"][1];
    assert_eq!((&event["outcome"], &event["triggered_by"][0]), (&"refreshed".into(), &"exec#source".into()));
    assert_eq!(event["owed"][0]["run_id"], refresh["run_id"]);
    let reason = event["reason"].as_str().expect("a text");
    let run = refresh["run_id"].as_str().expect("an id");
    let because =
        format!("a refresh is pending from an earlier run (triggered by exec#source in {run}, since ");
    assert!(reason.starts_with(&because), "{reason}");
    assert_eq!(event["status"]["decision"], reason);
    assert_eq!(document["summary"]["owed"].as_array().map(Vec::len), Some(0));
    assert_eq!(pending(&scratch)["pending"].as_array().map(Vec::len), Some(0));
    assert_eq!(apply(&scratch, &["--detailed-exitcodes"]).code, 0);
    assert_eq!(scratch.read("done-subscriber").as_deref(), Some("\n"));
}

#[test]
fn a_failed_refresh_stays_pending_and_is_reported() {
    let scratch = prepared();
    let manifest = scratch.read("manifest.yaml").expect("a manifest");
    scratch.write(
        "manifest.yaml",
        manifest
            .replace("step subscriber", "step subscriber; exit 3")
            .replace("refresh_only", "provider: shell, refresh_only"),
    );
    let called = apply(&scratch, &[]);
    assert_snapshot!("failed", called.shown());
    let pending =
        called.stdout.lines().find(|line| line.starts_with("  exec#subscriber ")).expect("its line");
    expect_output(&ccm(&scratch, &["history", "01"]).run(), 0, &["exit code 4", pending, "failed: "]);
    assert_snapshot!("failed_noop", apply(&scratch, &["--noop"]).shown());
}

#[test]
fn a_refresh_is_cancelled_if_a_part_of_it_leaves_the_manifest() {
    let source = [("- source:", "- other:"), ("[exec#source]", "[exec#other]")];
    for (replaced, cause, named) in [
        (&[("- subscriber:", "- other:")][..], "no_subscriber", "exec#subscriber"),
        (&[(", subscribe: [exec#source]", ", require: [exec#source]")], "no_subscription", "exec#source"),
        (&source, "no_source", "exec#source"),
    ] {
        let (scratch, manifest) = with_pending_refresh();
        let manifest = replaced.iter().fold(manifest, |text, (from, to)| text.replace(from, to));
        scratch.write("manifest.yaml", manifest);
        let noop = apply(&scratch, &["--noop", "--output", "jsonl"]);
        let summary = json_lines(&noop.stdout).pop().expect("a summary");
        assert_eq!(summary["settled"][0]["cause"], cause, "{summary}");
        let called = apply(&scratch, &["-q"]);
        expect_output(&called, 0, &["exec#subscriber", "exec#source", named]);
        assert_eq!(called.stderr, "");
        assert!(ledgers(&scratch).is_empty(), "{cause}");
    }
}

#[test]
fn manifests_of_one_name_share_a_ledger() {
    let scratch = prepared();
    write(&scratch, "  name: site\n", "");
    kill_during(&scratch, "subscriber");
    write(&scratch, "  name: renamed\n", "");
    assert_eq!(apply(&scratch, &["--detailed-exitcodes"]).code, 0, "the refresh belongs to the other name");
    let listed = pending(&scratch);
    assert_eq!(listed["pending"][0]["key"], "site", "and is still listed");
    // Another manifest of that name uses the same ledger and leaves the refresh of the first one alone.
    scratch.write("other.yaml", "ccm: {name: site, resources: [{exec: {name: 'true', creates: /}}]}");
    for options in [&[][..], &["-q"]] {
        let called = ccm(&scratch, &["apply", "other.yaml"]).args(options).run();
        expect_output(&called, 0, &["exec#subscriber", "exec#source", "[dir]/manifest.yaml", "`ccm.name`"]);
    }
    write(&scratch, "  name: site\n", "");
    assert_eq!(apply(&scratch, &["--detailed-exitcodes"]).code, 2);
    assert!(ledgers(&scratch).is_empty());
}

#[test]
fn standard_input_needs_a_name() {
    let scratch = prepared();
    let manifest = scratch.read("manifest.yaml").expect("a manifest");
    let run = |manifest: &str| ccm(&scratch, &["apply", "-"]).input(manifest).run();
    expect_error(&run(&manifest), 1, "", &["standard input", "`subscribe`", "name"], &["`name`"]);
    assert!(!scratch.has("done-source"));
    let validate = |manifest: &str| ccm(&scratch, &["validate", "-"]).input(manifest).run();
    assert_eq!(validate(&manifest).shown(), run(&manifest).shown());
    let called = validate("ccm: {resources: [{exec: {name: 'true'}}]}");
    assert_eq!(called.stdout, "standard input is valid: 1 resource\n", "{}", called.shown());
    assert_eq!(run("ccm: {resources: [{exec: {name: 'true'}}]}").code, 0);
    let called = run(&manifest.replace("ccm:\n", "ccm:\n  name: site\n"));
    assert_eq!((called.code, scratch.has("done-subscriber")), (0, true), "{}", called.shown());
}

#[test]
fn a_name_is_one_line_without_outer_whitespace() {
    for name in ["' a'", "'a '", "\"a\\nb\""] {
        let scratch = Scratch::new();
        scratch.write(
            "manifest.yaml",
            format!("ccm: {{name: {name}, resources: [{{exec: {{name: 'true'}}}}]}}"),
        );
        let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
        assert!(
            called.code == 1 && called.stderr.contains("begins or ends with whitespace"),
            "{}",
            called.shown()
        );
    }
}

#[test]
fn a_refresh_that_no_further_run_does_is_no_failed_verification() {
    let (scratch, manifest) = with_pending_refresh();
    scratch.write(
        "manifest.yaml",
        manifest.replace("refresh_only: true", "refresh_only: true, control: {if: 'false'}"),
    );
    let called = apply(&scratch, &["--verify-idempotent"]);
    expect_output(&called, 0, &["exec#subscriber still", "exec#source", "`if` is false", "Verified"]);
    assert!(called.stderr.contains("1 refresh stays pending"), "{}", called.shown());
    scratch.write("manifest.yaml", manifest);
    let called = apply(&scratch, &["--verify-idempotent", "--only", "exec#source"]);
    assert!(
        called.code == 0 && called.stdout.contains("a run without `--only` refreshes it"),
        "{}",
        called.shown()
    );
    assert!(called.stderr.contains("1 refresh stays pending"), "{}", called.shown());
    // A run cancels a refresh without subscriber, so noop reports that.
    write(&scratch, "", "");
    let manifest = scratch.read("manifest.yaml").expect("a manifest");
    scratch.write("manifest.yaml", manifest.replace("- subscriber:", "- other:"));
    let called = apply(&scratch, &["--noop", "-q"]);
    expect_output(
        &called,
        0,
        &["exec#subscriber", "exec#source", "exec#subscriber", "manifest", "2 resources"],
    );
    assert_eq!(ledgers(&scratch).len(), 1);
}

#[test]
fn status_prints_a_command_for_the_refresh_if_there_is_one() {
    let scratch = prepared();
    let manifest = scratch.read("manifest.yaml").expect("a manifest");
    let failing = manifest.replace("step subscriber", "step subscriber 2> /nosuch/file");
    let failing = failing.replace("refresh_only", "provider: shell, refresh_only");
    let path = scratch.write("it's mine/m.yaml", failing);
    let state = scratch.at("its state");
    let run = |args: &[&str]| ccm(&scratch, args).args(&["--state-dir", "its state"]).run();
    let called = run(&["apply", "it's mine/m.yaml"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let status = || run(&["status", "--pending"]).stdout;
    let shown = status();
    let next = "  next: ccm apply '[dir]/it'\\''s mine/m.yaml' --state-dir '[dir]/its state'\n";
    assert!(shown.contains(next), "{shown}");
    let line = shown.lines().find_map(|line| line.trim().strip_prefix("next: ccm ")).expect("a line");
    let words = ccm_testkit::shell(&format!("printf '%s|' {line}"), scratch.path());
    assert_eq!(words, format!("apply|[dir]/it's mine/m.yaml|--state-dir|[dir]/its state|"));
    // A run does nothing about what is not managed, and none can be made of a manifest that is gone.
    let off = manifest.replace("refresh_only: true", "refresh_only: true, control: {if: 'false'}");
    fs::write(&path, off).expect("a manifest");
    assert_eq!(run(&["apply", "it's mine/m.yaml"]).code, 0);
    let shown = status();
    assert!(shown.contains("; the resource is not managed; it is refreshed once it is managed\n"), "{shown}");
    assert!(!shown.contains("next:"), "{shown}");
    let json = run(&["status", "--pending", "--output", "json"]).stdout;
    let json: Value = serde_json::from_str(&json).expect("a document");
    assert_eq!(json["pending"][0]["refreshes"][0]["kept_by"], "control");
    fs::remove_file(&path).expect("a manifest");
    let shown = status();
    assert!(
        shown.contains(
            "m.yaml does not exist any more, so no run does these refreshes; to drop them, remove refreshes/"
        ),
        "{shown}"
    );
    fs::remove_dir_all(&state).expect("a state directory");
}

#[test]
fn an_unreadable_record_does_not_suggest_another_state_directory() {
    let scratch = Scratch::new();
    scratch.write("state/runs", "a file in its place");
    for command in ["history", "status"] {
        let called = ccm(&scratch, &[command]).args(&["--state-dir", "state"]).run();
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains("\nhint: move away what is at this path"), "{}", called.shown());
    }
}

#[test]
fn a_full_disk_keeps_the_source_from_running() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = prepared();
    scratch.write("disk/.keep", "");
    let disk = scratch.at("disk");
    let state = format!("{disk}/state");
    // No space is left for the ledger, while names are.
    let script = format!(
        "mount -t tmpfs -o size=64k,mode=0755 tmpfs {disk}\nmkdir -m 0700 {state}\ncat /dev/zero > {state}/full 2> /dev/null || true"
    );
    let called =
        ccm(&scratch, &["apply", "manifest.yaml", "--state-dir", &state]).after_mounting(&script).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains("can't be recorded"), "{}", called.shown());
    assert!(called.stdout.contains("No space left on device"), "{}", called.shown());
    assert!(!scratch.has("began-source") && !scratch.has("began-subscriber"));
}

#[test]
fn status_distinguishes_a_running_from_a_killed_run() {
    let scratch = prepared();
    let status = || ccm(&scratch, &["status"]).run();
    scratch.write("hold-source", "");
    let running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
    wait_until("the source has begun", || scratch.has("began-source"));
    assert!(status().stdout.contains("is going on, at exec#source\n"), "{}", status().shown());
    let called = ccm(&scratch, &["status", "--pending"]).run();
    assert!(
        called.stdout.contains("\na run is going on; refreshes that it has not done yet are listed"),
        "{}",
        called.shown()
    );
    assert_eq!(pending(&scratch)["is_locked"], true);
    scratch.write("go", "");
    assert_eq!(running.finish().code, 0);
    assert!(status().stdout.contains("changed"), "{}", status().shown());
    assert_eq!(pending(&scratch)["is_locked"], false);
}

#[test]
fn a_manifest_that_changes_meanwhile_is_applied_as_it_was_read() {
    let scratch = prepared();
    scratch.write("hold-source", "");
    let running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
    wait_until("the source has begun", || scratch.has("began-source"));
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true', creates: /}}]}");
    scratch.write("go", "");
    let called = running.finish();
    assert_eq!((called.code, scratch.has("done-subscriber")), (0, true), "{}", called.shown());
    assert!(ledgers(&scratch).is_empty());
}

#[test]
fn run_ids_increase_although_the_clock_went_back() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true', creates: /}}]}");
    let runs = scratch.state().join("runs");
    let far = "0f000000-0000-7fff-8000-000000000000";
    fs::create_dir_all(runs.join(far)).expect("a run of the future");
    fs::set_permissions(scratch.state(), fs::Permissions::from_mode(0o700)).expect("permissions");
    fs::write(runs.join("ffffffff-ffff-7fff-ffff-fffffffffffe"), "").expect("a foreign file");
    fs::create_dir(runs.join("zz")).expect("a foreign directory");
    for _ in 0..3 {
        assert_eq!(apply(&scratch, &["--keep-runs", "2"]).code, 0);
    }
    let listed = ccm(&scratch, &["history", "--output", "json"]).run();
    let listed: Value = serde_json::from_str(&listed.stdout).expect("a document");
    let ids: Vec<&str> =
        listed.as_array().expect("a list").iter().filter_map(|run| run["run_id"].as_str()).collect();
    assert_eq!(ids.len(), 2);
    assert!(ids.is_sorted_by(|later, earlier| later > earlier) && ids[1] > far, "{ids:?}");
    assert!(runs.join("zz").exists() && runs.join("ffffffff-ffff-7fff-ffff-fffffffffffe").exists());
}
