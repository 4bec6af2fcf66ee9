//! Placing of extracted files.

use std::os::unix::fs::symlink;

use ccm_fetch::{ExtractError, ExtractRequest};
use ccm_testkit::Scratch;

use crate::archive::pack::{Item, compress, tar};
use crate::archive::{request, run, tree, words};

/// Name in the archive, what makes something be in the way, and the words of the refusal.
type Obstacle = (&'static str, fn(&Scratch), &'static str);

#[test]
fn files_are_replaced_and_directories_kept() {
    let scratch = Scratch::new();
    scratch.write("out/d/old", "old\n");
    scratch.write("out/d/f", "old\n");
    scratch.write("elsewhere", "untouched\n");
    symlink(scratch.path().join("elsewhere"), scratch.path().join("out/d/l")).expect("a link");
    let items = [Item::file("d/f", "new\n"), Item::file("d/l", "new\n"), Item::file("e/f", "new\n")];
    run(request(&scratch, "a.tar", &tar(&items))).expect("files");
    assert_eq!(tree(&scratch), ["d/", "d/f", "d/l", "d/old", "e/", "e/f"]);
    for name in ["out/d/f", "out/d/l", "out/e/f"] {
        assert_eq!(scratch.read(name).as_deref(), Some("new\n"), "{name}");
    }
    assert_eq!(scratch.read("elsewhere").as_deref(), Some("untouched\n"));
}

#[test]
fn nothing_of_another_kind_is_replaced() {
    let obstacles: [Obstacle; 4] = [
        (
            "d/f",
            |scratch| drop(scratch.write("out/d", "x")),
            "is a file, but the archive has a directory there",
        ),
        (
            "f",
            |scratch| drop(scratch.write("out/f/x", "x")),
            "is a directory, but the archive has a file or link there",
        ),
        (
            "d/f",
            |scratch| symlink("/tmp", scratch.path().join("out/d")).expect("a link"),
            "is a symbolic link, but the archive has a directory there",
        ),
        (
            "f",
            |scratch| drop(ccm_testkit::shell("mkfifo out/f", scratch.path())),
            "is a special file, but the archive has a file or link there",
        ),
    ];
    for (name, make, refusal) in obstacles {
        let scratch = Scratch::new();
        let request = request(&scratch, "a.tar", &tar(&[Item::file("a", "x"), Item::file(name, "x")]));
        make(&scratch);
        let before = tree(&scratch);
        let error = run(request).expect_err(refusal);
        assert!(matches!(error, ExtractError::Obstacle { .. }), "{error:?}");
        assert!(words(&error, &scratch).contains(refusal), "{error}");
        assert_eq!(tree(&scratch), before, "something was moved");
    }
}

#[test]
fn a_leftover_is_removed() {
    let scratch = Scratch::new();
    scratch.write("out/.a.tar.files.ccm-new/half/file", "x");
    run(request(&scratch, "a.tar", &tar(&[Item::file("f", "x")]))).expect("a file");
    assert_eq!(tree(&scratch), ["f"]);
    // Another file in its place too, but not what a link leads to.
    scratch.write("kept/file", "x");
    symlink(scratch.path().join("kept"), scratch.path().join("out/.a.tar.files.ccm-new")).expect("a link");
    run(request(&scratch, "a.tar", &tar(&[Item::file("f", "y")]))).expect("a file");
    assert_eq!((tree(&scratch), scratch.has("kept/file")), (vec!["f".to_owned()], true));
}

#[test]
fn the_sign_of_completion_comes_last() {
    let scratch = Scratch::new();
    scratch.write("out/bin/other", "x");
    std::fs::create_dir_all(scratch.path().join("out/z")).expect("a directory");
    let items = [Item::file("bin/app", "x"), Item::file("bin/b", "x"), Item::file("z/f", "x")];
    let request = request(&scratch, "a.tar", &tar(&items));
    // A file system that refuses a later move keeps the sign away.
    let last = Some(scratch.path().join("out/bin/app"));
    run(ExtractRequest { last, ..request }).expect("files");
    let changed = |name: &str| {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = std::fs::metadata(scratch.path().join("out").join(name)).expect("a file");
        (metadata.ctime(), metadata.ctime_nsec())
    };
    assert!(changed("bin/app") >= changed("bin/b") && changed("bin/app") >= changed("z/f"));
}

#[test]
fn a_missing_directory_is_an_error() {
    let scratch = Scratch::new();
    let request = request(&scratch, "a.tar", &tar(&[Item::file("f", "x")]));
    let into = crate::archive::target(&scratch.path().join("missing"));
    let error = run(ExtractRequest { into, ..request }).expect_err("no directory");
    assert_eq!(words(&error, &scratch), "the directory \"missing\" does not exist");
}

#[test]
fn what_is_extracted_is_what_was_hashed() {
    let scratch = Scratch::new();
    let bytes = tar(&[Item::file("f", "content")]);
    for (sha256, is_extracted) in [(ccm_host::sha256(&bytes), true), (ccm_host::sha256(b"other"), false)] {
        let request = ExtractRequest { sha256: Some(sha256), ..request(&scratch, "a.tar", &bytes) };
        match run(request) {
            Ok(extracted) => assert_eq!((extracted.files, is_extracted), (1, true)),
            Err(error) => {
                assert!(words(&error, &scratch).contains("was changed while ccm looked at it"), "{error}");
                assert!(!is_extracted);
            }
        }
    }
}

#[test]
fn what_was_compressed_is_what_was_signed() {
    let scratch = Scratch::new();
    let bytes = tar(&[Item::file("f", "content")]);
    for format in [".tar", ".tar.gz", ".tar.zst"] {
        let compressed = compress(format, &bytes);
        for (digest, is_extracted) in [(ccm_host::sha256(&bytes), true), (ccm_host::sha256(b"other"), false)]
        {
            let name = format!("a{format}");
            let request = request(&scratch, &name, &compressed);
            let into = scratch.path().join("out");
            match run(ExtractRequest { content_sha256: Some(digest), ..request }) {
                Ok(extracted) => assert_eq!((extracted.files, is_extracted), (1, true)),
                Err(error) => {
                    assert!(words(&error, &scratch).contains("has another checksum"), "{error}");
                    assert!(!is_extracted);
                }
            }
            assert_eq!(into.join("f").exists(), is_extracted, "{format}");
            let _ = std::fs::remove_file(into.join("f"));
        }
    }
}
