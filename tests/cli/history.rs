//! `ccm history`.

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::Value;

use crate::json::mixed;
use crate::{apply_endless, apply_execs, ccm, without_limit};

#[test]
fn a_run_is_listed_and_shown() {
    let scratch = Scratch::new();
    mixed(&scratch, &["-q"]);
    assert_snapshot!(ccm(&scratch, &["history"]).run().shown());
    assert_snapshot!(ccm(&scratch, &["history", "--output", "json"]).run().shown());
    assert_snapshot!(ccm(&scratch, &["history", "01"]).run().shown());
    let called = ccm(&scratch, &["history", "01", "--output", "json"]).run();
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["run"]["exit_code"], 4);
    assert_eq!(document["events"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_run_that_was_stopped_says_so() {
    let (scratch, _) = apply_endless(&[]);
    let shown = ccm(&scratch, &["history", "01"]).run().shown();
    assert_snapshot!(without_limit(&shown));
}

#[test]
fn without_runs_it_says_so() {
    let scratch = Scratch::new();
    assert_snapshot!(ccm(&scratch, &["history"]).run().shown(), @"
    exit code 0
    --- stdout
    no runs are recorded in [state]/runs
    ");
    assert_eq!(ccm(&scratch, &["history", "--output", "json"]).run().stdout, "[]\n");
    assert!(!scratch.state().exists());
}

#[test]
fn what_is_not_there_or_not_clear_is_an_error() {
    let scratch = Scratch::new();
    apply_execs(&scratch, "        - 'true':\n", &[]);
    assert_snapshot!(ccm(&scratch, &["history", "ffff"]).run().shown());
    apply_execs(&scratch, "        - 'true':\n", &[]);
    assert_snapshot!(ccm(&scratch, &["history", "01"]).run().shown());
    let listed = ccm(&scratch, &["history"]).run();
    let short = listed.stdout.lines().nth(1).and_then(|line| line.split_whitespace().nth(1)).expect("an id");
    let called = ccm(&scratch, &["history", short]).run();
    assert_eq!(called.code, 0, "the short form is enough: {}", called.shown());
    assert!(called.stdout.starts_with(&format!("run {short}")));
}
