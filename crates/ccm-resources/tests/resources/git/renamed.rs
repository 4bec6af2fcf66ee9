//! Branches and tags that the repository has renamed, moved or exchanged.

use std::path::PathBuf;

use ccm_testkit::Scratch;

use crate::git::machine::{applied, assert_changes, checkout, git, in_noop, repository, with_git};

/// Commands of git in the repository, separated by semicolons. `COMMIT` is a new commit on no branch.
fn upstream(scratch: &Scratch, commands: &str) {
    let bare = scratch.path().join("up.git");
    for command in commands.split(';').map(str::trim).filter(|command| !command.is_empty()) {
        let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        for word in words.iter_mut().filter(|word| *word == "COMMIT") {
            let tree = git(&bare, &["rev-parse", "main^{tree}"]);
            *word = git(&bare, &["commit-tree", "-m", command, &tree]);
        }
        git(&bare, &words.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

fn resolved(directory: PathBuf, revision: &str) -> String {
    git(directory, &["rev-parse", "--verify", &format!("{revision}^{{commit}}")])
}

/// Each row: commands before, the revision of the first run, commands between both, the revision of the second.
const ROWS: &[(&str, &str, &str, &str)] = &[
    ("branch a main", "a", "branch -D a; branch a/x COMMIT", "a/x"),
    ("branch a/x main", "a/x", "branch -D a/x; branch a COMMIT", "a"),
    ("branch a/b/c main; branch a/d main", "a/b/c", "branch -D a/b/c a/d; branch a COMMIT", "a"),
    ("branch a COMMIT", "a", "branch -D a; branch a/b/c COMMIT", "a/b/c"),
    // Others than the one that is checked out.
    ("branch a main; branch b/x main", "main", "branch -D a b/x; branch a/x COMMIT; branch b COMMIT", "b"),
    ("branch a main", "main", "branch -D a; branch a/x COMMIT; branch n COMMIT", "n"),
    ("branch a main", "main", "branch -D a; branch a/x COMMIT; tag v COMMIT", "v"),
    // Tags.
    ("tag v main", "v", "tag -d v; tag v/x COMMIT", "v/x"),
    ("tag v/x main", "v/x", "tag -d v/x; tag v COMMIT", "v"),
    ("tag -a -m v v main", "v", "tag -d v; tag -a -m v v/x COMMIT", "v/x"),
    ("tag v main; tag w/x main", "main", "tag -d v w/x; tag v/x COMMIT; tag w COMMIT; branch n COMMIT", "n"),
    ("tag v main", "v", "tag -f v COMMIT; branch n COMMIT", "n"),
    ("tag -a -m v v main", "v", "tag -f v COMMIT; branch n COMMIT", "n"),
    // A branch becomes a tag. The other way round, the repository is not asked for the branch: the tag is known.
    ("branch a main", "a", "branch -D a; tag a COMMIT", "a"),
    ("tag a main", "a", "tag -d a; branch a COMMIT", "refs/heads/a"),
    ("branch a main", "a", "branch -D a; tag a/x COMMIT", "a/x"),
    // The default branch.
    ("", "main", "update-ref refs/heads/main COMMIT; branch -m main trunk", "trunk"),
    ("", "main", "branch n COMMIT; branch -m main main/x", "main/x"),
];

#[test]
fn renamed_branches_and_tags_are_followed() {
    with_git(|_| {
        for (row, (before, first, between, second)) in ROWS.iter().enumerate() {
            for depth in [None, Some("1")] {
                let is_packed = (row % 2 == 0) == depth.is_some();
                let scratch = &Scratch::new();
                let what = format!("{first} {between} {is_packed} {depth:?}");
                let url = repository(scratch, "up");
                upstream(scratch, before);
                let at = |revision: &str| {
                    let depth = depth.map(|depth| ("depth", depth));
                    let properties = [("url", &*url), ("revision", revision)];
                    checkout(scratch, &properties.into_iter().chain(depth).collect::<Vec<_>>())
                };
                assert_eq!(applied(at(first)), "changed", "{what}");
                let app = scratch.path().join("app");
                // As `git clone` does.
                git(&app, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
                if is_packed {
                    git(&app, &["pack-refs", "--all"]);
                }
                upstream(scratch, between);
                assert_changes(&at(second));
                let expected = resolved(scratch.path().join("up.git"), second);
                assert_eq!(resolved(app.clone(), "HEAD"), expected, "{what}");
                assert_eq!(git(&app, &["status", "--short"]), "", "{what}");
            }
        }
    });
}

#[test]
fn checkout_stays_when_the_default_branch_is_renamed() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        assert_changes(&checkout(scratch, &[("url", &url)]));
        let app = scratch.path().join("app");
        git(&app, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
        let head = resolved(app.clone(), "HEAD");
        upstream(scratch, "update-ref refs/heads/main COMMIT; branch -m main trunk");
        assert_eq!(applied(checkout(scratch, &[("url", &url)])), "unchanged");
        let told = applied(checkout(scratch, &[("url", &url), ("revision", "main")]));
        assert!(told.ends_with("has neither a branch nor a tag `main`"), "{told}");
        assert_eq!(resolved(app, "HEAD"), head);
        // A new one has the new default branch.
        assert_changes(&checkout(scratch, &[("ensure", "absent")]));
        assert_changes(&checkout(scratch, &[("url", &url)]));
        assert_eq!(git(scratch.at("app"), &["branch", "--show-current"]), "trunk");
    });
}

#[test]
fn local_commits_of_a_branch_in_the_way_are_kept_unless_forced() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        upstream(scratch, "branch a main");
        assert_changes(&checkout(scratch, &[("url", &url), ("revision", "a")]));
        let app = scratch.path().join("app");
        git(&app, &["commit", "--quiet", "--allow-empty", "-m", "mine"]);
        let mine = resolved(app.clone(), "HEAD");
        upstream(scratch, "branch -D a; branch a/x COMMIT");
        for go_elsewhere in [false, true] {
            if go_elsewhere {
                git(&app, &["checkout", "--quiet", "--detach", "origin/main"]);
            }
            let resources = checkout(scratch, &[("url", &url), ("revision", "a/x")]);
            let told = applied(resources.clone());
            assert!(told.contains("has 1 local commit that its repository does not have"), "{told}");
            assert_eq!(in_noop(resources), told);
            assert_eq!(resolved(app.clone(), "a"), mine);
        }
        assert_changes(&checkout(scratch, &[("url", &url), ("revision", "a/x"), ("force", "true")]));
    });
}
