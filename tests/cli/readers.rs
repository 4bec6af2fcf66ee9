//! Readers of the report that go away or pause: the run goes on to its end.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};

use ccm_testkit::{Ccm, RunningCcm, Scratch, wait_until};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Action, tcflow};
use serde_json::{Value, json};

use crate::ccm;

/// A command that waits for a file between two others. Each leaves a file; the last prints more than a pipe holds.
fn prepare(scratch: &Scratch) {
    let manifest = "ccm:\n  resources:\n    - exec:\n        - first: {command: touch [dir]/first}\n        \
                    - waits: {command: '[dir]/waits'}\n        \
                    - last: {provider: shell, command: 'touch [dir]/last; yes 0123456789 | head -n 30000', logoutput: true}\n";
    scratch.write("manifest.yaml", manifest.replace("[dir]", scratch.at("").trim_end_matches('/')));
    scratch.write_program(
        "waits",
        &format!("#!/bin/sh\ncd {}\n: > begun\nwhile [ ! -e go ]; do sleep 0.01; done\n", scratch.at("")),
    );
    scratch.write("other.yaml", "ccm: {resources: [{exec: [{'true': }]}]}");
}

/// Starts a run, and waits until the command in its middle runs.
fn start(scratch: &Scratch, call: Ccm) -> RunningCcm {
    prepare(scratch);
    let running = call.start();
    wait_until("the second command runs", || scratch.has("begun"));
    running
}

/// Asserts that all resources were applied, and that the record of the run reports that as a success.
fn expect_complete_run(scratch: &Scratch, name: &str) {
    assert!(scratch.has("first") && scratch.has("last"), "{name}");
    let listed = ccm(scratch, &["history", "--output", "json"]).run();
    let runs: Value = serde_json::from_str(&listed.stdout).expect("a list");
    let mut runs = runs.as_array().expect("a list").iter();
    let run = runs.find(|run| run["manifest"] == "[dir]/manifest.yaml").expect("the run");
    let facts = [&run["finished"], &run["exit_code"], &run["counts"]["changed"], &run["counts"]["total"]];
    assert_eq!(facts, [&json!(true), &json!(0), &json!(3), &json!(3)], "{name}: {}", listed.shown());
}

/// Applies another manifest, which waits until the first run has freed the lock.
fn expect_free_lock(scratch: &Scratch) {
    let other = ccm(scratch, &["apply", "other.yaml", "--lock-wait", "1m"]).run();
    assert_eq!(other.code, 0, "{}", other.shown());
}

#[test]
fn a_reader_that_leaves_during_the_run_does_not_end_it() {
    for options in [&[][..], &["-vv"], &["--output", "log"], &["--output", "jsonl"], &["--output", "json"]] {
        let name = options.join(" ");
        let scratch = Scratch::new();
        let mut running = start(&scratch, ccm(&scratch, &["apply", "manifest.yaml"]).args(options));
        let mut stdout = BufReader::new(running.take_stdout().expect("a pipe"));
        if name != "--output json" {
            let mut line = String::new();
            assert!(stdout.read_line(&mut line).expect("a line") > 1, "{name}");
        }
        drop(stdout);
        scratch.write("go", "");
        let called = running.finish();
        assert_eq!(called.code, 0, "{name}: {}", called.shown());
        assert!(name == "-vv" || called.stderr.is_empty(), "{name}: {}", called.shown());
        expect_complete_run(&scratch, &name);
    }
}

#[test]
fn a_reader_of_the_messages_that_leaves_does_not_end_the_run() {
    let scratch = Scratch::new();
    let mut running = start(&scratch, ccm(&scratch, &["apply", "manifest.yaml", "-vv"]));
    drop(running.take_stderr());
    scratch.write("go", "");
    let called = running.finish();
    assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
    assert!(called.stdout.contains("\n3 resources in "), "{}", called.shown());
    expect_complete_run(&scratch, "messages");
}

#[test]
fn closed_streams_are_no_failure_and_no_file_takes_their_place() {
    for closed in [">&-", "2>&-", "<&- >&- 2>&-"] {
        let scratch = Scratch::new();
        prepare(&scratch);
        scratch.write("go", "");
        let called = ccm(&scratch, &["apply", "manifest.yaml", "-vv"]).after(&format!("exec {closed}")).run();
        assert_eq!(called.code, 0, "{closed}: {}", called.shown());
        assert!(closed == ">&-" || called.stderr.is_empty(), "{closed}: {}", called.shown());
        expect_complete_run(&scratch, closed);
    }
}

