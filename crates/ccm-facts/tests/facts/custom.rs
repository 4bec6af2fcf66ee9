//! Files of custom facts as users may leave them: links, pipes, huge files, files of other users.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;

use ccm_facts::CustomFacts;
use ccm_testkit::{Scratch, needs_ordinary_user, needs_root};
use proptest::prelude::*;

const MEBIBYTE: usize = 1024 * 1024;

/// Directories of the system and of the user in a scratch directory.
fn directories(scratch: &Scratch) -> CustomFacts {
    CustomFacts { system: scratch.path().join("system"), user: Some(scratch.path().join("user")) }
}

/// Reads the files as `name=text`, and the warnings with their causes; the scratch directory is removed from
/// both.
fn read(scratch: &Scratch) -> (Vec<String>, Vec<String>) {
    let (files, warnings) = directories(scratch).read();
    let prefix = format!("{}/", scratch.path().display());
    let files =
        files.iter().map(|file| format!("{}={}", file.path.display(), file.text).replace(&prefix, ""));
    let warnings = warnings.iter().map(|warning| {
        let mut message = warning.to_string();
        let mut cause = std::error::Error::source(warning);
        while let Some(error) = cause {
            message += &format!(": {error}");
            cause = error.source();
        }
        message.replace(&prefix, "")
    });
    (files.collect(), warnings.collect())
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn missing_directories_are_no_warning() {
    let scratch = Scratch::new();
    assert_eq!(read(&scratch), (vec![], vec![]));
    // A file where the directory should be.
    scratch.write("file", "");
    let facts = CustomFacts { system: scratch.path().join("file/ccm"), user: None };
    let (files, warnings) = facts.read();
    assert!(files.is_empty() && warnings.is_empty(), "{warnings:?}");
}

#[test]
fn files_are_read_in_order_of_precedence() {
    let scratch = Scratch::new();
    for (number, name) in [
        "user/facts.d/a.json",
        "system/facts.d/b.yaml",
        "system/facts.d/B.json",
        "system/facts.d/10.yaml",
        "system/facts.d/9.json",
        "system/facts.yaml",
        "user/facts.json",
        "system/facts.json",
    ]
    .iter()
    .enumerate()
    {
        scratch.write(name, number.to_string());
    }
    let (files, warnings) = read(&scratch);
    assert_eq!(
        files,
        [
            "system/facts.json=7",
            "system/facts.yaml=5",
            "system/facts.d/10.yaml=3",
            "system/facts.d/9.json=4",
            "system/facts.d/B.json=2",
            "system/facts.d/b.yaml=1",
            "user/facts.json=6",
            "user/facts.d/a.json=0",
        ]
    );
    assert_eq!(warnings, [""; 0]);
}

#[test]
fn files_with_other_endings_are_named_and_not_read() {
    let scratch = Scratch::new();
    for name in ["other.yaml", "facts.d/a.yam", "facts.d/a.txt", "facts.d/a.yaml~", "facts.d/.a.yaml"] {
        scratch.write(&format!("system/{name}"), "left: alone");
    }
    let ran = scratch.path().join("ran");
    let program = format!("#!/bin/sh\ntouch {}\n", ran.display());
    scratch.write_program("system/facts.d/program", &program);
    scratch.write_program("system/facts.d/program.sh", &program);
    // A matching name is read like any other, and never run.
    scratch.write_program("system/facts.d/program.yaml", &program);
    fs::create_dir_all(scratch.path().join("system/facts.d/directory")).expect("a directory");
    symlink("nowhere", scratch.path().join("system/facts.d/.#a.yaml")).expect("a link");
    let (files, warnings) = read(&scratch);
    assert_eq!(files.len(), 1, "{files:?}");
    assert!(files[0].starts_with("system/facts.d/program.yaml=#!/bin/sh"), "{files:?}");
    let [warning] = &warnings[..] else { panic!("{warnings:?}") };
    assert!(
        warning.starts_with("\"system/facts.d/a.txt\" and 5 other files beside it are not read"),
        "{warning}"
    );
    assert!(!ran.exists());
}

#[test]
fn links_are_not_followed() {
    let scratch = Scratch::new();
    scratch.write("elsewhere/facts.d/a.yaml", "a: 1");
    let target = scratch.write("elsewhere/facts.yaml", "b: 1");
    scratch.write("system/facts.json", "{}");
    symlink(&target, scratch.path().join("system/facts.yaml")).expect("a link");
    symlink("../elsewhere/facts.d", scratch.path().join("system/facts.d")).expect("a link");
    symlink("elsewhere", scratch.path().join("user")).expect("a link");
    let (files, warnings) = read(&scratch);
    assert_eq!(files, ["system/facts.json={}"]);
    assert_eq!(
        warnings,
        [
            "custom facts are left out: \"system/facts.yaml\" is a symbolic link",
            "custom facts are left out: \"system/facts.d\" is a symbolic link",
            "custom facts are left out: \"user\" is a symbolic link",
        ]
    );
    // Links on the way to the directory are followed.
    let facts = CustomFacts { system: scratch.path().join("user/facts.d"), user: None };
    fs::write(target.with_file_name("facts.d").join("facts.json"), "{}").expect("a file");
    assert_eq!(facts.read().0.len(), 1);
}

#[test]
fn special_files_do_not_block() {
    let scratch = Scratch::new();
    let parts = scratch.path().join("system/facts.d");
    fs::create_dir_all(parts.join("directory.yaml")).expect("a directory");
    nix::unistd::mkfifo(&parts.join("pipe.yaml"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let _listener = UnixListener::bind(parts.join("socket.json")).expect("a socket");
    scratch.write("system/facts.d/z.json", "{}");
    scratch.write("user", "a file");
    let (files, warnings) = read(&scratch);
    assert_eq!(files, ["system/facts.d/z.json={}"]);
    assert_eq!(
        warnings,
        [
            "custom facts are left out: \"system/facts.d/directory.yaml\" is a directory",
            "custom facts are left out: \"system/facts.d/pipe.yaml\" is a pipe",
            "custom facts are left out: \"system/facts.d/socket.json\" is a socket",
            "custom facts are left out: \"user\" is a file",
        ]
    );
}

#[test]
fn large_and_binary_files_are_left_out() {
    let scratch = Scratch::new();
    scratch.write("system/facts.d/a.json", vec![b' '; MEBIBYTE]);
    scratch.write("system/facts.d/b.json", vec![b' '; MEBIBYTE + 1]);
    // A sparse file, larger than the memory.
    let hole = fs::File::create(scratch.path().join("system/facts.d/c.yaml")).expect("a file");
    hole.set_len(1 << 40).expect("its length");
    scratch.write("system/facts.d/d.yaml", b"name: caf\xe9\n");
    let (files, warnings) = read(&scratch);
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].len(), "system/facts.d/a.json=".len() + MEBIBYTE);
    assert_eq!(
        warnings,
        [
            "custom facts are left out: \"system/facts.d/b.json\" is longer than 1048576 bytes",
            "custom facts are left out: \"system/facts.d/c.yaml\" is longer than 1048576 bytes",
            "custom facts are left out: \"system/facts.d/d.yaml\" is not UTF-8 text: line 1, column 10: the byte 0xE9 is not valid UTF-8",
        ]
    );
}

#[test]
fn the_total_size_is_limited() {
    let scratch = Scratch::new();
    for number in 10..28 {
        scratch.write(&format!("system/facts.d/{number}.json"), vec![b' '; MEBIBYTE]);
    }
    scratch.write("user/facts.yaml", "");
    let (files, warnings) = read(&scratch);
    assert_eq!(files.len(), 17, "sixteen of them, and the empty one");
    assert_eq!(
        warnings,
        [26, 27].map(|number| format!(
            "custom facts are left out: \"system/facts.d/{number}.json\" exceeds the total of 16777216 bytes"
        ))
    );
}

#[test]
fn too_many_names_are_a_warning() {
    let scratch = Scratch::new();
    scratch.write("system/facts.json", "{}");
    for number in 0..1000 {
        scratch.write(&format!("system/facts.d/.{number}"), "");
    }
    scratch.write("system/facts.d/.0", "");
    assert_eq!(read(&scratch).1, [""; 0]);
    scratch.write("system/facts.d/one more", "");
    let (files, warnings) = read(&scratch);
    assert_eq!(files, ["system/facts.json={}"]);
    assert_eq!(warnings, ["custom facts are left out: \"system/facts.d\" holds more than 1000 entries"]);
}

#[test]
fn unreadable_files_are_warnings() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    set_mode(&scratch.write("system/facts.json", "{}"), 0);
    scratch.write("user/facts.d/a.json", "{}");
    set_mode(&scratch.path().join("user/facts.d"), 0);
    let (files, warnings) = read(&scratch);
    set_mode(&scratch.path().join("user/facts.d"), 0o700);
    assert_eq!(files, [""; 0]);
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    assert!(warnings[0].contains("\"system/facts.json\" can't be read: "), "{warnings:?}");
    assert!(warnings[1].contains("\"user/facts.d\" can't be read: "), "{warnings:?}");
}

