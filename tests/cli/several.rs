//! Several manifests in one call.

use ccm_testkit::{Called, Scratch, wait_until};

use crate::expect::{expect_error, expect_output};
use crate::{ccm, ended_by_limit, in_place, without_limit};

/// Writes a manifest of execs, given as the lines below `- exec:`.
fn write(scratch: &Scratch, name: &str, execs: &str) {
    let text = format!("ccm:\n  resources:\n    - exec:\n{execs}");
    scratch.write(name, in_place(scratch, &text));
}

fn apply(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["apply"]).args(args).run()
}

/// Three manifests: one that changes something, one that fails and one without anything to do.
fn three() -> Scratch {
    let scratch = Scratch::new();
    write(&scratch, "a.yaml", "        - makes-a: {command: touch [dir]/a, creates: [dir]/a}\n");
    write(&scratch, "b.yaml", "        - fails: {command: 'false'}\n");
    write(&scratch, "c.yaml", "        - c: {command: 'true', creates: /}\n");
    scratch
}

#[test]
fn manifests_are_applied_in_their_order_and_recorded_by_themselves() {
    let scratch = three();
    let called = apply(&scratch, &["a.yaml", "b.yaml", "c.yaml", "--detailed-exitcodes"]);
    let expected = "\
[host]: [dir]/a.yaml
  ! exec makes-a   ran: touch [dir]/a (…)
1 resource in …: ran 1 (run [id])

[host]: [dir]/b.yaml
  x exec fails   failed: exit code 1 not in allowed returns [0]
      command: false
      at b.yaml:4:19
      all output: ccm history [id] fails --state-dir [state]
  failed: exec#fails
1 resource in …: 1 failed (run [id])

[host]: [dir]/c.yaml
1 resource in …: 1 unchanged (run [id])

  failed: [dir]/b.yaml
3 manifests: 1 unchanged, 1 changed, 1 failed
";
    assert_eq!((called.code, &*called.shown()), (6, &*format!("exit code 6\n--- stdout\n{expected}")));
    let listed = ccm(&scratch, &["history", "--output", "json"]).run();
    let runs: serde_json::Value = serde_json::from_str(&listed.stdout).expect("a list");
    let run = |at: usize| {
        let manifest = runs[at]["manifest"].as_str().unwrap_or_default().rsplit('/').next();
        (manifest.unwrap_or_default().to_owned(), runs[at]["exit_code"].clone(), runs[at]["outcome"].clone())
    };
    let row = |name: &str, code: u8, outcome: &str| (name.to_owned(), code.into(), outcome.into());
    assert_eq!(
        [run(0), run(1), run(2)],
        [row("c.yaml", 0, "unchanged"), row("b.yaml", 4, "failed"), row("a.yaml", 2, "changed")]
    );
    // Each short id names its run.
    for line in called.stdout.lines().filter(|line| line.contains("(run ")) {
        let id = line.rsplit("(run ").next().unwrap_or_default().trim_end_matches(')');
        assert_eq!(ccm(&scratch, &["history", id]).run().code, 0, "{id}");
    }
}

#[test]
fn nothing_is_run_if_one_manifest_is_not_valid() {
    let scratch = three();
    scratch.write("bad.yaml", "ccm: {resources: [{exec: {name: a, unles: b}}]}\n");
    scratch.write("worse.yaml", "ccm: {resources: [{exce: a}]}\n");
    let called = apply(&scratch, &["a.yaml", "bad.yaml", "worse.yaml"]);
    expect_output(&called, 1, &[]);
    for part in ["`unles`", "1 error in bad.yaml", "`exce`", "1 error in worse.yaml"] {
        assert!(called.stderr.contains(part), "{part}: {}", called.shown());
    }
    assert!(called.stderr.ends_with("error: 2 of 3 manifests are not valid; nothing was run\n"));
    assert!(!scratch.has("a"));
    let recorded = ccm(&scratch, &["history"]).run().stdout;
    assert_eq!(recorded.matches("refused").count(), 2, "{recorded}");
    // A manifest that can't be read does not hide the errors of the others.
    let called = apply(&scratch, &["a.yaml", "missing.yaml", "bad.yaml"]);
    assert!(called.stderr.contains("missing.yaml can't be read"), "{}", called.shown());
    assert!(called.stderr.contains("`unles`") && !scratch.has("a"), "{}", called.shown());
    assert_eq!(called.stderr.matches("2 of 3 manifests are not valid; nothing was run").count(), 1);
    let called = apply(&scratch, &["a.yaml", "missing.yaml"]);
    assert!(called.stderr.ends_with("error: 1 of 2 manifests is not valid; nothing was run\n"));
}

