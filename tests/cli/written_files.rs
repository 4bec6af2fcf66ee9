//! Files that an exec writes and that properties of later resources use.

use ccm_testkit::{Called, Scratch};
use serde_json::Value;

use crate::expect::outcomes;
use crate::{apply, in_place};

/// An exec that writes a number into a file, and a resource that uses the file.
const MANIFEST: &str = "\
ccm:
  resources:
    - exec:
        - make: {command: \"echo $1 >[dir]/made\", provider: shell}
    - file:
        - [dir]/conf: {content: \"made: {{ file('[dir]/made') }}\"}
";

fn events(called: &Called) -> Vec<Value> {
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    document["events"].as_array().expect("events").clone()
}

#[test]
fn a_property_uses_what_an_exec_wrote_in_the_same_run() {
    let scratch = Scratch::new();
    let run = |number: &str| {
        let manifest = in_place(&scratch, MANIFEST).replace("$1", number);
        let called = apply(&scratch, &manifest, &["--output", "json"]);
        assert_eq!(called.code, 0, "{}", called.shown());
        scratch.read("conf")
    };
    assert_eq!(run("1").as_deref(), Some("made: 1\n"));
    assert_eq!(run("2").as_deref(), Some("made: 2\n"));
}

#[test]
fn noop_does_not_know_what_an_exec_would_write() {
    let scratch = Scratch::new();
    let called = apply(&scratch, &in_place(&scratch, MANIFEST), &["--noop", "--output", "json"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    let events = events(&called);
    assert_eq!(events[1]["outcome"], "would_change");
    assert_eq!(events[1]["noop_message"], "may fail");
    let warning = events[1]["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.starts_with("a run fails unless an earlier resource provides it: "), "{warning}");
    assert!(!scratch.has("made") && !scratch.has("conf"));
}

#[test]
fn a_file_that_no_exec_wrote_fails_its_user() {
    let scratch = Scratch::new();
    let manifest = MANIFEST.replace("echo $1 >[dir]/made", "true");
    let called = apply(&scratch, &in_place(&scratch, &manifest), &["--output", "json"]);
    assert_eq!(called.code, 4, "{}", called.shown());
    let failed = &events(&called)[1];
    assert_eq!(failed["failure"]["kind"], "value");
    assert_eq!(failed["failure"]["property"], "content");
    assert_eq!(failed["location"]["line"], 6);
    assert!(failed["error"][1].as_str().is_some_and(|error| error.contains("does not exist")), "{failed}");
}

/// An exec that chooses a role, and resources for one of them.
const ROLES: &str = "\
data: {word: hello}
ccm:
  resources:
    - exec:
        - choose: {command: \"echo ROLE >[dir]/role\", provider: shell, unless: grep -qx ROLE [dir]/role}
    - file:
        - [dir]/web.conf:
            content: \"{{ Data.word }}\\n\"
            control: {if: \"trim(file('[dir]/role')) == 'web'\"}
    - apply:
        - child.yaml: {control: {unless: \"trim(file('[dir]/role')) == 'web'\"}}
";

#[test]
fn a_condition_uses_what_an_exec_wrote_in_the_same_run() {
    let scratch = Scratch::new();
    scratch.write("child.yaml", "ccm: {resources: [{exec: [{in-child: {command: 'true', creates: /}}]}]}");
    let run = |role: &str, options: &[&str]| {
        let manifest = in_place(&scratch, ROLES).replace("ROLE", role);
        let called = apply(&scratch, &manifest, &[options, &["--output", "jsonl"]].concat());
        assert_eq!(called.code, 0, "{}", called.shown());
        outcomes(&called).join(", ").replace("[dir]/", "")
    };
    let unknown = "exec#choose would_change, file#web.conf would_change, exec#in-child would_change, apply#child.yaml would_change";
    assert_eq!(run("web", &["--noop"]), unknown);
    assert!(!scratch.has("role"));
    let web =
        "file#web.conf changed, exec#in-child skipped not_managed, apply#child.yaml skipped not_managed";
    assert_eq!(run("web", &[]), format!("exec#choose changed, {web}"));
    assert_eq!(scratch.read("web.conf").as_deref(), Some("hello\n"));
    assert_eq!(run("web", &[]), format!("exec#choose unchanged, {}", web.replace(" changed", " unchanged")));
    // Noop decides as things are now.
    let noop = run("db", &["--noop"]);
    assert!(noop.starts_with("exec#choose would_change, file#web.conf unchanged, "), "{noop}");
    let db = "file#web.conf skipped not_managed, exec#in-child unchanged, apply#child.yaml unchanged";
    assert_eq!(run("db", &[]), format!("exec#choose changed, {db}"));
    scratch.write("web.conf", "other\n");
    assert_eq!(run("db", &[]), format!("exec#choose unchanged, {db}"));
    // What was off when the manifest was loaded is applied in the same run.
    assert_eq!(run("web", &[]), format!("exec#choose changed, {web}"));
    assert_eq!(scratch.read("web.conf").as_deref(), Some("hello\n"));
}

#[test]
fn a_condition_without_its_file_is_an_error_or_a_failure() {
    let scratch = Scratch::new();
    let conditional =
        "    - file:\n        - [dir]/f: {content: x, control: {if: \"file('[dir]/role') == 'web'\"}}\n";
    for (before, code, part) in
        [("", 1, "does not exist"), ("    - exec:\n        - idle: {command: 'true'}\n", 4, "does not exist")]
    {
        let manifest = in_place(&scratch, &format!("ccm:\n  resources:\n{before}{conditional}"));
        let called = apply(&scratch, &manifest, &[]);
        assert_eq!(called.code, code, "{}", called.shown());
        assert!(called.shown().contains(part), "{}", called.shown());
        assert!(!scratch.has("f"));
    }
}