#[test]
fn a_paused_reader_holds_up_neither_the_record_nor_other_runs() {
    let scratch = Scratch::new();
    prepare(&scratch);
    scratch.write("go", "");
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let running = ccm(&scratch, &["apply", "manifest.yaml"]).stdout(writer).start();
    wait_until("the commands have run", || scratch.has("last"));
    expect_free_lock(&scratch);
    let mut report = String::new();
    reader.read_to_string(&mut report).expect("the report");
    let called = running.finish();
    assert_eq!((called.code, &*called.stderr), (0, ""), "{}", called.shown());
    assert_eq!(report.matches("0123456789\n").count(), 30_000);
    assert!(report.lines().last().is_some_and(|line| line.starts_with("3 resources in ")), "{report:.300}");
    expect_complete_run(&scratch, "paused");
}

#[test]
fn a_signal_ends_the_wait_for_a_reader_of_both_streams() {
    let scratch = Scratch::new();
    prepare(&scratch);
    scratch.write("go", "");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let call = ccm(&scratch, &["apply", "manifest.yaml"]).after("exec 2>&1").stdout(writer);
    let running = call.start();
    wait_until("the commands have run", || scratch.has("last"));
    expect_free_lock(&scratch);
    running.signal("TERM");
    // The report was not read. The changes were made, and their record has ended before.
    let called = running.finish();
    assert_eq!(called.code, 4, "{}", called.shown());
    drop(reader);
    expect_complete_run(&scratch, "signal");
}

#[test]
fn a_stopped_terminal_holds_up_neither_the_record_nor_other_runs() {
    let scratch = Scratch::new();
    prepare(&scratch);
    scratch.write("go", "");
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&controller).and_then(|()| unlockpt(&controller)).expect("a terminal");
    let name = ptsname(&controller, Vec::new()).expect("its name").into_string().expect("text");
    let terminal = File::options().read(true).write(true).open(name).expect("a terminal");
    // As Ctrl-S does.
    tcflow(&terminal, Action::OOff).expect("it stops");
    let output = terminal.try_clone().expect("a descriptor");
    let call = ccm(&scratch, &["apply", "manifest.yaml"]).variable("TERM", "xterm").after("exec 2>&1");
    let running = call.stdout(output).start();
    wait_until("the commands have run", || scratch.has("last"));
    expect_free_lock(&scratch);
    tcflow(&terminal, Action::OOn).expect("it goes on");
    drop(terminal);
    let mut report = Vec::new();
    // The end of a terminal is an error.
    let _end = File::from(controller).read_to_end(&mut report);
    let report = String::from_utf8_lossy(&report);
    let called = running.finish();
    assert_eq!(called.code, 0, "{report:.300}");
    assert_eq!(report.matches("0123456789\r\n").count(), 30_000);
    assert!(report.contains("3 resources in "), "{report:.300}");
    expect_complete_run(&scratch, "stopped");
}

#[test]
fn a_reader_of_a_listing_may_leave_or_pause() {
    let scratch = Scratch::new();
    prepare(&scratch);
    scratch.write("go", "");
    assert_eq!(ccm(&scratch, &["apply", "manifest.yaml", "-q"]).run().code, 0);
    scratch.write("empty.yaml", "ccm: {resources: []}");
    for command in [
        &["history"][..],
        &["history", "01"],
        &["history", "--output", "json"],
        &["status"],
        &["validate", "empty.yaml"],
        &["graph", "manifest.yaml"],
        &["explain", "exec"],
        &["schema"],
        &["facts"],
        &["eval", "1"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let called = ccm(&scratch, command).stdout(writer).run();
        assert_eq!((called.code, &*called.stderr), (0, ""), "{command:?}: {}", called.shown());
    }
    // Longer than a pipe can hold.
    let whole = ccm(&scratch, &["schema"]).run().stdout;
    assert!(whole.len() > 100_000, "{}", whole.len());
    let mut running = ccm(&scratch, &["schema"]).start();
    let mut stdout = running.take_stdout().expect("a pipe");
    let is_full = || rustix::io::ioctl_fionread(&stdout).is_ok_and(|length| length >= 1 << 16);
    wait_until("the pipe is full", is_full);
    let mut read = String::new();
    stdout.read_to_string(&mut read).expect("the schema");
    assert_eq!(read.len(), whole.len());
    assert_eq!(running.finish().code, 0);
}
