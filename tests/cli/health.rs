//! Health checks, from the manifest to report, record and metrics.

use std::fs;

use ccm_testkit::{Scratch, wait_until};
use serde_json::Value;

use crate::expect::expect_output;
use crate::{apply, ccm};

/// Returns a manifest with a file whose check reads its status from another file.
fn site(scratch: &Scratch, more: &str) -> String {
    let (file, status) = (scratch.at("site.conf"), scratch.at("status"));
    format!(
        "ccm:
  resources:
    - file:
        - {file}:
            content: x
            health_checks:
              - name: web
                provider: shell
                timeout: 1s
                command: |
                  echo \"HTTP is $(cat {status}) | time=0.25s\"
                  exit $(cat {status})
              - command: \"true\"
{more}"
    )
}

#[test]
fn a_critical_check_fails_its_resource_and_a_later_run_repairs() {
    let scratch = Scratch::new();
    let done = scratch.at("done");
    let reload = format!(
        "    - exec: {{name: reload, command: touch {done}, refresh_only: true, subscribe: [file#{}]}}\n",
        scratch.at("site.conf")
    );
    let manifest = site(&scratch, &reload);
    scratch.write("status", "2");
    let called = apply(&scratch, &manifest, &["--diff", "--detailed-exitcodes"]);
    expect_output(
        &called,
        6,
        &[
            "failed: health check `web` is critical: HTTP is 2",
            "created before its health checks: 0644",
            "+x",
            "health checks: 1 ok, 1 critical",
            "created 1; 1 failed after its change",
        ],
    );
    assert!(!fs::exists(&done).expect("a path"), "{}", called.shown());
    scratch.write("status", "0");
    expect_output(&apply(&scratch, &manifest, &[]), 0, &["reload", "health checks: 2 ok"]);
    assert!(fs::exists(&done).expect("a path"));
}

#[test]
fn a_warning_is_shown_recorded_and_measured() {
    let scratch = Scratch::new();
    let manifest = site(&scratch, "");
    scratch.write("status", "1");
    expect_output(
        &apply(&scratch, &manifest, &[]),
        0,
        &["health check `web` is warning: HTTP is 1", "health checks: 1 ok, 1 warning"],
    );
    let called = apply(&scratch, &manifest, &["--output", "jsonl"]);
    let lines: Vec<Value> =
        called.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let of_file = lines.iter().find(|line| line["type"] == "file").expect("the event of the file");
    let check = &of_file["health_check"][0];
    assert_eq!((&check["name"], &check["status"]), (&"web".into(), &1.into()), "{check}");
    assert_eq!(
        (&check["status_word"], &check["output"]),
        (&"warning".into(), &"HTTP is 1".into()),
        "{check}"
    );
    assert_eq!(check["perfdata"][0]["value"], 0.25, "{check}");
    assert_eq!(lines[lines.len() - 1]["checks"]["warning"], 1);
    let checked = ccm(&scratch, &["status", "--check"]).run();
    expect_output(&checked, 1, &["WARNING", "1 health check has a warning, `web` of file#"]);
    let metrics = ccm(&scratch, &["status", "--output", "prometheus"]).run().stdout;
    let has = |start: &str, end: &str| {
        metrics
            .lines()
            .any(|line| line.starts_with(start) && line.contains("check=\"web\"") && line.ends_with(end))
    };
    assert!(
        has("ccm_check_status{", "} 1") && has("ccm_check_value{", "label=\"time\",unit=\"s\"} 0.25"),
        "{metrics}"
    );
    let history = ccm(&scratch, &["history", "--output", "json"]).run();
    let runs: Value = serde_json::from_str(&history.stdout).expect("runs");
    assert_eq!(runs[0]["health_checks"][0]["status_word"], "warning", "{runs}");
}

