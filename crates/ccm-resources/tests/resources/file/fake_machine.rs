//! Files with other owners, on a fake machine.

use std::path::Path;

use ccm_host::sha256;
use ccm_model::Outcome;
use ccm_redaction::Secrets;
use ccm_testkit::{FakeFile, FakeFiles};

use crate::file::file;
use crate::file::machine::Runs;
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
        describe_unchanged: true,
    }
}

#[test]
fn owner_and_group_may_be_names_or_numbers() {
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
fn absent_file_needs_no_owner() {
    let files = machine();
    let transaction = runs(&files).apply(file("/etc/f", &[("ensure", "absent"), ("owner", "nosuch user")]));
    assert_eq!(transaction.outcome, Outcome::Unchanged);
}

#[test]
fn source_is_read_beside_the_manifest() {
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
fn noop_fails_on_a_mount_point_like_a_run() {
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
            assert_eq!(
                failure(&transaction).chain,
                [format!("can't replace or remove mount point \"{mount}\"")]
            );
        }
    }
    let attributes = runs(&files).apply(file("/etc/f", &[("mode", "0600")]));
    assert_eq!(attributes.outcome, Outcome::Changed);
}

#[test]
fn noop_warns_of_a_forbidden_owner() {
    let mut files = machine();
    files.entries.borrow_mut().insert("/etc/f".into(), FakeFile::of("content"));
    files.runs_as = Some(100);
    for (name, properties, warning) in [
        ("/etc/f", &[("content", "other")][..], Some("only root can give a file to root:root")),
        ("/etc/f", &[("content", "other"), ("owner", "app"), ("group", "100")], None),
        ("/etc/new", &[("content", "other")], None),
        ("/etc/new", &[("owner", "web")], Some("only root can give a file to user web")),
    ] {
        let transaction = Runs { noop: true, ..runs(&files) }.apply(file(name, properties));
        assert!(matches!(transaction.outcome, Outcome::WouldChange { .. }), "{transaction:?}");
        assert_eq!(transaction.warnings, warning.map(str::to_owned).into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn unmanaged_content_is_read_only_for_a_reported_checksum() {
    let big = |mode| FakeFile { mode, ..FakeFile::of("a log") };
    for (found, described, noop, reads) in [
        (0o640, false, false, 0),
        (0o640, false, true, 0),
        (0o640, true, false, 1),
        (0o640, true, true, 1),
        (0o600, false, true, 1),
    ] {
        let files = machine();
        files.entries.borrow_mut().insert("/etc/f".into(), big(found));
        let runs = Runs { noop, describe_unchanged: described, ..runs(&files) };
        let transaction = runs.apply(file("/etc/f", &[("mode", "0640")]));
        assert_eq!(transaction.outcome.is_change(), found != 0o640, "{transaction:?}");
        assert_eq!(
            files.contents_read.borrow().len(),
            reads,
            "mode {found:o}, described {described}, noop {noop}"
        );
        let state = transaction.state.filter(|_| reads > 0);
        assert!(state.is_none_or(|state| state["checksum"] == sha256(b"a log")));
    }
    let files = machine();
    files.entries.borrow_mut().insert("/etc/f".into(), big(0o600));
    let runs = Runs { describe_unchanged: false, ..runs(&files) };
    let transaction = runs.apply(file("/etc/f", &[("mode", "0640")]));
    assert_eq!(transaction.outcome, Outcome::Changed);
    assert_eq!(transaction.state.expect("a state")["checksum"], sha256(b"a log"));
    assert!(files.contents_read.borrow().len() <= 2, "before the change and after it");
}

#[test]
fn a_diff_costs_nothing_where_nothing_changes() {
    for (properties, kept) in [
        (&[("content", "content")][..], &[][..]),
        (&[("source", "/srv/source")], &[]),
        (&[("mode", "0600")], &[]),
        (&[("content", "other")], &["/etc/f"]),
        (&[("source", "/srv/other")], &["/etc/f", "/srv/other"]),
        (&[("ensure", "absent")], &["/etc/f"]),
    ] {
        let files = machine();
        for (path, content) in [("/etc/f", "content"), ("/srv/source", "content"), ("/srv/other", "other")] {
            files.entries.borrow_mut().insert(path.into(), FakeFile::of(content));
        }
        let runs = Runs { noop: true, diff: true, describe_unchanged: false, ..runs(&files) };
        let transaction = runs.apply(file("/etc/f", properties));
        assert_eq!(transaction.diff.is_some(), !kept.is_empty(), "{transaction:?}");
        let kept: Vec<&Path> = kept.iter().map(Path::new).collect();
        assert_eq!(*files.contents_kept.borrow(), kept, "{properties:?}");
    }
}

#[test]
fn failure_on_a_link_reports_the_checksum_of_its_target() {
    let files = machine();
    let link = FakeFile { is_link: true, mode: 0o600, ..FakeFile::of("behind") };
    files.entries.borrow_mut().insert("/etc/f".into(), link);
    let runs = Runs { describe_unchanged: false, ..runs(&files) };
    let transaction = runs.apply(file("/etc/f", &[("mode", "0640")]));
    assert!(failure(&transaction).chain[0].contains("is a symbolic link"));
    assert_eq!(transaction.state.expect("a state")["checksum"], sha256(b"behind"));
}
