//! Trusted and untrusted links, among the parents and at the path itself.

use std::os::unix::fs::{lchown, symlink};
use std::path::Path;

use ccm_host::{FileKind, Files as _, HashPolicy, InspectOptions, NewContent, NewFile, PathTrust};
use ccm_testkit::{Scratch, needs_root};

use crate::files::{NOBODY, attributes, error_text, files, mode, set_mode, write};

fn link(scratch: &Scratch, to: &str, name: &str, owner: Option<u32>) {
    let path = scratch.path().join(name);
    symlink(to, &path).expect("a link");
    if let Some(owner) = owner {
        lchown(&path, Some(owner), None).expect("its owner");
    }
}

#[test]
fn own_links_among_the_parents_are_followed() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("real/deep")).expect("directories");
    link(&scratch, "real", "relative", None);
    link(&scratch, &scratch.at("real/deep"), "absolute", None);
    link(&scratch, "../real/deep/../deep/.", "real/winding", None);
    for (name, real) in
        [("relative/f", "real/f"), ("absolute/g", "real/deep/g"), ("real/winding/h", "real/deep/h")]
    {
        write(&scratch.path().join(name), name).expect("a write");
        assert_eq!(scratch.read(real).as_deref(), Some(name));
    }
}

#[test]
fn endless_links_are_an_error() {
    let scratch = Scratch::new();
    link(&scratch, "b", "a", None);
    link(&scratch, "a", "b", None);
    let error = error_text(write(&scratch.path().join("a/f"), "x")).replace(&scratch.at(""), "");
    assert_eq!(error, "\"a/f\" can't be inspected: Too many levels of symbolic links (os error 40)");
    link(&scratch, "nowhere", "c", None);
    let error = error_text(write(&scratch.path().join("c/f"), "x")).replace(&scratch.at(""), "");
    assert_eq!(error, "the directory \"c\" does not exist");
}

#[test]
fn untrusted_link_among_the_parents_is_refused() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("real/f", "old");
    link(&scratch, "real", "theirs", Some(NOBODY));
    let path = scratch.path().join("theirs/f");
    let expected =
        "the link \"theirs\", on the way to \"theirs/f\", belongs to uid 65534 and is not followed";
    let shown = |text: String| text.replace(&scratch.at(""), "");
    assert_eq!(shown(error_text(write(&path, "new"))), expected);
    assert_eq!(shown(error_text(files().inspect(&path, InspectOptions::default()))), expected);
    assert_eq!(shown(error_text(files().set_attributes(&path, attributes(0o666)))), expected);
    assert_eq!(shown(error_text(files().remove(&path, true))), expected);
    let fresh = scratch.path().join("theirs/fresh");
    assert!(error_text(write(&fresh, "new")).contains("belongs to uid 65534"));
    assert!(error_text(files().make_directory(&fresh, attributes(0o755))).contains("belongs to uid 65534"));
    assert_eq!((scratch.read("real/f").as_deref(), scratch.has("real/fresh")), (Some("old"), false));
}

#[test]
fn source_behind_an_untrusted_link_is_refused() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let target = scratch.write("real/f", "content");
    link(&scratch, "real/f", "link", Some(NOBODY));
    link(&scratch, "real", "way", Some(NOBODY));
    link(&scratch, "real/f", "ours", None);
    let shown = |text: String| text.replace(&scratch.at(""), "");
    let read = |name: &str| files().read(&scratch.path().join(name), 10);
    let copy = |name: &str| {
        let source = scratch.path().join(name);
        let content = NewContent::CopyOf(&source);
        files().write(&scratch.path().join("copy"), &NewFile { content, attributes: attributes(0o644) })
    };
    for (name, link) in [("link", "link"), ("way/f", "way")] {
        let expected = format!(
            "the link \"{link}\", on the way to \"{name}\", belongs to uid 65534 and is not followed"
        );
        assert_eq!(shown(error_text(read(name))), expected);
        assert_eq!(shown(error_text(copy(name))), expected);
    }
    assert!(!scratch.has("copy"));
    read("ours").expect("a content");
    // The owner of the file may link to it.
    lchown(&target, Some(NOBODY), None).expect("its owner");
    for name in ["link", "way/f", "ours"] {
        assert_eq!(read(name).expect("a content").content.as_deref(), Some(&b"content"[..]));
        copy(name).expect("a copy");
    }
}