#[test]
fn a_failure_does_not_end_the_others_unless_asked_to() {
    let scratch = three();
    let called = apply(&scratch, &["b.yaml", "a.yaml", "c.yaml", "--fail-on-error"]);
    expect_output(
        &called,
        4,
        &["exec#fails failed", "not run: [dir]/a.yaml, [dir]/c.yaml", "1 failed, 2 not run"],
    );
    assert!(!scratch.has("a"));
    let called = apply(&scratch, &["b.yaml", "a.yaml"]);
    expect_output(
        &called,
        4,
        &["exec#fails failed", "exec#makes-a changed", "2 manifests: 1 changed, 1 failed"],
    );
    let quiet = apply(&scratch, &["a.yaml", "c.yaml", "-q"]);
    assert_eq!((quiet.code, &*quiet.stdout), (0, ""), "{}", quiet.shown());
    let quiet = apply(&scratch, &["a.yaml", "b.yaml", "-q"]);
    assert!(quiet.stdout.ends_with("2 manifests: 1 unchanged, 1 failed\n"), "{}", quiet.shown());
    assert!(!quiet.stdout.contains("a.yaml"), "{}", quiet.shown());
}

#[test]
fn manifests_that_can_not_be_applied_together_are_refused() {
    let scratch = three();
    let refused = |args: &[&str], code: i32, parts: &[&str], hints: &[&str]| {
        expect_error(&apply(&scratch, args), code, "", parts, hints);
        assert!(!scratch.has("a"));
    };
    refused(&["a.yaml", "a.yaml"], 64, &["the manifest a.yaml is given twice"], &[]);
    refused(&["a.yaml", "./a.yaml"], 64, &["a.yaml and ./a.yaml are the same manifest"], &[]);
    refused(&["-", "a.yaml", "-"], 64, &["standard input is given twice"], &[]);
    for name in ["one.yaml", "two.yaml"] {
        scratch.write(name, "ccm: {name: site, resources: []}\n");
    }
    let same = ["one.yaml and two.yaml have the same name, `site`", "nothing was run"];
    refused(&["a.yaml", "one.yaml", "two.yaml"], 1, &same, &["`ccm.name`"]);
    let file = |alias: &str, content: &str| {
        format!(
            "ccm:\n  resources:\n    - file:\n        - {}: {{alias: {alias}, content: {content}}}\n",
            scratch.at("made")
        )
    };
    scratch.write("one.yaml", file("x", "1"));
    scratch.write("two.yaml", file("y", "2"));
    let both = [
        "file#[dir]/made in one.yaml and file#[dir]/made in two.yaml both manage the path `[dir]/made`",
        "at one.yaml:4:11",
        "at two.yaml:4:11",
    ];
    refused(&["one.yaml", "a.yaml", "two.yaml"], 1, &both, &["keep one of them"]);
    assert!(!scratch.has("made"));
    let job = |user: &str| {
        format!(
            "ccm:\n  resources:\n    - cron:\n        - backup: {{command: x, minute: 5, user: {user}, provider: crontab}}\n"
        )
    };
    scratch.write("one.yaml", job("ada"));
    scratch.write("two.yaml", job("ada"));
    let both = [
        "cron#backup in one.yaml and cron#backup in two.yaml both manage the crontab job `ada: backup`",
        "at one.yaml:4:11",
        "at two.yaml:4:11",
    ];
    refused(&["one.yaml", "two.yaml"], 1, &both, &["keep one of them"]);
    // The same job of another user is another job.
    scratch.write("two.yaml", job("bob"));
    let called = apply(&scratch, &["one.yaml", "two.yaml", "--noop"]);
    assert!(!called.shown().contains("both manage"), "{}", called.shown());
}

