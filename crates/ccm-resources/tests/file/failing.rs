//! Files that can't be brought to what was asked for: nothing is changed, and the words help.

use std::os::unix::fs::symlink;

use ccm_testkit::Scratch;

use crate::file;
use crate::machine::{Runs, told};
use crate::run::failure;

/// What is told, the same in noop and in a run, and that nothing was changed.
fn refused(scratch: &Scratch, name: &str, properties: &[(&str, &str)]) -> (String, bool) {
    let before = scratch.names();
    let applied = Runs::here(scratch).apply(file(&scratch.at(name), properties));
    let noop = Runs { noop: true, ..Runs::here(scratch) }.apply(file(&scratch.at(name), properties));
    assert_eq!(told(&applied, scratch), told(&noop, scratch));
    assert!(!failure(&applied).changed);
    assert_eq!(scratch.names(), before);
    (told(&applied, scratch), failure(&applied).missing.is_some())
}

/// Name, properties, what is told, and whether an earlier resource could have helped.
type Case = (&'static str, &'static [(&'static str, &'static str)], &'static str, bool);

#[test]
fn what_is_in_the_way_is_told() {
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
        ("no/d", &[("ensure", "directory")], "the directory \"no\" does not exist", true),
        (
            "link",
            &[("mode", "0600")],
            "\"link\" is a symbolic link, whose attributes can't be managed",
            false,
        ),
    ];
    for (name, properties, message, missing) in cases {
        assert_eq!(refused(&scratch, name, properties), ((*message).to_owned(), *missing));
    }
}

#[test]
fn a_directory_that_may_not_be_read_goes_if_it_is_empty() {
    use std::os::unix::fs::PermissionsExt as _;
    if ccm_testkit::is_root() {
        ccm_testkit::skipped("root may read everything");
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
fn a_source_that_can_not_be_used_is_told() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("d")).expect("a directory");
    let missing = "the `source` can't be used: \"no\" can't be read: No such file or directory (os error 2)";
    assert_eq!(refused(&scratch, "f", &[("source", "no")]), (missing.to_owned(), true));
    let directory = "the `source` can't be used: \"d\" is a directory";
    assert_eq!(refused(&scratch, "f", &[("source", "d")]), (directory.to_owned(), false));
}

#[test]
fn who_is_not_there_is_told() {
    let scratch = Scratch::new();
    let user = refused(&scratch, "f", &[("owner", "nosuchuser")]);
    assert_eq!(user, ("there is no user `nosuchuser`".to_owned(), true));
    let group = refused(&scratch, "f", &[("group", "nosuchgroup")]);
    assert_eq!(group, ("there is no group `nosuchgroup`".to_owned(), true));
}

#[test]
fn without_a_place_for_the_old_content_nothing_is_changed() {
    let scratch = Scratch::new();
    scratch.write("f", "old");
    let message = "`backup` asks for a copy of the old content, and ccm has no state directory to keep it in";
    for properties in [[("content", "new"), ("backup", "true")], [("ensure", "absent"), ("backup", "true")]] {
        assert_eq!(refused(&scratch, "f", &properties), (message.to_owned(), false));
    }
    assert_eq!(scratch.read("f").as_deref(), Some("old"));
    // A place that can't be used is found before the file is touched as well.
    let blocked = scratch.write("file", "");
    let runs = Runs { state_directory: Some(&blocked), ..Runs::here(&scratch) };
    let transaction = runs.apply(file(&scratch.at("f"), &[("content", "new"), ("backup", "true")]));
    let expected = "the old content could not be kept: \"file/backups\" could not be made: Not a directory (os error 20)";
    assert_eq!(told(&transaction, &scratch), expected);
    assert!(!failure(&transaction).changed);
    assert_eq!(scratch.read("f").as_deref(), Some("old"));
}
