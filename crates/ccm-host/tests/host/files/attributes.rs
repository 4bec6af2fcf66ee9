//! Owners, modes and extended attributes, changed and kept.

use std::os::unix::fs::chown;
use std::path::Path;

use ccm_host::{FileAttributes, Files as _};
use ccm_testkit::{Scratch, needs_ordinary_user, needs_root, skipped};
use rustix::fs::{IFlags, ioctl_getflags};

use crate::files::extended::{ACL, acl, capability, extended, set_extended};
use crate::files::{NOBODY, attributes, error_text, files, mode, owner_ids, set_mode, write, write_with};

#[test]
fn attributes_of_a_user_are_kept() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    if !set_extended(&path, "user.origin", b"here") {
        return;
    }
    write(&path, "new").expect("a write");
    assert_eq!(
        (scratch.read("f").as_deref(), extended(&path, "user.origin")),
        (Some("new"), Some(b"here".to_vec()))
    );
}

#[test]
fn flags_are_kept() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    if !chattr("+dA", &path) {
        return skipped("this file system has no flags");
    }
    write(&path, "new").expect("a write");
    let flags = ioctl_getflags(std::fs::File::open(&path).expect("a file")).expect("its flags");
    assert!(flags.contains(IFlags::NODUMP | IFlags::NOATIME), "{flags:?}");
}

fn chattr(flags: &str, path: &Path) -> bool {
    let output = std::process::Command::new("chattr").arg(flags).arg(path).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn access_control_list_is_kept() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    if !set_extended(&path, ACL, &acl(NOBODY)) {
        return;
    }
    assert_eq!(mode(&path), 0o640);
    write(&path, "new").expect("a write");
    assert_eq!((extended(&path, ACL), mode(&path)), (Some(acl(NOBODY)), 0o640));
}

#[test]
fn inherited_access_control_list_is_not_put_on_an_old_file() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    if !set_extended(scratch.path(), "system.posix_acl_default", &acl(NOBODY)) {
        return;
    }
    write(&path, "new").expect("a write");
    assert_eq!((extended(&path, ACL), mode(&path)), (None, 0o644));
}

#[test]
fn capabilities_are_kept() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write_program("f", "old");
    let capability = capability();
    if !set_extended(&path, "security.capability", &capability) {
        return;
    }
    write(&path, "new").expect("a write");
    assert_eq!(extended(&path, "security.capability"), Some(capability));
}

#[test]
fn owner_and_group_are_kept_or_changed() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    chown(&path, Some(NOBODY), Some(12)).expect("its owner");
    set_mode(&path, 0o4750);
    write(&path, "new").expect("a write");
    assert_eq!((owner_ids(&path), mode(&path)), ((NOBODY, 12), 0o4750));
    let desired = FileAttributes { uid: Some(1), gid: Some(2), mode: Some(0o2640) };
    write_with(&path, "newer", desired).expect("a write");
    assert_eq!((owner_ids(&path), mode(&path)), ((1, 2), 0o2640));
    let desired = FileAttributes { uid: Some(3), gid: None, mode: Some(0o6755) };
    files().set_attributes(&path, desired).expect("a change");
    assert_eq!((owner_ids(&path), mode(&path)), ((3, 2), 0o6755));
}

#[test]
fn forbidden_owner_fails_before_the_file_is_replaced() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    let desired = FileAttributes { uid: Some(0), ..FileAttributes::default() };
    let shown = |text: String| text.replace(&scratch.at(""), "");
    let group = files().group_name(owner_ids(&path).1).expect("a result").expect("a name");
    let refused = format!("could not be given to root:{group}: Operation not permitted (os error 1)");
    assert_eq!(shown(error_text(write_with(&path, "new", desired))), format!("\"f\" {refused}"));
    assert_eq!(shown(error_text(files().set_attributes(&path, desired))), format!("\"f\" {refused}"));
    let directory = scratch.path().join("d");
    assert_eq!(shown(error_text(files().make_directory(&directory, desired))), format!("\"d\" {refused}"));
    assert_eq!((scratch.names(), scratch.read("f").as_deref()), (vec!["f".to_owned()], Some("old")));
}

#[test]
fn change_of_attributes_does_not_replace_the_file() {
    use std::os::unix::fs::MetadataExt as _;
    let scratch = Scratch::new();
    let path = scratch.write("f", "content");
    let number = || std::fs::metadata(&path).expect("its metadata").ino();
    let before = number();
    for desired in [0o600, 0o000, 0o4711, 0o644] {
        files().set_attributes(&path, attributes(desired)).expect("a change");
        assert_eq!(mode(&path), desired);
    }
    assert_eq!((number(), scratch.read("f").as_deref()), (before, Some("content")));
    let missing = error_text(files().set_attributes(&scratch.path().join("x"), attributes(0o600)));
    let missing = missing.replace(&scratch.at(""), "");
    assert_eq!(missing, "\"x\" can't be inspected: No such file or directory (os error 2)");
}

#[test]
fn directory_is_made_with_its_attributes() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    files().make_directory(&at("plain"), FileAttributes::default()).expect("a directory");
    files().make_directory(&at("sticky"), attributes(0o1777)).expect("a directory");
    set_mode(&at("plain"), 0o2755);
    files().make_directory(&at("plain/inherits"), FileAttributes::default()).expect("a directory");
    files().make_directory(&at("plain/exact"), attributes(0o700)).expect("a directory");
    let modes = ["sticky", "plain/inherits", "plain/exact"].map(|name| mode(&at(name)));
    assert_eq!(modes, [0o1777, 0o2755, 0o700]);
    let again =
        error_text(files().make_directory(&at("plain"), attributes(0o700))).replace(&scratch.at(""), "");
    assert_eq!(again, "\"plain\" could not be created: File exists (os error 17)");
    assert_eq!(mode(&at("plain")), 0o2755);
}
