//! Writing several files together.

use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use ccm_host::{
    AfterFailure, CancellationLevel, CancellationSource, FileAttributes, FileError, Files as _, NewContent,
    NewFile, SystemFiles, sha256,
};
use ccm_testkit::Scratch;

use crate::files::{error_text, files, mode};

/// Writes files with their contents, each whatever happens to the others, and returns the results.
fn write_many(files: &SystemFiles, new: &[(PathBuf, &str)]) -> Vec<Result<String, FileError>> {
    write_until(files, new, AfterFailure::Continue)
}

fn write_until(
    files: &SystemFiles,
    new: &[(PathBuf, &str)],
    after_failure: AfterFailure,
) -> Vec<Result<String, FileError>> {
    let attributes = FileAttributes { mode: Some(0o640), ..FileAttributes::default() };
    let new: Vec<(&Path, NewFile<'_>)> = new
        .iter()
        .map(|(path, text)| (&**path, NewFile { content: NewContent::Bytes(text.as_bytes()), attributes }))
        .collect();
    files.write_many(&new, after_failure)
}

#[test]
fn all_are_written_in_several_directories() {
    let scratch = Scratch::new();
    scratch.write("a/old", "old");
    scratch.write("a/.f0.ccm-new", "left over");
    std::fs::create_dir(scratch.path().join("b")).expect("a directory");
    // More than are open at once.
    let mut new: Vec<(PathBuf, String)> = (0..600)
        .map(|number| {
            (scratch.path().join(["a", "b"][number % 2]).join(format!("f{number}")), number.to_string())
        })
        .collect();
    new.push((scratch.path().join("a/old"), "new".to_owned()));
    let texts: Vec<(PathBuf, &str)> = new.iter().map(|(path, text)| (path.clone(), &**text)).collect();
    let written = write_many(&files(), &texts);
    for ((path, text), written) in new.iter().zip(written) {
        assert_eq!(written.expect("a write"), sha256(text.as_bytes()));
        assert_eq!(std::fs::read_to_string(path).expect("a file"), *text);
        assert_eq!(mode(path), 0o640);
    }
    let names = std::fs::read_dir(scratch.path().join("a")).expect("a directory").count();
    assert_eq!(names, 301, "nothing is left over");
}

#[test]
fn each_fails_by_itself() {
    let scratch = Scratch::new();
    let path = |name: &str| scratch.path().join(name);
    std::fs::create_dir(path("directory")).expect("a directory");
    let new = [(path("a"), "a"), (path("directory"), "b"), (path("missing/c"), "c"), (path("d"), "d")];
    let results = write_many(&files(), &new);
    let shown: Vec<String> = results
        .into_iter()
        .map(|result| match result {
            Ok(_) => "written".to_owned(),
            failed @ Err(_) => error_text(failed).replace(&scratch.at(""), ""),
        })
        .collect();
    assert_eq!(shown[0], "written");
    assert_eq!(shown[1], "\"directory\" is a directory");
    assert!(shown[2].contains("missing"), "{}", shown[2]);
    assert_eq!(shown[3], "written");
    assert_eq!(scratch.names(), ["a", "d", "directory"]);
}

#[test]
fn nothing_is_renamed_after_a_failure_that_ends_the_writing() {
    for failing in ["directory", "missing/c", "b/c"] {
        let scratch = Scratch::new();
        let path = |name: &str| scratch.path().join(name);
        std::fs::create_dir(path("directory")).expect("a directory");
        scratch.write("b", "old");
        // More than are open at once, so that some are not begun.
        let mut new = vec![(path("a"), "a"), (path(failing), "x")];
        new.extend((0..300).map(|number| (path(&format!("f{number}")), "f")));
        let results = write_until(&files(), &new, AfterFailure::Stop);
        assert!(results[0].is_ok(), "{failing}: {:?}", results[0]);
        let failed = &results[1];
        assert!(
            matches!(failed, Err(error) if !matches!(error, FileError::Cancelled { .. })),
            "{failing}: {failed:?}"
        );
        assert_eq!(results.len(), new.len());
        for result in &results[2..] {
            assert!(matches!(result, Err(FileError::Cancelled { changed: false })), "{failing}: {result:?}");
        }
        assert_eq!(scratch.names(), ["a", "b", "directory"], "{failing}");
    }
}

#[test]
fn paths_of_one_file_are_written_in_their_order() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path().join("real")).expect("a directory");
    symlink("real", scratch.path().join("link")).expect("a link");
    let paths = ["real/f", "link/f", "real/g", "real/f"].map(|name| scratch.path().join(name));
    let new: Vec<(PathBuf, &str)> = paths.into_iter().zip(["one", "two", "g", "three"]).collect();
    for written in write_many(&files(), &new) {
        written.expect("a write");
    }
    assert_eq!(scratch.read("real/f").as_deref(), Some("three"));
    assert_eq!(scratch.read("real/g").as_deref(), Some("g"));
}

#[test]
fn after_a_cancellation_only_the_first_is_written() {
    let scratch = Scratch::new();
    let old = scratch.write("b", "old");
    let inode = std::fs::metadata(&old).expect("a file").ino();
    let (source, cancellation) = CancellationSource::new();
    source.raise(CancellationLevel::Stop);
    let new = [(scratch.path().join("a"), "a"), (old.clone(), "b"), (scratch.path().join("c"), "c")];
    let results = write_many(&SystemFiles::new(cancellation), &new);
    assert!(results[0].is_ok(), "{results:?}");
    for result in &results[1..] {
        assert!(matches!(result, Err(FileError::Cancelled { changed: false })), "{result:?}");
    }
    assert_eq!(scratch.names(), ["a", "b"]);
    assert_eq!(std::fs::metadata(&old).expect("a file").ino(), inode);
}

#[test]
fn directory_that_is_exchanged_meanwhile_gets_no_half_of_the_files() {
    let scratch = Scratch::new();
    let (directory, moved) = (scratch.path().join("d"), scratch.path().join("moved"));
    std::fs::create_dir(&directory).expect("a directory");
    let new: Vec<(PathBuf, &str)> =
        (0..200).map(|number| (directory.join(format!("f{number}")), "new")).collect();
    let results = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The first file has been begun, and none is in its place yet, unless this thread is slow.
            while std::fs::read_dir(&directory).expect("a directory").next().is_none() {}
            std::fs::rename(&directory, &moved).expect("another name");
            std::fs::create_dir(&directory).expect("another directory");
        });
        write_many(&files(), &new)
    });
    // The directory was opened once, and what was opened gets all of them.
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(std::fs::read_dir(&directory).expect("a directory").count(), 0);
    let names: Vec<String> = (0..200).map(|number| format!("f{number}")).collect();
    for name in &names {
        assert_eq!(scratch.read(&format!("moved/{name}")).as_deref(), Some("new"), "{name}");
    }
    assert_eq!(std::fs::read_dir(&moved).expect("a directory").count(), names.len());
}
