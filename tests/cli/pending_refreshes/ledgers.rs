//! The files that hold pending refreshes: damage, owners, and which manifest has which.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};

use ccm_testkit::{Scratch, needs_root};
use serde_json::Value;

use super::{apply, ledgers, pending, prepared, with_pending_refresh};
use crate::ccm;
use crate::expect::{expect_error, expect_output};

#[test]
fn a_newer_ledger_keeps_the_run_from_starting() {
    let (scratch, _) = with_pending_refresh();
    let file = &ledgers(&scratch)[0];
    let text = fs::read_to_string(file).expect("a ledger").replace("\"version\":1", "\"version\":2");
    fs::write(file, &text).expect("a ledger");
    for options in [&[][..], &["--noop"]] {
        let called = apply(&scratch, options);
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(
            called.stderr.contains("was written by a newer ccm (format version 2; this ccm reads version 1)"),
            "{}",
            called.shown()
        );
    }
    let called = ccm(&scratch, &["status", "--pending"]).run();
    assert!(called.code == 0 && called.stdout.contains("written by a newer ccm"), "{}", called.shown());
    assert_eq!(fs::read_to_string(file).expect("a ledger"), text);
    assert!(!scratch.has("done-subscriber"));
    assert_eq!(fs::read_dir(scratch.state().join("runs")).expect("runs").count(), 2);
    let last = ccm(&scratch, &["history", "last"]).run();
    expect_output(&last, 0, &["nothing was run\n", "was written by a newer ccm"]);
}

#[test]
fn a_damaged_ledger_is_kept_and_every_refresh_is_pending() {
    let (scratch, _) = with_pending_refresh();
    let file = ledgers(&scratch)[0].clone();
    fs::write(&file, "garbage\n").expect("a ledger");
    let called = apply(&scratch, &["--noop"]);
    assert!(called.stderr.contains("line 1 is not a header"), "{}", called.shown());
    assert!(called.reported().contains("exec#subscriber would refresh"), "{}", called.shown());
    let called = apply(&scratch, &["--output", "json"]);
    assert!(called.stderr.contains("is kept as"), "{}", called.shown());
    let document: Value = serde_json::from_str(&called.stdout).expect("a document");
    assert_eq!(document["events"][1]["owed"][0]["assumed"], true);
    let damage = document["summary"]["ledger_damage"].as_str().expect("a text");
    assert!(damage.contains("line 1 is not a header; it is kept as "), "{damage}");
    let shown = ccm(&scratch, &["history", document["start"]["run_id"].as_str().expect("an id")]).run();
    assert!(shown.stdout.contains("is damaged: line 1 is not a header"), "{}", shown.shown());
    expect_output(&shown, 0, &["exec#subscriber refreshed", "exec#source", "because the ledger was damaged"]);
    let [kept] = &ledgers(&scratch)[..] else { panic!("{:?}", ledgers(&scratch)) };
    assert!(kept.to_string_lossy().contains(".ledger.damaged-"), "{}", kept.display());
    assert_eq!(fs::read_to_string(kept).expect("it is kept"), "garbage\n");
    assert_eq!(apply(&scratch, &["--detailed-exitcodes"]).code, 0);
    let called = ccm(&scratch, &["status", "--pending"]).run();
    assert!(called.stdout.contains("damaged ledger kept: refreshes/"), "{}", called.shown());
}

#[test]
fn status_reads_the_intact_part_of_a_damaged_ledger() {
    let (scratch, _) = with_pending_refresh();
    let file = ledgers(&scratch)[0].clone();
    let name = file.file_name().expect("a name").to_string_lossy().into_owned();
    let intact = fs::read_to_string(&file).expect("a ledger");
    let manifest = "[dir]/manifest.yaml";
    let shown = |content: &str| {
        fs::write(&file, content).expect("a ledger");
        let called = ccm(&scratch, &["status", "--pending"]).run();
        assert_eq!(called.code, 0, "{}", called.shown());
        called.stdout
    };
    let whole = shown(&(intact.clone() + "torn\n"));
    let (head, rest) = whole.split_once('\n').expect("lines");
    assert_eq!(head, format!("{manifest} (ledger refreshes/{name})"));
    assert!(rest.starts_with("  can't be read, so every refresh may be pending: damaged: line "), "{rest}");
    assert!(rest.contains(&format!("\n  next: ccm apply {manifest} ")), "{rest}");
    assert_eq!(pending(&scratch)["pending"][0]["key"], manifest);
    let header = intact.lines().next().expect("a header").to_owned();
    let of_none = shown(&(header + "\ntorn\n"));
    assert!(of_none.starts_with(&format!("{manifest} (")), "{of_none}");
    assert!(
        of_none.contains("  next: apply the manifest of this ledger, which does every refresh"),
        "{of_none}"
    );
    let garbage = shown("garbage\n");
    assert!(garbage.starts_with(&format!("(ledger refreshes/{name})\n")), "{garbage}");
    assert!(
        garbage.contains(
            "  next: find the manifest of this ledger, and apply it; the name of the ledger is derived from "
        ),
        "{garbage}"
    );
}

