//! Whose links are followed, and what happens to a link at the path itself.

use std::os::unix::fs::{lchown, symlink};
use std::path::Path;

use ccm_host::{FileKind, Files as _, Hash, Look, NewContent, NewFile};
use ccm_testkit::Scratch;

use crate::{NOBODY, attributes, files, mode, needs_root, set_mode, told, write};

fn link(scratch: &Scratch, to: &str, name: &str, owner: Option<u32>) {
    let path = scratch.path().join(name);
    symlink(to, &path).expect("a link");
    if let Some(owner) = owner {
        lchown(&path, Some(owner), None).expect("its owner");
    }
}

#[test]
fn our_own_links_among_the_parents_are_followed() {
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
fn links_without_end_are_an_error() {
    let scratch = Scratch::new();
    link(&scratch, "b", "a", None);
    link(&scratch, "a", "b", None);
    let error = told(write(&scratch.path().join("a/f"), "x")).replace(&scratch.at(""), "");
    assert_eq!(error, "\"a/f\" can't be looked at: Too many levels of symbolic links (os error 40)");
    link(&scratch, "nowhere", "c", None);
    let error = told(write(&scratch.path().join("c/f"), "x")).replace(&scratch.at(""), "");
    assert_eq!(error, "the directory \"c\" does not exist");
}

#[test]
fn a_strangers_link_among_the_parents_is_refused() {
    if !needs_root("a stranger's link") {
        return;
    }
    let scratch = Scratch::new();
    scratch.write("real/f", "old");
    link(&scratch, "real", "theirs", Some(NOBODY));
    let path = scratch.path().join("theirs/f");
    let expected =
        "the link \"theirs\", on the way to \"theirs/f\", belongs to user 65534 and is not followed";
    let shown = |text: String| text.replace(&scratch.at(""), "");
    assert_eq!(shown(told(write(&path, "new"))), expected);
    assert_eq!(shown(told(files().look(&path, Look::default()))), expected);
    assert_eq!(shown(told(files().set_attributes(&path, attributes(0o666)))), expected);
    assert_eq!(shown(told(files().remove(&path, true))), expected);
    let fresh = scratch.path().join("theirs/fresh");
    assert!(told(write(&fresh, "new")).contains("belongs to user 65534"));
    assert!(told(files().make_directory(&fresh, attributes(0o755))).contains("belongs to user 65534"));
    assert_eq!((scratch.read("real/f").as_deref(), scratch.has("real/fresh")), (Some("old"), false));
}

#[test]
fn a_source_is_not_looked_for_behind_a_strangers_link() {
    if !needs_root("a stranger's link") {
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
            "the link \"{link}\", on the way to \"{name}\", belongs to user 65534 and is not followed"
        );
        assert_eq!(shown(told(read(name))), expected);
        assert_eq!(shown(told(copy(name))), expected);
    }
    assert!(!scratch.has("copy"));
    read("ours").expect("a content");
    // Whoever owns the file may lead to it.
    lchown(&target, Some(NOBODY), None).expect("its owner");
    for name in ["link", "way/f", "ours"] {
        assert_eq!(read(name).expect("a content").content.as_deref(), Some(&b"content"[..]));
        copy(name).expect("a copy");
    }
}

#[test]
fn a_source_that_leads_nowhere_is_told() {
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
        assert_eq!(shown(told(files().read(&scratch.path().join(name), 0))), expected);
    }
    assert_eq!(shown(told(files().read(&scratch.path().join("."), 0))), "\".\" is a directory");
}

#[test]
fn the_link_of_the_owner_of_the_target_is_followed() {
    if !needs_root("the link of the owner of the target") {
        return;
    }
    let scratch = Scratch::new();
    let real = scratch.write("real/f", "old");
    lchown(&real, Some(NOBODY), None).expect("its owner");
    link(&scratch, "real", "theirs", Some(NOBODY));
    write(&scratch.path().join("theirs/f"), "new").expect("a write");
    assert_eq!(scratch.read("real/f").as_deref(), Some("new"));
    assert_eq!(crate::owners(&real).0, NOBODY);
}

#[test]
fn a_link_at_the_path_is_looked_through_and_replaced() {
    let scratch = Scratch::new();
    let target = scratch.write("target", "old");
    set_mode(&target, 0o640);
    link(&scratch, "target", "f", None);
    let path = scratch.path().join("f");
    let look = Look { hash: Hash::Always, keep_up_to: 10, compare: None };
    let state = files().look(&path, look).expect("a look");
    let found = state.target.expect("the target");
    assert_eq!((state.link, found.kind, found.content.as_deref()), (true, FileKind::File, Some(&b"old"[..])));
    let refused = told(files().set_attributes(&path, attributes(0o600))).replace(&scratch.at(""), "");
    assert_eq!(refused, "\"f\" is a symbolic link");
    write(&path, "new").expect("a write");
    assert!(!path.is_symlink());
    assert_eq!((scratch.read("f").as_deref(), scratch.read("target").as_deref()), (Some("new"), Some("old")));
    assert_eq!((mode(&path), mode(&target)), (0o640, 0o640));
}

#[test]
fn links_to_nowhere_and_to_themselves_lead_to_nothing() {
    let scratch = Scratch::new();
    link(&scratch, "nowhere", "dangling", None);
    link(&scratch, "missing/too", "lost", None);
    link(&scratch, "itself", "itself", None);
    scratch.write("file", "");
    link(&scratch, "file/below", "blocked", None);
    for name in ["dangling", "lost", "itself", "blocked"] {
        let path = scratch.path().join(name);
        let state = files().look(&path, Look::default()).expect("a look");
        assert_eq!((state.link, state.target, state.parent_missing), (true, None, false), "{name}");
        write(&path, name).expect("a write");
        assert_eq!(scratch.read(name).as_deref(), Some(name));
    }
}

#[test]
fn a_link_to_a_directory_shows_the_directory() {
    let scratch = Scratch::new();
    link(&scratch, "/", "root", None);
    link(&scratch, ".", "here", None);
    for name in ["root", "here"] {
        let state = files().look(&scratch.path().join(name), Look::default()).expect("a look");
        let found = state.target.expect("a directory");
        assert_eq!((state.link, found.kind), (true, FileKind::Directory { empty: Some(false) }), "{name}");
    }
}

#[test]
fn a_strangers_link_at_the_path_is_not_looked_through() {
    if !needs_root("a stranger's link at the path") {
        return;
    }
    let scratch = Scratch::new();
    let secret = scratch.write("secret", "secret");
    link(&scratch, "secret", "f", Some(NOBODY));
    let path = scratch.path().join("f");
    let look = Look { hash: Hash::Always, keep_up_to: 100, compare: None };
    let state = files().look(&path, look).expect("a look");
    assert_eq!((state.link, state.target), (true, None));
    set_mode(&secret, 0o666);
    write(&path, "new").expect("a write");
    assert_eq!(
        (scratch.read("f").as_deref(), scratch.read("secret").as_deref()),
        (Some("new"), Some("secret"))
    );
    assert_eq!((mode(&path), crate::owners(&path).0), (0o644, 0));
}

#[test]
fn removing_takes_the_link_and_not_what_it_leads_to() {
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
