//! Parts of a sandbox that a kernel enforces, and messages about the others.

use std::fs;

use ccm_testkit::{Scratch, skipped, without_system_calls};
use serde_json::Value;

use super::{apply_private, failed, kernel_can};

/// System calls for the isolation of files, without which a sandbox is refused.
const OF_FILES: [i64; 2] = [libc::SYS_unshare, libc::SYS_landlock_create_ruleset];

#[test]
fn the_enforced_rules_are_reported_and_recorded() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    let exec = "        - a: {command: 'echo [1]', sandbox: {}, expect: {stdout_json: [1]}, capture: {x: stdout.json.0}}\n        - b: {command: 'echo {{ Captures.a.x }}', sandbox: {network: true}, expect: {stdout: contains('1')}}\n";
    let called = apply_private(&scratch, exec, &["--output", "json"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let report: Value = serde_json::from_str(&called.stdout).expect("JSON");
    let text = report.to_string();
    for expected in ["\"sandbox\":{\"filesystem\":[", "\"not_enforced\":[]", "\"seccomp\""] {
        assert!(text.contains(expected), "{expected} in {text}");
    }
    let runs = fs::read_dir(scratch.state().join("runs")).expect("the runs");
    // The first run asked the kernel.
    let mut runs: Vec<_> = runs.flatten().map(|run| run.path()).collect();
    runs.sort();
    let exec = runs.last().expect("a run").join("exec");
    for (name, network) in [("1-a", false), ("2-b", true)] {
        let metadata = fs::read_to_string(exec.join(name).join("metadata.json")).expect("metadata");
        let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
        assert_eq!((&metadata["sandbox"], &metadata["network"]), (&"process".into(), &network.into()));
        assert!(metadata["workdir"].as_str().is_some_and(|path| path.ends_with("/work")), "{metadata}");
    }
}

#[test]
fn a_kernel_that_can_not_enforce_a_sandbox_runs_nothing() {
    let scratch = Scratch::new();
    scratch.write("place/.keep", "");
    let exec =
        "        - a: {command: touch made, sandbox: {workdir: ./place}}\n        - b: {command: 'true'}\n";
    let said = "this kernel can't enforce the sandbox: `read` and `write`: this kernel offers no namespaces (Operation not permitted (os error 1)) and this kernel has no Landlock";
    without_system_calls(&OF_FILES, || {
        let noop = apply_private(&scratch, exec, &["--noop"]);
        assert_eq!(noop.code, 0, "{}", noop.shown());
        assert!(noop.stdout.contains(&format!("a run would fail now: {said}")), "{}", noop.shown());
        let called = apply_private(&scratch, exec, &[]);
        assert_eq!(called.code, 4, "{}", called.shown());
        assert!(called.stdout.contains(said), "{}", called.shown());
        assert!(
            called.stdout.contains("set `advisory: true` to run it without these protections"),
            "{}",
            called.shown()
        );
        assert!(called.reported().contains("exec#b changed"), "{}", called.shown());
    });
    assert!(!scratch.has("place/made"));
}

#[test]
fn an_advisory_sandbox_runs_with_one_warning() {
    let scratch = Scratch::new();
    scratch.write("outside", "seen\n");
    let exec = "        - a: {command: 'cat [dir]/outside', provider: shell, logoutput: true, onlyif: ['true', 'true'], sandbox: {advisory: true}}\n";
    let said = "this kernel does not enforce `read` and `write`";
    without_system_calls(&OF_FILES, || {
        for (options, code) in [(&["--noop"][..], 0), (&[], 0)] {
            let called = apply_private(&scratch, exec, options);
            assert_eq!(called.code, code, "{}", called.shown());
            assert_eq!(called.stdout.matches(said).count(), 1, "{}", called.shown());
            assert_eq!(called.stdout.contains("exec#a stdout | seen"), options.is_empty());
        }
        let called = apply_private(&scratch, exec, &["--output", "json"]);
        assert!(called.stdout.contains("this kernel has no Landlock\""), "{}", called.shown());
    });
}

#[test]
fn a_sandbox_is_enforced_without_namespaces() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    scratch.write("outside", "secret\n");
    without_system_calls(&OF_FILES[..1], || {
        let own = apply_private(&scratch, "        - a: {command: 'true', sandbox: {}}\n", &[]);
        if own.stdout.contains("no Landlock") || own.stdout.contains("its Landlock") {
            skipped("without namespaces, this kernel has too little left");
            return;
        }
        assert_eq!(own.code, 0, "{}", own.shown());
        let exec = "        - a: {command: 'cat [dir]/outside', provider: shell, sandbox: {}}\n";
        assert!(failed(&scratch, exec).contains("Permission denied"));
    });
}

#[test]
fn a_reached_limit_is_named_in_the_failure() {
    let scratch = Scratch::new();
    if !kernel_can(&scratch) {
        return;
    }
    let exec = "        - a: {command: 'exec dd if=/dev/zero of=big bs=1M count=3 status=none', provider: shell, \
                sandbox: {file_size: 2MiB}}\n";
    let called = apply_private(&scratch, exec, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    for expected in ["command was killed by SIGXFSZ", "the sandbox reached the limit `file_size`"] {
        assert!(called.stdout.contains(expected), "{expected} in {}", called.shown());
    }
}
