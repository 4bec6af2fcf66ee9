//! Paths that programs of the system get, and the directories that claims are compared by.

use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::PathBuf;

use ccm_host::{Files as _, PathTrust, TrustedPath};
use ccm_testkit::{Scratch, needs_root};

use crate::files::extended::{ACL, acl_of, set_extended};
use crate::files::{NOBODY, files, set_mode};

const LINKS: PathTrust = PathTrust { follow_last: false, directories: false, user: None };
const DIRECTORIES: PathTrust = PathTrust { directories: true, ..LINKS };

/// Directory with links of the user who runs the test.
fn scratch() -> Scratch {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("real/deep")).expect("directories");
    scratch.write("real/f", "");
    for (to, name) in [
        ("real", "link"),
        ("real/deep/../../link/./deep", "winding"),
        ("nowhere", "dangling"),
        ("real/new", "to_new"),
        (&scratch.at("real"), "absolute"),
    ] {
        symlink(to, scratch.path().join(name)).expect("a link");
    }
    scratch
}

fn resolved(scratch: &Scratch, name: &str, trust: PathTrust) -> Result<TrustedPath, String> {
    let result = files().trusted_path(&scratch.path().join(name), trust);
    result.map_err(|error| error.to_string().replace(&scratch.at(""), ""))
}

#[test]
fn own_links_are_resolved_and_missing_directories_named() {
    let scratch = scratch();
    for (name, follow_last, path, missing) in [
        ("real/f", false, "real/f", &[][..]),
        ("link/f", false, "real/f", &[]),
        ("winding/new", false, "real/deep/new", &[]),
        ("absolute/a/b/c", false, "real/a/b/c", &["real/a", "real/a/b"]),
        ("link/deep/a/b", false, "real/deep/a/b", &["real/deep/a"]),
        ("link", false, "link", &[]),
        ("link", true, "real", &[]),
        ("to_new", true, "real/new", &[]),
        ("winding", true, "real/deep", &[]),
    ] {
        let missing: Vec<PathBuf> = missing.iter().map(|name| scratch.path().join(name)).collect();
        let is_followed = follow_last && scratch.path().join(name).is_symlink();
        let expected = TrustedPath { path: scratch.path().join(path), missing, is_followed };
        for directories in [false, true] {
            let trust = PathTrust { follow_last, directories, user: None };
            assert_eq!(resolved(&scratch, name, trust), Ok(expected.clone()), "{name}");
        }
    }
    for directories in [false, true] {
        let trust = PathTrust { follow_last: true, directories, user: None };
        for (name, error) in [
            ("dangling/f", "the directory \"dangling\" does not exist"),
            ("link/f/g", "\"real/f\", on the way to \"link/f/g\", is not a directory"),
        ] {
            assert_eq!(resolved(&scratch, name, trust), Err(error.to_owned()));
        }
    }
}

