//! Cloning, following and keeping revisions.

use std::fs::{create_dir, read_dir, read_to_string, write};
use std::path::Path;

use ccm_testkit::Scratch;

use crate::git::machine::{applied, assert_changes, checkout, commit, git, repository, with_git};

fn content(scratch: &Scratch) -> String {
    read_to_string(scratch.at("app/file")).expect("a file")
}

fn head(scratch: &Scratch) -> String {
    git(scratch.at("app"), &["rev-parse", "HEAD"])
}

#[test]
fn branch_is_cloned_and_followed() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let resources = checkout(scratch, &[("url", &url), ("revision", "main")]);
        assert_changes(&resources);
        assert_eq!(content(scratch), "one");
        assert_eq!(git(scratch.at("app"), &["status", "--short", "--branch"]), "## main...origin/main");
        let two = commit(scratch, "up", "main", "two");
        assert_changes(&resources);
        assert_eq!((content(scratch), head(scratch)), ("two".to_owned(), two));
        // The history was rewritten.
        git(scratch.path().join("up.work"), &["reset", "--quiet", "--hard", "HEAD~1"]);
        commit(scratch, "up", "main", "other two");
        assert_changes(&resources);
        assert_eq!(content(scratch), "other two");
        commit(scratch, "up", "next", "next");
        assert_changes(&checkout(scratch, &[("url", &url), ("revision", "next")]));
        assert_changes(&resources);
        assert_eq!(scratch.names(), ["app", "up.git", "up.work"]);
    });
}

#[test]
fn checkout_without_a_revision_stays() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        create_dir(scratch.at("app")).expect("a directory");
        let resources = checkout(scratch, &[("url", &format!("file://{url}"))]);
        assert_changes(&resources);
        commit(scratch, "up", "main", "two");
        assert_eq!(applied(resources), "unchanged");
        assert_eq!(content(scratch), "one");
        let moved = scratch.at("moved.git");
        std::fs::rename(&url, &moved).expect("a rename");
        assert_changes(&checkout(scratch, &[("url", &moved)]));
        assert_eq!(git(scratch.at("app"), &["remote", "get-url", "origin"]), moved);
        assert_eq!(content(scratch), "one");
    });
}

#[test]
fn tag_and_commit_stay() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let work = scratch.path().join("up.work");
        let one = git(&work, &["rev-parse", "HEAD"]);
        git(&work, &["tag", "-a", "-m", "x", "v1"]);
        git(&work, &["tag", "light"]);
        commit(scratch, "up", "main", "two");
        git(&work, &["tag", "-a", "-m", "x", "v2"]);
        git(&work, &["push", "--quiet", "--tags", "origin"]);
        for depth in [None, Some(("depth", "1"))] {
            let at = |revision: &str| {
                let mut properties = vec![("url", &*url), ("revision", revision)];
                properties.extend(depth);
                checkout(scratch, &properties)
            };
            assert_changes(&at("v1"));
            assert_eq!((content(scratch), head(scratch)), ("one".to_owned(), one.clone()));
            assert_changes(&at("refs/tags/v2"));
            assert_changes(&at("light"));
            assert_changes(&at("main"));
            assert_changes(&at(&one));
            assert_eq!(content(scratch), "one");
            // The tag is known, so the repository is not needed.
            assert_changes(&at("v2"));
            std::fs::rename(&url, scratch.at("away")).expect("a rename");
            assert_eq!(applied(at("v2")), "unchanged");
            std::fs::rename(scratch.at("away"), &url).expect("a rename");
            assert_changes(&checkout(scratch, &[("ensure", "absent")]));
        }
    });
}

/// References may be in files of their own, in one file for all, or in a form that only git reads.
#[test]
fn tags_are_found_in_any_form_without_the_repository() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let work = scratch.path().join("up.work");
        git(&work, &["tag", "-a", "-m", "x", "annotated"]);
        commit(scratch, "up", "main", "two");
        git(&work, &["tag", "light"]);
        git(&work, &["push", "--quiet", "--tags", "origin"]);
        let app = scratch.path().join("app");
        for tag in ["annotated", "light", "refs/tags/annotated"] {
            let checkout = checkout(scratch, &[("url", &url), ("revision", tag)]);
            assert_changes(&checkout);
            std::fs::rename(&url, scratch.at("away")).expect("a rename");
            let packed = app.join(".git/packed-refs");
            // ccm leaves them in the form that it reads without git.
            let text = read_to_string(&packed).expect("packed references");
            assert!(
                text.contains(" refs/tags/annotated\n^") && text.contains(" refs/tags/light\n"),
                "{text}"
            );
            let name = format!("refs/tags/{}", tag.trim_start_matches("refs/tags/"));
            let own = git(&app, &["rev-parse", &name]);
            git(&app, &["update-ref", "-d", &name]);
            git(&app, &["update-ref", &name, &own]);
            assert!(app.join(".git").join(&name).exists());
            assert_eq!(applied(checkout.clone()), "unchanged", "{tag}");
            git(&app, &["pack-refs", "--all"]);
            assert_eq!(applied(checkout.clone()), "unchanged", "{tag}");
            // Without its header, git reads the file as one of an old version.
            let text = read_to_string(&packed).expect("packed references");
            let old: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
            write(&packed, old.join("\n") + "\n").expect("packed references");
            assert_eq!(applied(checkout.clone()), "unchanged", "{tag}");
            std::fs::rename(scratch.at("away"), &url).expect("a rename");
        }
    });
}

