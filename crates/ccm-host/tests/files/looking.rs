//! What a look tells.

use ccm_host::{FileKind, Files as _, Hash, Look, PathInfo, sha256};
use ccm_testkit::Scratch;

use crate::{files, is_root, set_mode, told};

#[test]
fn a_file_is_described() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "hello\n");
    set_mode(&path, 0o4711);
    let look = |hash, keep_up_to| {
        let state = files().look(&path, Look { hash, keep_up_to, compare: None }).expect("a look");
        state.target.expect("a file")
    };
    let state = look(Hash::Always, 6);
    assert_eq!((state.kind, state.mode, state.size), (FileKind::File, 0o4711, 6));
    assert_eq!((state.sha256, state.content), (Some(sha256(b"hello\n")), Some(b"hello\n".to_vec())));
    assert_eq!((look(Hash::Always, 5).content, look(Hash::Never, 6).sha256), (None, None));
    assert_eq!(
        (look(Hash::UpTo(5), 6).sha256, look(Hash::UpTo(6), 0).sha256),
        (None, Some(sha256(b"hello\n")))
    );
}

#[test]
fn content_is_compared_rather_than_hashed() {
    let scratch = Scratch::new();
    let long = "x".repeat(200_000);
    for (content, compare, is_same) in [
        ("hello", "hello", true),
        ("hello", "hallo", false),
        ("hello", "hell", false),
        ("hello", "hello!", false),
        ("", "", true),
        ("", "x", false),
        (&long[..100_000], &long[..100_000], true),
        // That would take more than one read.
        (&long, &long, false),
    ] {
        let path = scratch.write("f", content);
        let look = Look { hash: Hash::Always, keep_up_to: 10, compare: Some(compare.as_bytes()) };
        let state = files().look(&path, look).expect("a look").target.expect("a file");
        assert_eq!((state.is_same, state.size), (is_same, content.len() as u64));
        assert_eq!(state.sha256, (!is_same).then(|| sha256(content.as_bytes())));
        assert_eq!(state.content.is_some(), !is_same && content.len() <= 10);
    }
    let look = Look { compare: Some(b"hello"), ..Look::default() };
    let state = files().look(&scratch.write("f", "hello"), look).expect("a look").target.expect("a file");
    assert!(!state.is_same, "it was not to be read");
}

#[test]
fn other_things_are_described() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    std::fs::create_dir(at("empty")).expect("a directory");
    scratch.write("full/f", "");
    nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
    let look = |path: &std::path::Path| {
        let look = Look { hash: Hash::Always, keep_up_to: 10, compare: None };
        files().look(path, look).expect("a look")
    };
    let kind = |path: &std::path::Path| look(path).target.map(|target| target.kind);
    assert_eq!(kind(&at("empty")), Some(FileKind::Directory { empty: Some(true) }));
    assert_eq!(kind(&at("full")), Some(FileKind::Directory { empty: Some(false) }));
    assert_eq!(kind(&at("pipe")), Some(FileKind::Special("a pipe")));
    assert_eq!(kind(&at("socket")), Some(FileKind::Special("a socket")));
    assert_eq!(kind("/dev/null".as_ref()), Some(FileKind::Special("a device")));
    assert_eq!(look(&at("nothing")), PathInfo::default());
    assert_eq!(look(&at("no/such/directory")), PathInfo { parent_missing: true, ..PathInfo::default() });
}

#[test]
fn what_may_not_be_read_is_an_error_only_if_it_has_to_be() {
    if is_root() {
        println!("skipped: root may read everything");
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("f", "secret");
    set_mode(&path, 0o200);
    let look = |hash| files().look(&path, Look { hash, keep_up_to: 0, compare: None });
    assert_eq!(look(Hash::UpTo(99)).expect("a look").target.expect("a file").sha256, None);
    let error = told(look(Hash::Always)).replace(&scratch.at(""), "");
    assert_eq!(error, "\"f\" can't be read: Permission denied (os error 13)");
}

#[test]
fn users_and_groups_are_found_by_name_and_in_digits() {
    let user = |name: &str| files().user(name).expect("an answer");
    let group = |name: &str| files().group(name).expect("an answer");
    assert_eq!((user("root"), user("0"), user("4711")), (Some(0), Some(0), Some(4711)));
    assert_eq!((group("root"), group("12345")), (Some(0), Some(12345)));
    assert_eq!((user("nosuchuser"), group("nosuchgroup"), user("4294967295")), (None, None, None));
    let user_name = |uid| files().user_name(uid).expect("an answer");
    let group_name = |gid| files().group_name(gid).expect("an answer");
    assert_eq!((user_name(0).as_deref(), user_name(54321)), (Some("root"), None));
    assert_eq!((group_name(0).as_deref(), group_name(54321)), (Some("root"), None));
}

#[test]
fn the_last_change_of_what_is_there_is_told() {
    let scratch = Scratch::new();
    let path = scratch.path().join("f");
    assert_eq!(files().modified(&path).expect("a look"), None);
    let file = std::fs::File::create(&path).expect("a file");
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(86_400);
    file.set_modified(then).expect("a file of ours");
    std::os::unix::fs::symlink("f", scratch.path().join("link")).expect("a link");
    for name in ["f", "link"] {
        assert_eq!(files().modified(&scratch.path().join(name)).expect("a look"), Some(then), "{name}");
    }
    assert_eq!(files().modified(&path.join("below")).expect("a look"), None);
}

#[test]
fn content_alone_is_read_up_to_a_length() {
    let scratch = Scratch::new();
    scratch.write("f", "12345");
    let content = |longest| files().content(&scratch.path().join("f"), longest).expect("a read");
    assert_eq!((content(5).as_deref(), content(4)), (Some(&b"12345"[..]), None));
    assert!(files().content(&scratch.path().join("x"), 5).is_err());
    // Its length is told only by reading it.
    let told = files().content("/proc/self/status".as_ref(), 1 << 16).expect("a read");
    assert!(told.is_some_and(|told| told.starts_with(b"Name:")));
    assert_eq!(files().content("/proc/self/status".as_ref(), 10).expect("a read"), None);
}
