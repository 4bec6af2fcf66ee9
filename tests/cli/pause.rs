//! `ccm pause`: runs of timers wait.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use ccm_testkit::{Called, Scratch, needs_root, repository};
use serde_json::{Value, json};

use crate::ccm;
use crate::expect::{expect_error, expect_output, expect_warnings};

fn scratch() -> Scratch {
    let scratch = Scratch::new();
    let made = scratch.at("made");
    scratch.write("m.yaml", format!("ccm: {{resources: [{{file: [{{{made}: {{content: x}}}}]}}]}}\n"));
    scratch
}

fn pause(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["pause"]).args(args).run()
}

fn apply(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["apply", "m.yaml"]).args(args).run()
}

fn begin(scratch: &Scratch) {
    let begun = pause(scratch, &["--for", "2h", "--reason", "database upgrade"]);
    expect_output(
        &begun,
        0,
        &[
            "paused until ",
            " by ",
            ": database upgrade\n",
            "until then, ",
            "`--honour-pause`",
            "`ccm pause --end`",
        ],
    );
}

/// Replaces the end in the file of the pause.
fn end_at(scratch: &Scratch, until: &str) {
    let path = scratch.state().join("pause.json");
    let mut pause: Value = serde_json::from_str(&fs::read_to_string(&path).expect("a pause")).expect("JSON");
    pause["until"] = json!(until);
    fs::write(&path, pause.to_string()).expect("a pause");
}

#[test]
fn a_run_that_honours_the_pause_waits_and_leaves_no_failure() {
    let scratch = scratch();
    begin(&scratch);
    for options in
        [&["--honour-pause"][..], &["--honour-pause", "--output", "log"], &["--honor-pause", "--noop"]]
    {
        let called = apply(&scratch, options);
        assert_eq!((called.code, &*called.stdout), (0, ""), "{}", called.shown());
        assert!(called.stderr.starts_with("note: paused until "), "{}", called.shown());
        assert!(called.stderr.ends_with(": database upgrade; nothing was run\n"), "{}", called.shown());
        assert_eq!(called.stderr.lines().count(), 1, "{}", called.shown());
    }
    assert!(!scratch.has("made") && !scratch.state().join("runs").exists());
    // A manifest that is being repaired is not read.
    scratch.write("m.yaml", "ccm: [");
    assert_eq!(apply(&scratch, &["--honour-pause"]).code, 0);
}

#[test]
fn a_person_is_warned_and_the_run_goes_on() {
    let scratch = scratch();
    begin(&scratch);
    let noop = apply(&scratch, &["--noop"]);
    assert_eq!((noop.code, &*noop.stderr), (0, ""), "{}", noop.shown());
    let called = apply(&scratch, &[]);
    expect_warnings(&called, &[("", &["runs of the timer are paused until ", ": database upgrade"], &[])]);
    assert!(called.code == 0 && scratch.has("made"), "{}", called.shown());
}

#[test]
fn a_pause_is_shown_until_it_ends_or_expires() {
    let scratch = scratch();
    expect_output(&pause(&scratch, &[]), 0, &["not paused\n"]);
    expect_output(&pause(&scratch, &["--end"]), 0, &["not paused\n"]);
    assert!(!scratch.state().exists());
    begin(&scratch);
    let mode = fs::metadata(scratch.state().join("pause.json")).expect("a pause").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    expect_output(&pause(&scratch, &[]), 0, &["paused until ", ": database upgrade\n"]);
    let shown = |args: &[&str]| -> Value {
        serde_json::from_str(&pause(&scratch, &[args, &["--output", "json"]].concat()).stdout).expect("JSON")
    };
    let found = &shown(&[])["paused"];
    assert_eq!((&found["reason"], found["by"]["uid"].is_number()), (&json!("database upgrade"), true));
    expect_output(
        &pause(&scratch, &["--for", "3d", "--reason", "longer"]),
        0,
        &["paused until ", ": longer\n", "until then, "],
    );
    expect_output(&pause(&scratch, &["--end"]), 0, &["ended: paused until ", ": longer\n"]);
    assert_eq!(shown(&[])["paused"], json!(null));
    begin(&scratch);
    end_at(&scratch, "2026-01-01T00:00:00Z");
    expect_output(&pause(&scratch, &[]), 0, &["not paused\n"]);
    let called = apply(&scratch, &["--honour-pause"]);
    assert!(called.code == 0 && called.stderr.is_empty() && scratch.has("made"), "{}", called.shown());
}