#[test]
fn dangling_source_is_an_error() {
    let scratch = Scratch::new();
    scratch.write("f", "");
    link(&scratch, "nothing", "link", None);
    let shown = |text: String| text.replace(&scratch.at(""), "");
    for (name, why) in [
        ("no/f", "No such file or directory (os error 2)"),
        ("link", "No such file or directory (os error 2)"),
        ("f/x", "Not a directory (os error 20)"),
    ] {
        let expected = format!("\"{name}\" can't be read: {why}");
        assert_eq!(shown(error_text(files().read(&scratch.path().join(name), 0))), expected);
    }
    assert_eq!(shown(error_text(files().read(&scratch.path().join("."), 0))), "\".\" is a directory");
}

#[test]
fn link_of_the_owner_of_the_target_is_followed() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let real = scratch.write("real/f", "old");
    lchown(&real, Some(NOBODY), None).expect("its owner");
    link(&scratch, "real", "theirs", Some(NOBODY));
    write(&scratch.path().join("theirs/f"), "new").expect("a write");
    assert_eq!(scratch.read("real/f").as_deref(), Some("new"));
    assert_eq!(crate::files::owner_ids(&real).0, NOBODY);
}

#[test]
fn link_is_followed_when_inspected_and_replaced_when_written() {
    let scratch = Scratch::new();
    let target = scratch.write("target", "old");
    set_mode(&target, 0o640);
    link(&scratch, "target", "f", None);
    let path = scratch.path().join("f");
    let inspect = InspectOptions { hash: HashPolicy::Required(1 << 20), keep_up_to: 10, compare: None };
    let state = files().inspect(&path, inspect).expect("a state");
    let found = state.target.expect("the target");
    assert_eq!((state.link, found.kind, found.content.as_deref()), (true, FileKind::File, Some(&b"old"[..])));
    let refused = error_text(files().set_attributes(&path, attributes(0o600))).replace(&scratch.at(""), "");
    assert_eq!(refused, "\"f\" is a symbolic link");
    write(&path, "new").expect("a write");
    assert!(!path.is_symlink());
    assert_eq!((scratch.read("f").as_deref(), scratch.read("target").as_deref()), (Some("new"), Some("old")));
    assert_eq!((mode(&path), mode(&target)), (0o640, 0o640));
}

#[test]
fn dangling_and_circular_links_have_no_target() {
    let scratch = Scratch::new();
    link(&scratch, "nowhere", "dangling", None);
    link(&scratch, "missing/too", "lost", None);
    link(&scratch, "itself", "itself", None);
    scratch.write("file", "");
    link(&scratch, "file/below", "blocked", None);
    for name in ["dangling", "lost", "itself", "blocked"] {
        let path = scratch.path().join(name);
        let state = files().inspect(&path, InspectOptions::default()).expect("a state");
        assert_eq!((state.link, state.target, state.parent_missing), (true, None, false), "{name}");
        write(&path, name).expect("a write");
        assert_eq!(scratch.read(name).as_deref(), Some(name));
    }
}

#[test]
fn link_to_a_directory_is_inspected_as_the_directory() {
    let scratch = Scratch::new();
    link(&scratch, "/", "root", None);
    link(&scratch, ".", "here", None);
    for name in ["root", "here"] {
        let state = files().inspect(&scratch.path().join(name), InspectOptions::default()).expect("a state");
        let found = state.target.expect("a directory");
        assert_eq!((state.link, found.kind), (true, FileKind::Directory { empty: Some(false) }), "{name}");
    }
}

