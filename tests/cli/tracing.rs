//! Debug messages, with `-vv` and with `CCM_LOG`.

use std::io::{BufRead as _, BufReader};

use ccm_testkit::{Called, Scratch, wait_until};

use crate::lock::{hold, prepare};
use crate::{apply, apply_execs, ccm, in_place};

const TWO_EXECS: &str = "        - one:
            command: echo printed
            cwd: [dir]
            onlyif: test -d .
        - two:
            command: cat
            refresh_only: true
            subscribe: [exec#one]
";

/// The debug messages of a call, without their times.
fn messages(called: &Called) -> Vec<&str> {
    let lines = called.stderr.lines().filter_map(|line| line.trim_start().split_once("s DEBUG "));
    lines.map(|(_, message)| message).collect()
}

/// Fails unless one message has all of these parts.
fn assert_message(called: &Called, parts: &[&str]) {
    let has_all = |message: &&str| parts.iter().all(|part| message.contains(part));
    let found = messages(called).iter().any(has_all);
    assert!(found, "{parts:?} is not in\n{}", called.stderr);
}

#[test]
fn debug_messages_follow_the_steps_of_a_run() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, TWO_EXECS, &["-vv"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let one = "manifest=[dir]/manifest.yaml}:resource{id=exec#one}:";
    let two = "manifest=[dir]/manifest.yaml}:resource{id=exec#two}:";
    for parts in [
        &["load{manifest=manifest.yaml}:", "parsed the manifest bytes="][..],
        &["load{manifest=manifest.yaml}:", "resolved the data"],
        &["load{manifest=manifest.yaml}:", "expanded the resources resources=2"],
        &["load{manifest=manifest.yaml}:", "checked the graph resources=2 edges=1"],
        &["lock taken path=[state]/lock"],
        &["run{id=01", one, "provider chosen provider=posix"],
        &["run{id=01", one, "starting command argv=", "/test -d . cwd=[dir]"],
        &["run{id=01", one, "guard ended guard=onlyif exit=0 satisfied=true"],
        &["run{id=01", one, "decided to change the state reason=`onlyif` exited with 0"],
        &["run{id=01", one, "rewriting the refresh ledger path=[state]/refreshes/"],
        &["run{id=01", one, "starting command argv=", "/echo printed cwd=[dir]"],
        &["run{id=01", one, "command ended exit=0 duration="],
        &["run{id=01", one, "resource finished outcome=changed"],
        &["run{id=01", two, "decided to change the state reason=a resource it subscribes to changed"],
        &["run{id=01", "removing the refresh ledger"],
        &["lock released"],
    ] {
        assert_message(&called, parts);
    }
    assert_eq!(messages(&called).len(), called.stderr.lines().count(), "{}", called.stderr);
}

#[test]
fn waiting_for_the_lock_is_logged_with_its_holder() {
    let scratch = Scratch::new();
    prepare(&scratch);
    let first = hold(&scratch);
    let mut waiting = ccm(&scratch, &["apply", "second.yaml", "-vv"]).start();
    let waits = format!("waiting for the lock holder=pid {}, applying ", first.pid());
    let mut lines =
        BufReader::new(waiting.take_stderr().expect("a pipe")).lines().map(|line| line.expect("text"));
    // A message for everybody follows while the wait goes on, and ends the search.
    let before: Vec<String> =
        lines.by_ref().take_while(|line| !line.contains("another run to end")).collect();
    assert!(before.iter().any(|line| line.contains(&waits)), "{before:?}");
    scratch.write("go", "");
    assert_eq!(first.finish().code, 0);
    let after: Vec<String> = lines.collect();
    assert!(after.iter().any(|line| line.contains("lock taken path=")), "{after:?}");
    assert_eq!(waiting.finish().code, 0);
}

#[test]
fn there_are_no_debug_messages_by_default() {
    for options in [&[][..], &["-v"], &["-q"]] {
        let scratch = Scratch::new();
        let called = apply_execs(&scratch, TWO_EXECS, options);
        assert_eq!((called.code, &*called.stderr), (0, ""), "{options:?}");
    }
}

#[test]
fn standard_output_is_the_same_with_messages() {
    for output in ["json", "jsonl"] {
        let scratch = Scratch::new();
        let called = apply_execs(&scratch, TWO_EXECS, &["-vv", "--output", output]);
        assert!(messages(&called).len() > 10, "{}", called.stderr);
        let mut values = serde_json::Deserializer::from_str(&called.stdout).into_iter::<serde_json::Value>();
        assert!(values.all(|value| value.is_ok_and(|value| value.is_object())), "{}", called.stdout);
    }
    let called = |options: &[&str]| {
        let scratch = Scratch::new();
        scratch.write(
            "manifest.yaml",
            in_place(&scratch, "ccm: {resources: [{exec: [{one: {command: 'true'}}]}]}"),
        );
        ccm(&scratch, &["graph", "manifest.yaml"]).args(options).run()
    };
    assert_eq!(called(&[]).stdout, called(&["-vv"]).stdout);
}

#[test]
fn the_variable_wins_over_the_option() {
    let run = |filter: &str, options: &[&str]| {
        let scratch = Scratch::new();
        let text = format!("ccm:\n  resources:\n    - exec:\n{}", in_place(&scratch, TWO_EXECS));
        scratch.write("manifest.yaml", text);
        ccm(&scratch, &["apply", "manifest.yaml", "-q"]).args(options).variable("CCM_LOG", filter).run()
    };
    let everything = run("debug", &[]);
    assert_message(&everything, &["ccm_engine::"]);
    assert_message(&everything, &["ccm_manifest::"]);
    // A shown message keeps its spans, whichever part of ccm created them.
    let of_host = run("ccm_host=debug", &[]);
    assert_message(&of_host, &["run{id=01", "resource{id=exec#one}: ccm_host::", "starting command"]);
    assert!(messages(&of_host).iter().all(|message| message.contains("ccm_host::")), "{}", of_host.stderr);
    for nothing in ["off", "info", "ccm_engine=warn"] {
        let called = run(nothing, &[]);
        assert_eq!((called.code, &*called.stderr), (0, ""), "{nothing}");
    }
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: [{one: {command: 'true'}}]}]}");
    let called = ccm(&scratch, &["apply", "manifest.yaml", "-vv"]).variable("CCM_LOG", "off").run();
    assert_eq!((called.code, &*called.stderr), (0, ""));
}