#[test]
fn the_status_shows_the_pause() {
    let scratch = scratch();
    let status = |args: &[&str]| ccm(&scratch, &["status"]).args(args).run();
    let document = || -> Value { serde_json::from_str(&status(&["--output", "json"]).stdout).expect("JSON") };
    assert_eq!(apply(&scratch, &[]).code, 0);
    assert_eq!(document()["paused"], json!(null));
    expect_output(&status(&["--output", "prometheus"]), 0, &["\nccm_paused 0\n"]);
    expect_output(&status(&["--check", "--max-age", "0"]), 2, &["CRITICAL: "]);
    begin(&scratch);
    expect_output(
        &status(&[]),
        0,
        &["m.yaml\n", "paused until ", ": database upgrade\n", "no refresh is pending"],
    );
    assert_eq!(document()["paused"]["reason"], "database upgrade");
    expect_output(
        &status(&["--output", "prometheus"]),
        0,
        &["\nccm_paused 1\n", "\nccm_paused_until_timestamp_seconds "],
    );
    // Nothing is missing while no run is expected.
    expect_output(&status(&["--check", "--max-age", "0"]), 1, &["WARNING: ", "; paused until "]);
    expect_output(&status(&["--check"]), 0, &["OK: ", "; paused until "]);
    fs::write(scratch.state().join("pause.json"), "{").expect("a damaged file");
    expect_output(&status(&[]), 0, &["m.yaml\n", "pause.json\" can't be read: the file is damaged\n"]);
}

#[test]
fn a_pause_that_can_not_be_read_is_an_error_for_those_who_honour_it() {
    let scratch = scratch();
    begin(&scratch);
    fs::write(scratch.state().join("pause.json"), "{").expect("a damaged file");
    let damaged = ["pause.json\" can't be read", "the file is damaged"];
    expect_error(&apply(&scratch, &["--honour-pause"]), 1, "", &damaged, &["`ccm pause --end`"]);
    expect_error(&pause(&scratch, &[]), 1, "", &damaged, &["`ccm pause --end`"]);
    let called = apply(&scratch, &[]);
    assert!(called.code == 0 && called.stderr.is_empty(), "{}", called.shown());
    expect_output(&pause(&scratch, &["--end"]), 0, &["ended: a pause whose file was damaged"]);
    expect_output(&pause(&scratch, &["--end"]), 0, &["not paused\n"]);
    assert_eq!(apply(&scratch, &["--honour-pause"]).code, 0);
}

#[test]
fn a_pause_needs_a_reasonable_time_and_a_reason() {
    let scratch = scratch();
    for (args, message) in [
        (&["--for", "0", "--reason", "x"][..], "more than 0s"),
        (&["--for", "91d", "--reason", "x"], "at most 90d"),
        (&["--for", "2", "--reason", "x"], "no unit"),
        (&["--for", "soon", "--reason", "x"], "'soon'"),
        (&["--for", "2h"], "--reason <TEXT>"),
        (&["--reason", "x"], "--for <DURATION>"),
        (&["--for", "2h", "--reason", "x", "--end"], "'--end'"),
        (&["--for", "2h", "--reason", " "], "reason"),
        (&["--for", "2h", "--reason", "a\nb"], "reason"),
    ] {
        let hints: &[&str] = if message.starts_with("--") { &["`ccm pause --for 2h --reason "] } else { &[] };
        expect_error(&pause(&scratch, args), 64, "", &[message], hints);
    }
    assert!(!scratch.state().exists());
    let odd = pause(&scratch, &["--for", "1h", "--reason", "a\u{202e}b"]);
    expect_output(&odd, 0, &["a\\u{202e}b"]);
}

#[test]
fn a_pause_of_somebody_else_is_not_honoured() {
    if !needs_root() {
        return;
    }
    let scratch = scratch();
    begin(&scratch);
    std::os::unix::fs::chown(scratch.state().join("pause.json"), Some(4711), None).expect("until then, ");
    let foreign = ["pause.json\" can't be read", "it belongs to another user (uid 4711)"];
    expect_error(&apply(&scratch, &["--honour-pause"]), 1, "", &foreign, &["`ccm pause --end`"]);
}

#[test]
fn the_unit_honours_a_pause() {
    let unit = fs::read_to_string(repository("packaging/systemd/ccm-apply@.service")).expect("the unit");
    let start =
        unit.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/ccm ")).expect("a command");
    assert!(start.split(' ').any(|word| word == "--honour-pause"), "{start}");
}
