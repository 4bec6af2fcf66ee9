//! Runs that a signal ends.

use ccm_testkit::{Called, Scratch, wait_until};
use insta::assert_snapshot;

use crate::expect::expect_output;
use crate::{ccm, ended_by_limit, without_limit};

/// Two resources: the first says that it has begun and then does not end.
fn endless(scratch: &Scratch, first: &str) {
    scratch.write_program("endless", &format!("#!/bin/sh\n{first}\n"));
    let program = scratch.at("endless");
    let manifest = format!(
        "ccm: {{resources: [{{exec: [{{endless: {{command: {program}}}}}, {{next: {{command: touch {}}}}}]}}]}}",
        scratch.at("next-ran")
    );
    scratch.write("manifest.yaml", manifest);
}

/// Runs it, sends the signals once the command has begun, and returns what ccm came to.
fn interrupt(scratch: &Scratch, signals: &[&str]) -> Called {
    let running = ccm(scratch, &["apply", "manifest.yaml"]).start();
    for (number, signal) in signals.iter().enumerate() {
        wait_until("the command has begun, or has noticed the signal", || {
            scratch.has(&format!("begun-{number}"))
        });
        running.signal(signal);
    }
    let called = running.finish();
    assert!(!scratch.has("next-ran"), "something was started after the signal");
    called
}

/// Checks that the report names the stopped exec, the skipped one and the signal.
#[track_caller]
fn expect_interrupted(called: &Called, code: i32, signal: &str) {
    let name = &*format!("SIG{signal}\n");
    let parts =
        ["exec#endless failed", name, "not reached: exec#next\n", "failed: exec#endless\n", "2 resources"];
    expect_output(called, code, &parts);
}

const WAITS: &str = "touch begun-0; exec sleep 3600";

#[test]
fn a_signal_ends_the_command_and_skips_the_rest() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let scratch = Scratch::new();
        endless(&scratch, &format!("cd {}; {WAITS}", scratch.at("")));
        let called = interrupt(&scratch, &[signal]);
        expect_interrupted(&called, code, signal);
        let message = format!(
            "interrupted by SIG{signal}: ending exec#endless (TERM, then KILL in 2s); a second interrupt kills it at \
             once\n"
        );
        assert_eq!(called.stderr, message);
        if signal == "TERM" {
            assert_snapshot!("interrupted", called.shown());
        }
    }
}

#[test]
fn a_signal_ends_the_reading_of_the_manifest() {
    let scratch = Scratch::new();
    let made = std::process::Command::new("mkfifo").arg(scratch.path().join("manifest.yaml")).status();
    assert!(made.expect("mkfifo").success());
    let running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
    // It can be opened once ccm has opened it as well, which then waits for its text.
    let options = std::fs::File::options().write(true).open(scratch.path().join("manifest.yaml"));
    let writer = options.expect("the other end");
    running.signal("TERM");
    let called = running.finish();
    drop(writer);
    assert_eq!(called.code, 143, "{}", called.shown());
    assert_eq!(called.stderr, "error: SIGTERM ended ccm; nothing was run\n");
    assert!(!scratch.state().exists());
}

#[test]
fn a_second_signal_kills_the_command_at_once() {
    let scratch = Scratch::new();
    // It notices TERM, says so, and goes on; only KILL ends it.
    let script = format!(
        "exec 2> /dev/null; cd {}; trap 'touch begun-1' TERM; touch begun-0; while :; do sleep 0.05; done",
        scratch.at("")
    );
    endless(&scratch, &script);
    let called = interrupt(&scratch, &["INT", "INT"]);
    expect_interrupted(&called, 130, "INT");
    let messages: Vec<&str> = called.stderr.lines().collect();
    assert!(messages[0].starts_with("interrupted by SIGINT: ending exec#endless ("), "{}", called.shown());
    assert_eq!(messages[1..], ["interrupted by SIGINT: killing exec#endless now"], "{}", called.shown());
}

#[test]
fn quit_kills_the_command_at_once() {
    let scratch = Scratch::new();
    let script =
        format!("cd {}; trap '' TERM QUIT; touch begun-0; while :; do sleep 0.05; done", scratch.at(""));
    endless(&scratch, &script);
    let called = interrupt(&scratch, &["QUIT"]);
    assert_eq!(called.code, 131, "{}", called.shown());
    assert!(
        called
            .stdout
            .contains("  the run was stopped by SIGQUIT\n  not reached: exec#next\n  failed: exec#endless\n"),
        "{}",
        called.shown()
    );
}

#[test]
fn a_blocked_reader_delays_neither_deadlines_nor_signals() {
    let scratch = Scratch::new();
    let manifest = format!(
        "ccm: {{resources: [{{exec: [{{yes {}: {{timeout: 300ms, logoutput: true}}}}, {{touch {}: }}]}}]}}",
        "x".repeat(500),
        scratch.at("went-on")
    );
    scratch.write("manifest.yaml", manifest);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let running = ccm(&scratch, &["apply", "manifest.yaml"]).stdout(writer).start();
    // A signal before the last command's end would interrupt the run itself.
    wait_until("the run goes on to its end", || {
        events_so_far(&scratch).contains(&format!("touch {}", scratch.at("went-on")))
    });
    assert!(scratch.has("went-on"));
    running.signal("INT");
    let called = running.finish();
    drop(reader);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stderr.starts_with("error: can't write the report\n  caused by: "), "{}", called.shown());
    assert!(called.stderr.contains("the reader did not read "), "{}", called.shown());
}

