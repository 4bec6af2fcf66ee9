//! The action of a file in events: planned, taken, and without what must not be shown.

use ccm_model::{Action, ChangedLines, Transaction, Verb};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeFile, FakeFiles, Scratch};

use crate::file::file;
use crate::file::machine::Runs;

/// Returns fake files of root with one file of user `app`.
fn machine(content: &str) -> FakeFiles {
    let mut files = FakeFiles::default();
    files.directories.insert("/etc".into());
    files.names.get_mut().extend([("app".to_owned(), 100), ("web".to_owned(), 200)]);
    let entry = FakeFile { mode: 0o600, uid: 100, ..FakeFile::of(content) };
    files.entries.borrow_mut().insert("/etc/f".into(), entry);
    files.entries.borrow_mut().insert("/files/new".into(), FakeFile::of("a\nb\nc\n"));
    files
}

/// Runs noop and then a change, each from the same state.
fn both(content: &str, secrets: &[&str], name: &str, properties: &[(&str, &str)]) -> [Transaction; 2] {
    [true, false].map(|noop| {
        let files = machine(content);
        let known = Secrets::new();
        known.add(secrets.iter().copied());
        let runs = Runs {
            files: Some(&files),
            directory: std::path::Path::new("/files"),
            state_directory: None,
            noop,
            diff: false,
            secrets: known,
            describe_unchanged: false,
        };
        runs.apply(file(name, properties))
    })
}

fn lines(added: usize, removed: usize) -> ChangedLines {
    ChangedLines { added, removed }
}

#[test]
fn created_file_has_its_attributes_and_size() {
    for (properties, detail) in [
        (&[("content", "two\nlines\n")][..], "0644 root:root, 10 bytes"),
        (&[("content", "x"), ("mode", "0600"), ("owner", "app"), ("group", "200")], "0600 app:web, 1 byte"),
        (&[("source", "new")], "0644 root:root, 6 bytes"),
        (&[], "0644 root:root, 0 bytes"),
        (&[("ensure", "directory"), ("mode", "0750")], "0750 root:root"),
    ] {
        for transaction in both("", &[], "/etc/g", properties) {
            assert_eq!(transaction.action, Some(Action::new(Verb::Create).of(detail)), "{transaction:?}");
        }
    }
}

#[test]
fn changed_file_has_old_and_new_values() {
    let changed = |properties: &[(&str, &str)]| {
        let [noop, applied] = both("a\nb\n", &[], "/etc/f", properties).map(|transaction| transaction.action);
        assert_eq!(noop, applied);
        noop.expect("an action")
    };
    let expected = Action::new(Verb::Change)
        .changing("owner", Some("app".into()), Some("root".into()))
        .changing("group", Some("root".into()), Some("web".into()))
        .changing("mode", Some("0600".into()), Some("0640".into()))
        .changing_lines("content", lines(2, 1));
    let attributes = [("owner", "root"), ("group", "web"), ("mode", "0640")];
    assert_eq!(changed(&[&attributes[..], &[("content", "a\nc\nd\n")]].concat()), expected);
    // A source is read for the count, too.
    let expected = Action::new(Verb::Change).changing_lines("content", lines(1, 0));
    assert_eq!(changed(&[("source", "new")]), expected);
    // Binary and long content is not compared line by line.
    let sizes =
        |to: &str| Action::new(Verb::Change).changing("content", Some("4 bytes".into()), Some(to.into()));
    assert_eq!(changed(&[("content", "a\0")]), sizes("2 bytes"));
    assert_eq!(changed(&[("content", &"line\n".repeat(60_000))]), sizes("300000 bytes"));
}

#[test]
fn file_is_inspected_once_whether_it_changes_or_not() {
    for (content, reads) in [("a\n", 1), ("b\n", 1)] {
        let files = machine("a\n");
        let scratch = Scratch::new();
        let runs =
            Runs { files: Some(&files), noop: true, describe_unchanged: false, ..Runs::here(&scratch) };
        runs.apply(file("/etc/f", &[("content", content)]));
        assert_eq!(files.contents_read.borrow().len(), reads);
    }
}

#[test]
fn action_tells_nothing_about_sensitive_content() {
    let sensitive =
        |name, content| [("content", content), ("sensitive", "true"), ("mode", "0600")].map(|p| (name, p));
    for (name, expected) in [
        ("/etc/f", Action::new(Verb::Change).changing("content", None, None)),
        ("/etc/g", Action::new(Verb::Create).of("0600 root:root")),
    ] {
        let properties = sensitive(name, "hunter22").map(|(_, property)| property);
        for transaction in both("hunter21", &[], name, &properties) {
            assert_eq!(transaction.action.as_ref(), Some(&expected));
            assert!(!format!("{transaction:?}").contains("hunter2"), "{transaction:?}");
        }
    }
    let absent = [("ensure", "absent"), ("sensitive", "true")];
    for transaction in both("hunter21", &[], "/etc/f", &absent) {
        assert_eq!(transaction.action, Some(Action::new(Verb::Remove).of("file")));
    }
}

#[test]
fn size_of_content_that_holds_a_secret_is_not_shown() {
    let secret = ["password=hunter22\n"];
    for transaction in both("old", &["hunter22"], "/etc/g", &[("content", secret[0])]) {
        assert_eq!(transaction.action, Some(Action::new(Verb::Create).of("0644 root:root")));
    }
    // A diff shows the lines, though not what is in them.
    for transaction in both("old\n", &["hunter22"], "/etc/f", &[("content", secret[0])]) {
        let expected = Action::new(Verb::Change).changing_lines("content", lines(1, 1));
        assert_eq!(transaction.action, Some(expected));
    }
    for transaction in both("\0", &["hunter22"], "/etc/f", &[("content", secret[0])]) {
        let expected = Action::new(Verb::Change).changing("content", None, None);
        assert_eq!(transaction.action, Some(expected));
    }
}

#[test]
fn replaced_link_is_named() {
    let scratch = Scratch::new();
    std::os::unix::fs::symlink("target", scratch.path().join("link")).expect("a link");
    scratch.write("target", "a\n");
    let resource = || file(&scratch.at("link"), &[("content", "b\n")]);
    let kind = || Action::new(Verb::Replace).changing("kind", Some("link".into()), Some("file".into()));
    let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply(resource());
    assert_eq!(noop.action, Some(kind().changing_lines("content", lines(1, 1))));
    std::fs::remove_file(scratch.path().join("target")).expect("the target");
    let applied = Runs::here(&scratch).apply(resource()).action.expect("an action");
    assert_eq!((applied.verb, &applied.changes), (Verb::Replace, &kind().changes));
    assert!(applied.detail.as_deref().is_some_and(|detail| detail.ends_with(", 2 bytes")), "{applied:?}");
}
