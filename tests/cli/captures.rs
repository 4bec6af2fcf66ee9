//! What commands are expected to do, and what other resources know of them.

use std::fs;

use ccm_testkit::Scratch;

use crate::{apply, ccm};

/// A command that prints JSON unless its mark is there, and a file that needs a part of it.
fn manifest(scratch: &Scratch) -> String {
    let text = r#"
ccm:
  resources:
    - exec:
        - verify:
            alias: check
            command: printf '{"merkle":{"root":"abc"},"token":"s3cr3t"}'
            creates: [dir]/mark
            expect: {stdout_json: {merkle: {root: abc}}}
            capture: {root: stdout.json.merkle.root, token: stdout.json.token}
    - file:
        - [dir]/root.txt: {content: "${ Captures.check.root }\n"}
        - [dir]/default.txt: {content: "${ lookup('captures.verify.root', 'none') }\n"}
        - [dir]/from.txt: {source: root.j2}
"#;
    scratch.write("root.j2", "root={{ Captures.verify.root }}\n");
    text.replace("[dir]", &scratch.path().to_string_lossy())
}

#[test]
fn a_captured_value_reaches_the_files_that_name_it() {
    let scratch = Scratch::new();
    let text = manifest(&scratch);
    let noop = apply(&scratch, &text, &["--noop", "--diff"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    assert_eq!(noop.stdout.matches("not known before exec#verify").count(), 3, "{}", noop.shown());
    assert!(!scratch.has("root.txt"));
    let called = apply(&scratch, &text, &["--output", "jsonl"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    for (name, expected) in [("root.txt", "abc\n"), ("default.txt", "abc\n"), ("from.txt", "root=abc\n")] {
        assert_eq!(fs::read_to_string(scratch.at(name)).expect(name), expected);
    }
    assert!(called.stdout.contains(r#""captured":["root","token"]"#), "{}", called.shown());
    assert!(!called.stdout.contains("s3cr3t\""), "{}", called.shown());
}

#[test]
fn without_a_value_the_default_counts_or_nothing_is_done() {
    let scratch = Scratch::new();
    let text = manifest(&scratch);
    scratch.write("mark", "");
    for option in ["--noop", "-v"] {
        let called = apply(&scratch, &text, &[option, "-v"]);
        assert_eq!(called.code, 0, "{}", called.shown());
        let nothing = "exec#verify captured nothing, because it was not run";
        assert_eq!(called.stdout.matches(nothing).count(), 2, "{}", called.shown());
    }
    assert!(!scratch.has("root.txt") && !scratch.has("from.txt"));
    assert_eq!(fs::read_to_string(scratch.at("default.txt")).expect("the default"), "none\n");
}

#[test]
fn a_miss_fails_the_resource_and_skips_what_needs_it() {
    let scratch = Scratch::new();
    let text = manifest(&scratch).replace("root: abc", "root: abd");
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 4, "{}", called.shown());
    assert!(called.stdout.contains("stdout_json.merkle.root: expected abd, found abc"), "{}", called.shown());
    assert_eq!(called.stdout.matches("unmet").count(), 4, "{}", called.shown());
}

#[test]
fn what_is_captured_nowhere_is_found_before_anything_runs() {
    let scratch = Scratch::new();
    let text = manifest(&scratch).replace("Captures.check.root", "Captures.chekc.root");
    scratch.write("manifest.yaml", text);
    let called = ccm(&scratch, &["validate", "manifest.yaml"]).run();
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("nothing captures `chekc`"), "{}", called.shown());
    assert!(called.stderr.contains("did you mean `check`?"), "{}", called.shown());
}

#[test]
fn executors_give_their_environment_and_nothing_else() {
    let scratch = Scratch::new();
    let text = r#"
ccm:
  executors:
    clean: {kind: native, default_work_dir: [dir], default_env: {PATH: "/usr/bin:/bin", CI: "1"}, command_whitelist: [env]}
  resources:
    - exec:
        - env: {executor: clean, capture: {all: stdout.raw}}
    - file:
        - [dir]/env.txt: {content: "${ Captures.env.all }"}
"#;
    let text = text.replace("[dir]", &scratch.path().to_string_lossy());
    let called = apply(&scratch, &text, &[]);
    assert_eq!(called.code, 0, "{}", called.shown());
    assert_eq!(fs::read_to_string(scratch.at("env.txt")).expect("a file"), "PATH=/usr/bin:/bin\nCI=1\n");
    let called = apply(&scratch, &text.replace("kind: native", "kind: docker"), &[]);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("`docker` is not supported in this version"), "{}", called.shown());
    assert_eq!(called.stderr.matches("error:").count(), 2, "{}", called.shown());
}
