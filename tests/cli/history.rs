//! `ccm history`: the recorded runs.

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::expect::{expect_error, expect_output};
use crate::json::apply_mixed;
use crate::{apply_endless, apply_execs, ccm, without_limit};

#[test]
fn a_run_is_listed_and_shown() {
    let scratch = Scratch::new();
    apply_mixed(&scratch, &["-q"]);
    assert_snapshot!("list", ccm(&scratch, &["history"]).run().shown());
    let called = ccm(&scratch, &["history", "--output", "json"]).run();
    let runs: Value = serde_json::from_str(&called.stdout).expect("a list");
    let counts = json!({
        "total": 5, "unchanged": 1, "changed": 1, "refreshed": 1, "pending_changes": 0, "pending_refreshes": 0,
        "failed": 1, "unmet": 1, "skipped": 0,
    });
    assert_eq!((&runs[0]["manifest"], &runs[0]["counts"]), (&json!("[dir]/manifest.yaml"), &counts));
    assert_eq!(
        [&runs[0]["finished"], &runs[0]["noop"], &runs[0]["stopped"]],
        [&json!(true), &json!(false), &json!(null)]
    );
    assert_eq!((&runs[0]["exit_code"], &runs[1]), (&json!(4), &json!(null)));
    assert_snapshot!("run", ccm(&scratch, &["history", "01"]).run().shown());
    let called = ccm(&scratch, &["history", "01", "--output", "json"]).run();
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["run"]["exit_code"], 4);
    assert_eq!(document["events"].as_array().map(Vec::len), Some(4));
}

#[test]
fn hints_and_locations_of_failures_are_recorded() {
    let scratch = Scratch::new();
    // The command of the second exec may have changed something before it failed.
    apply_execs(&scratch, "        - missing: {command: no-such-program}\n        - 'false':\n", &["-q"]);
    let document = ccm(&scratch, &["history", "01", "--output", "json"]).run().stdout;
    let document: Value = serde_json::from_str(&document).expect("a document");
    let failed = document["events"].as_array().expect("events");
    let shown = ccm(&scratch, &["history", "01"]).run().stdout;
    let hint = failed[0]["hints"][0].as_str().expect("a hint");
    assert!(shown.contains(hint), "{shown}");
    assert_eq!([&failed[0]["changed"], &failed[1]["changed"]], [false, true]);
    let line = |event: &Value| event["location"]["line"].as_u64().expect("a line");
    assert_eq!(line(&failed[1]), line(&failed[0]) + 1);
    assert!(shown.contains(&format!("manifest.yaml:{}:", line(&failed[0]))), "{shown}");
}

#[test]
fn a_stopped_run_is_shown_with_the_cause() {
    let (scratch, _) = apply_endless(&[]);
    let called = without_limit(ccm(&scratch, &["history", "01"]).run());
    let parts = [
        "exit code 4",
        "exec#waits failed",
        "exec#true skipped",
        "after [limit]",
        "2 resources",
        "after [limit]",
    ];
    expect_output(&called, 0, &parts);
}

#[test]
fn the_directory_is_named_if_it_has_no_runs() {
    let scratch = Scratch::new();
    let called = ccm(&scratch, &["history"]).run();
    expect_output(&called, 0, &["no runs", "[state]/runs\n"]);
    assert_eq!(called.stderr, "");
    assert_eq!(ccm(&scratch, &["history", "--output", "json"]).run().stdout, "[]\n");
    assert!(!scratch.state().exists());
}

#[test]
fn an_unknown_or_ambiguous_id_is_an_error() {
    let scratch = Scratch::new();
    apply_execs(&scratch, "        - 'true':\n", &[]);
    let unknown = ccm(&scratch, &["history", "ffff"]).run();
    expect_error(&unknown, 1, "", &["\"[state]/runs\"", "`ffff`"], &["`ccm history`"]);
    apply_execs(&scratch, "        - 'true':\n", &[]);
    let ambiguous = ccm(&scratch, &["history", "01"]).run();
    expect_error(&ambiguous, 1, "", &["2 runs", "`01`"], &["more characters"]);
    let listed = ccm(&scratch, &["history"]).run();
    let short = listed.stdout.lines().nth(1).and_then(|line| line.split_whitespace().nth(1)).expect("an id");
    let called = ccm(&scratch, &["history", short]).run();
    assert_eq!(called.code, 0, "the short form is enough: {}", called.shown());
    assert!(called.stdout.starts_with(&format!("run {short}")));
}
