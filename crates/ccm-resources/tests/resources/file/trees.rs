//! Directories with what is in them.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use ccm_model::{Outcome, Resource, Transaction, Verb};
use ccm_testkit::{Scratch, needs_root};

use crate::build::{errors_of, resource};
use crate::file::file;
use crate::file::machine::{Runs, told};
use crate::run::failure;

fn tree(scratch: &Scratch, properties: &[(&str, &str)]) -> Resource {
    let mut all = vec![("ensure", "directory")];
    all.extend(properties);
    file(&scratch.at("tree"), &all)
}

/// Returns each entry of the action as `verb path detail`, without owners.
fn entries(transaction: &Transaction) -> Vec<String> {
    let action = transaction.action.as_ref().expect("an action");
    let line = |entry: &ccm_model::EntryAction| {
        let detail = entry.detail.as_deref().unwrap_or_default();
        let changes: Vec<&str> = entry.changes.iter().map(|change| &*change.aspect).collect();
        let words = [entry.verb.infinitive(), &entry.path, detail, &changes.join(" ")];
        words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
    };
    action.entries.iter().map(line).collect()
}

fn detail(transaction: &Transaction) -> &str {
    transaction.action.as_ref().and_then(|action| action.detail.as_deref()).unwrap_or_default()
}

/// Applies a resource in noop and for real, and checks that both say the same and that nothing is left to do.
fn converge(scratch: &Scratch, resource: &Resource) -> Transaction {
    let noop = Runs { noop: true, ..Runs::here(scratch) }.apply(resource.clone());
    let done = Runs::here(scratch).apply(resource.clone());
    assert!(matches!(done.outcome, Outcome::Changed), "{done:?}");
    assert_eq!(
        noop.action.as_ref().map(|action| &action.entries),
        done.action.as_ref().map(|action| &action.entries)
    );
    let again = Runs::here(scratch).apply(resource.clone());
    assert_eq!(again.outcome, Outcome::Unchanged, "{again:?}");
    done
}

#[test]
fn a_tree_is_copied_and_kept() {
    let scratch = Scratch::new();
    scratch.write("source/a.conf", "a\n");
    scratch.write("source/bin/run", "#!/bin/sh\n");
    fs::set_permissions(scratch.path().join("source/bin/run"), Permissions::from_mode(0o755))
        .expect("a mode");
    symlink("../a.conf", scratch.path().join("source/bin/link")).expect("a link");
    let resource = tree(&scratch, &[("source", "source")]);
    let made = converge(&scratch, &resource);
    assert_eq!(made.action.as_ref().map(|action| action.verb), Some(Verb::Create));
    assert_eq!(
        entries(&made),
        [
            "create a.conf 0644, 2 bytes",
            "create bin directory 0755",
            "create bin/link link to ../a.conf",
            "create bin/run 0755, 10 bytes",
        ]
    );
    let mode_of = |name: &str| fs::metadata(scratch.path().join(name)).expect("it").mode() & 0o7777;
    assert_eq!([mode_of("tree/a.conf"), mode_of("tree/bin"), mode_of("tree/bin/run")], [0o644, 0o755, 0o755]);
    assert_eq!(
        fs::read_link(scratch.path().join("tree/bin/link")).expect("a link").to_str(),
        Some("../a.conf")
    );

    scratch.write("source/a.conf", "b\n");
    scratch.write("tree/other", "is kept\n");
    let changed = converge(&scratch, &resource);
    assert_eq!(entries(&changed), ["change a.conf content"]);
    assert_eq!(detail(&changed), "1 entry in it (change 1)");
    assert_eq!(fs::read_to_string(scratch.path().join("tree/other")).expect("it"), "is kept\n");
}

