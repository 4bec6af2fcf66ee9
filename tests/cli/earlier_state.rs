//! State that version 0.1 left behind: its recorded runs and pending refreshes, read by this version.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use ccm_testkit::{Scratch, repository};
use serde_json::{Value, json};

use crate::ccm;
use crate::expect::expect_output;

const FAILED_RUN: &str = "01a20141-1e9";

/// Copies the fixture to where ccm keeps its state, with the permissions that git does not keep.
fn earlier_state() -> Scratch {
    let scratch = Scratch::new();
    copy(&repository("tests/cli/fixtures/state-0.1"), &scratch.state());
    scratch
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).expect("a directory");
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).expect("permissions");
    for entry in fs::read_dir(from).expect("the fixture") {
        let from = entry.expect("an entry").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::write(&to, fs::read(&from).expect("a file")).expect("a file");
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).expect("permissions");
        }
    }
}

fn document(scratch: &Scratch, args: &[&str]) -> Value {
    let called = ccm(scratch, args).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    serde_json::from_str(&called.stdout).expect("a document")
}

#[test]
fn recorded_runs_are_listed_and_shown() {
    let scratch = earlier_state();
    let history = |args: &[&str]| ccm(&scratch, &["history"]).args(args).run();
    let listed = history(&[]);
    let manifests =
        listed.stdout.lines().skip(1).map(|line| line.split_whitespace().last().unwrap_or_default());
    let manifests: Vec<&str> = manifests.collect();
    assert_eq!(manifests, ["/srv/hashed.yaml", "/srv/site.yaml", "/srv/site.yaml"], "{}", listed.shown());
    expect_output(
        &listed,
        0,
        &["  4  ", "2: 1 changed, 1 failed", "  4  ", "5: 1 failed", "  4  ", "5: 1 changed"],
    );
    let parts = [
        "/srv/site.yaml\n",
        "exit code 4, ccm 0.1.0\n",
        "exec#write-config changed",
        "exec#build failed",
        "exit code 3 not in allowed returns [0]\n",
        "exec#reload failed",
        "triggered by: exec#write-config\n",
        "exec#install ",
        "exec#build failed\n",
        "exec#seasonal skipped",
        "`if` is false\n",
        "exec#reload ",
        "exec#write-config changed ",
        "failed: exec#build, exec#reload\n",
        "5 resources",
    ];
    expect_output(&history(&[FAILED_RUN]), 0, &parts);
    let parts = [
        "exec#write-config failed",
        "exec#build skipped",
        "exec#reload ",
        "exec#write-config failed\n",
        "exec#install skipped",
        "exec#seasonal skipped",
        "exec#reload ",
        "exec#write-config may have changed ",
        "failed: exec#write-config\n",
        "5 resources",
    ];
    expect_output(&history(&["01a20141-1f0"]), 0, &parts);
    let shown = document(&scratch, &["history", FAILED_RUN, "--output", "json"]);
    assert_eq!(shown["run"]["exit_code"], 4);
    assert_eq!(shown["events"].as_array().map(Vec::len), Some(5));
    assert_eq!(shown["events"][1]["error"], json!(["exit code 3 not in allowed returns [0]"]));
}

#[test]
fn recorded_output_of_an_exec_is_found_by_name_and_alias() {
    let scratch = earlier_state();
    for name in ["build", "exec#build", "compile", "2"] {
        let called = ccm(&scratch, &["history", FAILED_RUN, name]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        assert!(called.stdout.contains("building") && called.stdout.contains("no compiler"), "{name}");
    }
}

#[test]
fn pending_refreshes_are_listed() {
    let scratch = earlier_state();
    let status = document(&scratch, &["status", "--pending", "--output", "json"]);
    let pending = |at: usize| &status["pending"][at]["refreshes"][0];
    assert_eq!(
        (&pending(0)["subscriber"], &pending(0)["source"]),
        (&json!("exec#reload"), &json!("exec#write-config"))
    );
    assert_eq!(pending(1)["subscriber"], "exec#reload [redacted]");
    assert_eq!(status["damaged"], json!([]));
}

/// Applies a manifest whose subscriber is refreshed only if its pending refresh is found in the fixture.
fn refreshed(scratch: &Scratch, head: &str, source: &str, subscriber: &str) {
    let manifest = format!(
        "{head}  resources:\n    - exec:\n\
         \x20       - \"{source}\": {{command: 'false', refresh_only: true}}\n\
         \x20       - \"{subscriber}\": {{command: 'true', refresh_only: true, subscribe: [\"exec#{source}\"]}}\n"
    );
    scratch.write("manifest.yaml", manifest);
    let called = ccm(scratch, &["apply", "manifest.yaml", "--output", "jsonl"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let reload = called.stdout.lines().nth(2).expect("the line of the subscriber");
    let reload: Value = serde_json::from_str(reload).expect("JSON");
    assert_eq!(reload["outcome"], "refreshed", "{reload}");
    assert_eq!(reload["owed"].as_array().map(Vec::len), Some(1), "{reload}");
}

#[test]
fn pending_refreshes_are_done_by_the_next_run() {
    let scratch = earlier_state();
    refreshed(&scratch, "ccm:\n  name: fixture\n", "write-config", "reload");
    // These names hold a secret, so the ledger has a salted hash of them.
    let head = "data:\n  # @sensitive\n  token: correct-horse-battery\nccm:\n  name: hashed\n";
    refreshed(&scratch, head, "change {{ Data.token }}", "reload {{ Data.token }}");
    let status = document(&scratch, &["status", "--pending", "--output", "json"]);
    assert_eq!(status["pending"], json!([]));
}