#[test]
fn noop_runs_no_check_and_says_so_once() {
    let scratch = Scratch::new();
    let called = apply(&scratch, &site(&scratch, ""), &["--noop"]);
    expect_output(&called, 0, &["would create", "2 health checks are not run in noop"]);
    assert_eq!(called.stdout.matches("noop").count(), 1, "{}", called.shown());
}

#[test]
fn monitoring_changes_nothing() {
    let scratch = Scratch::new();
    let manifest = site(&scratch, "");
    scratch.write("status", "0");
    expect_output(&apply(&scratch, &manifest, &[]), 0, &["health checks: 2 ok"]);
    scratch.write("site.conf", "another");
    scratch.write("status", "2");
    let called = apply(&scratch, &manifest, &["--monitor-only"]);
    expect_output(
        &called,
        4,
        &[
            "(only health checks)",
            "health check `web` is critical",
            "health checks: 1 ok, 1 critical",
            ", only health checks: 1 failed",
        ],
    );
    let runs = ccm(&scratch, &["history"]).run();
    expect_output(&runs, 0, &["only checks: 1 critical, 1 ok"]);
    expect_output(&ccm(&scratch, &["history", "last"]).run(), 0, &[", only health checks\n"]);
    assert_eq!(scratch.read("site.conf").as_deref(), Some("another"));
    let checked = ccm(&scratch, &["status", "--check"]).run();
    expect_output(&checked, 2, &["CRITICAL", "1 health check failed ", " ago, `web` of file#"]);
    let noop = apply(&scratch, &manifest, &["--monitor-only", "--noop"]);
    assert_eq!(noop.code, 64, "{}", noop.shown());
    let child = scratch.at("manifest.yaml");
    let parent = format!("ccm: {{resources: [{{apply: [{child}: {{health_check_only: true}}]}}]}}");
    scratch.write("parent.yaml", parent);
    let called = ccm(&scratch, &["apply", "parent.yaml"]).run();
    expect_output(&called, 4, &["health check `web` is critical", "its only resource failed"]);
    assert_eq!(scratch.read("site.conf").as_deref(), Some("another"));
}

#[test]
fn a_pending_refresh_stays_so_while_only_checks_run() {
    let scratch = Scratch::new();
    let done = scratch.at("done");
    let reload = format!(
        "    - exec: {{name: reload, command: touch {done}, refresh_only: true, subscribe: [file#{}]}}\n",
        scratch.at("site.conf")
    );
    let manifest = site(&scratch, &reload);
    scratch.write("status", "2");
    assert_eq!(apply(&scratch, &manifest, &[]).code, 4);
    for (status, code) in [("2", 4), ("0", 0)] {
        scratch.write("status", status);
        for args in
            [&["apply", "--monitor-only", "manifest.yaml"][..], &["check", "--manifest", "manifest.yaml"]]
        {
            let called = ccm(&scratch, args).run();
            assert_eq!(called.code, code, "{args:?}: {}", called.shown());
            assert!(!fs::exists(&done).expect("a path"), "{args:?}: {}", called.shown());
        }
    }
    expect_output(&apply(&scratch, &manifest, &[]), 0, &["reload", "health checks: 2 ok"]);
    assert!(fs::exists(&done).expect("a path"));
}

#[test]
fn a_signal_ends_a_check_and_the_run() {
    let scratch = Scratch::new();
    let begun = scratch.at("begun");
    scratch.write(
        "site.yaml",
        format!("ccm: {{checks: [{{provider: shell, command: 'touch {begun}; sleep 600'}}], resources: []}}"),
    );
    for args in [&["apply", "site.yaml"][..], &["check", "--manifest", "site.yaml"]] {
        drop(fs::remove_file(&begun));
        let running = ccm(&scratch, args).start();
        wait_until("the check has begun", || fs::exists(&begun).is_ok_and(|found| found));
        running.signal("TERM");
        let called = running.finish();
        assert_eq!(called.code, 143, "{args:?}: {}", called.shown());
    }
}
