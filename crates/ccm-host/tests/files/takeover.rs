//! Files that another user prepared before ccm gives them a new owner or group.

use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};

use ccm_host::{FileAttributes, Files as _};
use ccm_testkit::Scratch;

use crate::extended::{capability, extended, set_extended};
use crate::{NOBODY, files, mode, needs_root, owner_ids, set_mode, write_with};

const CAPABILITY: &str = "security.capability";

/// Makes a program of user nobody.
fn program_of_nobody(scratch: &Scratch, name: &str, bits: u32) -> PathBuf {
    let path = scratch.write_program(name, "theirs");
    chown(&path, Some(NOBODY), Some(NOBODY)).expect("its owner");
    set_mode(&path, bits);
    path
}

fn owner(uid: Option<u32>, gid: Option<u32>, mode: Option<u32>) -> FileAttributes {
    FileAttributes { uid, gid, mode }
}

/// Changes of owner and group, with the mode of the file before and after.
const CHANGES: [(FileAttributes, u32, u32); 6] = [
    (FileAttributes { uid: Some(0), gid: None, mode: None }, 0o4755, 0o755),
    (FileAttributes { uid: None, gid: Some(0), mode: None }, 0o2755, 0o755),
    (FileAttributes { uid: Some(0), gid: Some(0), mode: None }, 0o7777, 0o1777),
    // Without the right to execute, `chown` alone would keep the set-group-id bit.
    (FileAttributes { uid: Some(0), gid: Some(0), mode: None }, 0o6640, 0o640),
    (FileAttributes { uid: Some(0), gid: None, mode: Some(0o4711) }, 0o2755, 0o4711),
    (FileAttributes { uid: Some(NOBODY), gid: Some(NOBODY), mode: None }, 0o6755, 0o6755),
];

#[test]
fn new_owner_or_group_does_not_get_set_id_bits() {
    if !needs_root("changing owners") {
        return;
    }
    for (attributes, before, after) in CHANGES {
        let scratch = Scratch::new();
        let path = program_of_nobody(&scratch, "f", before);
        files().set_attributes(&path, attributes).expect("a change");
        let owners = (attributes.uid.unwrap_or(NOBODY), attributes.gid.unwrap_or(NOBODY));
        assert_eq!((owner_ids(&path), mode(&path)), (owners, after), "{attributes:?} {before:o}");
    }
}

#[test]
fn new_file_of_another_owner_does_not_inherit_set_id_bits() {
    if !needs_root("changing owners") {
        return;
    }
    for (attributes, before, after) in CHANGES {
        let scratch = Scratch::new();
        let path = program_of_nobody(&scratch, "f", before);
        write_with(&path, "new", attributes).expect("a write");
        let owners = (attributes.uid.unwrap_or(NOBODY), attributes.gid.unwrap_or(NOBODY));
        assert_eq!((owner_ids(&path), mode(&path)), (owners, after), "{attributes:?} {before:o}");
    }
}

#[test]
fn new_owner_does_not_get_capabilities() {
    if !needs_root("changing owners") {
        return;
    }
    let scratch = Scratch::new();
    let (changed, written) = (scratch.write_program("changed", ""), scratch.write_program("written", ""));
    if !set_extended(&changed, CAPABILITY, &capability()) {
        return;
    }
    set_extended(&written, CAPABILITY, &capability());
    let desired = owner(Some(NOBODY), None, Some(0o755));
    files().set_attributes(&changed, desired).expect("a change");
    write_with(&written, "new", desired).expect("a write");
    let found = |path: &Path| (owner_ids(path).0, extended(path, CAPABILITY));
    assert_eq!((found(&changed), found(&written)), ((NOBODY, None), (NOBODY, None)));
}

#[test]
fn directory_keeps_its_set_group_id_bit() {
    if !needs_root("changing owners") {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.path().join("d");
    std::fs::create_dir(&path).expect("a directory");
    set_mode(&path, 0o2775);
    files().set_attributes(&path, owner(Some(NOBODY), Some(12), None)).expect("a change");
    assert_eq!((owner_ids(&path), mode(&path)), ((NOBODY, 12), 0o2775));
}