#[test]
fn selected_resources_may_be_in_any_of_the_manifests() {
    let scratch = three();
    let called = apply(&scratch, &["a.yaml", "b.yaml", "c.yaml", "--only", "exec#makes-a"]);
    expect_output(&called, 0, &["exec#makes-a changed", "not run: [dir]/b.yaml, [dir]/c.yaml"]);
    let called = apply(&scratch, &["a.yaml", "b.yaml", "--skip", "exec#fails"]);
    expect_output(
        &called,
        0,
        &["a.yaml", "b.yaml", "1 resource in ", "1 skipped", "2 manifests: 2 unchanged"],
    );
    let called = apply(&scratch, &["a.yaml", "b.yaml", "--only", "exec#mkes-a"]);
    expect_error(&called, 64, "", &["--only names `exec#mkes-a`"], &["`exec#makes-a`"]);
}

#[test]
fn noop_and_render_take_several_manifests() {
    let scratch = three();
    let noop = apply(&scratch, &["a.yaml", "c.yaml", "--noop", "--detailed-exitcodes"]);
    expect_output(
        &noop,
        2,
        &["a.yaml (dry run)", "c.yaml (dry run)", "2 manifests: 1 unchanged, 1 would change"],
    );
    assert!(!scratch.has("a") && !scratch.has("state"));
    let rendered = apply(&scratch, &["a.yaml", "c.yaml", "--render"]);
    let documents: Vec<&str> = rendered.stdout.split("---\n").collect();
    assert_eq!((rendered.code, documents.len()), (0, 3), "{}", rendered.shown());
    assert!(documents[1].contains("makes-a") && documents[2].contains("creates: /"), "{}", rendered.shown());
}

