//! `ccm backup`: listing, restoring and removing backups.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use ccm_testkit::{Called, Scratch};
use serde_json::Value;

use crate::expect::{expect_error, expect_output};
use crate::{apply_files, ccm};

fn backup(scratch: &Scratch, args: &[&str]) -> Called {
    ccm(scratch, &["backup"]).args(args).run()
}

fn versions(scratch: &Scratch) -> Vec<Value> {
    let called = backup(scratch, &["list", "--output", "json"]);
    assert_eq!(called.code, 0, "{}", called.shown());
    serde_json::from_str::<Value>(&called.stdout).expect("a list").as_array().expect("a list").clone()
}

/// Writes a file twice, so that there is a backup of the first content, with its mode.
fn replaced() -> Scratch {
    let scratch = Scratch::new();
    scratch.write("app.conf", "first");
    fs::set_permissions(scratch.at("app.conf"), fs::Permissions::from_mode(0o640)).expect("permissions");
    let file = "        - '[dir]/app.conf': {content: second, mode: '0600', backup: true}\n";
    assert_eq!(apply_files(&scratch, file, &[]).code, 0);
    scratch
}

fn mode(scratch: &Scratch) -> u32 {
    fs::metadata(scratch.at("app.conf")).expect("the file").mode() & 0o7777
}

#[test]
fn a_backup_is_listed_with_path_size_and_run() {
    let scratch = Scratch::new();
    assert_eq!(backup(&scratch, &["list"]).stdout, "no backups\n");
    let scratch = replaced();
    expect_output(&backup(&scratch, &["list"]), 0, &["VERSION", "  5      01", "[dir]/app.conf\n"]);
    let listed = versions(&scratch);
    assert_eq!((&listed[0]["path"], &listed[0]["size"]), (&"[dir]/app.conf".into(), &5.into()));
    assert!(listed[0]["run_id"].as_str().is_some_and(|id| id.len() == 36), "{listed:?}");
    assert_eq!(backup(&scratch, &["list", "other.conf"]).stdout, "no backups\n");
    assert_eq!(backup(&scratch, &["list", "app.conf"]).stdout.lines().count(), 2);
    for file in fs::read_dir(scratch.state().join("backups")).expect("the backups").flatten() {
        assert_eq!(file.metadata().expect("metadata").permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_restored_file_has_its_content_and_attributes() {
    let scratch = replaced();
    assert_eq!((scratch.read("app.conf").as_deref(), mode(&scratch)), (Some("second"), 0o600));
    expect_output(
        &backup(&scratch, &["restore", "app.conf"]),
        0,
        &["restored [dir]/app.conf from ", "is kept in "],
    );
    assert_eq!((scratch.read("app.conf").as_deref(), mode(&scratch)), (Some("first"), 0o640));
    // The newest backup has the content before the restore, so a second restore undoes the first.
    assert_eq!(versions(&scratch).len(), 2);
    assert_eq!(backup(&scratch, &["restore", "app.conf"]).code, 0);
    assert_eq!((scratch.read("app.conf").as_deref(), mode(&scratch)), (Some("second"), 0o600));
    let oldest =
        versions(&scratch).last().expect("a backup")["version"].as_str().expect("a version").to_owned();
    fs::remove_file(scratch.at("app.conf")).expect("it is removed");
    let called = backup(&scratch, &["restore", "app.conf", "--version", &oldest]);
    assert!(called.code == 0 && !called.stdout.contains("kept"), "{}", called.shown());
    assert_eq!(scratch.read("app.conf").as_deref(), Some("first"));
}

#[test]
fn what_can_not_be_restored_is_left_alone() {
    let scratch = replaced();
    let call = |args: &[&str]| backup(&scratch, &[&["restore"], args].concat());
    expect_error(&call(&["other.conf"]), 1, "", &["other.conf", "no backup"], &["`ccm backup list`"]);
    expect_error(&call(&["app.conf", "--version", "7"]), 1, "", &["version 7"], &["use one of: 1"]);
    scratch.write("elsewhere", "precious");
    fs::remove_file(scratch.at("app.conf")).expect("it is removed");
    symlink(scratch.at("elsewhere"), scratch.at("app.conf")).expect("a link");
    expect_error(&call(&["app.conf"]), 1, "", &["no regular file"], &["move "]);
    assert_eq!(scratch.read("elsewhere").as_deref(), Some("precious"));
    fs::remove_file(scratch.at("app.conf")).expect("it is removed");
    // A backup that others could have written is not trusted.
    for file in fs::read_dir(scratch.state().join("backups")).expect("the backups").flatten() {
        fs::set_permissions(file.path(), fs::Permissions::from_mode(0o666)).expect("permissions");
    }
    let called = call(&["app.conf"]);
    assert!(called.code == 1 && called.stderr.contains("can be written by others"), "{}", called.shown());
    assert!(!scratch.has("app.conf"));
}

#[test]
fn backups_are_removed_by_number_and_age() {
    let scratch = replaced();
    for _ in 0..3 {
        assert_eq!(backup(&scratch, &["restore", "app.conf"]).code, 0);
    }
    fs::write(scratch.state().join("backups/notes.txt"), "not a backup").expect("a file");
    assert_eq!(versions(&scratch).len(), 4);
    assert_eq!(backup(&scratch, &["prune"]).code, 64);
    assert_eq!(backup(&scratch, &["prune", "--older-than", "1h"]).stdout, "removed 0 backups, 0 bytes\n");
    assert_eq!(backup(&scratch, &["prune", "--keep", "1"]).code, 0);
    assert_eq!(versions(&scratch).len(), 1);
    let left = fs::read_dir(scratch.state().join("backups")).expect("the backups").count();
    assert_eq!(left, 3, "a backup, its description, and a file that is no backup");
}
