//! Files that cannot be brought to the desired state: nothing changes, and the hints help.

use std::os::unix::fs::symlink;

use ccm_testkit::{Scratch, needs_ordinary_user};

use crate::file::file;
use crate::file::machine::{Runs, told};
use crate::run::failure;

/// Returns the failure, which is the same in noop and in a run. Nothing must change.
fn refused(scratch: &Scratch, name: &str, properties: &[(&str, &str)]) -> (String, bool) {
    let before = scratch.names();
    let applied = Runs::here(scratch).apply(file(&scratch.at(name), properties));
    let noop = Runs { noop: true, ..Runs::here(scratch) }.apply(file(&scratch.at(name), properties));
    assert_eq!(told(&applied, scratch), told(&noop, scratch));
    assert!(!failure(&applied).changed);
    assert_eq!(scratch.names(), before);
    (told(&applied, scratch), failure(&applied).missing.is_some())
}

/// Name, properties, failure, and whether an earlier resource could provide the prerequisite.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, bool);

#[test]
fn obstacles_are_reported() {
    let scratch = Scratch::new();
    scratch.write("d/f", "");
    scratch.write("f", "");
    symlink("f", scratch.path().join("link")).expect("a link");
    let cases: &[Case] = &[
        ("d", &[("content", "x")], "\"d\" is a directory", true),
        ("d", &[("ensure", "absent")], "the directory \"d\" is not empty", true),
        ("f", &[("ensure", "directory")], "\"f\" is a file, not a directory", true),
        ("f/x", &[("content", "x")], "\"f\", on the way to \"f/x\", is not a directory", true),
        ("no/f", &[("content", "x")], "the directory \"no\" does not exist", true),
        (
            "link",
            &[("mode", "0600")],
            "\"link\" is a symbolic link, whose attributes cannot be managed",
            false,
        ),
    ];
    for (name, properties, message, missing) in cases {
        assert_eq!(refused(&scratch, name, properties), ((*message).to_owned(), *missing));
    }
}

#[test]
fn unreadable_directory_is_removed_if_empty() {
    use std::os::unix::fs::PermissionsExt as _;
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    let unreadable = |name: &str| {
        std::fs::set_permissions(scratch.at(name), std::fs::Permissions::from_mode(0o300)).expect("its mode");
        Runs::here(&scratch).apply(file(&scratch.at(name), &[("ensure", "absent")]))
    };
    std::fs::create_dir(scratch.at("empty")).expect("a directory");
    assert_eq!(unreadable("empty").outcome, ccm_model::Outcome::Changed);
    scratch.write("full/f", "");
    let refused = unreadable("full");
    std::fs::set_permissions(scratch.at("full"), std::fs::Permissions::from_mode(0o700)).expect("its mode");
    let expected = "\"full\" could not be removed: Directory not empty (os error 39)";
    assert_eq!((&*told(&refused, &scratch), failure(&refused).changed), (expected, false));
}

#[test]
fn unusable_source_is_reported() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("d")).expect("a directory");
    let missing = "cannot read `source`: \"no\" can't be read: No such file or directory (os error 2)";
    assert_eq!(refused(&scratch, "f", &[("source", "no")]), (missing.to_owned(), true));
    let directory = "cannot read `source`: \"d\" is a directory";
    assert_eq!(refused(&scratch, "f", &[("source", "d")]), (directory.to_owned(), false));
}

#[test]
fn unknown_users_and_groups_are_reported() {
    let scratch = Scratch::new();
    let user = refused(&scratch, "f", &[("owner", "nosuchuser")]);
    assert_eq!(user, ("user `nosuchuser` does not exist".to_owned(), true));
    let group = refused(&scratch, "f", &[("group", "nosuchgroup")]);
    assert_eq!(group, ("group `nosuchgroup` does not exist".to_owned(), true));
}

#[test]
fn failed_backup_changes_nothing() {
    let scratch = Scratch::new();
    scratch.write("f", "old");
    let message = "`backup` needs a state directory";
    for properties in [[("content", "new"), ("backup", "true")], [("ensure", "absent"), ("backup", "true")]] {
        assert_eq!(refused(&scratch, "f", &properties), (message.to_owned(), false));
    }
    assert_eq!(scratch.read("f").as_deref(), Some("old"));
    // An unusable backup directory is found before the file is touched.
    let blocked = scratch.write("file", "");
    let runs = Runs { state_directory: Some(&blocked), ..Runs::here(&scratch) };
    let transaction = runs.apply(file(&scratch.at("f"), &[("content", "new"), ("backup", "true")]));
    let expected = "cannot back up the old content: \"file/backups\" could not be created: Not a directory (os error 20)";
    assert_eq!(told(&transaction, &scratch), expected);
    assert!(!failure(&transaction).changed);
    assert_eq!(scratch.read("f").as_deref(), Some("old"));
}
