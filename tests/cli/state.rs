//! The state directory: its default, its permissions, and refused directories.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};

use ccm_testkit::{Called, Scratch, is_root, needs_ordinary_user, skipped};
use insta::assert_snapshot;

use crate::ccm;
use crate::expect::expect_error;

/// Applies a manifest with a state directory below that of the test; it must not run.
fn refused(scratch: &Scratch, name: &str) -> Called {
    let manifest = format!("ccm: {{resources: [{{exec: {{name: touch {}}}}}]}}", scratch.at("ran"));
    scratch.write("manifest.yaml", manifest);
    let called = ccm(scratch, &["apply", "manifest.yaml", "--state-dir", &scratch.at(name)]).run();
    assert_eq!((called.code, scratch.has("ran")), (1, false), "{}", called.shown());
    called
}

/// Expects an error about that directory, which has this in its message and hints at another directory.
#[track_caller]
fn expect_refused(scratch: &Scratch, name: &str, message: &str) {
    let path = format!("state directory \"[dir]/{name}\"");
    expect_error(&refused(scratch, name), 1, "", &[&path, message, "nothing was run"], &["--state-dir"]);
}

#[test]
fn untrusted_state_directories_are_refused() {
    let scratch = Scratch::new();
    scratch.write("file", "");
    expect_refused(&scratch, "file", "not a directory;");
    assert_snapshot!("below_a_file", refused(&scratch, "file/state").shown());

    scratch.write("open/file", "");
    for mode in [0o770, 0o702] {
        fs::set_permissions(scratch.at("open"), Permissions::from_mode(mode)).expect("permissions");
        expect_refused(&scratch, "open", &format!("written by others (mode 0{mode:o})"));
    }
    symlink(scratch.at("open"), scratch.at("link-to-open")).expect("a link");
    expect_refused(&scratch, "link-to-open", "written by others (mode 0702)");
    symlink(scratch.at("nowhere"), scratch.at("link-to-nowhere")).expect("a link");
    expect_refused(&scratch, "link-to-nowhere", "No such file");
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
    expect_refused(&scratch, "theirs", "another user (uid 65534)");
    symlink(scratch.at("theirs"), scratch.at("link")).expect("a link");
    expect_refused(&scratch, "link", "another user (uid 65534)");
    // The owner of a link can replace its target at any time.
    fs::create_dir(scratch.at("ours")).expect("a directory");
    symlink(scratch.at("ours"), scratch.at("their-link")).expect("a link");
    std::os::unix::fs::lchown(scratch.at("their-link"), Some(65534), None).expect("a new owner");
    expect_refused(&scratch, "their-link", "another user (uid 65534)");
    for read in
        [&["history"][..], &["status"], &["status", "--pending"], &["apply", "manifest.yaml", "--noop"]]
    {
        let called = ccm(&scratch, read).args(&["--state-dir", "their-link"]).run();
        let link = "\"[dir]/their-link\" lies behind the link \"[dir]/their-link\"";
        expect_error(&called, 1, "", &[link, "another user (uid 65534)"], &["--state-dir"]);
    }
}

#[test]
fn a_shared_directory_is_kept_and_one_of_its_own_advised() {
    let scratch = Scratch::new();
    for (mode, advice) in [
        (0o1777, "use a directory that only you can write, such as --state-dir [dir]/shared/ccm"),
        (0o777, "that only you can write"),
    ] {
        fs::create_dir_all(scratch.at("shared")).expect("a directory");
        fs::set_permissions(scratch.at("shared"), Permissions::from_mode(mode)).expect("a mode");
        let called = refused(&scratch, "shared");
        let cause = format!("can be written by others (mode {mode:04o})");
        expect_error(&called, 1, "", &[&cause], &[advice]);
        assert!(!called.stderr.contains("chmod"), "{}", called.shown());
    }
    fs::set_permissions(scratch.at("shared"), Permissions::from_mode(0o1777)).expect("a mode");
    let called = ccm(&scratch, &["apply", "manifest.yaml", "--state-dir", "shared/ccm"]).run();
    assert_eq!(called.code, 0, "{}", called.shown());
}

#[test]
fn a_lock_that_is_not_a_file_is_refused() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.at("state/lock")).expect("a directory");
    let lock = |name: &str, cause: &str| {
        let path = format!("lock file \"[dir]/{name}/lock\"");
        expect_error(
            &refused(&scratch, name),
            1,
            "",
            &[&path, cause, "nothing was run"],
            &["move away what is at this path"],
        );
    };
    lock("state", "Is a directory");
    fs::create_dir_all(scratch.at("other")).expect("a directory");
    scratch.write("elsewhere", "precious");
    symlink(scratch.at("elsewhere"), scratch.at("other/lock")).expect("a link");
    lock("other", "symbolic link");
    assert_eq!(scratch.read("elsewhere").as_deref(), Some("precious"));
}

#[test]
fn a_directory_that_can_not_be_created_is_named() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    let called = refused(&scratch, "/proc/state");
    assert!(called.stderr.contains("can't be created"), "{}", called.shown());
}

#[test]
fn a_directory_is_created_with_its_parents_and_an_own_link_is_followed() {
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
fn the_default_of_an_ordinary_user_is_below_home() {
    if !needs_ordinary_user() {
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
    expect_error(&call().run(), 1, "", &["HOME", "nothing was run"], &["--state-dir"]);
}
