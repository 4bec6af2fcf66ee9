//! Errors at load, and of repositories.

use std::fs::write;
use std::os::unix::fs::symlink;

use crate::build::{errors_of, resource};
use crate::git::machine::{applied, checkout, commit, git, repository, with_git};

#[test]
fn properties_are_checked_at_load() {
    let errors =
        |name: &str, properties: &[(&str, &str)]| errors_of(&resource("git", name, properties)).len();
    let url = ("url", "https://example.com/app.git");
    assert_eq!(errors("/srv/app", &[url]), 0);
    assert_eq!(errors("/srv/app", &[]), 1);
    assert_eq!(errors("/srv/app", &[("ensure", "absent")]), 0);
    assert_eq!(errors("app", &[url]), 1);
    assert_eq!(errors("app", &[url, ("path", "/srv/app")]), 0);
    assert_eq!(errors("/srv/app", &[("url", "https://ada:secret@example.com/app")]), 1);
    assert_eq!(errors("/srv/app", &[url, ("revision", "--upload-pack=id")]), 1);
    assert_eq!(errors("/srv/app", &[url, ("depth", "0")]), 1);
}

#[test]
fn what_is_in_the_way_stays() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let apply = || applied(checkout(scratch, &[("url", &url), ("force", "true")]));
        write(scratch.at("app"), "mine").expect("a file");
        assert!(apply().ends_with("is a file, not a checkout of git"));
        assert_eq!(scratch.read("app").as_deref(), Some("mine"));
        std::fs::remove_file(scratch.at("app")).expect("a file");
        scratch.write("app/mine", "mine");
        assert!(apply().ends_with("is a directory with other files, not a checkout of git"));
        assert_eq!(scratch.read("app/mine").as_deref(), Some("mine"));
        std::fs::remove_dir_all(scratch.at("app")).expect("a directory");
        symlink(scratch.at("up.work"), scratch.at("app")).expect("a link");
        assert!(apply().ends_with("is a symbolic link, not a checkout of git"));
        let below = vec![resource("git", &scratch.at("no/app"), &[("url", &url)])];
        let told = applied(below);
        assert!(told.ends_with("/no\" does not exist"), "{told}");
    });
}

#[test]
fn unknown_revisions_and_repositories_leave_nothing() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let apply =
            |url: &str, revision: &str| applied(checkout(scratch, &[("url", url), ("revision", revision)]));
        let told = apply(&url, "nosuch");
        assert!(told.ends_with("has neither a branch nor a tag `nosuch`"), "{told}");
        assert!(apply(&url, "refs/tags/main").ends_with("has no tag `main`"));
        let short = &commit(scratch, "up", "main", "two")[..10];
        assert!(apply(&url, short).contains("has neither a branch nor a tag"));
        let told = apply(&url, "0123456789012345678901234567890123456789");
        assert!(
            told.starts_with("the repository does not give away this commit: `git fetch` failed"),
            "{told}"
        );
        let told = apply("/nosuch/up.git", "main");
        assert!(told.starts_with("there is no repository at this address: `git ls-remote` failed"), "{told}");
        git(scratch.path(), &["init", "--quiet", "--bare", "empty.git"]);
        let told = applied(checkout(scratch, &[("url", &scratch.at("empty.git"))]));
        assert!(told.ends_with("has no default branch"), "{told}");
        assert_eq!(scratch.names(), ["empty.git", "up.git", "up.work"]);
    });
}
