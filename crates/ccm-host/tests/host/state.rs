//! Files in the state directory, and its lock.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, UNIX_EPOCH};

use ccm_host::state::{AppendFile, Directory, Lock, LockError, LockHolder};
use ccm_host::{BackupName, Cancellation, Files as _, SystemFiles};
use ccm_testkit::{Scratch, needs_root, skipped};

use crate::files::extended::{ACL, acl_of, set_extended};

fn state(scratch: &Scratch) -> Directory {
    Directory::open_private(&scratch.path().join("state")).expect("a state directory")
}

fn holder(manifest: &str) -> LockHolder {
    LockHolder { manifest: manifest.to_owned(), since: UNIX_EPOCH }
}

fn take(directory: &Directory, manifest: &str) -> Result<Lock, LockError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(Lock::take(directory, &holder(manifest), Duration::ZERO, &mut |_| {}))
}

#[test]
fn lock_has_one_holder_and_names_it() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    let lock = take(&directory, "/a\n.yaml").expect("the lock");
    let error = take(&directory, "/b.yaml").expect_err("it is held").to_string();
    let named = format!("(pid {}, applying /a\\n.yaml, since 1970-01-01T00:00:00Z)", std::process::id());
    assert_eq!(error, format!("another run is going on {named}"));
    drop(lock);
    assert_eq!(scratch.read("state/lock").as_deref(), Some(""), "nobody is named who does not hold it");
    take(&directory, "/b.yaml").expect("it is free");
}

#[test]
fn testing_a_lock_does_not_take_it() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    assert!(!Lock::is_held(directory.path()), "there is no lock file");
    let lock = take(&directory, "/a.yaml").expect("the lock");
    assert!(Lock::is_held(directory.path()));
    drop(lock);
    assert!(!Lock::is_held(directory.path()));
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                Lock::is_held(directory.path());
            }
        });
        let refused = (0..1_000).find_map(|_| take(&directory, "/a.yaml").err());
        is_over.store(true, Ordering::Relaxed);
        assert!(refused.is_none(), "{refused:?}");
    });
}

#[test]
fn removed_lock_file_is_made_again() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    let first = take(&directory, "/a.yaml").expect("the lock");
    fs::remove_file(scratch.path().join("state/lock")).expect("it is there");
    let second = take(&directory, "/b.yaml").expect("a new file has a new lock");
    drop(first);
    assert!(matches!(take(&directory, "/c.yaml"), Err(LockError::Held { .. })));
    drop(second);
}

#[test]
fn replaced_file_is_complete_and_private() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    // Leftovers of a killed run, or of another program.
    scratch.write("elsewhere", "precious");
    symlink(scratch.at("elsewhere"), scratch.path().join("state/.a.json.new")).expect("a link");
    for content in ["first", "second"] {
        directory.replace("a.json", content.as_bytes()).expect("to write it");
        assert_eq!(scratch.read("state/a.json").as_deref(), Some(content));
    }
    assert_eq!(scratch.read("elsewhere").as_deref(), Some("precious"));
    let mode = fs::metadata(scratch.path().join("state/a.json")).expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!scratch.has("state/.a.json.new"));
}

#[test]
fn directory_is_removed_with_everything_in_it() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    scratch.write("state/old/deep/deeper/file", "");
    scratch.write("elsewhere/precious", "");
    symlink(scratch.at("elsewhere"), scratch.path().join("state/old/link")).expect("a link");
    symlink(scratch.at("elsewhere"), scratch.path().join("state/link")).expect("a link");
    directory.remove("old").expect("to remove it");
    assert!(!scratch.has("state/old"));
    directory.remove("link").expect_err("it is a link");
    assert!(scratch.has("elsewhere/precious"));
    assert_eq!(directory.directories().expect("names"), Vec::<String>::new());
}

#[test]
fn links_and_special_files_are_not_read() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    scratch.write("elsewhere", "secret");
    scratch.write("state/plain", "text");
    symlink(scratch.at("elsewhere"), scratch.path().join("state/link")).expect("a link");
    let fifo = std::process::Command::new("mkfifo").arg(scratch.path().join("state/fifo")).status();
    assert!(fifo.is_ok_and(|status| status.success()));
    let mut text = String::new();
    directory.read("plain").expect("a file").read_to_string(&mut text).expect("text");
    assert_eq!(text, "text");
    for name in ["link", "fifo", ".", "missing"] {
        assert!(directory.read(name).is_err(), "{name}");
    }
    assert!(directory.enter("link").is_err() && directory.create("plain").is_err());
}

