//! The state directory: where it is, and which ones are refused.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use ccm_testkit::{Called, Scratch, is_root, skipped};
use insta::assert_snapshot;

use crate::ccm;

/// Applies something with that state directory in the test's own; it must not run.
fn refused(scratch: &Scratch, name: &str) -> Called {
    let manifest = format!("ccm: {{resources: [{{exec: {{name: touch {}}}}}]}}", scratch.at("ran"));
    scratch.write("manifest.yaml", manifest);
    let called = ccm(scratch, &["apply", "manifest.yaml", "--state-dir", &scratch.at(name)]).run();
    assert_eq!((called.code, scratch.has("ran")), (1, false), "{}", called.shown());
    called
}

#[test]
fn what_can_not_be_trusted_is_refused() {
    let scratch = Scratch::new();
    scratch.write("file", "");
    assert_snapshot!("a_file", refused(&scratch, "file").shown());
    assert_snapshot!("below_a_file", refused(&scratch, "file/state").shown());

    scratch.write("open/file", "");
    for mode in [0o770, 0o702] {
        fs::set_permissions(scratch.at("open"), Permissions::from_mode(mode)).expect("permissions");
        assert_snapshot!(format!("mode_{mode:o}"), refused(&scratch, "open").shown());
    }
    symlink(scratch.at("open"), scratch.at("link-to-open")).expect("a link");
    assert_snapshot!("link_to_open", refused(&scratch, "link-to-open").shown());
    symlink(scratch.at("nowhere"), scratch.at("link-to-nowhere")).expect("a link");
    assert_snapshot!("link_to_nowhere", refused(&scratch, "link-to-nowhere").shown());
}

#[test]
fn the_directory_of_another_user_is_refused() {
    if !is_root() {
        let scratch = Scratch::new();
        symlink("/", scratch.at("link")).expect("a link");
        let called = refused(&scratch, "link");
        assert!(called.stderr.contains("belongs to another user (uid 0)"), "{}", called.shown());
        skipped("only root can give a directory away");
        return;
    }
    let scratch = Scratch::new();
    scratch.write("theirs/file", "");
    fs::set_permissions(scratch.at("theirs"), Permissions::from_mode(0o700)).expect("permissions");
    chown(scratch.at("theirs"), Some(65534), Some(65534)).expect("a new owner");
    assert_snapshot!("of_another", refused(&scratch, "theirs").shown());
    symlink(scratch.at("theirs"), scratch.at("link")).expect("a link");
    assert_snapshot!("link_to_another", refused(&scratch, "link").shown());
    // A stranger who owns the link can lead it elsewhere at any time.
    fs::create_dir(scratch.at("ours")).expect("a directory");
    symlink(scratch.at("ours"), scratch.at("their-link")).expect("a link");
    std::os::unix::fs::lchown(scratch.at("their-link"), Some(65534), None).expect("a new owner");
    assert_snapshot!("link_of_another", refused(&scratch, "their-link").shown());
}

#[test]
fn a_lock_that_is_no_file_is_refused() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.at("state/lock")).expect("a directory");
    assert_snapshot!("lock_is_a_directory", refused(&scratch, "state").shown());
    fs::create_dir_all(scratch.at("other")).expect("a directory");
    scratch.write("elsewhere", "precious");
    symlink(scratch.at("elsewhere"), scratch.at("other/lock")).expect("a link");
    assert_snapshot!("lock_is_a_link", refused(&scratch, "other").shown());
    assert_eq!(scratch.read("elsewhere").as_deref(), Some("precious"));
}

#[test]
fn a_directory_that_can_not_be_made_is_told() {
    if is_root() {
        skipped("root can write everywhere");
        return;
    }
    let scratch = Scratch::new();
    let called = refused(&scratch, "/proc/state");
    assert!(called.stderr.contains("can't be created"), "{}", called.shown());
}

#[test]
fn a_good_one_is_made_with_its_parents_and_a_link_of_ours_is_followed() {
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}");
    let called = ccm(&scratch, &["apply", "manifest.yaml", "--state-dir", "a/b/c"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
    let mode = |name: &str| fs::metadata(scratch.at(name)).expect("made").permissions().mode() & 0o777;
    assert_eq!((mode("a"), mode("a/b"), mode("a/b/c")), (0o755, 0o755, 0o700));
    symlink(scratch.at("a/b/c"), scratch.at("link")).expect("a link");
    let called = ccm(&scratch, &["apply", "manifest.yaml", "--state-dir", "link"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn an_ordinary_user_has_it_at_home() {
    if is_root() {
        skipped("root has it in /var/lib");
        return;
    }
    let scratch = Scratch::new();
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}");
    let call = || ccm(&scratch, &["apply", "manifest.yaml"]).default_state();
    assert_eq!(call().variable("HOME", &scratch.at("home")).run().code, 0);
    assert!(scratch.has("home/.local/state/ccm/lock"));
    let both = call().variable("HOME", &scratch.at("home")).variable("XDG_STATE_HOME", &scratch.at("xdg"));
    assert_eq!(both.run().code, 0);
    assert!(scratch.has("xdg/ccm/lock"));
    assert_snapshot!(call().run().shown(), @"
    exit code 1
    --- stderr
    error: there is no default state directory: HOME is not an absolute path; nothing was run
    hint: set HOME, or name a directory with --state-dir
    ");
}