#[test]
fn purge_removes_what_nothing_declares() {
    let scratch = Scratch::new();
    scratch.write("source/a.conf", "a\n");
    for (name, content) in [("a.conf", "a\n"), ("b.conf", "12345"), ("keep.local", ""), ("old/deep/x", "123")]
    {
        scratch.write(&format!("tree/{name}"), content);
    }
    scratch.write("outside", "stays\n");
    symlink(scratch.path(), scratch.path().join("tree/out")).expect("a link");
    let properties = [("source", "source"), ("purge", "true"), ("ignore", "*.local")];
    let refused = Runs::here(&scratch).apply(tree(&scratch, &properties));
    assert_eq!(told(&refused, &scratch), "the directory \"tree/old\", which nothing declares, is not empty");
    assert_eq!(failure(&refused).property.as_deref(), Some("purge"));
    assert!(scratch.path().join("tree/b.conf").exists());

    let mut forced = properties.to_vec();
    forced.push(("force", "true"));
    let done = converge(&scratch, &tree(&scratch, &forced));
    assert_eq!(entries(&done)[..2], ["remove b.conf file, 5 bytes", "remove old directory, 1 file, 3 bytes"]);
    assert_eq!(detail(&done), "3 entries in it (remove 3 with 3 files, 8 bytes)");
    let left = ["a.conf", "keep.local"].map(|name| scratch.path().join("tree").join(name).exists());
    assert_eq!(left, [true; 2]);
    assert!(!scratch.path().join("tree/out").is_symlink() && scratch.path().join("outside").exists());
}

#[test]
fn attributes_hold_for_what_is_in_the_directory() {
    let scratch = Scratch::new();
    scratch.write("tree/a/b", "x");
    symlink("b", scratch.path().join("tree/a/link")).expect("a link");
    let resource = tree(&scratch, &[("recurse", "true"), ("mode", "0640")]);
    let done = converge(&scratch, &resource);
    assert_eq!(entries(&done), ["change a mode", "change a/b mode"]);
    let mode = |name: &str| fs::metadata(scratch.path().join(name)).expect("it").mode() & 0o7777;
    assert_eq!([mode("tree"), mode("tree/a"), mode("tree/a/b")], [0o750, 0o750, 0o640]);
}

#[test]
fn links_in_the_tree_are_not_followed() {
    let scratch = Scratch::new();
    scratch.write("source/sub/file", "new\n");
    scratch.write("elsewhere/file", "old\n");
    fs::create_dir(scratch.path().join("tree")).expect("a directory");
    symlink(scratch.path().join("elsewhere"), scratch.path().join("tree/sub")).expect("a link");
    for properties in
        [vec![("source", "source")], vec![("source", "source"), ("purge", "true"), ("force", "true")]]
    {
        let refused = Runs::here(&scratch).apply(tree(&scratch, &properties));
        assert_eq!(told(&refused, &scratch), "\"tree/sub\" is a symbolic link, not a directory");
    }
    assert_eq!(fs::read_to_string(scratch.path().join("elsewhere/file")).expect("it"), "old\n");
    // A link in place of the directory itself leads elsewhere as well.
    fs::rename(scratch.path().join("tree"), scratch.path().join("real")).expect("renamed");
    symlink("real", scratch.path().join("tree")).expect("a link");
    let refused = Runs::here(&scratch).apply(tree(&scratch, &[("purge", "true")]));
    assert_eq!(told(&refused, &scratch), "\"tree\" is a symbolic link, whose attributes cannot be managed");
}

#[test]
fn sources_that_can_not_be_copied_are_refused() {
    for (name, make, message) in [
        ("out", "link:../../x", "is a link that leads out of the directory, which is not copied"),
        ("absolute", "link:/etc/passwd", "is a link that leads out of the directory, which is not copied"),
        (".x.ccm-new", "file", "has the name of a temporary file of ccm"),
        ("late.j2", "file", "was not there when the manifest was read"),
        ("socket", "socket", "is a socket, which is not copied"),
    ] {
        let scratch = Scratch::new();
        scratch.write("source/first", "");
        let path = scratch.path().join("source").join(name);
        match make.split_once(':') {
            Some((_, target)) => symlink(target, &path).expect("a link"),
            None if make == "socket" => {
                drop(std::os::unix::net::UnixListener::bind(&path).expect("a socket"));
            }
            None => fs::write(&path, "").expect("a file"),
        }
        let refused = Runs::here(&scratch).apply(tree(&scratch, &[("source", "source")]));
        assert_eq!(told(&refused, &scratch), format!("cannot copy `source`: \"source/{name}\" {message}"));
        assert!(!scratch.path().join("tree").exists());
    }
    let scratch = Scratch::new();
    let missing = Runs::here(&scratch).apply(tree(&scratch, &[("source", "source")]));
    assert_eq!(told(&missing, &scratch), "cannot copy `source`: \"source\" does not exist");
    assert!(failure(&missing).missing.is_some());
    scratch.write("tree/source/x", "");
    let inside = Runs::here(&scratch).apply(tree(&scratch, &[("source", "tree/source")]));
    assert!(told(&inside, &scratch).ends_with("and the directory to manage are one inside the other"));
}