#[test]
fn a_blocked_reader_of_the_events_file_delays_no_signal() {
    let scratch = Scratch::new();
    let fifo = scratch.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let reader = std::fs::File::options().read(true).write(true).open(&fifo).expect("a pipe");
    // The event of the first resource is longer than a pipe can hold.
    let long = "x".repeat(120_000);
    let manifest = format!(
        "ccm: {{resources: [{{exec: [{{first: {{command: 'true', args: [{long}]}}}}, \
         {{second: {{provider: shell, command: 'touch {}; exec sleep 3600'}}}}, {{touch {}: }}]}}]}}",
        scratch.at("begun"),
        scratch.at("went-on"),
    );
    scratch.write("manifest.yaml", manifest);
    let running = ccm(&scratch, &["apply", "manifest.yaml", "--events-file", "fifo"]).start();
    wait_until("the second resource begins", || scratch.has("begun"));
    running.signal("TERM");
    let called = running.finish();
    drop(reader);
    assert_eq!((called.code, scratch.has("went-on")), (143, false), "{}", called.shown());
    let incomplete = "error: events file fifo is not complete\n  caused by: the reader did not read ";
    assert!(called.stderr.contains(incomplete), "{}", called.shown());
}

/// Returns the recorded events of the only run.
fn events_so_far(scratch: &Scratch) -> String {
    let runs = std::fs::read_dir(scratch.state().join("runs")).into_iter().flatten().flatten();
    let files = runs.map(|run| run.path().join("events.jsonl"));
    files.filter_map(|file| std::fs::read_to_string(file).ok()).collect()
}

#[test]
fn an_ignored_hangup_stays_ignored() {
    let scratch = Scratch::new();
    scratch.write(
        "manifest.yaml",
        format!(
            "ccm: {{resources: [{{exec: {{name: hup, provider: shell, command: 'kill -HUP $(cat {})'}}}}]}}",
            scratch.at("pid")
        ),
    );
    // As under nohup, HUP is ignored before ccm starts.
    let script = format!(
        "trap '' HUP; echo $$ > pid; exec {} apply manifest.yaml --state-dir {}",
        binary(),
        scratch.state().display()
    );
    let status = std::process::Command::new("/bin/sh")
        .args(["-c", &script])
        .current_dir(scratch.path())
        .stdout(std::process::Stdio::null())
        .status()
        .expect("a shell");
    assert_eq!(status.code(), Some(0));
}

fn binary() -> String {
    std::env::var("CCM_TEST_BINARY").unwrap_or_else(|_| env!("CARGO_BIN_EXE_ccm").to_owned())
}

/// A source whose content takes minutes to read, and what comes behind it.
fn endless_copy(scratch: &Scratch) {
    let source = std::fs::File::create(scratch.path().join("source")).expect("a file");
    source.set_len(1 << 40).expect("a long file");
    let manifest = format!(
        "ccm: {{resources: [{{file: [{{{}: {{source: source}}}}, {{{}: {{content: x}}}}]}}]}}",
        scratch.at("copy"),
        scratch.at("next")
    );
    scratch.write("manifest.yaml", manifest);
}

/// Returns `true` if a process has opened a file.
fn is_open(file: &std::path::Path, pid: u32) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.map(|entry| std::fs::read_link(entry.path())).any(|link| link.is_ok_and(|link| link == file))
}

#[test]
fn a_signal_stops_the_copy_of_a_file() {
    let scratch = Scratch::new();
    endless_copy(&scratch);
    let running = ccm(&scratch, &["apply", "manifest.yaml"]).start();
    wait_until("the run begins", || events_so_far(&scratch).contains("session.start"));
    wait_until("the source is read", || is_open(&scratch.path().join("source"), running.pid()));
    running.signal("TERM");
    let called = running.finish();
    let parts = [
        "file#[dir]/copy failed",
        "nothing was changed\n",
        "the run was stopped by SIGTERM",
        "not reached: file#[dir]/next\n",
        "2 resources",
    ];
    expect_output(&called, 143, &parts);
    assert_eq!(scratch.names(), ["manifest.yaml", "source"]);
}

#[test]
fn the_time_limit_of_the_run_stops_the_copy_of_a_file() {
    let call = |scratch: &Scratch, limit: &str| {
        endless_copy(scratch);
        ccm(scratch, &["apply", "manifest.yaml", "--timeout", limit]).run()
    };
    let (scratch, called) = ended_by_limit(call, |_, called| called.reported().contains("/copy failed"));
    let parts = [
        "file#[dir]/copy failed",
        "nothing was changed\n",
        "after [limit]",
        "not reached: file#[dir]/next\n",
    ];
    expect_output(&without_limit(called), 4, &parts);
    assert_eq!(scratch.names(), ["manifest.yaml", "source"]);
}
