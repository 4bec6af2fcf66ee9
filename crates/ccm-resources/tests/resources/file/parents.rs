//! Directories that are made with the missing directories above them.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use ccm_model::Outcome;
use ccm_testkit::Scratch;

use crate::file::file;
use crate::file::machine::{Runs, told};
use crate::run::failure;

fn mode(scratch: &Scratch, name: &str) -> u32 {
    std::fs::metadata(scratch.path().join(name)).expect("its metadata").permissions().mode() & 0o7777
}

const DIRECTORY: (&str, &str) = ("ensure", "directory");

#[test]
fn missing_parents_are_made_and_existing_ones_untouched() {
    let scratch = Scratch::new();
    scratch.write("there/x", "");
    let there = scratch.path().join("there");
    std::fs::set_permissions(&there, std::fs::Permissions::from_mode(0o711)).expect("a mode");
    let resource = || file(&scratch.at("there/a/b/leaf"), &[DIRECTORY, ("mode", "0700")]);
    let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply(resource());
    let Outcome::WouldChange { message } = &noop.outcome else { panic!("{noop:?}") };
    assert!(message.ends_with(", and 2 directories above it"), "{message}");
    assert!(!there.join("a").exists() && noop.notes.is_empty());
    let applied = Runs::here(&scratch).apply(resource());
    assert_eq!(applied.outcome, Outcome::Changed, "{applied:?}");
    for name in ["there/a", "there/a/b"] {
        assert_eq!(mode(&scratch, name), 0o755);
        let own = std::fs::metadata("/proc/self").expect("this process");
        let made = std::fs::metadata(scratch.path().join(name)).expect("its metadata");
        assert_eq!((made.uid(), made.gid()), (own.uid(), own.gid()));
    }
    assert_eq!((mode(&scratch, "there"), mode(&scratch, "there/a/b/leaf")), (0o711, 0o700));
    let (first, last) = (scratch.at("there/a"), scratch.at("there/a/b"));
    let note = format!("made 2 missing directories (0755), from \"{first}\" to \"{last}\"");
    assert_eq!(applied.notes, [note]);
    let detail = applied.action.and_then(|action| action.detail).expect("a detail");
    assert!(detail.starts_with("0700 ") && detail.ends_with(", and 2 directories above it"), "{detail}");
    assert_eq!(Runs::here(&scratch).apply(resource()).outcome, Outcome::Unchanged);
}

#[test]
fn one_missing_parent_is_named() {
    let scratch = Scratch::new();
    let applied = Runs::here(&scratch).apply(file(&scratch.at("a/leaf"), &[DIRECTORY]));
    assert_eq!(applied.notes, [format!("made the missing directory \"{}\" (0755)", scratch.at("a"))]);
    let none = Runs::here(&scratch).apply(file(&scratch.at("a/other"), &[DIRECTORY]));
    assert_eq!(none.notes, Vec::<String>::new());
}

#[test]
fn link_among_the_parents_is_followed_and_one_to_nothing_is_an_error() {
    let scratch = Scratch::new();
    scratch.write("real/x", "");
    symlink("real", scratch.path().join("link")).expect("a link");
    symlink("nothing", scratch.path().join("dangling")).expect("a link");
    let applied = Runs::here(&scratch).apply(file(&scratch.at("link/a/leaf"), &[DIRECTORY]));
    assert_eq!(applied.outcome, Outcome::Changed, "{applied:?}");
    assert!(scratch.path().join("real/a/leaf").is_dir());
    for noop in [true, false] {
        let runs = Runs { noop, ..Runs::here(&scratch) };
        let refused = runs.apply(file(&scratch.at("dangling/a/leaf"), &[DIRECTORY]));
        assert_eq!(
            told(&refused, &scratch),
            "the directory above it can't be made: \"dangling\" is a symbolic link that leads to no directory"
        );
        assert!(failure(&refused).missing.is_some());
    }
    assert!(!Path::new(&scratch.at("nothing")).exists());
}

#[test]
fn file_in_a_missing_directory_stays_an_error() {
    let scratch = Scratch::new();
    let refused = Runs::here(&scratch).apply(file(&scratch.at("no/f"), &[("content", "x")]));
    assert_eq!(told(&refused, &scratch), "the directory \"no\" does not exist");
}

#[test]
fn failure_below_a_made_parent_is_a_change() {
    let scratch = Scratch::new();
    // The name is too long for the file system.
    let resource = file(&scratch.at(&format!("a/b/{}", "x".repeat(300))), &[DIRECTORY]);
    let refused = Runs::here(&scratch).apply(resource);
    assert!(matches!(refused.outcome, Outcome::Failed(_)), "{refused:?}");
    assert_eq!(failure(&refused).changed, scratch.has("a"), "{refused:?}");
}