#[test]
fn an_invalid_variable_is_ignored_with_a_warning() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: [{one: {command: 'true'}}]}]}");
    let called = ccm(&scratch, &["apply", "manifest.yaml", "-q"]).variable("CCM_LOG", "ccm_host=lots").run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let warning = "warning: CCM_LOG is ignored: `ccm_host=lots` is neither a level (off, error, warn, info, debug, trace) \
                   nor a part of ccm with a level, such as `ccm_engine=debug`\n";
    assert_eq!(called.stderr, warning);
    let called = ccm(&scratch, &["apply", "manifest.yaml", "-vv"]).variable("CCM_LOG", "debgu").run();
    assert!(
        called.stderr.starts_with("warning: CCM_LOG is ignored: `debgu` is neither"),
        "{}",
        called.stderr
    );
    assert_message(&called, &["starting command"]);
}

#[test]
fn every_command_has_debug_messages() {
    let scratch = Scratch::new();
    scratch.write(
        "manifest.yaml",
        "ccm: {resources: [{exec: [{\"on {{ Facts.host.info.os }}\": {command: 'true', creates: /}}]}]}",
    );
    scratch.write("data.yaml", "data: {os: \"{{ Facts.host.info.os }}\"}\n");
    for args in [
        &["validate", "manifest.yaml"][..],
        &["graph", "manifest.yaml"],
        &["apply", "--render", "manifest.yaml"],
        &["facts", "host.info.os"],
        &["eval", "Facts.host.info.os"],
        &["hiera", "parse", "data.yaml", "-S"],
    ] {
        let called = ccm(&scratch, args).args(&["-vv"]).run();
        assert_eq!(called.code, 0, "{args:?}: {}", called.shown());
        assert_message(&called, &["gathering facts subtree=host.info"]);
        assert_eq!(ccm(&scratch, args).run().stderr, "", "{args:?}");
    }
    // It is an option of all commands, also of those that have nothing to say.
    assert_eq!(ccm(&scratch, &["status", "-vv"]).run().code, 0);
    assert_eq!(ccm(&scratch, &["-vv", "schema"]).run().code, 0);
}

