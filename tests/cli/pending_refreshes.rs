//! Refreshes that stay pending from one run to the next.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::PathBuf;

use ccm_testkit::{Called, RunningCcm, Scratch, can_mount, is_root, skipped, wait_until};
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
fn a_newer_ledger_keeps_the_run_from_starting() {
    let (scratch, _) = with_pending_refresh();
    let file = &ledgers(&scratch)[0];
    let text = fs::read_to_string(file).expect("a ledger").replace("\"version\":1", "\"version\":2");
    fs::write(file, &text).expect("a ledger");
    for options in [&[][..], &["--noop"]] {
        let called = apply(&scratch, options);
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(
            called.stderr.contains("was written by a newer ccm (format version 2; this ccm reads version 1)"),
            "{}",
            called.shown()
        );
    }
    let called = ccm(&scratch, &["status", "--pending"]).run();
    assert!(called.code == 0 && called.stdout.contains("written by a newer ccm"), "{}", called.shown());
    assert_eq!(fs::read_to_string(file).expect("a ledger"), text);
    assert!(!scratch.has("done-subscriber"));
    assert_eq!(fs::read_dir(scratch.state().join("runs")).expect("runs").count(), 2);
    let last = ccm(&scratch, &["history", "last"]).run();
    expect_output(&last, 0, &["nothing was run\n", "was written by a newer ccm"]);
}

