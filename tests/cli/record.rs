//! The record of a run, and runs that can't be recorded.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ccm_testkit::{Scratch, needs_own_mounts};
use serde_json::Value;

use crate::expect::{expect_error, expect_output, json_lines};
use crate::json::apply_mixed;
use crate::{apply, apply_execs, ccm, lock};

/// The directories of the runs, the oldest first.
fn runs(scratch: &Scratch) -> Vec<PathBuf> {
    let entries = fs::read_dir(scratch.state().join("runs")).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

#[test]
fn a_run_leaves_its_events_and_its_summary() {
    let scratch = Scratch::new();
    assert_eq!(apply_mixed(&scratch, &[]).code, 4);
    let [run] = &runs(&scratch)[..] else { panic!("one run: {:?}", runs(&scratch)) };
    let events = read(&run.join("events.jsonl"));
    let lines = json_lines(&events);
    let outcomes: Vec<&str> = lines.iter().filter_map(|line| line["outcome"].as_str()).collect();
    assert_eq!(outcomes, ["changed", "refreshed", "failed", "skipped"], "unchanged ones are only counted");
    assert!(!events.contains("swordfish"));
    let summary: Value = serde_json::from_str(&read(&run.join("summary.json"))).expect("a summary");
    assert_eq!(summary["exit_code"], 4);
    assert_eq!(summary["manifest"], scratch.at("manifest.yaml"));
    assert_eq!(summary["counts"]["unchanged"], 1);
    assert_eq!(
        Some(summary["run_id"].as_str().expect("an id")),
        run.file_name().and_then(|name| name.to_str())
    );
    for directory in [scratch.state(), scratch.state().join("runs"), run.clone()] {
        assert_eq!(mode(&directory), 0o700, "{}", directory.display());
    }
    for file in [scratch.state().join("lock"), run.join("events.jsonl"), run.join("summary.json")] {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn keep_runs_removes_old_runs_and_nothing_else() {
    let scratch = Scratch::new();
    let store = scratch.state().join("runs");
    apply_execs(&scratch, "        - 'true':\n", &[]);
    scratch.write("elsewhere/precious", "");
    fs::write(store.join("notes.txt"), "").expect("a file");
    fs::create_dir(store.join("archive")).expect("a directory");
    fs::write(store.join("00000000-0000-7000-8000-000000000001"), "").expect("a file");
    symlink(scratch.at("elsewhere"), store.join("00000000-0000-7000-8000-000000000000")).expect("a link");
    symlink(scratch.at("elsewhere"), runs(&scratch)[2].join("link")).expect("a link");
    for _ in 0..4 {
        assert_eq!(apply_execs(&scratch, "        - 'true':\n", &["--keep-runs", "2"]).code, 0);
    }
    let names: Vec<String> = runs(&scratch)
        .iter()
        .map(|path| path.file_name().expect("a name").to_string_lossy().into_owned())
        .collect();
    // The two newest runs, the two before, which changed something, what is not a run, and `checked`.
    assert_eq!(names.len(), 4 + 4 + 1, "{names:?}");
    assert!(names.contains(&"notes.txt".to_owned()) && names.contains(&"archive".to_owned()));
    assert!(scratch.has("elsewhere/precious"));
}

#[test]
fn each_change_is_written_before_the_next_resource_starts() {
    let scratch = Scratch::new();
    let events = scratch.state().join("runs/*/events.jsonl");
    let execs = format!(
        "        - first: {{command: 'true'}}\n        - second: {{command: 'grep -q name...first {}', provider: shell}}\n",
        events.display()
    );
    let called = apply_execs(&scratch, &execs, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn a_killed_run_shows_as_unfinished() {
    let scratch = Scratch::new();
    let waits = scratch.at("waits");
    lock::prepare(&scratch);
    let execs = format!("[{{first: {{command: 'true'}}}}, {{waits: {{command: {waits}}}}}]");
    scratch.write("first.yaml", format!("ccm: {{resources: [{{exec: {execs}}}]}}"));
    let running = lock::hold(&scratch);
    running.signal("KILL");
    assert_eq!(running.finish().code, 137);
    lock::let_go(&scratch);
    let history = |args: &[&str]| ccm(&scratch, &["history"]).args(args).run();
    expect_output(&history(&[]), 0, &["MANIFEST\n", " -  ", " unfinished  ", "[dir]/first.yaml\n"]);
    let shown = history(&["0"]);
    expect_output(&shown, 0, &["[dir]/first.yaml\n", "exec#first changed", "\nunfinished: ", "killed"]);
    assert!(!shown.stdout.contains("exec#waits"), "{}", shown.shown());
    let document: Value = serde_json::from_str(&history(&["0", "--output", "json"]).stdout).expect("JSON");
    let run = &document["run"];
    assert_eq!((&run["finished"], &run["manifest"]), (&false.into(), &"[dir]/first.yaml".into()));
    assert!(run.get("end").is_none() && run.get("exit_code").is_none(), "{run}");
    let events = document["events"].as_array().expect("a list");
    assert_eq!(
        (events.len(), &events[0]["name"], &events[0]["outcome"]),
        (1, &"first".into(), &"changed".into())
    );
}

#[test]
fn a_run_goes_on_if_its_record_can_not_be_written() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.state()).expect("a directory");
    fs::set_permissions(scratch.state(), Permissions::from_mode(0o700)).expect("its permissions");
    // A file is in the place of the directory.
    fs::write(scratch.state().join("runs"), "precious").expect("a file");
    let called = apply_execs(&scratch, "        - touch [dir]/ran:\n", &[]);
    expect_output(&called, 4, &["[dir]/ran changed", "ran 1 (run "]);
    for part in ["error: ", "record", "\"[state]/runs\"", "caused by: Not a directory"] {
        assert!(called.stderr.contains(part), "{part}: {}", called.shown());
    }
    assert!(scratch.has("ran"));
    assert_eq!(read(&scratch.state().join("runs")), "precious");
}

#[test]
fn a_run_goes_on_if_the_disk_is_full() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    let disk = scratch.at("disk");
    scratch.write("disk/.keep", "");
    // Each resource fills more of it; the record of some of them has no place.
    let long = "x".repeat(3_000);
    let execs: Vec<String> =
        (0..20).map(|number| format!("        - n{number}: {{command: 'true', args: [{long}]}}\n")).collect();
    let execs = execs.concat();
    scratch.write("manifest.yaml", format!("ccm:\n  resources:\n    - exec:\n{execs}"));
    let state = format!("{disk}/state");
    let copy = scratch.at("copy");
    let script = format!("mount -t tmpfs -o size=32k,mode=0755 tmpfs {disk}");
    // The disk goes with the mount namespace, so what is on it is copied by the last resource of a second run.
    let called =
        ccm(&scratch, &["apply", "manifest.yaml", "--state-dir", &state]).after_mounting(&script).run();
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.reported().contains("exec#n19 changed"), "{}", called.shown());
    assert!(called.stderr.contains("could not be written"), "{}", called.shown());
    assert!(
        called.stderr.contains("hint: free space on the file system of this path\n"),
        "{}",
        called.shown()
    );
    assert!(called.stderr.contains("No space left on device"), "{}", called.shown());

    let both = format!("{script}\n\"$0\" \"$@\" > /dev/null 2>&1 || true\ncp -r {state}/runs {copy}");
    ccm(&scratch, &["apply", "manifest.yaml", "--state-dir", &state]).after_mounting(&both).run();
    let run = fs::read_dir(&copy).expect("the runs").flatten().next().expect("a run").path();
    let events = read(&run.join("events.jsonl"));
    assert!(events.ends_with('\n'), "the last line is not whole");
    let lines = json_lines(&events);
    assert!(lines.len() > 2 && lines.len() < 22, "{}", lines.len());
    assert!(!run.join(".summary.json.new").exists());
}

#[test]
fn a_run_does_not_start_on_a_read_only_disk() {
    if !needs_own_mounts() {
        return;
    }
    let scratch = Scratch::new();
    apply_execs(&scratch, "        - 'true':\n", &[]);
    let state = scratch.state().display().to_string();
    let script = format!("mount --bind {state} {state}\nmount -o remount,bind,ro {state}");
    let manifest = format!("ccm: {{resources: [{{exec: {{name: touch {}}}}}]}}", scratch.at("ran"));
    scratch.write("manifest.yaml", manifest);
    let called = ccm(&scratch, &["apply", "manifest.yaml"]).after_mounting(&script).run();
    let message = ["lock file \"[state]/lock\"", "Read-only file system", "nothing was run"];
    expect_error(&called, 1, "", &message, &["mount"]);
    assert!(!scratch.has("ran"));
    assert_eq!(ccm(&scratch, &["history"]).after_mounting(&script).run().code, 0);
}

#[test]
fn noop_records_nothing() {
    let scratch = Scratch::new();
    assert_eq!(apply(&scratch, "ccm: {resources: [{exec: {name: 'true'}}]}", &["--noop"]).code, 0);
    assert!(!scratch.state().exists());
}