#[test]
fn diffs_of_all_files_are_shown_together() {
    let scratch = Scratch::new();
    scratch.write("source/a", "one\n");
    scratch.write("source/b", "two\n");
    scratch.write("tree/a", "1\n");
    scratch.write("tree/gone", "3\n");
    let resource = tree(&scratch, &[("source", "source"), ("purge", "true")]);
    let noop = Runs { noop: true, diff: true, ..Runs::here(&scratch) }.apply(resource);
    let diff = noop.diff.expect("a diff").replace(&scratch.at(""), "");
    let expected = [
        "--- tree/a\n+++ tree/a\n@@ -1 +1 @@\n-1\n+one\n",
        "--- /dev/null\n+++ tree/b\n@@ -0,0 +1 @@\n+two\n",
        "--- tree/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-3\n",
    ];
    assert_eq!(diff, expected.concat());
}

#[test]
fn sensitive_trees_show_neither_sizes_nor_content() {
    let scratch = Scratch::new();
    scratch.write("source/key", "hunter22\n");
    scratch.write("tree/old", "hunter23\n");
    let resource = tree(&scratch, &[("source", "source"), ("purge", "true"), ("sensitive", "true")]);
    let runs = Runs { diff: true, ..Runs::here(&scratch) };
    let done = runs.apply(resource);
    assert_eq!(entries(&done), ["create key 0644", "remove old file"]);
    assert_eq!(done.diff, None);
    assert!(detail(&done).ends_with("2 entries in it (create 1, remove 1 with 1 file)"), "{}", detail(&done));
    assert_eq!(runs.secrets.redact("a hunter22\n."), "a [redacted].");
}

#[test]
fn a_tree_is_given_away_from_the_inside() {
    if !needs_root() {
        return;
    }
    for (properties, has_source) in [
        (&[("recurse", "true"), ("owner", "4242")][..], false),
        (&[("recurse", "true"), ("owner", "4242"), ("group", "4242"), ("mode", "0640")], false),
        (&[("source", "source"), ("owner", "4242")], true),
        (&[("source", "source"), ("recurse", "true"), ("owner", "4242"), ("mode", "0600")], true),
    ] {
        for is_new in [false, true] {
            if is_new && !has_source {
                continue;
            }
            let scratch = Scratch::new();
            for name in ["f", "a/g", "a/b/c/h"] {
                if !is_new {
                    scratch.write(&format!("tree/{name}"), "old");
                }
                scratch.write(&format!("source/{name}"), "new");
            }
            let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply(tree(&scratch, properties));
            assert!(noop.outcome.is_change() && noop.warnings.is_empty(), "{noop:?}");
            let done = Runs::here(&scratch).apply(tree(&scratch, properties));
            assert_eq!(done.outcome, Outcome::Changed, "{properties:?} {done:?}");
            for path in ["tree", "tree/f", "tree/a", "tree/a/g", "tree/a/b", "tree/a/b/c", "tree/a/b/c/h"] {
                let found = fs::symlink_metadata(scratch.at(path)).expect("an entry");
                assert_eq!(found.uid(), 4242, "{properties:?} {path}");
            }
            let again = Runs::here(&scratch).apply(tree(&scratch, properties));
            assert_eq!(again.outcome, Outcome::Unchanged, "{properties:?}");
        }
    }
}

#[test]
fn hard_links_to_files_of_others_are_not_given_away() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("secret", "root alone\n");
    fs::create_dir(scratch.path().join("tree")).expect("a directory");
    std::os::unix::fs::chown(scratch.path().join("tree"), Some(1), Some(1)).expect("an owner");
    fs::hard_link(scratch.path().join("secret"), scratch.path().join("tree/mine")).expect("a hard link");
    let refused = Runs::here(&scratch).apply(tree(&scratch, &[("recurse", "true"), ("owner", "1")]));
    assert!(told(&refused, &scratch).contains("who could have moved the file there"), "{refused:?}");
    assert_eq!(fs::metadata(scratch.path().join("secret")).expect("it").uid(), 0);
}

