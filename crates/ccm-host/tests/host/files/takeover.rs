//! Files that another user prepared before ccm gives them a new owner or group.

use std::os::unix::fs::{chown, lchown};
use std::path::{Path, PathBuf};

use ccm_host::{FileAttributes, FileError, Files as _};
use ccm_testkit::{Scratch, needs_root};

use crate::files::extended::{ACL, acl, capability, extended, set_extended};
use crate::files::{NOBODY, files, mode, owner_ids, set_mode, write_with};

const CAPABILITY: &str = "security.capability";
const DEFAULT_ACL: &str = "system.posix_acl_default";

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
    if !needs_root() {
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
    if !needs_root() {
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
    if !needs_root() {
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
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.path().join("d");
    std::fs::create_dir(&path).expect("a directory");
    set_mode(&path, 0o2775);
    files().set_attributes(&path, owner(Some(NOBODY), Some(12), None)).expect("a change");
    assert_eq!((owner_ids(&path), mode(&path)), ((NOBODY, 12), 0o2775));
}

/// Gives a file of user nobody an access control list. Returns `None`, and prints the reason, if the
/// filesystem has none.
fn planted_acl(scratch: &Scratch, name: &str) -> Option<PathBuf> {
    let path = program_of_nobody(scratch, name, 0o640);
    set_extended(&path, ACL, &acl(1001)).then_some(path)
}

#[test]
fn access_control_list_of_a_stranger_is_dropped() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    for (attributes, is_kept) in [
        (owner(Some(0), Some(0), Some(0o660)), false),
        (owner(Some(12), None, None), false),
        // It still belongs to the user, who may set the list at any time.
        (owner(None, Some(12), Some(0o640)), true),
    ] {
        let Some(written) = planted_acl(&scratch, "written") else { return };
        let Some(changed) = planted_acl(&scratch, "changed") else { return };
        write_with(&written, "secret", attributes).expect("a write");
        files().set_attributes(&changed, attributes).expect("a change");
        let expected = (is_kept, attributes.mode.unwrap_or(0o640));
        for path in [&written, &changed] {
            assert_eq!((extended(path, ACL).is_some(), mode(path)), expected, "{attributes:?} {path:?}");
        }
    }
}

#[test]
fn default_list_of_a_strangers_directory_is_not_inherited() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    std::fs::create_dir(at("d")).expect("a directory");
    if !set_extended(&at("d"), DEFAULT_ACL, &acl(1001)) {
        return;
    }
    let inherits = |name: &str, attributes| {
        write_with(&at(&format!("d/{name}")), "secret", attributes).expect("a write");
        files().make_directory(&at(&format!("d/{name}.d")), attributes).expect("a directory");
        let file = extended(&at(&format!("d/{name}")), ACL).is_some();
        let directory = at(&format!("d/{name}.d"));
        (file, extended(&directory, ACL).is_some(), extended(&directory, DEFAULT_ACL).is_some())
    };
    assert_eq!(inherits("trusted", owner(None, None, Some(0o640))), (true, true, true));
    chown(at("d"), Some(NOBODY), None).expect("its owner");
    assert_eq!(inherits("planted", owner(None, None, Some(0o640))), (false, false, false));
    assert_eq!(inherits("his", owner(Some(NOBODY), None, Some(0o640))), (true, true, true));
    // Another program of root made these before, and they inherited the list.
    for attributes in [owner(None, None, None), owner(Some(0), None, Some(0o644))] {
        scratch.write("d/found", "");
        assert!(extended(&at("d/found"), ACL).is_some());
        write_with(&at("d/found"), "secret", attributes).expect("a write");
        assert_eq!(extended(&at("d/found"), ACL), None);
        std::fs::remove_file(at("d/found")).expect("a removal");
    }
}

#[test]
fn group_of_a_strangers_directory_is_not_inherited() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    std::fs::create_dir(at("d")).expect("a directory");
    let inherits = |directory_owner, name: &str, given| {
        chown(at("d"), Some(directory_owner), Some(NOBODY)).expect("its owner");
        set_mode(&at("d"), 0o2777);
        let (file, directory) = (at(&format!("d/{name}")), at(&format!("d/{name}.d")));
        write_with(&file, "secret", given).expect("a write");
        files().make_directory(&directory, given).expect("a directory");
        [owner_ids(&file).1, mode(&file), owner_ids(&directory).1, mode(&directory)]
    };
    let own = nix::unistd::getegid().as_raw();
    let none = owner(None, None, None);
    assert_eq!(inherits(0, "trusted", none), [NOBODY, 0o644, NOBODY, 0o2755]);
    assert_eq!(inherits(54_321, "planted", none), [own, 0o644, own, 0o755]);
    assert_eq!(inherits(54_321, "with-mode", owner(None, None, Some(0o640))), [own, 0o640, own, 0o640]);
    assert_eq!(inherits(54_321, "with-group", owner(None, Some(12), None)), [12, 0o644, 12, 0o755]);
    assert_eq!(inherits(54_321, "his", owner(Some(54_321), None, None)), [NOBODY, 0o644, NOBODY, 0o2755]);
}

