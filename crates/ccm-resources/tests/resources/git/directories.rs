//! Checkouts in directories that exist.

use std::fs::{create_dir, read_dir, set_permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt, chown};
use std::path::Path;

use ccm_model::Resource;
use ccm_testkit::{Scratch, WebServer, answer, needs_root, skipped};

use crate::git::machine::{applied, assert_changes, checkout, commit, git, in_noop, repository, with_git};

/// Group of no user here.
const GROUP: u32 = 4243;

/// Inode, owner, group and mode. A directory that is not replaced keeps the rest, such as an access control list, too.
fn attributes(path: &Path) -> (u64, u32, u32, u32) {
    let found = path.metadata().expect("a directory");
    (found.ino(), found.uid(), found.gid(), found.mode() & 0o7777)
}

fn names(directory: &Path) -> Vec<String> {
    let entries = read_dir(directory).expect("a directory").flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Makes the empty directory of the checkout.
fn directory(scratch: &Scratch, mode: u32) -> std::path::PathBuf {
    let app = scratch.path().join("app");
    create_dir(&app).expect("a directory");
    set_permissions(&app, PermissionsExt::from_mode(mode)).expect("a mode");
    app
}

#[test]
fn existing_directory_keeps_its_attributes() {
    with_git(|_| {
        for mode in [0o755, 0o700, 0o711, 0o1777, 0o2770] {
            let scratch = Scratch::new();
            let url = repository(&scratch, "up");
            let app = directory(&scratch, mode);
            let before = attributes(&app);
            assert_changes(&checkout(&scratch, &[("url", &url), ("revision", "main")]));
            assert_eq!((attributes(&app), names(&app)), (before, vec![".git".into(), "file".into()]));
        }
    });
}

#[test]
fn group_of_a_directory_is_passed_on() {
    if !needs_root() {
        return;
    }
    with_git(|scratch| {
        let url = repository(scratch, "up");
        let app = directory(scratch, 0o755);
        chown(&app, None, Some(GROUP)).expect("a group");
        set_permissions(&app, PermissionsExt::from_mode(0o2770)).expect("a mode");
        assert_changes(&checkout(scratch, &[("url", &url)]));
        assert_eq!(attributes(&app).3, 0o2770);
        for name in [".git", ".git/config", "file"] {
            assert_eq!(app.join(name).metadata().expect("a file").gid(), GROUP, "{name}");
        }
    });
}

/// The owner of a directory, or everybody, could exchange the repository in it.
#[test]
fn directory_of_a_stranger_is_refused() {
    if !needs_root() {
        return;
    }
    with_git(|_| {
        for (owner, mode, problem) in [
            (1, 0o2770, "its owner could exchange the repository, whose configuration git would follow"),
            (4242, 0o755, "its owner could exchange the repository, whose configuration git would follow"),
            (0, 0o777, "everybody can replace what is in the directory"),
        ] {
            let scratch = Scratch::new();
            let url = repository(&scratch, "up");
            let app = directory(&scratch, mode);
            chown(&app, Some(owner), None).expect("an owner");
            let before = attributes(&app);
            let resources = checkout(&scratch, &[("url", &url), ("force", "true")]);
            let told = applied(resources.clone());
            assert!(told.contains(problem), "{told}");
            assert_eq!(in_noop(resources.clone()), told);
            assert_eq!((attributes(&app), names(&app)), (before, vec![]));
            assert_eq!(applied(checkout(&scratch, &[("ensure", "absent")])), "unchanged");
            chown(&app, Some(0), None).expect("an owner");
            set_permissions(&app, PermissionsExt::from_mode(0o775)).expect("a mode");
            assert_changes(&resources);
        }
    });
}

/// Checkout that fails at a step, before or after git has made files.
fn failing(scratch: &Scratch, step: &str) -> Vec<Resource> {
    let url = repository(scratch, "up");
    match step {
        "repository" => checkout(scratch, &[("url", &scratch.at("no.git"))]),
        "revision" => checkout(scratch, &[("url", &url), ("revision", "nosuch")]),
        "fetch" => checkout(scratch, &[("url", &url), ("revision", &"0123456789".repeat(4))]),
        "files" => {
            // More than a file of this name can be.
            let work = scratch.path().join("up.work");
            let blob = git(&work, &["hash-object", "-w", "file"]);
            let long = format!("100644,{blob},{}", "x".repeat(300));
            git(&work, &["update-index", "--add", "--cacheinfo", &long]);
            git(&work, &["commit", "--quiet", "-m", "long"]);
            git(&work, &["push", "--quiet", "origin", "main"]);
            checkout(scratch, &[("url", &url), ("revision", "main")])
        }
        "submodule" => {
            let library = repository(scratch, "library");
            git(scratch.path().join("up.work"), &["submodule", "--quiet", "add", &library, "library"]);
            commit(scratch, "up", "main", "two");
            std::fs::remove_dir_all(&library).expect("a repository");
            checkout(scratch, &[("url", &url), ("revision", "main"), ("submodules", "true")])
        }
        step => panic!("{step}"),
    }
}

#[test]
fn failed_clone_leaves_a_directory_empty() {
    with_git(|_| {
        for step in ["repository", "revision", "fetch", "files", "submodule"] {
            let scratch = Scratch::new();
            let resources = failing(&scratch, step);
            let app = directory(&scratch, 0o2710);
            let before = attributes(&app);
            let told = applied(resources);
            assert!(!told.contains("changed"), "{step}: {told}");
            assert_eq!((attributes(&app), names(&app)), (before, vec![]), "{step}: {told}");
        }
    });
}

/// A server that hands out the files of a repository, while somebody writes into the directory of the checkout.
fn busy_server(scratch: &Scratch) -> WebServer {
    git(repository(scratch, "up"), &["update-server-info"]);
    let root = scratch.path().to_owned();
    let app = scratch.path().join("app");
    WebServer::start(move |request, stream| {
        let path = request.line.split([' ', '?']).nth(1).unwrap_or_default();
        if path.starts_with("/up.git/objects/") {
            std::fs::write(app.join("file"), "mine")?;
            std::fs::write(app.join("other"), "mine")?;
        }
        match std::fs::read(format!("{}{path}", root.display())) {
            Ok(content) => answer(stream, "200 OK", &[], &content),
            Err(_) => answer(stream, "404 Not Found", &[], b""),
        }
    })
}

#[test]
fn what_is_put_into_a_directory_during_a_clone_stays() {
    with_git(|_| {
        let scratch = &Scratch::new();
        let server = busy_server(scratch);
        let app = directory(scratch, 0o750);
        let url = server.url("/up.git");
        let told = applied(checkout(scratch, &[("url", &url), ("revision", "main")]));
        if told.contains("can't be reached") {
            return skipped("git can't speak http");
        }
        assert!(told.starts_with("files that git does not know are in the way"), "{told}");
        assert!(!told.contains("(changed)"), "{told}");
        assert_eq!(names(&app), ["file", "other"]);
        assert_eq!(scratch.read("app/file").as_deref(), Some("mine"));
    });
}

/// What a killed run may leave in the directory, step by step.
#[test]
fn interrupted_clone_into_a_directory_is_completed() {
    const STEPS: [&str; 9] = [
        "directory",
        "half of the marker",
        "marker",
        "config",
        "init",
        "half of the remote",
        "remote",
        "fetch",
        "checkout",
    ];
    let completed = |last: &str, revision: Option<&str>| {
        let scratch = &Scratch::new();
        let url = repository(scratch, "up");
        scratch.write("up.work/other", "other");
        commit(scratch, "up", "main", "two");
        let app = directory(scratch, 0o750);
        let last_at = STEPS.iter().position(|step| *step == last).unwrap_or_default();
        for step in &STEPS[..=last_at] {
            match *step {
                "directory" => {
                    create_dir(app.join(".git")).expect("a directory");
                    set_permissions(app.join(".git"), PermissionsExt::from_mode(0o700)).expect("a mode");
                }
                "half of the marker" => drop(scratch.write("app/.git/.ccm-update.ccm-new", "")),
                "marker" => {
                    std::fs::rename(app.join(".git/.ccm-update.ccm-new"), app.join(".git/ccm-update"))
                        .expect("a name");
                }
                "config" => drop(scratch.write("app/.git/config", "[core]\n")),
                "init" => drop(git(&app, &["init", "--quiet", "--template="])),
                "half of the remote" => drop(git(&app, &["config", "remote.origin.url", &url])),
                "remote" => {
                    let all = "+refs/heads/*:refs/remotes/origin/*";
                    git(&app, &["config", "remote.origin.fetch", all]);
                }
                "fetch" => drop(git(&app, &["fetch", "--quiet", "origin"])),
                _ => {
                    scratch.write("app/file", "tw");
                    scratch.write("app/.git/index.lock", "");
                }
            }
        }
        let before = attributes(&app);
        let mut properties = vec![("url", &*url)];
        properties.extend(revision.map(|revision| ("revision", revision)));
        assert_changes(&checkout(scratch, &properties));
        assert_eq!(
            (attributes(&app), names(&app)),
            (before, [".git", "file", "other"].map(Into::into).into())
        );
        assert_eq!(scratch.read("app/file").as_deref(), Some("two"), "{last}");
        assert!(names(&app.join(".git")).iter().all(|name| !name.contains("ccm")), "{last}");
        assert_eq!(git(&app, &["status", "--short"]), "", "{last}");
    };
    with_git(|_| {
        for last in STEPS {
            completed(last, None);
            completed(last, Some("main"));
        }
    });
}

/// Only what ccm has begun itself is taken for an empty directory.
#[test]
fn repository_that_was_begun_beside_other_files_is_none() {
    with_git(|scratch| {
        let url = repository(scratch, "up");
        scratch.write("app/mine", "mine");
        create_dir(scratch.at("app/.git")).expect("a directory");
        let resources = checkout(scratch, &[("url", &url), ("force", "true")]);
        for _ in 0..2 {
            let told = applied(resources.clone());
            assert!(told.contains("is a directory with other files"), "{told}");
            assert_eq!(scratch.read("app/mine").as_deref(), Some("mine"));
            scratch.write("app/.git/ccm-update", "");
        }
    });
}