#[test]
fn each_format_tells_the_manifests_apart() {
    let scratch = three();
    let log = apply(&scratch, &["b.yaml", "a.yaml", "--fail-on-error", "--output", "log"]);
    let lines: Vec<&str> = log.stdout.lines().collect();
    assert_eq!(lines[0], "INFO run started manifest=[dir]/b.yaml", "{}", log.shown());
    assert!(
        lines[2].starts_with("ERROR run finished ") && lines[2].ends_with(" manifest=[dir]/b.yaml"),
        "{}",
        log.shown()
    );
    assert_eq!(lines[3], "ERROR manifests finished total=2 failed=1 not_run=1 skipped=[dir]/a.yaml");
    let lines = apply(&scratch, &["b.yaml", "c.yaml", "--output", "jsonl"]);
    let protocols: Vec<String> = lines
        .stdout
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("a line of JSON"))
        .map(|line| {
            line["protocol"].as_str().unwrap_or_default().rsplit('.').next().unwrap_or_default().to_owned()
        })
        .collect();
    assert_eq!(protocols, ["start", "event", "summary", "start", "event", "summary"]);
    let json = apply(&scratch, &["a.yaml", "b.yaml", "c.yaml", "--fail-on-error", "--output", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("a document");
    let names: Vec<_> = document["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| run["summary"]["manifest"].as_str().unwrap_or_default().to_owned())
        .collect();
    assert_eq!((json.code, names), (4, vec!["[dir]/a.yaml".to_owned(), "[dir]/b.yaml".to_owned()]));
    assert_eq!(document["not_run"], serde_json::json!(["[dir]/c.yaml"]));
}

#[test]
fn a_signal_and_the_time_limit_end_all_manifests() {
    let scratch = three();
    write(
        &scratch,
        "slow.yaml",
        "        - waits: {provider: shell, command: 'touch [dir]/begun; exec sleep 3600'}\n",
    );
    let running = ccm(&scratch, &["apply", "slow.yaml", "a.yaml"]).start();
    wait_until("the command has begun", || scratch.has("begun"));
    running.signal("INT");
    let called = running.finish();
    expect_output(&called, 130, &["stopped by SIGINT", "stopped: [dir]/slow.yaml", "not run: [dir]/a.yaml"]);
    assert!(!scratch.has("a"));
    let call = |scratch: &Scratch, limit: &str| {
        write(
            scratch,
            "slow.yaml",
            "        - waits: {provider: shell, command: 'touch [dir]/begun; exec sleep 3600'}\n",
        );
        write(scratch, "a.yaml", "        - makes-a: {command: touch [dir]/a, creates: [dir]/a}\n");
        apply(scratch, &["slow.yaml", "a.yaml", "--timeout", limit])
    };
    let (scratch, called) = ended_by_limit(call, |scratch, _| scratch.has("begun"));
    let called = without_limit(called);
    expect_output(&called, 4, &["by --timeout", "failed: [dir]/slow.yaml", "not run: [dir]/a.yaml"]);
    assert!(!scratch.has("a"));
}

#[test]
fn pending_refreshes_belong_to_their_manifest() {
    let scratch = Scratch::new();
    let with = |first: &str| {
        format!(
            "        - source: {{command: 'true', unless: test -e [dir]/{first}}}\n\
             \x20       - target: {{command: test -e [dir]/go, refresh_only: true, subscribe: [exec#source]}}\n"
        )
    };
    write(&scratch, "a.yaml", &with("done-a"));
    write(&scratch, "b.yaml", &with("done-b"));
    let called = apply(&scratch, &["a.yaml", "b.yaml"]);
    assert_eq!((called.code, called.stdout.matches("exec#target still needs a refresh").count()), (4, 2));
    for name in ["done-a", "done-b", "go"] {
        scratch.write(name, "");
    }
    let called = apply(&scratch, &["a.yaml", "b.yaml"]);
    assert_eq!(
        (called.code, called.reported().matches("exec#target refreshed").count()),
        (0, 2),
        "{}",
        called.shown()
    );
    assert!(ccm(&scratch, &["status", "--pending"]).run().stdout.contains("no refresh is pending"));
}

#[test]
fn each_manifest_is_verified_before_the_next_one() {
    let scratch = three();
    write(&scratch, "again.yaml", "        - again: {command: 'true'}\n");
    let called = apply(&scratch, &["a.yaml", "c.yaml", "--verify-idempotent"]);
    assert_eq!((called.code, called.stdout.matches("Verified: ").count()), (0, 2), "{}", called.shown());
    assert_eq!(called.stdout.matches("[dir]/c.yaml").count(), 1, "{}", called.shown());
    let called = apply(&scratch, &["again.yaml", "a.yaml", "--verify-idempotent"]);
    expect_output(&called, 4, &["Verifying", "Verified: ", "2 manifests: 1 unchanged, 1 failed"]);
    assert!(called.stderr.contains("exec#again"), "{}", called.shown());
    let json = apply(&scratch, &["a.yaml", "c.yaml", "--verify-idempotent", "--output", "json"]);
    let document: serde_json::Value = serde_json::from_str(&json.stdout).expect("a document");
    assert!(document["runs"].as_array().expect("a list").iter().all(|run| run["verification"].is_object()));
}

#[test]
fn a_waiting_run_names_all_manifests_of_the_holder() {
    let scratch = three();
    write(
        &scratch,
        "slow.yaml",
        "        - waits: {provider: shell, command: 'touch [dir]/begun; exec sleep 3600'}\n",
    );
    let running = ccm(&scratch, &["apply", "c.yaml", "slow.yaml"]).start();
    wait_until("the command has begun", || scratch.has("begun"));
    let called = apply(&scratch, &["a.yaml", "--lock-wait", "0"]);
    let status = ccm(&scratch, &["status"]).run();
    running.signal("TERM");
    assert_eq!(running.finish().code, 143);
    expect_error(&called, 1, "", &["applying [dir]/c.yaml, [dir]/slow.yaml"], &["--lock-wait"]);
    assert!(
        status.stdout.contains("a run of [dir]/slow.yaml is going on, at exec#waits"),
        "{}",
        status.shown()
    );
}