#[test]
fn directory_taken_over_loses_the_lists_of_a_stranger() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.path().join("d");
    std::fs::create_dir(&path).expect("a directory");
    if !set_extended(&path, DEFAULT_ACL, &acl(1001)) || !set_extended(&path, ACL, &acl(1001)) {
        return;
    }
    chown(&path, Some(NOBODY), None).expect("its owner");
    files().set_attributes(&path, owner(Some(0), None, Some(0o750))).expect("a change");
    assert_eq!((extended(&path, ACL), extended(&path, DEFAULT_ACL), mode(&path)), (None, None, 0o750));
}

/// Changes of attributes, and whether they may be made to a file of root in a directory of user nobody.
const GIVEN: [(FileAttributes, bool); 6] = [
    (FileAttributes { uid: Some(NOBODY), gid: None, mode: None }, false),
    (FileAttributes { uid: Some(12), gid: None, mode: None }, false),
    (FileAttributes { uid: None, gid: Some(NOBODY), mode: None }, false),
    (FileAttributes { uid: None, gid: None, mode: Some(0o644) }, false),
    (FileAttributes { uid: Some(0), gid: Some(0), mode: Some(0o600) }, true),
    (FileAttributes { uid: Some(0), gid: None, mode: Some(0o400) }, true),
];

#[test]
fn file_that_a_stranger_moved_to_the_path_is_not_given_away() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("home/log", "root's secret");
    chown(scratch.path().join("home"), Some(NOBODY), None).expect("its owner");
    let (root, shown) = (scratch.at(""), "home/managed");
    let managed = scratch.path().join(shown);
    std::fs::rename(path, &managed).expect("a move");
    for (attributes, is_allowed) in GIVEN {
        set_mode(&managed, 0o600);
        assert_eq!(files().check_attributes(&managed, attributes).is_ok(), is_allowed, "{attributes:?}");
        let result = files().set_attributes(&managed, attributes);
        assert_eq!(result.is_ok(), is_allowed, "{attributes:?}");
        if let Err(error) = result {
            assert_eq!(
                error.to_string().replace(&root, ""),
                format!(
                    "the attributes of \"{shown}\" are not changed: the file belongs to uid 0, but its directory \
                     to uid 65534, who could have moved the file there"
                )
            );
            assert_eq!((owner_ids(&managed), mode(&managed)), ((0, 0), 0o600));
        }
    }
    // A link to a file elsewhere is not even narrowed.
    std::fs::hard_link(&managed, scratch.path().join("other")).expect("a link");
    assert!(files().set_attributes(&managed, owner(None, None, Some(0o200))).is_err());
    // His own file is his to lose, whatever else links to it.
    chown(&managed, Some(NOBODY), None).expect("its owner");
    files().set_attributes(&managed, owner(Some(0), Some(0), Some(0o644))).expect("a change");
}

#[test]
fn directory_of_another_user_in_a_strangers_directory_is_not_given_away() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.path().join("home/d");
    std::fs::create_dir_all(&path).expect("a directory");
    chown(scratch.path().join("home"), Some(NOBODY), None).expect("its owner");
    assert!(files().set_attributes(&path, owner(Some(NOBODY), None, None)).is_err());
    files().set_attributes(&path, owner(Some(0), Some(12), Some(0o2775))).expect("a change");
    assert_eq!((owner_ids(&path), mode(&path)), ((0, 12), 0o2775));
    let made = scratch.path().join("home/made");
    files().make_directory(&made, owner(Some(12), None, None)).expect("a directory");
    assert_eq!(owner_ids(&made).0, 12);
}