#[test]
fn strangers_links_among_the_parents_are_not_followed() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    fs::create_dir(scratch.path().join("real")).expect("a directory");
    for (name, owner) in [("theirs", 65534), ("ours", 0)] {
        symlink("real", scratch.path().join(name)).expect("a link");
        lchown(scratch.path().join(name), Some(owner), None).expect("its owner");
    }
    let at = |name: &str| scratch.path().join(name);
    for name in ["theirs/state", "theirs/deep/state"] {
        let error = Directory::open_private(&at(name)).expect_err("a link of a stranger").to_string();
        let error = error.replace(&scratch.at(""), "");
        let refused = "lies behind the link \"theirs\" of another user (uid 65534)";
        assert_eq!(error, format!("state directory {name:?} {refused}"));
    }
    let error = AppendFile::open(&at("theirs/events")).expect_err("a link of a stranger").to_string();
    let refused = "it leads through \"theirs\", a symbolic link of another user (uid 65534)";
    assert_eq!(error.replace(&scratch.at(""), ""), refused);
    scratch.write("f", "old");
    SystemFiles::new(Cancellation::never())
        .back_up(&at("f"), &at("theirs/state"), UNIX_EPOCH, BackupName::Path)
        .expect_err("a link of a stranger");
    assert_eq!(fs::read_dir(at("real")).expect("a directory").count(), 0, "root made something there");
    scratch.write("real/state/lock", "");
    symlink("real/state", at("final")).expect("a link");
    lchown(at("final"), Some(65534), None).expect("its owner");
    for name in ["theirs/state", "final"] {
        let error = Directory::open(&at(name)).expect_err("a link of a stranger").to_string();
        assert!(error.contains(" of another user (uid 65534)"), "{error}");
    }
    // His own directory is his to show.
    chown(at("real/state"), Some(65534), None).expect("its owner");
    assert!(Directory::open(&at("final")).expect("a directory").is_some());
    fs::remove_dir_all(at("real/state")).expect("a removal");
    assert!(Directory::open(&at("ours/state")).expect("nothing").is_none());
    Directory::open_private(&at("ours/deep/state")).expect("a directory");
    AppendFile::open(&at("ours/events")).expect("a file");
    assert!(scratch.has("real/deep/state") && scratch.has("real/events"));
}

#[test]
fn directory_that_a_third_user_can_exchange_is_refused() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    let own = nix::unistd::geteuid().as_raw();
    let stranger = needs_root().then_some(54_321);
    for (name, mode, uid, gid, refused) in [
        ("own", 0o755, None, None, None),
        ("sticky", 0o1777, None, None, None),
        ("private-group", 0o775, None, stranger.map(|_| own), None),
        ("group", 0o775, None, stranger, Some(", which can be written by others (mode 0775)")),
        ("open", 0o777, None, None, Some(", which can be written by others (mode 0777)")),
        ("theirs", 0o755, stranger, None, Some(" of another user (uid 54321)")),
        ("theirs-sticky", 0o1777, stranger, None, Some(" of another user (uid 54321)")),
    ] {
        if stranger.is_none() && !["own", "sticky", "open"].contains(&name) {
            continue;
        }
        fs::create_dir(at(name)).expect("a directory");
        chown(at(name), uid, gid).expect("its owner");
        fs::set_permissions(at(name), fs::Permissions::from_mode(mode)).expect("its mode");
        let found = |below: &str| {
            let path = at(&format!("{name}/{below}"));
            Directory::open_private(&path).map(drop).map_err(|error| {
                let start = format!("state directory {path:?} lies below {:?}", at(name));
                error.to_string().replace(&start, "")
            })
        };
        let made = found("st").and_then(|()| found("deep/st"));
        assert_eq!(made.err().as_deref(), refused, "{name}");
        assert!(refused.is_none() || fs::read_dir(at(name)).expect("it").count() == 0, "{name}");
        fs::create_dir_all(at(name).join("made")).expect("a directory");
        symlink(at(name).join("made"), at(&format!("link-{name}"))).expect("a link");
        let made = Directory::open_private(&at(&format!("link-{name}"))).map(drop);
        assert_eq!(made.is_err(), refused.is_some(), "{name}: {made:?}");
    }
}