#[test]
fn secrets_that_become_known_in_the_run_are_redacted() {
    let scratch = Scratch::new();
    let manifest = "data:
  # @sensitive
  token: tok-5f3a9be1c7d2
ccm:
  resources:
    - exec:
        - given: {command: \"echo {{ Data.token }}\"}
        - learning:
            command: echo learnt-in-the-run-77
            sensitive: true
            capture: {it: stdout.raw}
        - passing: {command: \"echo behind ${ Captures.learning.it }\"}
        - reading:
            command: cat
            stdin: stdin-is-not-shown
            environment: {NAME: environment-is-not-shown}
";
    let called = apply(&scratch, manifest, &["-vv"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_message(&called, &["id=exec#given}", "starting command argv=", "/echo '[redacted]'"]);
    assert_message(&called, &["id=exec#passing}", "starting command argv=", "/echo behind '[redacted]'"]);
    for hidden in ["tok-5f3a", "learnt-in", "stdin-is-not", "environment-is-not"] {
        assert!(!called.stderr.contains(hidden), "{hidden} is in\n{}", called.stderr);
    }
}

#[test]
fn the_command_of_a_sensitive_exec_is_redacted() {
    let scratch = Scratch::new();
    let called = apply_execs(
        &scratch,
        "        - hushed:
            command: sh
            args: [-c, exit 3, word-of-args]
            unless: test -e word-of-guard
            returns: [3]
            sensitive: true
        - absent:
            command: ./word-of-program
            cwd: [dir]
            sensitive: true
",
        &["-vv"],
    );
    assert_eq!(called.code, 4, "{}", called.shown());
    let starts = messages(&called).iter().filter(|message| message.contains("starting command")).count();
    assert_eq!(starts, 2, "the guard and the command\n{}", called.stderr);
    assert_message(&called, &["id=exec#hushed}", "starting command argv=[redacted] cwd=[redacted]"]);
    assert_message(&called, &["id=exec#hushed}", "command ended exit=3"]);
    assert!(!called.stderr.contains("word-of"), "{}", called.stderr);
}

#[test]
fn a_run_goes_on_if_nobody_reads_its_messages() {
    let scratch = Scratch::new();
    let files: Vec<String> =
        (0..200).map(|number| format!("        - [dir]/{number}: {{ensure: absent}}\n")).collect();
    let last = "    - exec:\n        - last: {command: touch done, cwd: [dir]}\n";
    let text = format!("ccm:\n  resources:\n    - file:\n{}{last}", files.concat());
    scratch.write("manifest.yaml", in_place(&scratch, &text));
    let running = ccm(&scratch, &["apply", "manifest.yaml", "-q"]).variable("CCM_LOG", "debug").start();
    wait_until("the last exec", || scratch.has("done"));
    let called = running.finish();
    // More than a pipe holds.
    assert!(called.stderr.len() > 1 << 16, "{}", called.stderr.len());
    assert_message(&called, &["id=exec#last}", "resource finished outcome=changed"]);
}

#[test]
fn a_message_is_one_line() {
    let scratch = Scratch::new();
    let called = apply_execs(&scratch, "        - lines: {command: \"printf 'a\\nb\\e[31m'\"}\n", &["-vv"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_message(&called, &["starting command argv=", r"/printf 'a\nb\u{1b}[31m'"]);
    assert_eq!(messages(&called).len(), called.stderr.lines().count(), "{}", called.stderr);
}
