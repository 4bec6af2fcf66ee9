//! `ccm check --manifest`: the health checks of a manifest alone.

use std::fs;

use ccm_testkit::{Called, GovernedMachine, Scratch};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::ccm;
use crate::expect::expect_error;

/// Manifest with a check of each status, of a resource, of the manifest, and of a resource that is not managed.
const SITE: &str = "\
ccm:
  name: site
  checks:
    - {name: order, provider: shell, command: 'echo \"down & out\"; exit 2'}
  resources:
    - exec:
        - changes:
            command: touch changed
            cwd: /
            health_checks:
              - {name: web, command: echo 'all well | time=0.25s;2;5;0'}
              - {name: slow, provider: shell, command: echo slow; exit 1}
              - {name: rules, goss_rules: {file: {/: {exists: true}, /none: {exists: true}}}}
        - quiet: {command: touch changed, cwd: /}
        - off:
            command: touch changed
            cwd: /
            control: {if: \"false\"}
            health_checks: [{name: never, command: \"false\"}]
        - odd:
            command: touch changed
            cwd: /
            health_checks: [{name: lost, provider: shell, command: exit 3}]
";

fn checked(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["check"]).args(args).run()
}

/// Replaces times, which are others in each run.
fn timeless(text: &str) -> String {
    let is_of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    ["time=\"", "duration="].iter().fold(text.to_owned(), |text, name| {
        let mut parts = text.split(name);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + name + "T" + part.trim_start_matches(is_of_number))
    })
}

#[test]
fn each_format_has_every_status() {
    let scratch = Scratch::new();
    scratch.write("site.yaml", SITE);
    for (format, code) in [("documentation", 4), ("tap", 4), ("junit", 4), ("nagios", 2)] {
        let called = checked(&scratch, &["--manifest", "site.yaml", "--output", format]);
        assert_eq!((called.code, &*called.stderr), (code, ""), "{}", called.shown());
        let text = timeless(&called.stdout);
        let text = match text.split_once(" unknown in ") {
            Some((text, _)) => format!("{text} unknown in T\n"),
            None => text,
        };
        assert_snapshot!(format!("manifest_check_{format}"), text);
    }
    let called = checked(&scratch, &["--manifest", "site.yaml", "--json"]);
    assert_eq!((called.code, &*called.stderr), (4, ""), "{}", called.shown());
    let mut document: Value = serde_json::from_str(&called.stdout).expect("a document");
    document["duration"] = json!("T");
    let of_resources = document["resources"].as_array_mut().expect("resources");
    for check in
        of_resources.iter_mut().filter_map(|resource| resource["health_check"].as_array_mut()).flatten()
    {
        check["duration"] = json!("T");
    }
    assert_snapshot!("manifest_check_json", serde_json::to_string_pretty(&document).expect("JSON"));
}

#[test]
fn nothing_is_changed_and_no_run_is_recorded() {
    let scratch = Scratch::new();
    scratch.write("site.yaml", SITE.replace("cwd: /", &format!("cwd: {}", scratch.path().display())));
    let before = scratch.names();
    assert_eq!(checked(&scratch, &["--manifest", "site.yaml"]).code, 4);
    assert_eq!(scratch.names(), before);
    let history = ccm(&scratch, &["history", "--output", "json"]).run();
    assert_eq!(history.stdout.trim(), "[]", "{}", history.shown());
    // A run that goes on does not matter, and neither does a name for pending refreshes.
    let input = "ccm: {resources: [{exec: [{a: {command: 'false', subscribe: [exec#b], health_checks: [{command: 'true'}]}}, \
                 {b: {command: 'false'}}]}]}";
    let manifest = fs::File::open(scratch.write("input.yaml", input)).expect("a file");
    let called = ccm(&scratch, &["check", "--manifest", "-"]).stdin(manifest).run();
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn the_exit_code_says_what_happened() {
    let scratch = Scratch::new();
    let manifest = |check: &str| {
        format!("ccm: {{resources: [{{exec: [{{x: {{command: 'false', health_checks: [{check}]}}}}]}}]}}")
    };
    for (name, text, code, nagios, word) in [
        ("ok", manifest("{command: 'true'}"), 0, 0, "OK: 1 ok|"),
        ("warning", manifest("{provider: shell, command: exit 1}"), 0, 1, "WARNING: 0 ok, 1 with a warning|"),
        (
            "critical",
            manifest("{name: c, provider: shell, command: exit 2}"),
            4,
            2,
            "CRITICAL: 1 of 1 failed: c of exec#x|",
        ),
        ("unknown", manifest("{name: c, command: no-such}"), 4, 3, "UNKNOWN: 1 of 1 failed: c of exec#x|"),
        ("wrong", manifest("{comand: 'true'}"), 1, 3, "UNKNOWN: "),
        ("rules", "file: {/: {exists: true}}\n".to_owned(), 1, 3, "UNKNOWN: "),
    ] {
        scratch.write(name, text);
        let called = checked(&scratch, &["--manifest", name]);
        assert_eq!(called.code, code, "{name}: {}", called.shown());
        let called = checked(&scratch, &["--manifest", name, "--format", "nagios"]);
        assert_eq!(called.code, nagios, "{name}: {}", called.shown());
        assert!(called.stdout.starts_with(word), "{name}: {}", called.shown());
    }
    assert_eq!(checked(&scratch, &["--manifest", "missing"]).code, 1);
    for args in [
        &["--manifest", "ok", "goss.yaml"][..],
        &["--manifest"],
        &["goss.yaml", "--data", "a=1"],
        &["goss.yaml", "--fact", "a=1"],
        &["goss.yaml", "--max-manifest-size", "1MiB"],
        &["--manifest", "ok", "--sleep", "1s"],
    ] {
        assert_eq!(checked(&scratch, args).code, 64, "{args:?}");
    }
}

#[test]
fn a_manifest_without_checks_is_warned_of() {
    let scratch = Scratch::new();
    scratch.write("none.yaml", "ccm: {resources: []}\n");
    let called = checked(&scratch, &["--manifest", "none.yaml"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert!(called.stderr.contains("no health check of none.yaml was run"), "{}", called.shown());
    // A monitor that checks nothing is not OK.
    let called = checked(&scratch, &["--manifest", "none.yaml", "--format", "nagios"]);
    assert_eq!(called.code, 1, "{}", called.shown());
    let goss = "file: {/: {exists: true}}\n";
    scratch.write("goss.yaml", goss);
    let called = checked(&scratch, &["--manifest", "goss.yaml"]);
    expect_error(&called, 1, "goss.yaml:1:1", &["unknown key `file`"], &["`resources:`"]);
}

#[test]
fn values_of_the_command_line_reach_the_checks() {
    let scratch = Scratch::new();
    let site = "{data: {code: 2}, ccm: {checks: [{name: c, provider: shell, command: 'exit {{ Data.code }}'}], resources: []}}";
    scratch.write("site.yaml", site);
    assert_eq!(checked(&scratch, &["--manifest", "site.yaml"]).code, 4);
    let called = checked(&scratch, &["--manifest", "site.yaml", "--data", "code=0"]);
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn checks_that_fail_are_run_again() {
    let scratch = Scratch::new();
    let tries = scratch.at("tries");
    let site = format!(
        "ccm: {{checks: [{{name: c, provider: shell, command: 'echo x >> {tries}; test $(wc -l < {tries}) -ge 3 || exit 2'}}], \
         resources: []}}"
    );
    scratch.write("site.yaml", site);
    let called = checked(&scratch, &["--manifest", "site.yaml", "--retry-timeout", "60s", "--sleep", "1ms"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(scratch.read("tries").as_deref(), Some("x\nx\nx\n"));
}

#[test]
fn a_resource_that_needs_values_of_a_run_is_unknown_and_one_without_checks_is_left_out() {
    let scratch = Scratch::new();
    let site = "\
ccm:
  resources:
    - exec:
        - source: {command: echo x, capture: {text: stdout.raw}}
        - plain: {command: 'echo {{ Captures.source.text }}'}
        - late: {command: 'echo {{ Captures.source.text }}', health_checks: [{command: 'true'}]}
";
    scratch.write("site.yaml", site);
    let called = checked(&scratch, &["--manifest", "site.yaml", "--json"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    let resources = document["resources"].as_array().expect("resources");
    assert_eq!(resources.len(), 1, "{document}");
    assert_eq!((&resources[0]["name"], &resources[0]["status"]), (&"late".into(), &"unknown".into()));
}

#[test]
fn the_policy_judges_the_checks_and_the_log_has_their_results() {
    let settings = "rules:\n  - {name: no touch, match: {program: touch}, deny: true}\n";
    let Some(machine) = GovernedMachine::new(env!("CARGO_BIN_EXE_ccm"), settings) else { return };
    let site = "\
ccm:
  checks:
    - {name: allowed, command: echo seen}
    - {name: denied, provider: shell, command: touch made}
  resources: []
";
    machine.scratch.write("site.yaml", site);
    let called = machine.run(&["check", "--manifest", "site.yaml", "--json"]);
    assert!(matches!(called.code, 1 | 4), "{}", called.shown());
    machine.scratch.write("site.yaml", site.replace("touch made", "exit 1"));
    let called = machine.run(&["check", "--manifest", "site.yaml"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let log = machine.audit_log();
    let result =
        "\"checks\":[{\"name\":\"allowed\",\"status\":\"ok\"},{\"name\":\"denied\",\"status\":\"warning\"}]";
    assert!(log.iter().any(|line| line.contains(result)), "{log:?}");
    assert!(log.iter().any(|line| line.contains("echo") && line.contains("seen")), "{log:?}");
    assert!(!machine.scratch.path().join("made").exists());
    let shown = machine.run(&["audit", "log"]).stdout;
    assert!(shown.contains("(allowed ok, denied warning)"), "{shown}");
}
