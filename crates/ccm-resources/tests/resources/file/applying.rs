//! Files that are brought to the desired state.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use ccm_host::sha256;
use ccm_model::{Outcome, Transaction};
use ccm_testkit::Scratch;

use crate::file::file;
use crate::file::machine::Runs;

fn mode(scratch: &Scratch, name: &str) -> u32 {
    let metadata = std::fs::symlink_metadata(scratch.path().join(name)).expect("its metadata");
    metadata.permissions().mode() & 0o7777
}

/// Runs noop, applies, and applies again, which must change nothing.
fn apply(scratch: &Scratch, name: &str, properties: &[(&str, &str)]) -> (String, Transaction) {
    let resource = || file(&scratch.at(name), properties);
    let before = scratch.names();
    let noop = Runs { noop: true, ..Runs::here(scratch) }.apply(resource());
    assert_eq!(scratch.names(), before, "noop changed something");
    let Outcome::WouldChange { message } = noop.outcome else { panic!("{noop:?}") };
    let applied = Runs::here(scratch).apply(resource());
    assert_eq!(applied.outcome, Outcome::Changed, "{applied:?}");
    let again = Runs::here(scratch).apply(resource());
    assert_eq!(again.outcome, Outcome::Unchanged, "{again:?}");
    (message, applied)
}

#[test]
fn file_is_created_and_updated() {
    let scratch = Scratch::new();
    let (message, transaction) = apply(&scratch, "f", &[("content", "one\n"), ("mode", "0640")]);
    assert!(message.starts_with("Would have created: 0640 ") && message.ends_with(", 4 bytes"), "{message}");
    let state = transaction.state.expect("a state");
    assert_eq!(state["protocol"], "io.choria.ccm.v1.resource.file.state");
    assert_eq!(state["resource_type"], "file");
    assert_eq!(state["name"], scratch.at("f"));
    assert_eq!(
        (&state["ensure"], &state["mode"], &state["size"]),
        (&"present".into(), &"0640".into(), &4.into())
    );
    assert_eq!(state["checksum"], sha256(b"one\n"));
    assert!(!state.to_string().contains("one"), "{state}");
    let (message, _) = apply(&scratch, "f", &[("content", "two\n"), ("mode", "600")]);
    assert_eq!(message, "Would have changed: mode 0640 to 0600, content +1 -1");
    let (message, _) = apply(&scratch, "f", &[("mode", "0o4755")]);
    assert_eq!(message, "Would have changed: mode 0600 to 4755");
    assert_eq!((scratch.read("f").as_deref(), mode(&scratch, "f")), (Some("two\n"), 0o4755));
    assert_eq!(scratch.names(), ["f"]);
}

#[test]
fn compared_content_has_a_checksum() {
    let scratch = Scratch::new();
    scratch.write("f", "one\n");
    let (message, transaction) = apply(&scratch, "f", &[("content", "one\n"), ("mode", "0600")]);
    assert_eq!(message, "Would have changed: mode 0644 to 0600");
    assert_eq!(transaction.state.expect("a state")["checksum"], sha256(b"one\n"));
    let desired = file(&scratch.at("f"), &[("content", "one\n"), ("mode", "0600")]);
    let transaction = Runs::here(&scratch).apply(desired);
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    assert_eq!(transaction.state.expect("a state")["checksum"], sha256(b"one\n"));
}

