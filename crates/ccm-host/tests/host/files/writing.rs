//! Writing files atomically, without leftovers.

use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::sync::atomic::{AtomicBool, Ordering};

use ccm_host::{Files as _, NewContent, NewFile, sha256};
use ccm_testkit::{Scratch, is_root, needs_ordinary_user};

use crate::files::{attributes, error_text, files, mode, set_mode, write, write_with};

#[test]
fn new_file_has_content_and_the_default_mode() {
    let scratch = Scratch::new();
    let path = scratch.path().join("f");
    let written = write(&path, "hello\n").expect("a write");
    assert_eq!(written, sha256(b"hello\n"));
    assert_eq!(written, "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03");
    assert_eq!((scratch.read("f").as_deref(), mode(&path)), (Some("hello\n"), 0o644));
    assert_eq!(scratch.names(), ["f"]);
}

#[test]
fn attributes_that_are_not_given_are_kept() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    for kept in [0o600, 0o444, 0o755, 0o4755, 0o2750, 0o1644] {
        set_mode(&path, kept);
        write(&path, "new").expect("a write");
        assert_eq!(mode(&path), kept, "{kept:o}");
    }
    write_with(&path, "newer", attributes(0o6711)).expect("a write");
    assert_eq!((scratch.read("f").as_deref(), mode(&path)), (Some("newer"), 0o6711));
}

#[test]
fn source_is_copied() {
    let scratch = Scratch::new();
    let content = "line\n".repeat(100_000);
    let source = scratch.write("source", &content);
    let new = NewFile { content: NewContent::CopyOf(&source), attributes: attributes(0o600) };
    let written = files().write(&scratch.path().join("f"), &new).expect("a write");
    assert_eq!(written, sha256(content.as_bytes()));
    assert_eq!(scratch.read("f"), Some(content));
}

#[test]
fn source_that_has_changed_since_it_was_compared_is_not_copied() {
    let scratch = Scratch::new();
    let (source, path) = (scratch.write("source", "shown"), scratch.write("f", "old"));
    let known = sha256(b"shown");
    let content = NewContent::KnownCopyOf { source: &source, sha256: &known };
    let copy = || files().write(&path, &NewFile { content, attributes: attributes(0o600) });
    scratch.write("source", "other");
    let error = error_text(copy()).replace(&scratch.at(""), "");
    assert!(error.starts_with("\"source\""), "{error}");
    assert_eq!(scratch.read("f").as_deref(), Some("old"));
    assert_eq!(scratch.names(), ["f", "source"]);
    scratch.write("source", "shown");
    assert_eq!(copy().expect("a copy"), known);
    assert_eq!(scratch.read("f").as_deref(), Some("shown"));
}

#[test]
fn unreadable_source_changes_nothing() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    std::fs::create_dir(scratch.path().join("directory")).expect("a directory");
    nix::unistd::mkfifo(&scratch.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    let copy = |name: &str| {
        let source = scratch.path().join(name);
        let new = NewFile { content: NewContent::CopyOf(&source), attributes: attributes(0o600) };
        error_text(files().write(&path, &new)).replace(&scratch.at(""), "")
    };
    assert_eq!(copy("missing"), "\"missing\" can't be read: No such file or directory (os error 2)");
    assert_eq!(copy("directory"), "\"directory\" is a directory");
    assert_eq!(copy("pipe"), "\"pipe\" is a pipe");
    if !is_root() {
        set_mode(&scratch.write("secret", "s"), 0);
        assert_eq!(copy("secret"), "\"secret\" can't be read: Permission denied (os error 13)");
    }
    assert_eq!((scratch.read("f").as_deref(), mode(&path)), (Some("old"), 0o644));
    assert!(!scratch.has(".f.ccm-new"));
}

#[test]
fn leftover_of_a_killed_run_is_replaced() {
    let scratch = Scratch::new();
    let path = scratch.path().join("f");
    let victim = scratch.write("victim", "untouched");
    scratch.write(".f.ccm-new", "half");
    write(&path, "one").expect("a write");
    std::os::unix::fs::symlink(&victim, scratch.path().join(".f.ccm-new")).expect("a link");
    write(&path, "two").expect("a write");
    assert_eq!((scratch.read("f"), scratch.read("victim")), (Some("two".into()), Some("untouched".into())));
    assert_eq!(scratch.names(), ["f", "victim"]);
}

#[test]
fn a_directory_with_the_temporary_name_blocks_nothing() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    let long = scratch.path().join("n".repeat(250));
    scratch.write(".f.ccm-new/kept", "kept");
    for _ in 0..2 {
        write(&path, "new").expect("a write");
        assert_eq!(scratch.read("f").as_deref(), Some("new"));
        files().make_link(&path, "target".as_ref(), true).expect("a link");
    }
    let temp = ccm_host::temp_path(&long);
    std::fs::create_dir(&temp).expect("a directory");
    write(&long, "new").expect("a write");
    let names = scratch.names();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!(scratch.read(".f.ccm-new/kept").as_deref(), Some("kept"));
}

