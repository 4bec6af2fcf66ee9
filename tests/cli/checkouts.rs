//! Checkouts of another user, with the git of this machine.

use std::fs::{create_dir, metadata, set_permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
use std::process::Command;

use ccm_testkit::{Scratch, needs_root, skipped};

use crate::ccm;

const DAEMON: u32 = 1;

/// Group of no user here.
const GROUP: u32 = 4243;

/// Makes a repository of the user daemon with one commit.
fn repository(scratch: &Scratch) {
    let made = Command::new("sh")
        .arg("-euc")
        .arg("git init -q r && cd r && echo one >file && git add . && git commit -q -m one && chown -R daemon .")
        .current_dir(scratch.path())
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "Ada")))
        .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "ada@example.com")))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .status();
    assert!(made.expect("a shell").success());
}

#[test]
fn empty_directory_keeps_all_but_the_owner_for_the_user_of_git() {
    if !needs_root() {
        return;
    }
    if Command::new("git").arg("--version").output().is_err() {
        return skipped("git is not installed");
    }
    for (owner, mode) in [(DAEMON, 0o2770), (DAEMON, 0o711), (0, 0o2750), (0, 0o700)] {
        let scratch = Scratch::new();
        set_permissions(scratch.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
        repository(&scratch);
        let (url, path) = (scratch.at("r"), scratch.at("c"));
        create_dir(&path).expect("a directory");
        chown(&path, Some(owner), Some(GROUP)).expect("an owner");
        set_permissions(&path, PermissionsExt::from_mode(mode)).expect("a mode");
        let inode = metadata(&path).expect("a directory").ino();
        let resource = format!("{path}: {{url: {url}, user: daemon}}");
        scratch.write("m.yaml", format!("ccm:\n  resources:\n    - git:\n        - {resource}\n"));
        let noop = ccm(&scratch, &["apply", "-n", "m.yaml"]).run();
        assert_eq!(noop.stdout.contains("owner daemon"), owner != DAEMON, "{}", noop.shown());
        let called = ccm(&scratch, &["apply", "m.yaml"]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        let found = metadata(&path).expect("a directory");
        let found = (found.ino(), found.uid(), found.gid(), found.mode() & 0o7777);
        assert_eq!(found, (inode, DAEMON, GROUP, mode), "{}", called.shown());
        let group = if mode & 0o2000 == 0 { DAEMON } else { GROUP };
        for name in [".git", ".git/config", "file"] {
            let found = metadata(format!("{path}/{name}")).expect("a file");
            assert_eq!((found.uid(), found.gid()), (DAEMON, group), "{owner} {mode:o} {name}");
        }
        let again = ccm(&scratch, &["apply", "-n", "m.yaml"]).run();
        assert!(again.code == 0 && !again.stdout.contains("would"), "{}", again.shown());
    }
}