#[test]
fn a_directory_in_place_of_a_ledger_is_set_aside() {
    let (scratch, _) = with_pending_refresh();
    let file = ledgers(&scratch)[0].clone();
    fs::remove_file(&file).expect("a ledger");
    fs::create_dir(&file).expect("a directory");
    let called = apply(&scratch, &[]);
    assert!(
        called.code == 0 && called.reported().contains("exec#subscriber refreshed"),
        "{}",
        called.shown()
    );
    let [kept] = &ledgers(&scratch)[..] else { panic!("{:?}", ledgers(&scratch)) };
    assert!(kept.is_dir() && kept != &file, "{}", kept.display());
    assert_eq!(apply(&scratch, &["--detailed-exitcodes"]).stderr, "");
}

#[test]
fn empty_lines_in_a_ledger_need_no_extra_memory() {
    let scratch = Scratch::in_memory();
    let file = scratch.state().join("refreshes/a.ledger");
    fs::create_dir_all(scratch.state().join("refreshes")).expect("a directory");
    fs::write(&file, "\n".repeat(4 << 20)).expect("a ledger");
    let called = ccm(&scratch, &["status", "--pending"]).after("ulimit -d 65536").run();
    assert!(called.code == 0 && called.stdout.contains("line 1 is not a header"), "{}", called.shown());
    let header = r#"{"protocol":"io.choria.ccm.v1.ledger","version":1,"manifest":"a"}"#;
    fs::write(&file, format!("{header}{}", "\n".repeat(4 << 20))).expect("a ledger");
    let called = ccm(&scratch, &["status", "--pending"]).after("ulimit -d 65536").run();
    assert!(called.code == 0 && called.stdout.contains("line 2 is not a record"), "{}", called.shown());
}

#[test]
fn ledgers_of_another_user_are_not_touched() {
    if !needs_root() {
        return;
    }
    let (scratch, _) = with_pending_refresh();
    chown(scratch.state(), Some(65534), Some(65534)).expect("a new owner");
    let called = apply(&scratch, &[]);
    assert_eq!(called.code, 1, "{}", called.shown());
    assert!(called.stderr.contains("belongs to another user"), "{}", called.shown());
    assert_eq!(ledgers(&scratch).len(), 1);
    for path in [scratch.state(), scratch.state().join("refreshes"), ledgers(&scratch)[0].clone()] {
        chown(scratch.state(), Some(0), Some(0)).expect("the owner before");
        chown(&path, Some(65534), Some(65534)).expect("a new owner");
        let called = apply(&scratch, &["--noop"]);
        assert!(called.stderr.contains("it belongs to another user (uid 65534)"), "{}", called.shown());
        let called = ccm(&scratch, &["status"]).run();
        assert!(
            called.stdout.contains("it belongs to another user (uid 65534); `ccm apply` refuses"),
            "{}",
            called.shown()
        );
        chown(&path, Some(0), Some(0)).expect("the owner before");
    }
}

#[test]
fn ledgers_that_others_can_write_are_not_trusted() {
    for name in ["refreshes", "ledger"] {
        let (scratch, _) = with_pending_refresh();
        let file = ledgers(&scratch)[0].clone();
        let path = if name == "ledger" { file } else { scratch.state().join(name) };
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).expect("permissions");
        let called = apply(&scratch, &[]);
        assert_eq!(called.code, 1, "{}", called.shown());
        assert!(called.stderr.contains("it can be written by others (mode 0777)"), "{}", called.shown());
        // Removing the directory would remove the ledgers of all manifests.
        assert_eq!(called.stderr.contains("or remove the file"), name == "ledger", "{}", called.shown());
        let check =
            if name == "ledger" { "hint: check the file" } else { "hint: check the files in this directory" };
        assert!(called.stderr.contains(check), "{}", called.shown());
        // Who only looks is shown what is there, and what a run says of it.
        let called = apply(&scratch, &["--noop"]);
        assert!(
            called.code == 0 && called.reported().contains("exec#subscriber would refresh"),
            "{}",
            called.shown()
        );
        assert!(called.stderr.contains("it can be written by others (mode 0777)"), "{}", called.shown());
        assert!(called.stderr.contains("note: `ccm apply` refuses this ledger"), "{}", called.shown());
        assert!(called.stderr.contains(check), "{}", called.shown());
        let called = ccm(&scratch, &["status", "--pending"]).run();
        let said =
            "can't be trusted: it can be written by others (mode 0777); `ccm apply` refuses this ledger\n";
        assert!(called.code == 0 && called.stdout.contains(said), "{}", called.shown());
        assert!(!called.stdout.contains("next:"), "{}", called.shown());
        assert!(pending(&scratch)["pending"][0]["untrusted"].is_string());
    }
}

