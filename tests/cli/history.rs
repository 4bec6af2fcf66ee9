//! `ccm history`: the recorded runs.

use ccm_testkit::Scratch;
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::expect::{expect_error, expect_output};
use crate::json::apply_mixed;
use crate::{apply_endless, apply_execs, apply_files, ccm, without_limit};

#[test]
fn a_run_is_listed_and_shown() {
    let scratch = Scratch::new();
    apply_mixed(&scratch, &["-q"]);
    let listed = ccm(&scratch, &["history"]).run();
    let heads = ["BEGIN", "DURATION", "RUN", "EXIT", "RESOURCES", "BY", "MANIFEST"];
    let head = listed.stdout.lines().next().unwrap_or_default();
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), heads);
    let counts = "5: 1 unchanged, 1 changed, 1 refreshed, 1 failed, 1 dependency failed  ";
    expect_output(&listed, 0, &["  4     ", counts, "[dir]/manifest.yaml\n"]);
    let called = ccm(&scratch, &["history", "--output", "json"]).run();
    let runs: Value = serde_json::from_str(&called.stdout).expect("a list");
    let counts = json!({
        "total": 5, "unchanged": 1, "changed": 1, "refreshed": 1, "pending_changes": 0, "pending_refreshes": 0,
        "failed": 1, "failed_after_change": 0, "dependency_failed": 1, "unmet": 1, "skipped": 0,
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
        "the run was stopped after [limit]",
        "2 resources",
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
    let first = apply_execs(&scratch, "        - 'true':\n", &[]);
    let unknown = ccm(&scratch, &["history", "ffff"]).run();
    expect_error(&unknown, 1, "", &["\"[state]/runs\"", "`ffff`"], &["`ccm history`"]);
    apply_execs(&scratch, "        - 'true':\n", &[]);
    let ambiguous = ccm(&scratch, &["history", "01"]).run();
    expect_error(&ambiguous, 1, "", &["2 runs", "`01`", "[dir]/manifest.yaml"], &["more characters"]);
    // The id in a report still names its run after a run of the same minute.
    let shown = first.stdout.rsplit("(run ").next().and_then(|end| end.split(')').next()).expect("an id");
    let called = ccm(&scratch, &["history", shown]).run();
    expect_output(&called, 0, &[&format!("run {shown} of "), "[dir]/manifest.yaml"]);
    let listed = ccm(&scratch, &["history"]).run();
    let short = listed.stdout.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)).expect("an id");
    let called = ccm(&scratch, &["history", short]).run();
    assert_eq!(called.code, 0, "the short form is enough: {}", called.shown());
    assert!(called.stdout.starts_with(&format!("run {short}")));
}

#[test]
fn the_list_is_filtered() {
    let scratch = Scratch::new();
    for (name, exec) in
        [("a", "{name: 'true'}"), ("b", "{name: 'false'}"), ("c", "{name: 'true', creates: /}")]
    {
        let manifest = format!("{name}.yaml");
        scratch.write(&manifest, format!("ccm: {{resources: [{{exec: {exec}}}]}}"));
        ccm(&scratch, &["apply", &manifest]).run();
    }
    for (options, expected) in [
        (&[][..], "c b a"),
        (&["--changed"], "a"),
        (&["--failed"], "b"),
        (&["--changed", "--failed"], "b a"),
        (&["--since", "2d"], "c b a"),
        (&["--since", "0"], ""),
        (&["--manifest", "c.yaml"], "c"),
        (&["-n", "2"], "c b"),
        (&["--failed", "-n", "0"], ""),
    ] {
        let called = ccm(&scratch, &["history", "--output", "json"]).args(options).run();
        let runs: Value = serde_json::from_str(&called.stdout).expect("a list");
        let names = runs.as_array().expect("a list").iter().map(|run| {
            run["manifest"].as_str().and_then(|path| path.rsplit(['/', '.']).nth(1)).unwrap_or_default()
        });
        assert_eq!(names.collect::<Vec<_>>().join(" "), expected, "{options:?}");
    }
    for options in [&["last", "--changed"][..], &["--since", "yesterday"], &["--resource", "motd"]] {
        assert_eq!(ccm(&scratch, &["history"]).args(options).run().code, 64, "{options:?}");
    }
}

#[test]
fn the_origin_of_a_run_is_recorded() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}");
    // A variable that can't be a name is ignored.
    for sudo_user in ["ada", "a\u{7}da"] {
        let call = ccm(&scratch, &["apply", "manifest.yaml"]).variable("SUDO_USER", sudo_user);
        assert_eq!(call.run().code, 0);
    }
    let called = ccm(&scratch, &["history", "--output", "json"]).run();
    let runs: Value = serde_json::from_str(&called.stdout).expect("a list");
    let origin = |run: usize, field: &str| runs[run]["started_by"][field].clone();
    assert_eq!((origin(1, "sudo_user"), origin(0, "sudo_user")), (json!("ada"), json!(null)));
    assert!(origin(0, "uid").is_u64() && origin(0, "terminal").is_null() && origin(0, "unit").is_null());
    let shown = ccm(&scratch, &["history", runs[1]["run_id"].as_str().expect("an id")]).run();
    expect_output(&shown, 0, &["started by ", "sudo by ada\n"]);
}

#[test]
fn the_last_change_of_a_resource_is_shown_with_its_diff() {
    let scratch = Scratch::new();
    for content in ["one", "two", "two"] {
        let file = format!("        - '[dir]/motd': {{content: \"{content}\\n\", alias: motd}}\n");
        assert_eq!(apply_files(&scratch, &file, &["--diff"]).code, 0);
    }
    let name = format!("file#{}", scratch.at("motd"));
    for wanted in [&*name, "file#motd"] {
        let called = ccm(&scratch, &["history", "--resource", wanted]).run();
        expect_output(&called, 0, &[" last changed ", "-one\n", "+two\n", "earlier changes:\n"]);
        assert_eq!(
            called.stdout.lines().count()
                - called.stdout.lines().position(|line| line == "earlier changes:").expect("a list"),
            3
        );
    }
    let none = ccm(&scratch, &["history", "--resource", "file#/other"]).run();
    assert_eq!((none.code, &*none.stdout), (0, "no change of file#/other is recorded in 3 runs\n"));
    // A file is a part of its run, too.
    let called = ccm(&scratch, &["history", "--output", "json"]).run();
    let runs: Value = serde_json::from_str(&called.stdout).expect("a list");
    let shown = ccm(&scratch, &["history", runs[1]["run_id"].as_str().expect("an id"), "motd"]).run();
    expect_output(&shown, 0, &["motd", "+two\n"]);
}

#[test]
fn the_slowest_resources_of_a_run_are_listed() {
    let scratch = Scratch::new();
    let execs = "        - slow: {command: sleep 0.1}\n        - slower: {command: sleep 0.2}\n";
    apply_execs(&scratch, execs, &[]);
    for args in [&["history", "last", "--slowest"][..], &["history", "--slowest"]] {
        let called = ccm(&scratch, args).run();
        let (slower, slow) = (called.stdout.find("exec#slower"), called.stdout.find("exec#slow\n"));
        assert!(slower.is_some() && slower < slow, "{}", called.shown());
    }
    let called = ccm(&scratch, &["history", "last", "--slowest", "-n", "1", "--output", "json"]).run();
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["slowest"][0]["resource"], "exec#slower");
    assert_eq!(document["slowest"].as_array().map(Vec::len), Some(1));
}
