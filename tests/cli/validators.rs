//! Commands that check new content.

use ccm_testkit::Scratch;

use crate::{apply, apply_files, in_place};

/// A program that refuses content with the word `bad`, and writes to its file whatever it holds.
const PROGRAM: &str = "#!/bin/sh\necho changed >> \"$1\"\nstat -c '%a' \"$1\" > mode\n! grep -n bad \"$1\"\n";

#[test]
fn a_validator_decides_and_its_own_changes_are_not_taken() {
    let scratch = Scratch::new();
    let program =
        scratch.write_program("check", &PROGRAM.replace("> mode", &format!("> {}", scratch.at("mode"))));
    scratch.write("f", "old\n");
    scratch.write("source", "bad source\n");
    let validate = format!("validate: '{} %s'", program.display());
    let manifest = |word: &str| {
        let text = format!(
            "ccm:\n  resources:\n    - file: [{{'[dir]/f': {{content: \"{word} content\\n\", {validate}}}}}]\n    \
             - line: [l: {{path: '[dir]/g', line: '{word} line', create: true, {validate}}}]\n"
        );
        in_place(&scratch, &text)
    };
    let noop = apply(&scratch, &manifest("bad"), &["--noop"]);
    assert_eq!(noop.code, 0, "{}", noop.shown());
    let warning = "a run would fail now: `validate` refused the new content";
    assert_eq!(noop.shown().matches(warning).count(), 2, "{}", noop.shown());
    let refused = apply(&scratch, &manifest("bad"), &[]);
    assert_eq!(refused.code, 4, "{}", refused.shown());
    assert!(refused.stdout.contains("1:bad content"), "{}", refused.shown());
    assert_eq!((scratch.read("f").as_deref(), scratch.has("g")), (Some("old\n"), false));
    let applied = apply(&scratch, &manifest("good"), &[]);
    assert_eq!(applied.code, 0, "{}", applied.shown());
    // The program has no effect on the files, and the report says so of each.
    let told = "changed its private copy of the content, which has no effect";
    assert_eq!(applied.shown().matches(told).count(), 2, "{}", applied.shown());
    assert_eq!(scratch.read("f").as_deref(), Some("good content\n"));
    assert_eq!(scratch.read("g").as_deref(), Some("good line\n"));
    assert_eq!(scratch.read("mode").as_deref(), Some("600\n"));
    let from_source = format!("\n        - '[dir]/f': {{source: source, {validate}}}\n");
    assert_eq!(apply_files(&scratch, &from_source, &[]).code, 4);
    assert_eq!(scratch.read("f").as_deref(), Some("good content\n"));
}

#[test]
fn a_validator_that_hangs_ends_with_the_run() {
    let scratch = Scratch::new();
    scratch.write("f", "old\n");
    let file = "\n        - '[dir]/f': {content: new, validate: 'sh -c \"sleep 3600\" sh %s'}\n";
    let ended = apply_files(&scratch, file, &["--timeout", "1s"]);
    assert_eq!(ended.code, 4, "{}", ended.shown());
    assert!(ended.stdout.contains("was stopped together with the run"), "{}", ended.shown());
    assert_eq!(scratch.read("f").as_deref(), Some("old\n"));
}
