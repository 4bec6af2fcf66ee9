//! What this machine may not show: other owners, on a machine that the test invents.

use std::path::Path;

use ccm_host::sha256;
use ccm_model::Outcome;
use ccm_redaction::Secrets;
use ccm_testkit::{FakeFile, FakeFiles};
use ccm_testkit::{FakeFile, FakeFiles};

use crate::file;
use crate::machine::Runs;
use crate::run::failure;

fn machine() -> FakeFiles {
    let mut files = FakeFiles::default();
    files.directories.insert("/etc".into());
    files.names.get_mut().extend([("app".to_owned(), 100), ("web".to_owned(), 200)]);
    files
}

fn runs(files: &FakeFiles) -> Runs<'_> {
    Runs {
        files: Some(files),
        directory: Path::new("/srv"),
        state_directory: None,
        noop: false,
        diff: false,
        secrets: Secrets::new(),
    }
}

#[test]
fn owner_and_group_are_managed_by_name_and_number() {
    let files = machine();
    files.entries.borrow_mut().insert("/etc/f".into(), FakeFile::of("content"));
    let transaction = runs(&files).apply(file("/etc/f", &[("owner", "app"), ("group", "200")]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    assert_eq!(transaction.reason_text(), Some("the owner is root, not app; the group is root, not 200"));
    let state = transaction.state.expect("a state");
    assert_eq!((&state["owner"], &state["group"]), (&"app".into(), &"web".into()));
    let entry = files.entries.borrow()[Path::new("/etc/f")].clone();
    assert_eq!((entry.uid, entry.gid, entry.content), (100, 200, Some(b"content".to_vec())));
}

#[test]
fn an_absent_file_needs_no_owner() {
    let files = machine();
    let transaction = runs(&files).apply(file("/etc/f", &[("ensure", "absent"), ("owner", "nosuch user")]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
}

#[test]
fn a_source_is_looked_for_beside_the_manifest() {
    let files = machine();
    files.entries.borrow_mut().insert("/srv/files/f".into(), FakeFile::of("content"));
    let transaction = runs(&files).apply(file("/etc/f", &[("source", "files/f")]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    let entry = files.entries.borrow()[Path::new("/etc/f")].clone();
    assert_eq!(entry.content, Some(b"content".to_vec()));
    let transaction = runs(&files).apply(file("/etc/g", &[("source", "/srv/none")]));
    assert!(failure(&transaction).missing.is_some());
}

#[test]
fn noop_fails_where_a_mount_is_in_the_way_as_a_run_does() {
    let mut files = machine();
    files.entries.borrow_mut().insert("/etc/f".into(), FakeFile::of("content"));
    files.entries.borrow_mut().insert("/etc/d".into(), FakeFile::directory());
    files.entries.borrow_mut().insert("/etc/d/disk".into(), FakeFile::directory());
    files.mounts.extend(["/etc/f".into(), "/etc/d/disk".into()]);
    for (name, properties, mount) in [
        ("/etc/f", &[("content", "other")][..], "/etc/f"),
        ("/etc/f", &[("ensure", "absent")], "/etc/f"),
        ("/etc/d", &[("ensure", "absent"), ("force", "true")], "/etc/d/disk"),
    ] {
        for noop in [true, false] {
            let transaction = Runs { noop, ..runs(&files) }.apply(file(name, properties));
            assert_eq!(failure(&transaction).chain, [format!("\"{mount}\" is a mount point")]);
        }
    }
    let attributes = runs(&files).apply(file("/etc/f", &[("mode", "0600")]));
    assert_eq!(attributes.outcome, Outcome::Changed);
}

#[test]
fn noop_foresees_an_owner_that_can_not_be_given() {
    let mut files = machine();
    files.entries.borrow_mut().insert("/etc/f".into(), FakeFile::of("content"));
    files.runs_as = Some(100);
    for (name, properties, warning) in [
        (
            "/etc/f",
            &[("content", "other")][..],
            Some("ccm can't give a file to user root and group root as who it runs"),
        ),
        ("/etc/f", &[("content", "other"), ("owner", "app"), ("group", "100")], None),
        ("/etc/new", &[("content", "other")], None),
        ("/etc/new", &[("owner", "web")], Some("ccm can't give a file to user web as who it runs")),
    ] {
        let transaction = Runs { noop: true, ..runs(&files) }.apply(file(name, properties));
        assert!(matches!(transaction.outcome, Outcome::WouldChange { .. }), "{transaction:?}");
        assert_eq!(transaction.warnings, warning.map(str::to_owned).into_iter().collect::<Vec<_>>());
    }
}
