//! Removing, with and without `force`.

use ccm_host::{Files as _, TreeSize};
use ccm_testkit::{Scratch, needs_ordinary_user};

use crate::files::{error_text, files, set_mode};

#[test]
fn files_and_empty_directories_need_no_force() {
    let scratch = Scratch::new();
    scratch.write("f", "");
    std::fs::create_dir(scratch.path().join("d")).expect("a directory");
    for name in ["f", "d", "was never there"] {
        files().remove(&scratch.path().join(name), false).expect("a removal");
    }
    assert_eq!(scratch.names(), Vec::<String>::new());
}

#[test]
fn full_directory_needs_force() {
    let scratch = Scratch::new();
    scratch.write("d/f", "");
    let path = scratch.path().join("d");
    let error = error_text(files().remove(&path, false)).replace(&scratch.at(""), "");
    assert_eq!(error, "\"d\" could not be removed: Directory not empty (os error 39)");
    assert!(scratch.has("d/f"));
    files().remove(&path, true).expect("a removal");
    assert_eq!(scratch.names(), Vec::<String>::new());
}

#[test]
fn force_removes_deep_and_wide_trees_and_follows_no_link() {
    let scratch = Scratch::new();
    scratch.write("kept/f", "kept");
    let top = scratch.path().join("top");
    std::fs::create_dir(&top).expect("a directory");
    for number in 0..50 {
        scratch.write(&format!("top/{number}/a/b"), "");
    }
    std::os::unix::fs::symlink(scratch.path().join("kept"), top.join("link")).expect("a link");
    // The tree is deeper than the limits of open files and of the length of a path.
    let mut at =
        rustix::fs::open(&top, rustix::fs::OFlags::PATH, rustix::fs::Mode::empty()).expect("the top");
    for _ in 0..3_000 {
        rustix::fs::mkdirat(&at, "deep", rustix::fs::Mode::RWXU).expect("a directory");
        let flags = rustix::fs::OFlags::PATH;
        at = rustix::fs::openat(&at, "deep", flags, rustix::fs::Mode::empty()).expect("a directory");
    }
    files().remove(&top, true).expect("a removal");
    assert_eq!((scratch.names(), scratch.read("kept/f").as_deref()), (vec!["kept".to_owned()], Some("kept")));
}

#[test]
fn tree_is_counted_without_following_links() {
    let scratch = Scratch::new();
    scratch.write("kept/f", "kept");
    scratch.write("top/one", "12345");
    scratch.write("top/a/b/two", "123");
    std::os::unix::fs::symlink(scratch.path().join("kept"), scratch.path().join("top/link")).expect("a link");
    let top = scratch.path().join("top");
    let whole = TreeSize { files: 3, bytes: 8, is_partial: false };
    assert_eq!(files().tree_size(&top, 5), whole);
    let part = files().tree_size(&top, 4);
    assert!(part.is_partial && part.files < 3, "{part:?}");
    assert_eq!(files().tree_size(&top, 0), TreeSize { is_partial: true, ..TreeSize::default() });
    let nothing = files().tree_size(&scratch.path().join("nothing"), 5);
    assert_eq!(nothing, TreeSize { is_partial: true, ..TreeSize::default() });
}

#[test]
fn the_root_directory_is_never_removed() {
    assert_eq!(error_text(files().remove("/".as_ref(), true)), "\"/\" is never removed or replaced");
    assert_eq!(error_text(files().remove("//".as_ref(), true)), "\"/\" is never removed or replaced");
}

#[test]
fn failed_removal_with_force_counts_as_a_change() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("d/locked/f", "");
    let locked = scratch.path().join("d/locked");
    set_mode(&locked, 0o555);
    let error = files().remove(&scratch.path().join("d"), true).expect_err("a refusal");
    set_mode(&locked, 0o755);
    assert!(error.changed());
    assert_eq!(error.to_string().replace(&scratch.at(""), ""), "\"d/locked\" could not be removed");
    assert!(scratch.has("d/locked/f"));
}