#[test]
fn root_reads_only_its_own_files() {
    const NOBODY: u32 = 65534;
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let theirs = scratch.write("system/facts.d/a.json", "{}");
    chown(&theirs, Some(NOBODY), Some(NOBODY)).expect("its owner");
    set_mode(&scratch.write("system/facts.d/b.json", "{}"), 0o666);
    set_mode(&scratch.write("system/facts.d/c.json", "{}"), 0o664);
    scratch.write("user/facts.json", "{}");
    let (files, warnings) = read(&scratch);
    assert_eq!(files, ["system/facts.d/c.json={}", "user/facts.json={}"]);
    assert_eq!(
        warnings,
        [
            "custom facts are left out: \"system/facts.d/a.json\" belongs to uid 65534, not to root",
            "custom facts are left out: \"system/facts.d/b.json\" may be written by everybody (mode 0666)",
        ]
    );

    set_mode(&scratch.path().join("system/facts.d"), 0o1777);
    chown(scratch.path().join("user"), Some(NOBODY), None).expect("its owner");
    let (files, warnings) = read(&scratch);
    assert_eq!(files, [""; 0]);
    assert_eq!(
        warnings,
        [
            "custom facts are left out: \"system/facts.d\" may be written by everybody (mode 1777)",
            "custom facts are left out: \"user\" belongs to uid 65534, not to root",
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Any content is text or a warning with its path.
    #[test]
    fn any_bytes_are_text_or_a_warning(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let scratch = Scratch::new();
        scratch.write("system/facts.d/any.yaml", &bytes);
        let (files, warnings) = directories(&scratch).read();
        match String::from_utf8(bytes) {
            Ok(text) => {
                prop_assert!(warnings.is_empty());
                prop_assert_eq!(&files[0].text, &text);
            }
            Err(_) => prop_assert!(files.is_empty() && warnings[0].to_string().contains("any.yaml")),
        }
    }
}
