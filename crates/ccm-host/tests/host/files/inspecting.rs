//! State of a path, and reading content.

use ccm_host::{FileKind, Files as _, HashPolicy, InspectOptions, PathInfo, sha256};
use ccm_testkit::{Scratch, needs_ordinary_user};

use crate::files::{error_text, files, set_mode};

#[test]
fn file_is_described() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "hello\n");
    set_mode(&path, 0o4711);
    let inspect = |hash, keep_up_to| {
        let state =
            files().inspect(&path, InspectOptions { hash, keep_up_to, compare: None }).expect("a state");
        state.target.expect("a file")
    };
    let state = inspect(HashPolicy::Required(1 << 20), 6);
    assert_eq!((state.kind, state.mode, state.size), (FileKind::File, 0o4711, 6));
    assert_eq!((state.sha256, state.content), (Some(sha256(b"hello\n")), Some(b"hello\n".to_vec())));
    assert_eq!(
        (inspect(HashPolicy::Required(1 << 20), 5).content, inspect(HashPolicy::Never, 6).sha256),
        (None, None)
    );
    for policy in [HashPolicy::UpTo, HashPolicy::Required] {
        let hashes = (inspect(policy(5), 6).sha256, inspect(policy(6), 0).sha256);
        assert_eq!(hashes, (None, Some(sha256(b"hello\n"))));
    }
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
        // This content needs more than one read.
        (&long, &long, false),
    ] {
        let path = scratch.write("f", content);
        let inspect = InspectOptions {
            hash: HashPolicy::Required(1 << 20),
            keep_up_to: 10,
            compare: Some(compare.as_bytes()),
        };
        let state = files().inspect(&path, inspect).expect("a state").target.expect("a file");
        assert_eq!((state.is_same, state.size), (is_same, content.len() as u64));
        assert_eq!(state.sha256, (!is_same).then(|| sha256(content.as_bytes())));
        assert_eq!(state.content.is_some(), !is_same && content.len() <= 10);
    }
    let inspect = InspectOptions { compare: Some(b"hello"), ..InspectOptions::default() };
    let state =
        files().inspect(&scratch.write("f", "hello"), inspect).expect("a state").target.expect("a file");
    assert!(!state.is_same, "content that is not read is never the same");
}

#[test]
fn directories_links_and_special_files_are_described() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    std::fs::create_dir(at("empty")).expect("a directory");
    scratch.write("full/f", "");
    nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let _socket = std::os::unix::net::UnixListener::bind(at("socket")).expect("a socket");
    let inspect = |path: &std::path::Path| {
        let inspect = InspectOptions { hash: HashPolicy::Required(1 << 20), keep_up_to: 10, compare: None };
        files().inspect(path, inspect).expect("a state")
    };
    let kind = |path: &std::path::Path| inspect(path).target.map(|target| target.kind);
    assert_eq!(kind(&at("empty")), Some(FileKind::Directory { empty: Some(true) }));
    assert_eq!(kind(&at("full")), Some(FileKind::Directory { empty: Some(false) }));
    assert_eq!(kind(&at("pipe")), Some(FileKind::Special("a pipe")));
    assert_eq!(kind(&at("socket")), Some(FileKind::Special("a socket")));
    assert_eq!(kind("/dev/null".as_ref()), Some(FileKind::Special("a device")));
    assert_eq!(inspect(&at("nothing")), PathInfo::default());
    assert_eq!(inspect(&at("no/such/directory")), PathInfo { parent_missing: true, ..PathInfo::default() });
}

#[test]
fn unreadable_file_is_an_error_only_if_a_hash_is_required() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("f", "secret");
    set_mode(&path, 0o200);
    let inspect = |hash| files().inspect(&path, InspectOptions { hash, keep_up_to: 0, compare: None });
    assert_eq!(inspect(HashPolicy::UpTo(99)).expect("a state").target.expect("a file").sha256, None);
    let error = error_text(inspect(HashPolicy::Required(1 << 20))).replace(&scratch.at(""), "");
    assert_eq!(error, "\"f\" can't be read: Permission denied (os error 13)");
}

#[test]
fn users_and_groups_are_found_by_name_and_number() {
    let user = |name: &str| files().user(name).expect("a result");
    let group = |name: &str| files().group(name).expect("a result");
    assert_eq!((user("root"), user("0"), user("4711")), (Some(0), Some(0), Some(4711)));
    assert_eq!((group("root"), group("12345")), (Some(0), Some(12345)));
    assert_eq!((user("nosuchuser"), group("nosuchgroup"), user("4294967295")), (None, None, None));
    let user_name = |uid| files().user_name(uid).expect("a result");
    let group_name = |gid| files().group_name(gid).expect("a result");
    assert_eq!((user_name(0).as_deref(), user_name(54321)), (Some("root"), None));
    assert_eq!((group_name(0).as_deref(), group_name(54321)), (Some("root"), None));
}

#[test]
fn modification_time_is_returned() {
    let scratch = Scratch::new();
    let path = scratch.path().join("f");
    assert_eq!(files().modified(&path).expect("a state"), None);
    let file = std::fs::File::create(&path).expect("a file");
    let then = std::time::UNIX_EPOCH + std::time::Duration::from_secs(86_400);
    file.set_modified(then).expect("a file of ours");
    std::os::unix::fs::symlink("f", scratch.path().join("link")).expect("a link");
    for name in ["f", "link"] {
        assert_eq!(files().modified(&scratch.path().join(name)).expect("a state"), Some(then), "{name}");
    }
    assert_eq!(files().modified(&path.join("below")).expect("a state"), None);
}

#[test]
fn content_is_read_up_to_a_length() {
    let scratch = Scratch::new();
    scratch.write("f", "12345");
    let content = |max_length| files().content(&scratch.path().join("f"), max_length).expect("a read");
    assert_eq!((content(5).as_deref(), content(4)), (Some(&b"12345"[..]), None));
    assert!(files().content(&scratch.path().join("x"), 5).is_err());
    // The kernel reports length 0 for this file.
    let status = files().content("/proc/self/status".as_ref(), 1 << 16).expect("a read");
    assert!(status.is_some_and(|status| status.starts_with(b"Name:")));
    assert_eq!(files().content("/proc/self/status".as_ref(), 10).expect("a read"), None);
}