#[test]
fn contradictions_are_found_at_load() {
    for (properties, expected) in [
        (&[("recurse", "true")][..], "conflict recurse recurse, ensure: directory | ensure: directory"),
        (&[("ensure", "directory"), ("content", "x")], "conflict content content, ensure: directory | …"),
        (&[("ensure", "directory"), ("recurse", "true")], "conflict recurse recurse, owner, group, mode | …"),
        (
            &[("ensure", "directory"), ("ignore", "*.x")],
            "conflict ignore ignore, source, recurse, purge | ignore",
        ),
        (
            &[("ensure", "directory"), ("force", "true")],
            "conflict force force, ensure: absent, ensure: link, purge | force",
        ),
        (&[("ensure", "directory"), ("purge", "true"), ("ignore", "/x")], "invalid-value ignore /x | /"),
        (
            &[("ensure", "directory"), ("purge", "true"), ("ignore", "x**")],
            "invalid-value ignore x**, ** | **/, *",
        ),
    ] {
        assert_eq!(errors_of(&file("/srv/tree", properties)), [expected], "{properties:?}");
    }
    let [error] = &errors_of(&file("/etc", &[("ensure", "directory"), ("purge", "true")]))[..] else {
        panic!("one error");
    };
    assert!(error.starts_with("conflict purge"), "{error}");
}

#[test]
fn purge_keeps_what_is_declared_under_another_spelling() {
    let scratch = Scratch::new();
    for name in [
        "real/tree/a",
        "real/tree/b",
        "real/tree/g",
        "real/tree/sub/c",
        "elsewhere/d",
        "elsewhere/e",
        "elsewhere/f",
    ] {
        scratch.write(name, "");
    }
    symlink("real", scratch.path().join("link")).expect("a link");
    symlink("../../elsewhere", scratch.path().join("real/tree/out")).expect("a link");
    let purged = |name: &str| {
        file(&scratch.at(name), &[("ensure", "directory"), ("purge", "true"), ("force", "true")])
    };
    let declared = |name: &str| file(&scratch.at(name), &[("content", "")]);
    let exec = |created: &[&str]| {
        let created: Vec<String> = created.iter().map(|name| scratch.at(name)).collect();
        resource("exec", "true", &[("creates", &format!("[{}]", created.join("|")))])
    };
    // The link to `elsewhere` is on the way to what is declared behind it.
    for noop in [true, false] {
        let resources = vec![
            purged("real/tree"),
            purged("elsewhere"),
            declared("link/tree/a"),
            declared("link/tree/sub/c"),
            declared("link/tree/out/d"),
            exec(&["link/tree/sub/../../tree/b", "elsewhere/../link/../elsewhere/f"]),
        ];
        let done = Runs { noop, ..Runs::here(&scratch) }.apply_all(resources);
        assert_eq!(entries(&done[0]), ["remove g file, 0 bytes"]);
        assert_eq!(entries(&done[1]), ["remove e file, 0 bytes"]);
        assert!(done[2..].iter().all(|done| done.outcome == Outcome::Unchanged), "{done:?}");
    }
    let done = Runs::here(&scratch).apply_all(vec![purged("link/tree"), declared("real/tree/a")]);
    assert_eq!(
        entries(&done[0]),
        [
            "remove b file, 0 bytes",
            "remove out link to ../../elsewhere",
            "remove sub directory, 1 file, 0 bytes"
        ]
    );
}

#[test]
fn a_tree_is_not_copied_into_itself_through_a_link() {
    let scratch = Scratch::new();
    scratch.write("real/tree/source/x", "");
    symlink("real", scratch.path().join("link")).expect("a link");
    let resource = file(&scratch.at("link/tree"), &[("ensure", "directory"), ("source", "real/tree/source")]);
    let inside = Runs::here(&scratch).apply(resource);
    assert!(told(&inside, &scratch).ends_with("and the directory to manage are one inside the other"));
}

#[test]
fn directory_of_another_spelling_would_be_there() {
    let scratch = Scratch::new();
    scratch.write("real/x", "");
    symlink("real", scratch.path().join("link")).expect("a link");
    let resources = vec![
        file(&scratch.at("link/a/b"), &[("ensure", "directory")]),
        file(&scratch.at("real/a/b/f"), &[("content", "")]),
    ];
    let noop = Runs { noop: true, ..Runs::here(&scratch) }.apply_all(resources);
    assert!(noop.iter().all(|noop| matches!(noop.outcome, Outcome::WouldChange { .. })), "{noop:?}");
    assert_eq!(noop[1].warnings, Vec::<String>::new());
}