#[test]
fn untrusted_link_at_the_path_is_not_followed() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let secret = scratch.write("secret", "secret");
    link(&scratch, "secret", "f", Some(NOBODY));
    let path = scratch.path().join("f");
    let inspect = InspectOptions { hash: HashPolicy::Required(1 << 20), keep_up_to: 100, compare: None };
    let state = files().inspect(&path, inspect).expect("a state");
    assert_eq!((state.link, state.target), (true, None));
    set_mode(&secret, 0o666);
    write(&path, "new").expect("a write");
    assert_eq!(
        (scratch.read("f").as_deref(), scratch.read("secret").as_deref()),
        (Some("new"), Some("secret"))
    );
    assert_eq!((mode(&path), crate::files::owner_ids(&path).0), (0o644, 0));
}

#[test]
fn removal_of_a_link_keeps_the_target() {
    let scratch = Scratch::new();
    scratch.write("d/kept", "kept");
    link(&scratch, "d", "to-directory", None);
    link(&scratch, "nowhere", "dangling", None);
    for name in ["to-directory", "dangling"] {
        files().remove(&scratch.path().join(name), true).expect("a removal");
        assert!(!scratch.path().join(name).is_symlink());
    }
    assert!(Path::new(&scratch.at("d/kept")).is_file());
}

#[test]
fn a_change_replaces_the_target_of_a_trusted_link() {
    let scratch = Scratch::new();
    scratch.write("real/f", "content");
    let real = std::fs::canonicalize(scratch.path()).expect("the directory").join("real");
    link(&scratch, "real", "way", None);
    link(&scratch, "way/../real/f", "first", None);
    link(&scratch, "first", "second", None);
    link(&scratch, "way/new", "dangling", None);
    link(&scratch, "way/none/f", "nowhere", None);
    let follow = PathTrust { follow_last: true, ..PathTrust::default() };
    let written =
        |name: &str| files().trusted_path(&scratch.path().join(name), follow).map(|found| found.path);
    for (name, target) in [("first", "f"), ("second", "f"), ("dangling", "new")] {
        assert_eq!(written(name).expect("a path"), real.join(target), "{name}");
    }
    for (name, target) in [("real/f", "f"), ("way/f", "f"), ("real/new", "new"), ("way/new", "new")] {
        assert_eq!(written(name).expect("a path"), real.join(target), "{name}");
    }
    let told = |name: &str| error_text(written(name)).replace(&scratch.at(""), "");
    assert!(told("nowhere").ends_with("does not exist"), "{}", told("nowhere"));
}

#[test]
fn a_change_follows_no_link_of_a_stranger() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let target = scratch.write("real/f", "content");
    std::fs::create_dir(scratch.path().join("shared")).expect("a directory");
    set_mode(&scratch.path().join("shared"), 0o1777);
    for name in ["theirs", "shared/theirs"] {
        link(&scratch, &scratch.at("real/f"), name, Some(NOBODY));
    }
    link(&scratch, "theirs", "ours", None);
    link(&scratch, "shared/theirs", "to-shared", None);
    link(&scratch, "none", "dangling", Some(NOBODY));
    let follow = PathTrust { follow_last: true, ..PathTrust::default() };
    let told = |name: &str| {
        error_text(files().trusted_path(&scratch.path().join(name), follow)).replace(&scratch.at(""), "")
    };
    let refused = |name: &str, link: &str| {
        format!("the link \"{link}\", on the way to \"{name}\", belongs to uid 65534 and is not followed")
    };
    for (name, link) in [("theirs", "theirs"), ("ours", "theirs"), ("dangling", "dangling")] {
        assert_eq!(told(name), refused(name, link));
    }
    // The owner of the file may link to it, but not where everybody can.
    lchown(&target, Some(NOBODY), None).expect("its owner");
    assert!(files().trusted_path(&scratch.path().join("theirs"), follow).is_ok());
    for name in ["shared/theirs", "to-shared"] {
        assert_eq!(told(name), refused(name, "shared/theirs"));
    }
}