#[test]
fn strangers_lead_a_program_nowhere() {
    if !needs_root() {
        return;
    }
    let scratch = scratch();
    std::fs::create_dir_all(scratch.path().join("theirs/below")).expect("directories");
    symlink("../real", scratch.path().join("theirs/ours")).expect("a link");
    chown(scratch.path().join("theirs"), Some(NOBODY), None).expect("an owner");
    lchown(scratch.path().join("link"), Some(NOBODY), None).expect("an owner");
    std::fs::create_dir_all(scratch.path().join("open/below")).expect("directories");
    set_mode(&scratch.path().join("open"), 0o777);
    let link = "the link \"link\", on the way to \"link/f\", belongs to uid 65534 and is not followed";
    for trust in [LINKS, DIRECTORIES] {
        assert_eq!(resolved(&scratch, "link/f", trust), Err(link.to_owned()));
    }
    let stranger = |path| {
        format!(
            "the directory \"theirs\", on the way to \"{path}\", belongs to uid 65534, who could lead ccm elsewhere"
        )
    };
    for path in ["theirs/new", "theirs/below/f", "theirs/ours/f", "theirs/a/b"] {
        assert!(resolved(&scratch, path, LINKS).is_ok(), "{path}");
        assert_eq!(resolved(&scratch, path, DIRECTORIES), Err(stranger(path)));
        let trust = PathTrust { user: Some(NOBODY), ..DIRECTORIES };
        assert!(resolved(&scratch, path, trust).is_ok(), "{path}");
    }
    // Nobody but the owner of its parent can replace a directory.
    assert!(resolved(&scratch, "theirs", DIRECTORIES).is_ok());
    let open = "everybody can replace what is in the directory \"open\", on the way to \"open/below/f\"";
    assert_eq!(resolved(&scratch, "open/below/f", DIRECTORIES), Err(open.to_owned()));
    set_mode(&scratch.path().join("open"), 0o1777);
    assert!(resolved(&scratch, "open/below/f", DIRECTORIES).is_ok());
    // The owner of an entry in such a directory can replace it.
    assert!(resolved(&scratch, "open/below", DIRECTORIES).is_ok());
    chown(scratch.path().join("open/below"), Some(NOBODY), None).expect("an owner");
    let entry = "the directory \"open/below\", on the way to \"open/below\", belongs to uid 65534, who could lead ccm elsewhere";
    assert_eq!(resolved(&scratch, "open/below", DIRECTORIES), Err(entry.to_owned()));
    // A group counts only with another member.
    std::fs::create_dir_all(scratch.path().join("shared/below")).expect("directories");
    set_mode(&scratch.path().join("shared"), 0o775);
    assert!(resolved(&scratch, "shared/below/f", DIRECTORIES).is_ok());
    chown(scratch.path().join("shared"), None, Some(4_000_000)).expect("a group");
    assert!(resolved(&scratch, "shared/below/f", DIRECTORIES).is_ok());
    chown(scratch.path().join("shared"), None, Some(NOBODY)).expect("a group");
    let shared = "members of the group with gid 65534 can replace what is in the directory \"shared\", on the way to \"shared/below/f\"";
    assert_eq!(resolved(&scratch, "shared/below/f", DIRECTORIES), Err(shared.to_owned()));
}

#[test]
fn access_control_lists_open_directories() {
    if !needs_root() {
        return;
    }
    let scratch = scratch();
    let directory = scratch.path().join("real");
    let list = |user, group, mask| {
        acl_of([
            (1, 7, u32::MAX),
            (2, user, NOBODY),
            (4, group, u32::MAX),
            (8, 5, NOBODY),
            (0x10, mask, u32::MAX),
            (0x20, 5, u32::MAX),
        ])
    };
    let open =
        |who| Err(format!("{who} can replace what is in the directory \"real\", on the way to \"real/f\""));
    let uid = "uid 65534, by an access control list";
    for (list, mode, expected) in [
        (list(7, 5, 7), 0, open(uid)),
        // The mask takes the right to write away.
        (list(7, 5, 5), 0, Ok(())),
        (list(5, 7, 7), 0, Ok(())),
        (list(7, 5, 7), 0o1000, Ok(())),
        (
            acl_of([
                (1, 7, u32::MAX),
                (4, 5, u32::MAX),
                (8, 7, NOBODY),
                (0x10, 7, u32::MAX),
                (0x20, 0, u32::MAX),
            ]),
            0,
            open("members of the group with gid 65534"),
        ),
    ] {
        set_mode(&directory, 0o755);
        if !set_extended(&directory, ACL, &list) {
            return;
        }
        let found = std::fs::metadata(&directory).expect("a directory").permissions().mode();
        set_mode(&directory, found & 0o777 | mode);
        let found = resolved(&scratch, "real/f", DIRECTORIES).map(drop);
        assert_eq!(found, expected, "{list:?}, {mode:o}");
    }
}

#[test]
fn directories_are_compared_without_links() {
    let scratch = scratch();
    let real = |name: &str| files().real_directory(&scratch.path().join(name));
    for (name, directory) in [
        ("real", Some("real")),
        ("link", Some("real")),
        ("winding", Some("real/deep")),
        ("link/deep", Some("real/deep")),
        ("real/deep/..", Some("real")),
        ("link/../real/deep", Some("real/deep")),
        ("real/../new", None),
        ("dangling", None),
        ("real/f", None),
        ("link/new", None),
    ] {
        assert_eq!(real(name), directory.map(|name| scratch.path().join(name)), "{name}");
    }
    if !needs_root() {
        return;
    }
    std::fs::create_dir(scratch.path().join("theirs")).expect("a directory");
    symlink("../real", scratch.path().join("theirs/ours")).expect("a link");
    chown(scratch.path().join("theirs"), Some(NOBODY), None).expect("an owner");
    lchown(scratch.path().join("link"), Some(NOBODY), None).expect("an owner");
    assert_eq!((real("theirs/ours"), real("link")), (None, None));
    assert_eq!(real("theirs"), Some(scratch.path().join("theirs")));
}