/// A branch takes precedence over a tag of its name, also where a file has both.
#[test]
fn branch_with_the_name_of_a_tag_is_followed() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let work = scratch.path().join("up.work");
        git(&work, &["tag", "both"]);
        git(&work, &["push", "--quiet", "--tags", "origin"]);
        let checkout = checkout(scratch, &[("url", &url), ("revision", "both")]);
        assert_changes(&checkout);
        // git would not know which of both to push.
        git(&work, &["tag", "-d", "both"]);
        let two = commit(scratch, "up", "both", "two");
        let app = scratch.path().join("app");
        git(&app, &["fetch", "--quiet", "origin", "refs/heads/both:refs/remotes/origin/both"]);
        git(&app, &["pack-refs", "--all"]);
        assert_changes(&checkout);
        assert_eq!(head(scratch), two);
    });
}

#[test]
fn depth_limits_the_history() {
    with_git(|scratch| {
        let url = format!("file://{}", repository(scratch, "up"));
        for content in ["two", "three"] {
            commit(scratch, "up", "main", content);
        }
        let resources = checkout(scratch, &[("url", &url), ("revision", "main"), ("depth", "2")]);
        assert_changes(&resources);
        assert_eq!(git(scratch.at("app"), &["rev-list", "--count", "HEAD"]), "2");
        commit(scratch, "up", "main", "four");
        assert_changes(&resources);
        assert_eq!(content(scratch), "four");
    });
}

#[test]
fn submodules_are_checked_out_and_mended() {
    with_git(|scratch| {
        let library = repository(scratch, "library");
        let url = repository(scratch, "up");
        let work = scratch.path().join("up.work");
        git(&work, &["submodule", "--quiet", "add", &library, "library"]);
        commit(scratch, "up", "main", "two");
        let resources = checkout(scratch, &[("url", &url), ("revision", "main"), ("submodules", "true")]);
        assert_changes(&checkout(scratch, &[("url", &url), ("revision", "main")]));
        assert!(!Path::new(&scratch.at("app/library/file")).exists());
        assert_changes(&resources);
        assert_eq!(read_to_string(scratch.at("app/library/file")).expect("a file"), "one");
        commit(scratch, "library", "main", "newer");
        git(work.join("library"), &["pull", "--quiet", "origin", "main"]);
        commit(scratch, "up", "main", "three");
        assert_changes(&resources);
        assert_eq!(read_to_string(scratch.at("app/library/file")).expect("a file"), "newer");
        git(scratch.at("app/library"), &["checkout", "--quiet", "HEAD~1"]);
        assert_changes(&resources);
        write(scratch.at("app/library/file"), "by hand").expect("a file");
        let told = applied(resources);
        assert!(told.contains("has local changes in 1 file"), "{told}");
        let forced = [("url", &*url), ("revision", "main"), ("submodules", "true"), ("force", "true")];
        assert_changes(&checkout(scratch, &forced));
    });
}

#[test]
fn local_changes_are_kept_unless_forced() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let resources = checkout(scratch, &[("url", &url), ("revision", "main")]);
        let forced = checkout(scratch, &[("url", &url), ("revision", "main"), ("force", "true")]);
        assert_changes(&resources);
        write(scratch.at("app/file"), "by hand").expect("a file");
        write(scratch.at("app/unknown"), "stays").expect("a file");
        let told = applied(resources.clone());
        assert!(told.ends_with("has local changes in 1 file"), "{told}");
        let removed = applied(checkout(scratch, &[("ensure", "absent")]));
        assert!(removed.ends_with("has local changes in 1 file"), "{removed}");
        commit(scratch, "up", "main", "two");
        assert!(applied(resources.clone()).ends_with("has local changes in 1 file"));
        assert_eq!(content(scratch), "by hand");
        assert_changes(&forced);
        assert_eq!((content(scratch), scratch.has("app/unknown")), ("two".to_owned(), true));
        // Commits that nobody has are not lost either.
        write(scratch.at("app/file"), "mine").expect("a file");
        git(scratch.at("app"), &["commit", "--quiet", "-am", "mine"]);
        assert!(applied(resources.clone()).contains("has 1 local commit that its repository does not have"));
        let removed = applied(checkout(scratch, &[("ensure", "absent")]));
        assert!(removed.contains("has 1 local commit"), "{removed}");
        assert_changes(&forced);
        assert_eq!(content(scratch), "two");
        // A file that git does not know is in the way.
        write(scratch.at("up.work/unknown"), "theirs").expect("a file");
        commit(scratch, "up", "main", "three");
        let told = applied(resources.clone());
        assert!(told.starts_with("files that git does not know are in the way"), "{told}");
        assert_eq!(
            (content(scratch), scratch.read("app/unknown").as_deref()),
            ("two".to_owned(), Some("stays"))
        );
        assert_changes(&forced);
        assert_changes(&checkout(scratch, &[("ensure", "absent")]));
        assert!(!scratch.has("app"));
    });
}

#[test]
fn interrupted_update_is_completed() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let resources = checkout(scratch, &[("url", &url), ("revision", "main")]);
        assert_changes(&resources);
        commit(scratch, "up", "main", "two");
        // As if a run had died in the middle.
        write(scratch.at("app/.git/ccm-update"), "").expect("a file");
        write(scratch.at("app/.git/index.lock"), "").expect("a file");
        write(scratch.at("app/.git/refs/heads/main.lock"), "").expect("a file");
        write(scratch.at("app/file"), "tw").expect("a file");
        assert_changes(&resources);
        assert_eq!(content(scratch), "two");
        let left = read_dir(scratch.at("app/.git")).expect("a directory").flatten();
        assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().contains("ccm")));
        // As if a run had died while it cloned.
        assert_changes(&checkout(scratch, &[("ensure", "absent")]));
        std::fs::create_dir_all(scratch.at(".app.ccm-new/.git")).expect("a directory");
        assert_changes(&resources);
        assert_eq!(scratch.names(), ["app", "up.git", "up.work"]);
    });
}
