//! Sensitive files, and files that hold a secret.

use ccm_host::sha256;
use ccm_model::Outcome;
use ccm_redaction::Secrets;
use ccm_testkit::Scratch;
use serde_json::Value;

use crate::file::file;
use crate::file::machine::Runs;

/// Runs that show something: noop and real, both with a diff.
fn noop_and_apply<'a>(scratch: &'a Scratch, secrets: &Secrets) -> [Runs<'a>; 2] {
    [true, false].map(|noop| Runs { noop, diff: true, secrets: secrets.clone(), ..Runs::here(scratch) })
}

#[test]
fn sensitive_content_is_never_shown() {
    let scratch = Scratch::new();
    scratch.write("f", "the old content\n");
    scratch.write("source", "the new content\n");
    for properties in [
        [("content", "the new content\n"), ("sensitive", "true")],
        [("source", "source"), ("sensitive", "true")],
    ] {
        scratch.write("f", "the old content\n");
        for runs in noop_and_apply(&scratch, &Secrets::new()) {
            let transaction = runs.apply(file(&scratch.at("f"), &properties));
            assert!(transaction.outcome.is_change(), "{transaction:?}");
            assert_eq!(transaction.diff.as_deref(), Some("sensitive content differs\n"));
            assert_eq!(transaction.reason_text(), Some("the content differs"));
            let state = transaction.state.expect("a state");
            assert_eq!((&state["checksum"], &state["size"]), (&Value::Null, &Value::Null));
            // From now on the content is redacted everywhere.
            assert_eq!(runs.secrets.redact("has the new content in it"), "has [redacted] in it");
        }
        assert_eq!(std::fs::read_to_string(scratch.path().join("f")).expect("the file"), "the new content\n");
    }
    let [noop, _] = noop_and_apply(&scratch, &Secrets::new());
    let removed = noop.apply(file(&scratch.at("f"), &[("ensure", "absent"), ("sensitive", "true")]));
    assert_eq!(removed.diff.as_deref(), Some("sensitive content is removed\n"));
    let made = noop.apply(file(&scratch.at("g"), &[("content", "x"), ("sensitive", "true")]));
    assert_eq!(made.diff.as_deref(), Some("sensitive content is new\n"));
}

#[test]
fn sensitive_content_is_backed_up() {
    let scratch = Scratch::new();
    scratch.write("f", "the old content\n");
    let state = scratch.state();
    let runs = Runs { state_directory: Some(&state), ..Runs::here(&scratch) };
    let properties = [("content", "new"), ("sensitive", "true"), ("backup", "true")];
    let transaction = runs.apply(file(&scratch.at("f"), &properties));
    assert_eq!(transaction.outcome, Outcome::Changed);
    let note = transaction.notes.first().expect("a note");
    let kept = note.strip_prefix("backed up the old content to ").expect("a path");
    assert_eq!(std::fs::read_to_string(kept).expect("the copy"), "the old content\n");
    // A short password could be guessed from its checksum.
    let checksum = sha256(b"the old content\n");
    assert!(!kept.contains(&checksum[..6]), "{kept}");
}

#[test]
fn diff_redacts_secret_lines_and_their_replacements() {
    let secrets = Secrets::new();
    secrets.add(["new-pass", "line one of it\nx\nline three"]);
    for (old, new, diff) in [
        ("a\npass=old-pass\nb\n", "a\npass=new-pass\nb\n", " a\n-[redacted]\n+[redacted]\n b\n"),
        ("pass=new-pass\na\n", "pass=new-pass\nb\n", " [redacted]\n-a\n+b\n"),
        ("a\n", "a\nline one of it\nx\nline three\n", " a\n+[redacted]\n+[redacted]\n+[redacted]\n"),
        ("a\nb\n", "a\nc\n", " a\n-b\n+c\n"),
    ] {
        let scratch = Scratch::new();
        for runs in noop_and_apply(&scratch, &secrets) {
            scratch.write("f", old);
            let transaction = runs.apply(file(&scratch.at("f"), &[("content", new)]));
            let shown = transaction.diff.expect("a diff");
            let lines = shown.split_once("@@\n").expect("a hunk").1;
            assert_eq!(lines, diff, "{new}");
            let holds_none = !new.contains("pass") && !new.contains("line");
            let state = transaction.state.expect("a state");
            assert_eq!(state["checksum"].is_string(), holds_none, "{state}");
        }
    }
}