#[test]
fn file_of_a_stranger_in_a_shared_directory_is_not_taken_over() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let shared = scratch.path().join("shared");
    std::fs::create_dir(&shared).expect("a directory");
    set_mode(&shared, 0o1777);
    let root = scratch.at("");
    let path = shared.join("f");
    let refused = |result: Result<(), FileError>| {
        let error = result.expect_err("a refusal").to_string().replace(&root, "");
        let why = "the file belongs to uid 65534, and everybody can create files in its directory";
        assert_eq!(error, format!("\"shared/f\" is not changed: {why}"));
    };
    let make_file = || drop(program_of_nobody(&scratch, "shared/f", 0o644));
    let make_link = || {
        std::os::unix::fs::symlink("elsewhere", &path).expect("a link");
        lchown(&path, Some(NOBODY), None).expect("its owner");
    };
    for make in [&make_file as &dyn Fn(), &make_link] {
        make();
        for given in [owner(None, None, None), owner(Some(0), None, None), owner(None, None, Some(0o600))] {
            refused(files().check_attributes(&path, given));
            refused(files().set_attributes(&path, given));
            refused(write_with(&path, "new", given).map(drop));
        }
        assert_eq!(owner_ids(&path).0, NOBODY);
        files().remove(&path, false).expect("a removal");
    }
    // The file of its desired owner is changed, like one of root.
    make_file();
    files().set_attributes(&path, owner(Some(NOBODY), None, Some(0o600))).expect("a change");
    write_with(&path, "new", owner(Some(NOBODY), None, None)).expect("a write");
    assert_eq!((owner_ids(&path).0, mode(&path)), (NOBODY, 0o600));
    chown(&path, Some(0), None).expect("its owner");
    write_with(&path, "new", owner(Some(12), None, None)).expect("a write");
    assert_eq!(owner_ids(&path).0, 12);
    // In a directory of root alone, nobody else can have made the file.
    set_mode(&shared, 0o755);
    files().set_attributes(&path, owner(Some(0), None, None)).expect("a change");
}

#[test]
fn file_with_several_names_in_a_shared_directory_is_not_given_away() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let secret = scratch.write("secret", "root's");
    set_mode(&secret, 0o600);
    let shared = scratch.path().join("shared");
    std::fs::create_dir(&shared).expect("a directory");
    let path = shared.join("f");
    std::fs::hard_link(&secret, &path).expect("a link");
    let root = scratch.at("");
    for mode in [0o1777, 0o777] {
        set_mode(&shared, mode);
        for given in
            [owner(Some(NOBODY), None, None), owner(None, None, Some(0o644)), owner(None, Some(12), None)]
        {
            let why = "the file has 2 names, and every user can create names in its directory";
            let error = files().check_attributes(&path, given).expect_err("a refusal").to_string();
            assert!(error.replace(&root, "").contains(why), "{error}");
            files().set_attributes(&path, given).expect_err("a refusal");
        }
    }
    assert_eq!((owner_ids(&secret), mode(&secret)), ((0, 0), 0o600));
    // A new file with the same content has one name.
    write_with(&path, "new", owner(None, None, Some(0o644))).expect("a write");
    assert_eq!((scratch.read("secret").as_deref(), mode(&secret)), (Some("root's"), 0o600));
    // Nobody but root makes names in a directory of root.
    set_mode(&shared, 0o755);
    std::fs::hard_link(&secret, shared.join("g")).expect("a link");
    files().set_attributes(&shared.join("g"), owner(Some(12), None, Some(0o640))).expect("a change");
    assert_eq!((owner_ids(&secret).0, mode(&secret)), (12, 0o640));
}

#[test]
fn every_directory_above_is_judged() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let file = scratch.write("home/a/b/f", "root's");
    std::os::unix::fs::symlink("home/a/b", scratch.path().join("way")).expect("a link");
    let above = scratch.path().join("home");
    chown(&above, Some(NOBODY), None).expect("its owner");
    set_mode(&file, 0o600);
    let root = scratch.at("");
    let by_link = scratch.path().join("way/f");
    for path in [&file, &by_link] {
        for given in [owner(Some(NOBODY), None, None), owner(None, None, Some(0o644))] {
            let error = files().set_attributes(path, given).expect_err("a refusal").to_string();
            assert!(
                error.replace(&root, "").starts_with("the directory \"home\", on the way to "),
                "{error}"
            );
            assert!(files().check_attributes(path, given).is_err());
        }
        files().set_attributes(path, owner(None, None, Some(0o600))).expect("nobody gets more rights");
        for force in [false, true] {
            let error = files().remove(path, force).expect_err("a refusal").to_string();
            assert!(error.contains("belongs to uid 65534"), "{error}");
        }
    }
    files().remove(&above.join("a"), true).expect("what lies in his directory is his to lose");
    let own = scratch.write("home/c/own", "");
    chown(&own, Some(NOBODY), None).expect("its owner");
    files().set_attributes(&own, owner(Some(0), None, Some(0o644))).expect("his own file");
    chown(&own, Some(NOBODY), None).expect("its owner");
    files().remove(&own, false).expect("his own file");
}
