//! Sensitive parts, and parts that hold a secret.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use ccm_model::{Outcome, Resource};
use ccm_properties::is_hidden;
use ccm_testkit::Scratch;

use crate::file_part::machine::{Runs, part};

fn private_file(scratch: &Scratch, content: &str) {
    scratch.write("f", content);
    std::fs::set_permissions(scratch.at("f"), Permissions::from_mode(0o600)).expect("a mode");
}

#[test]
fn a_secret_in_a_file_that_everybody_can_read_is_refused() {
    for (mode, sensitive, text, is_refused) in [
        (0o644, true, "a = 1", true),
        (0o644, false, "password = hunter22", true),
        (0o604, false, "password = hunter22", true),
        (0o640, true, "password = hunter22", false),
        (0o600, false, "password = hunter22", false),
        (0o644, false, "a = 1", false),
    ] {
        for (kind, property, others) in
            [("line", "line", &[][..]), ("block", "content", &[]), ("setting", "value", &[("key", "k")])]
        {
            for noop in [true, false] {
                let scratch = Scratch::new();
                scratch.write("f", "old = 1\n");
                std::fs::set_permissions(scratch.at("f"), Permissions::from_mode(mode)).expect("a mode");
                let runs = Runs { noop, ..Runs::here(&scratch) };
                runs.secrets.add(["hunter22"]);
                let is_sensitive = if sensitive { "true" } else { "false" };
                let properties = [others, &[(property, text), ("sensitive", is_sensitive)]].concat();
                let done = runs.apply_one(kind, &properties);
                assert_eq!(
                    matches!(done.outcome, Outcome::Failed(_)),
                    is_refused,
                    "{mode:o} {kind} {text}: {done:?}"
                );
                let read = scratch.read("f").expect("the file");
                assert_eq!(read == "old = 1\n", is_refused || noop, "{read}");
                // Its removal exposes nothing.
                if kind == "line" {
                    let gone = runs.apply_one(kind, &[&properties[..], &[("ensure", "absent")]].concat());
                    assert!(!matches!(gone.outcome, Outcome::Failed(_)), "{gone:?}");
                }
            }
        }
    }
}

#[test]
fn sensitive_parts_are_never_shown() {
    for (kind, property, others) in
        [("line", "line", &[][..]), ("block", "content", &[]), ("setting", "value", &[("key", "k")])]
    {
        let scratch = Scratch::new();
        private_file(&scratch, "old\n");
        for noop in [true, false] {
            let runs = Runs { noop, diff: true, ..Runs::here(&scratch) };
            let properties = [others, &[(property, "the new secret"), ("sensitive", "true")]].concat();
            let changed = runs.apply_one(kind, &properties);
            assert!(changed.outcome.is_change(), "{changed:?}");
            assert_eq!(changed.diff.as_deref(), Some("sensitive content differs\n"));
            let action = changed.action.expect("an action");
            assert!(action.changes.iter().all(|change| change.lines.is_none()), "{action:?}");
            assert!(!format!("{:?}{:?}", changed.outcome, changed.reason).contains("secret"));
            // From now on the text is redacted everywhere.
            assert_eq!(runs.secrets.redact("has the new secret in it"), "has [redacted] in it");
        }
        assert!(scratch.read("f").expect("the file").contains("the new secret"));
    }
}

#[test]
fn secret_properties_are_hidden() {
    let scratch = Scratch::new();
    for (kind, hidden) in [("line", &["line", "match"][..]), ("block", &["content"]), ("setting", &["value"])]
    {
        let Resource { properties, .. } = part(&scratch, kind, "it", &[("sensitive", "true")]);
        let types = ccm_resources::types();
        let spec = types.iter().find(|found| found.name() == kind).expect("the type");
        let found = spec.properties().iter().map(|property| property.name);
        let found: Vec<&str> = found.filter(|name| is_hidden(spec.properties(), &properties, name)).collect();
        assert_eq!(found, hidden, "{kind}");
    }
}

#[test]
fn a_new_file_with_a_secret_is_private() {
    for (properties, secret, mode) in [
        (&[("line", "password=hunter2"), ("sensitive", "true")][..], "other", 0o600),
        (&[("line", "password=hunter2")], "hunter2", 0o600),
        (&[("line", "password=hunter2")], "other", 0o644),
    ] {
        let scratch = Scratch::new();
        let runs = Runs::here(&scratch);
        runs.secrets.add([secret]);
        let made = runs.apply_one("line", &[properties, &[("create", "true")]].concat());
        assert_eq!(made.outcome, Outcome::Changed);
        let found = std::fs::metadata(scratch.at("f")).expect("the file").mode() & 0o7777;
        assert_eq!(found, mode, "{secret}");
    }
}

#[test]
fn diff_redacts_lines_with_a_secret() {
    let scratch = Scratch::new();
    private_file(&scratch, "a\npassword = old-pass\n");
    let runs = Runs { diff: true, ..Runs::here(&scratch) };
    runs.secrets.add(["new-pass"]);
    let changed = runs.apply_one("setting", &[("key", "password"), ("value", "new-pass")]);
    let diff = changed.diff.expect("a diff");
    assert!(diff.ends_with(" a\n-[redacted]\n+[redacted]\n"), "{diff}");
}
