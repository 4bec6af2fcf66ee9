//! The lock: one run at a time.

use ccm_testkit::{Ccm, RunningCcm, Scratch, wait_until};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::expect_error;

/// Two manifests: one whose command writes its process number and waits for a file, and one that leaves a mark.
pub(crate) fn prepare(scratch: &Scratch) {
    let program = format!(
        "#!/bin/sh\ncd {}\necho $$ > begun\nwhile [ ! -e go ]; do sleep 0.01; done\n",
        scratch.at("")
    );
    scratch.write_program("waits", &program);
    let one = |command: String| format!("ccm: {{resources: [{{exec: [{{job: {{command: {command}}}}}]}}]}}");
    scratch.write("first.yaml", one(scratch.at("waits")));
    scratch.write("second.yaml", one(format!("touch {}", scratch.at("ran"))));
}

pub(crate) fn hold(scratch: &Scratch) -> RunningCcm {
    let running = ccm(scratch, &["apply", "first.yaml"]).start();
    wait_until("the first run has begun", || scratch.read("begun").is_some_and(|pid| pid.ends_with('\n')));
    running
}

/// Ends the command of a killed run, which has no parent that waits for it.
pub(crate) fn let_go(scratch: &Scratch) {
    let pid = scratch.read("begun").expect("its number");
    let program = format!("/proc/{}/exe", pid.trim());
    assert!(std::fs::read_link(&program).is_ok(), "the command has ended with ccm");
    scratch.write("go", "");
    wait_until("the command ends", || std::fs::read_link(&program).is_err());
}

fn second(scratch: &Scratch, options: &[&str]) -> Ccm {
    ccm(scratch, &["apply", "second.yaml"]).args(options)
}

/// Waits until a run that was started has the lock file open, which it opens right before it waits.
fn waits_for_lock(scratch: &Scratch, running: &RunningCcm) {
    let lock = scratch.state().join("lock");
    wait_until("the second run waits", || {
        let descriptors = std::fs::read_dir(format!("/proc/{}/fd", running.pid()));
        let mut descriptors = descriptors.into_iter().flatten().flatten();
        descriptors.any(|descriptor| std::fs::read_link(descriptor.path()).is_ok_and(|path| path == lock))
    });
}

#[test]
fn a_run_that_does_not_wait_names_the_holder() {
    let scratch = Scratch::new();
    prepare(&scratch);
    let first = hold(&scratch);
    let called = second(&scratch, &["--lock-wait", "0"]).run();
    assert_snapshot!("lock_held", called.shown());
    assert!(called.stderr.contains(&format!("pid {}", first.pid())), "{}", called.stderr);
    let called = second(&scratch, &["--lock-wait", "2s"]).run();
    let holder = format!("(pid {}, applying [dir]/first.yaml, since ", first.pid());
    expect_error(&called, 1, "", &[&holder, "waited 2s", "nothing was run"], &["`--lock-wait`"]);
    assert!(called.stderr.starts_with("note: waiting for another run"), "{}", called.shown());
    assert!(!scratch.has("ran"));
    scratch.write("go", "");
    assert_eq!(first.finish().code, 0);
    assert_eq!(second(&scratch, &["--lock-wait", "0"]).run().code, 0);
}

#[test]
fn a_run_waits_for_the_lock() {
    let scratch = Scratch::new();
    prepare(&scratch);
    let first = hold(&scratch);
    let waiting = second(&scratch, &[]).start();
    waits_for_lock(&scratch, &waiting);
    assert!(!scratch.has("ran"));
    scratch.write("go", "");
    assert_eq!(first.finish().code, 0);
    let called = waiting.finish();
    assert_eq!((called.code, scratch.has("ran")), (0, true), "{}", called.shown());
}

#[test]
fn a_killed_run_frees_its_lock_although_its_command_lives_on() {
    let scratch = Scratch::new();
    prepare(&scratch);
    let first = hold(&scratch);
    first.signal("KILL");
    assert_eq!(first.finish().code, 137);
    let called = second(&scratch, &["--lock-wait", "0"]).run();
    assert_eq!((called.code, scratch.has("ran")), (0, true), "{}", called.shown());
    let_go(&scratch);
}

#[test]
fn noop_needs_no_lock() {
    let scratch = Scratch::new();
    prepare(&scratch);
    let first = hold(&scratch);
    let called = second(&scratch, &["--noop", "--lock-wait", "0"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    scratch.write("go", "");
    assert_eq!(first.finish().code, 0);
}

#[test]
fn a_signal_ends_the_wait() {
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let scratch = Scratch::new();
        prepare(&scratch);
        let first = hold(&scratch);
        let waiting = second(&scratch, &["--lock-wait", "1h"]).start();
        waits_for_lock(&scratch, &waiting);
        waiting.signal(signal);
        let called = waiting.finish();
        assert_eq!((called.code, scratch.has("ran")), (code, false), "{}", called.shown());
        assert!(called.stderr.contains("ended the wait for another run"), "{}", called.shown());
        scratch.write("go", "");
        assert_eq!(first.finish().code, 0);
    }
}

#[test]
fn another_state_directory_has_another_lock() {
    let scratch = Scratch::new();
    prepare(&scratch);
    let first = hold(&scratch);
    let called = second(&scratch, &["--lock-wait", "0", "--state-dir", "other"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    scratch.write("go", "");
    assert_eq!(first.finish().code, 0);
}