#[test]
fn a_damaged_ledger_is_kept_and_every_refresh_is_pending() {
    let (scratch, _) = with_pending_refresh();
    let file = ledgers(&scratch)[0].clone();
    fs::write(&file, "garbage\n").expect("a ledger");
    let called = apply(&scratch, &["--noop"]);
    assert!(called.stderr.contains("line 1 is not a header"), "{}", called.shown());
    assert!(called.reported().contains("exec#subscriber would refresh"), "{}", called.shown());
    let called = apply(&scratch, &["--output", "json"]);
    assert!(called.stderr.contains("is kept as"), "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["events"][1]["owed"][0]["assumed"], true);
    let damage = document["summary"]["ledger_damage"].as_str().expect("a text");
    assert!(damage.contains("line 1 is not a header; it is kept as "), "{damage}");
    let shown = ccm(&scratch, &["history", document["start"]["run_id"].as_str().expect("an id")]).run();
    assert!(shown.stdout.contains("is damaged: line 1 is not a header"), "{}", shown.shown());
    expect_output(&shown, 0, &["exec#subscriber refreshed", "exec#source", "because the ledger was damaged"]);
    let [kept] = &ledgers(&scratch)[..] else { panic!("{:?}", ledgers(&scratch)) };
    assert!(kept.to_string_lossy().contains(".ledger.damaged-"), "{}", kept.display());
    assert_eq!(fs::read_to_string(kept).expect("it is kept"), "garbage\n");
    assert_eq!(apply(&scratch, &["--detailed-exitcodes"]).code, 0);
    let called = ccm(&scratch, &["status", "--pending"]).run();
    assert!(called.stdout.contains("damaged ledger kept: refreshes/"), "{}", called.shown());
}

#[test]
fn status_reads_the_intact_part_of_a_damaged_ledger() {
    let (scratch, _) = with_pending_refresh();
    let file = ledgers(&scratch)[0].clone();
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let intact = fs::read_to_string(&file).expect("a ledger");
    let manifest = "[dir]/manifest.yaml";
    let shown = |content: &str| {
        fs::write(&file, content).expect("a ledger");
        let called = ccm(&scratch, &["status", "--pending"]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called.stdout
    };
    let whole = shown(&(intact.clone() + "torn\n"));
    let (head, rest) = whole.split_once('\n').expect("lines");
    assert_eq!(head, format!("{manifest} ({name})"));
    assert!(rest.starts_with("  can't be read, so every refresh may be pending: damaged: line "), "{rest}");
    assert!(rest.contains(&format!("\n  next: ccm apply {manifest} ")), "{rest}");
    assert_eq!(pending(&scratch)["pending"][0]["key"], manifest);
    let header = intact.lines().next().expect("a header").to_owned();
    let of_none = shown(&(header + "\ntorn\n"));
    assert!(of_none.starts_with(&format!("{manifest} (")), "{of_none}");
    assert!(
        of_none.contains("  next: apply the manifest of this ledger, which does every refresh"),
        "{of_none}"
    );
    let garbage = shown("garbage\n");
    assert!(garbage.starts_with(&format!("({name})\n")), "{garbage}");
    assert!(
        garbage.contains(
            "  next: find the manifest of this ledger, and apply it; the name of the ledger is derived from "
        ),
        "{garbage}"
    );
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
fn a_directory_in_place_of_a_ledger_is_set_aside() {
    let (scratch, _) = with_pending_refresh();
    let file = ledgers(&scratch)[0].clone();
    fs::remove_file(&file).expect("a ledger");
    fs::create_dir(&file).expect("a directory");
    let called = apply(&scratch, &[]);
    assert!(
        called.code == 0 && called.reported().contains("exec#subscriber refreshed"),
        "{}",
        called.shown()
    );
    let [kept] = &ledgers(&scratch)[..] else { panic!("{:?}", ledgers(&scratch)) };
    assert!(kept.is_dir() && kept != &file, "{}", kept.display());
    assert_eq!(apply(&scratch, &["--detailed-exitcodes"]).stderr, "");
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
fn empty_lines_in_a_ledger_need_no_extra_memory() {
    let scratch = Scratch::in_memory();
    let file = scratch.state().join("refreshes/a.ledger");
    fs::create_dir_all(scratch.state().join("refreshes")).expect("a directory");
    fs::write(&file, "\n".repeat(16 << 20)).expect("a ledger");
    let called = ccm(&scratch, &["status", "--pending"]).after("ulimit -d 65536").run();
    assert!(called.code == 0 && called.stdout.contains("line 1 is not a header"), "{}", called.shown());
    let header = r#"{"protocol":"io.choria.ccm.v1.ledger","version":1,"manifest":"a"}"#;
    fs::write(&file, format!("{header}{}", "\n".repeat(16 << 20))).expect("a ledger");
    let called = ccm(&scratch, &["status", "--pending"]).after("ulimit -d 65536").run();
    assert!(called.code == 0 && called.stdout.contains("line 2 is not a record"), "{}", called.shown());
}

#[test]
fn a_full_disk_keeps_the_source_from_running() {
    if !can_mount() {
        skipped("a small disk can't be mounted here");
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
fn ledgers_of_another_user_are_not_touched() {
    if !is_root() {
        skipped("only root can give a directory away");
        return;
    }
    let (scratch, _) = with_pending_refresh();
    chown(scratch.state(), Some(65534), Some(65534)).expect("a new owner");
    let called = apply(&scratch, &[]);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("belongs to another user"), "{}", called.shown());
    assert_eq!(ledgers(&scratch).len(), 1);
    for path in [scratch.state(), scratch.state().join("refreshes"), ledgers(&scratch)[0].clone()] {
        chown(scratch.state(), Some(0), Some(0)).expect("the owner before");
        chown(&path, Some(65534), Some(65534)).expect("a new owner");
        let called = apply(&scratch, &["--noop"]);
        assert!(called.stderr.contains("it belongs to another user (uid 65534)"), "{}", called.shown());
        let called = ccm(&scratch, &["status"]).run();
        assert!(
            called.stdout.contains("it belongs to another user (uid 65534); `ccm apply` refuses"),
            "{}",
            called.shown()
        );
        chown(&path, Some(0), Some(0)).expect("the owner before");
    }
}

#[test]
fn ledgers_that_others_can_write_are_not_trusted() {
    for name in ["refreshes", "ledger"] {
        let (scratch, _) = with_pending_refresh();
        let file = ledgers(&scratch)[0].clone();
        let path = if name == "ledger" { file } else { scratch.state().join(name) };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("permissions");
        let called = apply(&scratch, &[]);
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains("it can be written by others (mode 0777)"), "{}", called.shown());
        // Removing the directory would remove the ledgers of all manifests.
        assert_eq!(called.stderr.contains("or remove the file"), name == "ledger", "{}", called.shown());
        let check =
            if name == "ledger" { "hint: check the file" } else { "hint: check the files in this directory" };
        assert!(called.stderr.contains(check), "{}", called.shown());
        // Who only looks is shown what is there, and what a run says of it.
        let called = apply(&scratch, &["--noop"]);
        assert!(
            called.code == 0 && called.reported().contains("exec#subscriber would refresh"),
            "{}",
            called.shown()
        );
        assert!(called.stderr.contains("it can be written by others (mode 0777)"), "{}", called.shown());
        assert!(called.stderr.contains("note: `ccm apply` refuses this ledger"), "{}", called.shown());
        assert!(called.stderr.contains(check), "{}", called.shown());
        let called = ccm(&scratch, &["status", "--pending"]).run();
        let said =
            "can't be trusted: it can be written by others (mode 0777); `ccm apply` refuses this ledger\n";
        assert!(called.code == 0 && called.stdout.contains(said), "{}", called.shown());
        assert!(!called.stdout.contains("next:"), "{}", called.shown());
        assert!(pending(&scratch)["pending"][0]["untrusted"].is_string());
    }
}

#[test]
fn a_path_with_dots_has_the_same_ledger() {
    let (scratch, _) = with_pending_refresh();
    scratch.write("d/.keep", "");
    let called = ccm(&scratch, &["apply", "d/../manifest.yaml"]).run();
    assert!(called.reported().contains("exec#subscriber refreshed"), "{}", called.shown());
    assert!(ledgers(&scratch).is_empty());
}

/// The descriptor of a process substitution, and the alias of standard input, are paths that lead elsewhere in
/// the next run.
#[test]
fn a_manifest_from_a_descriptor_or_pipe_needs_a_name() {
    let scratch = prepared();
    let manifest = scratch.read("manifest.yaml").expect("a manifest");
    scratch.write("named.yaml", manifest.replace("ccm:\n", "ccm:\n  name: site\n"));
    for (script, path) in [
        ("exec 5<manifest.yaml", "/proc/self/fd/5"),
        ("exec </dev/null 5<manifest.yaml", "/dev/fd/5"),
        ("exec <manifest.yaml", "/dev/stdin"),
        ("mkfifo pipe; cat manifest.yaml > pipe &", "pipe"),
    ] {
        let run = || ccm(&scratch, &["apply", "--verify-idempotent", path]).after(script).run();
        let called = run();
        let message = format!("from {path} that has `subscribe`");
        expect_error(&called, 1, "", &[&message, "name"], &["`name`"]);
        assert!(!scratch.has("done-source"), "{}", called.shown());
        let _ = fs::remove_file(scratch.at("pipe"));
        let script = script.replace("manifest.yaml", "named.yaml");
        let called = ccm(&scratch, &["apply", "--verify-idempotent", path]).after(&script).run();
        assert_eq!((called.code, scratch.has("done-subscriber")), (0, true), "{}", called.shown());
        for done in ["done-source", "done-subscriber", "pipe"] {
            let _ = fs::remove_file(scratch.at(done));
        }
    }
    // Without a subscriber, there is nothing to remember.
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}");
    assert_eq!(ccm(&scratch, &["apply", "/dev/stdin"]).after("exec <manifest.yaml").run().code, 0);
}

#[test]
fn a_directory_entered_over_a_link_has_the_ledger_of_the_link() {
    let scratch = Scratch::new();
    scratch.write(
        "r1/manifest.yaml",
        "ccm: {resources: [{exec: {name: a, command: 'true'}}, {exec: {name: b, command: 'false', subscribe: [exec#a]}}]}",
    );
    std::os::unix::fs::symlink("r1", scratch.at("current")).expect("a link");
    let key = |variable: &str, path: &str| {
        let enter = format!("cd current; export PWD={}", scratch.at(variable));
        let called = ccm(&scratch, &["apply", path]).after(&enter).run();
        assert_eq!(called.code, 4, "{}", called.shown());
        let key = pending(&scratch)["pending"][0]["key"].as_str().map(ToOwned::to_owned);
        fs::remove_file(&ledgers(&scratch)[0]).expect("a ledger");
        key.expect("a key")
    };
    let (over_link, resolved) = ("[dir]/current/manifest.yaml", "[dir]/r1/manifest.yaml");
    assert_eq!(key("nowhere", &scratch.at("current/manifest.yaml")), over_link);
    assert_eq!(key("current", "manifest.yaml"), over_link);
    assert_eq!(key("current", "../current/./manifest.yaml"), over_link);
    // The variable counts only as a normal path of the working directory.
    for other in ["r1", "r1/../current", "./current", "nowhere"] {
        assert_eq!(key(other, "manifest.yaml"), resolved, "{other}");
    }
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
