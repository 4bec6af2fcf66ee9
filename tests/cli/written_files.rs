//! Files that an exec writes and that properties of later resources use.

use ccm_testkit::{Called, Scratch};
use serde_json::Value;

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
    assert_eq!(events[1]["noop_message"], "not known before exec#make");
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
    assert!(failed["error"][1].as_str().is_some_and(|error| error.contains("can't be read")), "{failed}");
}