#[test]
fn a_path_with_dots_has_the_same_ledger() {
    let (scratch, _) = with_pending_refresh();
    scratch.write("d/.keep", "");
    let called = ccm(&scratch, &["apply", "d/../manifest.yaml"]).run();
    assert!(called.reported().contains("exec#subscriber refreshed"), "{}", called.shown());
    assert!(ledgers(&scratch).is_empty());
}

/// The descriptor of a process substitution, and the alias of standard input, are paths that lead elsewhere in
/// the next run.
#[test]
fn a_manifest_from_a_descriptor_or_pipe_needs_a_name() {
    let scratch = prepared();
    let manifest = scratch.read("manifest.yaml").expect("a manifest");
    scratch.write("named.yaml", manifest.replace("ccm:\n", "ccm:\n  name: site\n"));
    for (script, path) in [
        ("exec 5<manifest.yaml", "/proc/self/fd/5"),
        ("exec </dev/null 5<manifest.yaml", "/dev/fd/5"),
        ("exec <manifest.yaml", "/dev/stdin"),
        ("mkfifo pipe; cat manifest.yaml > pipe &", "pipe"),
    ] {
        let run = || ccm(&scratch, &["apply", "--verify-idempotent", path]).after(script).run();
        let called = run();
        let message = format!("from {path} that has `subscribe`");
        expect_error(&called, 1, "", &[&message, "name"], &["`name`"]);
        assert!(!scratch.has("done-source"), "{}", called.shown());
        let _ = fs::remove_file(scratch.at("pipe"));
        let script = script.replace("manifest.yaml", "named.yaml");
        let called = ccm(&scratch, &["apply", "--verify-idempotent", path]).after(&script).run();
        assert_eq!((called.code, scratch.has("done-subscriber")), (0, true), "{}", called.shown());
        for done in ["done-source", "done-subscriber", "pipe"] {
            let _ = fs::remove_file(scratch.at(done));
        }
    }
    // Without a subscriber, there is nothing to remember.
    scratch.write("manifest.yaml", "ccm: {resources: [{exec: {name: 'true'}}]}");
    assert_eq!(ccm(&scratch, &["apply", "/dev/stdin"]).after("exec <manifest.yaml").run().code, 0);
}

#[test]
fn a_directory_entered_over_a_link_has_the_ledger_of_the_link() {
    let scratch = Scratch::new();
    scratch.write(
        "r1/manifest.yaml",
        "ccm: {resources: [{exec: {name: a, command: 'true'}}, {exec: {name: b, command: 'false', subscribe: [exec#a]}}]}",
    );
    std::os::unix::fs::symlink("r1", scratch.at("current")).expect("a link");
    let key = |variable: &str, path: &str| {
        let enter = format!("cd current; export PWD={}", scratch.at(variable));
        let called = ccm(&scratch, &["apply", path]).after(&enter).run();
        assert_eq!(called.code, 4, "{}", called.shown());
        let key = pending(&scratch)["pending"][0]["key"].as_str().map(ToOwned::to_owned);
        fs::remove_file(&ledgers(&scratch)[0]).expect("a ledger");
        key.expect("a key")
    };
    let (over_link, resolved) = ("[dir]/current/manifest.yaml", "[dir]/r1/manifest.yaml");
    assert_eq!(key("nowhere", &scratch.at("current/manifest.yaml")), over_link);
    assert_eq!(key("current", "manifest.yaml"), over_link);
    assert_eq!(key("current", "../current/./manifest.yaml"), over_link);
    // The variable counts only as a normal path of the working directory.
    for other in ["r1", "r1/../current", "./current", "nowhere"] {
        assert_eq!(key(other, "manifest.yaml"), resolved, "{other}");
    }
}