#[test]
fn file_without_content_is_created_empty() {
    let scratch = Scratch::new();
    apply(&scratch, "f", &[]);
    assert_eq!((scratch.read("f").as_deref(), mode(&scratch, "f")), (Some(""), 0o644));
    scratch.write("f", "somebody's");
    let transaction = Runs::here(&scratch).apply(file(&scratch.at("f"), &[]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
    assert_eq!(transaction.state.expect("a state")["checksum"], sha256(b"somebody's"));
    let (message, _) = apply(&scratch, "f", &[("content", "")]);
    assert_eq!(message, "Would have changed: content +0 -1");
}

#[test]
fn source_is_relative_to_the_manifest() {
    let scratch = Scratch::new();
    scratch.write("files/motd", "from a file\n");
    apply(&scratch, "f", &[("source", "files/motd")]);
    assert_eq!(scratch.read("f").as_deref(), Some("from a file\n"));
    scratch.write("files/motd", "changed\n");
    let absolute = scratch.at("files/motd");
    apply(&scratch, "f", &[("source", &absolute)]);
    assert_eq!(scratch.read("f").as_deref(), Some("changed\n"));
}

#[test]
fn directory_gets_execute_permission() {
    let scratch = Scratch::new();
    let (message, transaction) = apply(&scratch, "d", &[("ensure", "directory"), ("mode", "0640")]);
    assert!(message.starts_with("Would have created: 0750 "), "{message}");
    assert_eq!(mode(&scratch, "d"), 0o750);
    let state = transaction.state.expect("a state");
    assert_eq!((&state["ensure"], &state["size"]), (&"directory".into(), &serde_json::Value::Null));
    scratch.write("d/f", "");
    let (message, _) = apply(&scratch, "d", &[("ensure", "directory"), ("mode", "1777")]);
    assert_eq!((&*message, mode(&scratch, "d")), ("Would have changed: mode 0750 to 1777", 0o1777));
}

#[test]
fn absent_paths_are_removed() {
    let scratch = Scratch::new();
    scratch.write("f", "x");
    scratch.write("d/e/f", "x");
    std::fs::create_dir(scratch.path().join("empty")).expect("a directory");
    symlink("nowhere", scratch.path().join("link")).expect("a link");
    for (name, expected, force) in [
        ("f", "Would have removed: file, 1 byte", "false"),
        ("empty", "Would have removed: empty directory", "false"),
        ("link", "Would have removed: link", "false"),
        ("d", "Would have removed: directory, 1 file, 1 byte", "true"),
    ] {
        let (message, transaction) = apply(&scratch, name, &[("ensure", "absent"), ("force", force)]);
        assert_eq!(message, expected);
        assert_eq!(transaction.final_ensure.as_deref(), Some("absent"));
    }
    assert_eq!(scratch.names(), Vec::<String>::new());
    let below_a_file = file(&scratch.write("g", "").join("x").display().to_string(), &[("ensure", "absent")]);
    assert_eq!(Runs::here(&scratch).apply(below_a_file).outcome, Outcome::Unchanged);
}

#[test]
fn link_is_replaced_and_its_target_kept() {
    let scratch = Scratch::new();
    scratch.write("target", "same\n");
    symlink("target", scratch.path().join("f")).expect("a link");
    let stable = Runs::here(&scratch).apply(file(&scratch.at("f"), &[("content", "same\n")]));
    assert_eq!(stable.outcome, Outcome::Unchanged);
    let (message, _) = apply(&scratch, "f", &[("content", "other\n")]);
    assert_eq!(message, "Would have replaced: kind link to file, content +1 -1");
    assert_eq!(
        (scratch.read("f").as_deref(), scratch.read("target").as_deref()),
        (Some("other\n"), Some("same\n"))
    );
}

#[test]
fn backup_keeps_the_old_content() {
    let scratch = Scratch::new();
    let state = scratch.path().join("state");
    let runs = Runs { state_directory: Some(&state), ..Runs::here(&scratch) };
    let backups = || {
        let entries = std::fs::read_dir(state.join("backups")).into_iter().flatten().flatten();
        let contents = entries.filter(|entry| entry.path().extension().is_none_or(|end| end != "json"));
        let mut contents: Vec<String> =
            contents.filter_map(|entry| std::fs::read_to_string(entry.path()).ok()).collect();
        contents.sort();
        contents
    };
    let apply = |properties: &[(&str, &str)]| {
        let properties = [properties, &[("backup", "true")]].concat();
        assert_eq!(runs.apply(file(&scratch.at("f"), &properties)).outcome, Outcome::Changed);
    };
    apply(&[("content", "one")]);
    apply(&[("mode", "0600")]);
    assert_eq!(backups(), Vec::<String>::new());
    apply(&[("content", "two")]);
    assert_eq!(backups(), ["one"]);
    apply(&[("ensure", "absent")]);
    assert_eq!(backups(), ["one", "two"]);
}

#[test]
fn diff_is_shown_in_noop_and_in_a_run() {
    let scratch = Scratch::new();
    let resource = || file(&scratch.at("f"), &[("content", "a\nb\n")]);
    let expected = format!("--- /dev/null\n+++ {}\n@@ -0,0 +1,2 @@\n+a\n+b\n", scratch.at("f"));
    let noop = Runs { noop: true, diff: true, ..Runs::here(&scratch) }.apply(resource());
    assert_eq!(noop.diff.as_ref(), Some(&expected));
    let applied = Runs { diff: true, ..Runs::here(&scratch) }.apply(resource());
    assert_eq!(applied.diff.as_ref(), Some(&expected));
    assert_eq!(Runs { diff: true, ..Runs::here(&scratch) }.apply(resource()).diff, None);
    scratch.write("f", [0xff, 0]);
    let binary = Runs { noop: true, diff: true, ..Runs::here(&scratch) }.apply(resource());
    let sums = format!("(sha256 {} → {})\n", &sha256(&[0xff, 0])[..12], &sha256(b"a\nb\n")[..12]);
    assert_eq!(binary.diff, Some(format!("binary content differs {sums}")));
    scratch.write("f", "long\n".repeat(300_000));
    let long = Runs { noop: true, diff: true, ..Runs::here(&scratch) }.apply(resource());
    assert!(long.diff.is_some_and(|diff| diff.starts_with("content of more than 1 MiB differs (sha256 ")));
    let gone = file(&scratch.at("f"), &[("ensure", "absent")]);
    assert!(Runs { diff: true, ..Runs::here(&scratch) }.apply(gone).diff.is_some());
    assert_eq!(scratch.names(), Vec::<String>::new());
}