#[test]
fn directory_that_an_access_control_list_opens_is_refused() {
    if !needs_root() {
        return;
    }
    let scratch = Scratch::new();
    let list = acl_of([
        (1, 7, u32::MAX),
        (2, 7, 54_321),
        (4, 5, u32::MAX),
        (0x10, 7, u32::MAX),
        (0x20, 5, u32::MAX),
    ]);
    if !set_extended(scratch.path(), ACL, &list) {
        return;
    }
    let error = Directory::open_private(&scratch.path().join("deep/state")).expect_err("an open directory");
    assert!(error.to_string().contains("can be written by others"), "{error}");
}

#[test]
fn appending_extends_a_file_and_does_not_block_on_a_pipe() {
    let scratch = Scratch::new();
    let path = scratch.path().join("events");
    for piece in ["a\n", "b\n"] {
        let mut file = AppendFile::open(&path).expect("a file");
        file.write_all(piece.as_bytes()).expect("to write");
        file.sync().expect("to sync");
    }
    assert_eq!(scratch.read("events").as_deref(), Some("a\nb\n"));
    let fifo = scratch.path().join("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status();
    assert!(made.is_ok_and(|status| status.success()));
    assert!(AppendFile::open(&fifo).is_err());
    let mut full = AppendFile::open(Path::new("/dev/full")).expect("a device");
    assert!(full.write_all(b"x").is_err());
    AppendFile::open(Path::new("/dev/null")).expect("a device").sync().expect("nothing to sync");
}

#[test]
fn file_that_others_read_or_write_is_not_appended_to() {
    let scratch = Scratch::new();
    let prepare = |name: &str, mode: u32| {
        let path = scratch.path().join(name);
        if name.starts_with("pipe") {
            let made = std::process::Command::new("mkfifo").arg(&path).status();
            assert!(made.is_ok_and(|status| status.success()));
        } else {
            scratch.write(name, "");
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
        path
    };
    let opened = |path: &Path| {
        // Opening a pipe to write needs a reader.
        let _reader = fs::File::options().read(true).write(true).open(path).expect("a reader");
        AppendFile::open(path).map(drop).map_err(|error| error.to_string())
    };
    for (name, mode, refused) in [
        ("own", 0o600, None),
        ("read-by-group", 0o640, Some("others may read or write it (mode 0640)")),
        ("read", 0o604, Some("others may read or write it (mode 0604)")),
        ("written-by-group", 0o620, Some("others may read or write it (mode 0620)")),
        ("written", 0o602, Some("others may read or write it (mode 0602)")),
        ("pipe", 0o644, None),
        ("pipe-of-group", 0o620, Some("others may write it (mode 0620)")),
        ("pipe-of-all", 0o666, Some("others may write it (mode 0666)")),
    ] {
        let found = opened(&prepare(name, mode)).err();
        assert_eq!(found.as_deref().and_then(|error| error.split(": ").next()), refused, "{name}: {found:?}");
    }
    if !needs_root() {
        return;
    }
    for name in ["strangers", "pipe-of-stranger"] {
        let path = prepare(name, 0o600);
        chown(&path, Some(54_321), None).expect("its owner");
        let error = opened(&path).expect_err("a file of a stranger");
        assert!(error.starts_with("it belongs to another user (uid 54321): "), "{name}: {error}");
        assert!(scratch.read("strangers").is_none_or(|text| text.is_empty()), "{name}");
    }
}

#[test]
fn failed_removal_names_the_cause() {
    let scratch = Scratch::new();
    let directory = state(&scratch);
    let run = directory.make("run").expect("a directory");
    run.create("events").expect("a file");
    let events = run.path().join("events");
    let immutable = |flag| std::process::Command::new("chattr").arg(flag).arg(&events).output();
    if !immutable("+i").is_ok_and(|output| output.status.success()) {
        return skipped("files can't be made immutable here");
    }
    let error = directory.remove("run").expect_err("a refusal");
    immutable("-i").expect("chattr");
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{error}");
}
