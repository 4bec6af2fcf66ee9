//! Repositories, and runs on this machine.

use std::path::Path;
use std::process::Command;

use ccm_model::Resource;
use ccm_testkit::{Scratch, isolated, skipped};

use crate::build::resource;
use crate::local_run;

/// Runs the body of a test in a process of its own, with a directory. Skips it without git.
pub(crate) fn with_git(body: impl FnOnce(&Scratch)) {
    if !Command::new("git").arg("--version").output().is_ok_and(|output| output.status.success()) {
        return skipped("git is not installed");
    }
    isolated(|| body(&Scratch::new()));
}

/// Runs git in a directory of the test, and returns what it prints.
pub(crate) fn git(directory: impl AsRef<Path>, args: &[&str]) -> String {
    let mut command = Command::new("git");
    command.arg("-C").arg(directory.as_ref()).args(["-c", "protocol.file.allow=always"]).args(args);
    for (name, value) in [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "Ada"),
        ("GIT_AUTHOR_EMAIL", "ada@example.com"),
        ("GIT_COMMITTER_NAME", "Ada"),
        ("GIT_COMMITTER_EMAIL", "ada@example.com"),
    ] {
        command.env(name, value);
    }
    let output = command.output().expect("git");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Makes a bare repository and a work tree that pushes to it, with one commit on `main`.
pub(crate) fn repository(scratch: &Scratch, name: &str) -> String {
    let bare = scratch.at(&format!("{name}.git"));
    git(scratch.path(), &["init", "--quiet", "--bare", "--initial-branch=main", &bare]);
    git(scratch.path(), &["clone", "--quiet", &bare, &format!("{name}.work")]);
    commit(scratch, name, "main", "one");
    bare
}

/// Commits a file with this content to a branch, pushes it, and returns the commit.
pub(crate) fn commit(scratch: &Scratch, name: &str, branch: &str, content: &str) -> String {
    let work = scratch.path().join(format!("{name}.work"));
    git(&work, &["checkout", "--quiet", "-B", branch]);
    scratch.write(&format!("{name}.work/file"), content);
    git(&work, &["add", "."]);
    git(&work, &["commit", "--quiet", "-m", content]);
    git(&work, &["push", "--quiet", "--force", "origin", branch]);
    git(&work, &["rev-parse", "HEAD"])
}

/// Resource for the checkout `app`.
pub(crate) fn checkout(scratch: &Scratch, properties: &[(&str, &str)]) -> Vec<Resource> {
    vec![resource("git", &scratch.at("app"), properties)]
}

/// Applies a resource, and returns a word for the outcome; a failure with its texts.
pub(crate) fn applied(resources: Vec<Resource>) -> String {
    local_run::applied(resources).remove(0)
}

pub(crate) fn in_noop(resources: Vec<Resource>) -> String {
    local_run::in_noop(resources).remove(0)
}

pub(crate) fn assert_changes(resources: &[Resource]) {
    local_run::assert_changes(&resources[0]);
}