#[test]
fn directories_and_special_files_are_not_replaced() {
    let scratch = Scratch::new();
    let at = |name: &str| scratch.path().join(name);
    std::fs::create_dir(at("directory")).expect("a directory");
    nix::unistd::mkfifo(&at("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("a pipe");
    scratch.write("file", "");
    for (name, error) in [
        ("directory", "\"directory\" is a directory"),
        ("pipe", "\"pipe\" is a pipe"),
        ("missing/f", "the directory \"missing\" does not exist"),
        ("file/f", "\"file\", on the way to \"file/f\", is not a directory"),
    ] {
        assert_eq!(error_text(write(&at(name), "x")).replace(&scratch.at(""), ""), error);
    }
    assert_eq!(error_text(write("/".as_ref(), "x")), "\"/\" is never removed or replaced");
    assert_eq!(scratch.names(), ["directory", "file", "pipe"]);
}

#[test]
fn read_only_directory_is_an_error() {
    if !needs_ordinary_user() {
        return;
    }
    let scratch = Scratch::new();
    let path = scratch.write("d/f", "old");
    set_mode(&scratch.path().join("d"), 0o555);
    let error = error_text(write(&path, "new")).replace(&scratch.at(""), "");
    set_mode(&scratch.path().join("d"), 0o755);
    assert_eq!(error, "\"d/f\" could not be written: Permission denied (os error 13)");
    assert_eq!(scratch.read("d/f").as_deref(), Some("old"));
}

#[test]
fn reader_never_sees_an_incomplete_file() {
    let scratch = Scratch::new();
    let path = scratch.path().join("f");
    let contents = ["a".repeat(300_000), "b".repeat(200_000)];
    write(&path, &contents[0]).expect("a write");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !done.load(Ordering::Relaxed) {
                let seen = std::fs::read_to_string(&path).expect("always a file");
                assert!(
                    contents.contains(&seen),
                    "{} bytes, of which the first is {:?}",
                    seen.len(),
                    seen.get(..1)
                );
                reads += 1;
            }
            reads
        });
        for turn in 1..60 {
            write(&path, &contents[turn % 2]).expect("a write");
        }
        done.store(true, Ordering::Relaxed);
        assert!(reader.join().expect("no part was seen") > 0);
    });
    assert_eq!(scratch.names(), ["f"]);
}

#[test]
fn every_change_removes_the_leftover_of_a_killed_run() {
    let scratch = Scratch::new();
    let path = scratch.write("f", "old");
    scratch.write(".f.ccm-new", "half");
    files().set_attributes(&path, attributes(0o600)).expect("a change");
    assert_eq!(scratch.names(), ["f"]);
    scratch.write(".f.ccm-new", "half");
    files().remove(&path, false).expect("a removal");
    assert_eq!(scratch.names(), Vec::<String>::new());
}

#[test]
fn name_may_have_the_maximum_length() {
    let scratch = Scratch::new();
    for length in [246, 247, 255] {
        let name = "n".repeat(length);
        let path = scratch.path().join(&name);
        write(&path, "one").expect("a write");
        write(&path, "two").expect("a write");
        assert_eq!(scratch.read(&name).as_deref(), Some("two"));
        files().remove(&path, false).expect("a removal");
    }
    assert_eq!(scratch.names(), Vec::<String>::new());
}

#[test]
fn holes_of_a_source_stay_holes() {
    const LENGTH: u64 = 1 << 26;
    let scratch = Scratch::new();
    let source = scratch.path().join("source");
    // Data at the beginning, in the middle of a piece that is read at once, and at the end; or nowhere.
    for parts in [&[0, LENGTH / 2 + 70_000, LENGTH - 5][..], &[LENGTH / 3], &[0], &[]] {
        let file = std::fs::File::create(&source).expect("a file");
        for at in parts {
            file.write_all_at(b"inner", *at).expect("to write");
        }
        file.set_len(LENGTH).expect("a long file");
        let copy = NewFile { content: NewContent::CopyOf(&source), attributes: attributes(0o600) };
        let path = scratch.path().join("f");
        let written = files().write(&path, &copy).expect("a write");
        let [expected, found] = [&source, &path].map(|path| std::fs::read(path).expect("the content"));
        assert!(expected == found, "{parts:?}");
        assert_eq!(written, sha256(&expected));
        let blocks = std::fs::metadata(&path).expect("its metadata").blocks();
        assert!(blocks * 512 < 1 << 20, "{parts:?}: {blocks} blocks");
    }
    // Zeros that are on the disk stay there, as a swap file needs them.
    std::fs::write(&source, vec![0; 1 << 20]).expect("a file");
    let copy = NewFile { content: NewContent::CopyOf(&source), attributes: attributes(0o600) };
    files().write(&scratch.path().join("f"), &copy).expect("a write");
    assert!(scratch.path().join("f").metadata().expect("its metadata").blocks() * 512 >= 1 << 20);
}
