//! Middleware that sees changes of files.

use std::cell::RefCell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use ccm_host::{
    AfterFailure, BackupName, FileAttributes, FileChange, FileError, FileStep, Files, FilesMiddleware,
    InspectOptions, NewContent, NewFile, SystemFiles,
};
use ccm_testkit::Scratch;

use crate::files::files;

/// Middleware that records changes, and refuses those of a file named `locked`.
struct RecordingFiles {
    inner: SystemFiles,
    changes: RefCell<Vec<(String, FileChange)>>,
}

impl FilesMiddleware for RecordingFiles {
    fn inner(&self) -> &dyn Files {
        &self.inner
    }

    fn before_change(&self, path: &Path, change: FileChange) -> Result<(), FileError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name == "locked" {
            let (path, source) = (path.to_owned(), io::ErrorKind::PermissionDenied.into());
            return Err(FileError::Step { path, step: FileStep::Content, changed: false, source });
        }
        self.changes.borrow_mut().push((name, change));
        Ok(())
    }
}

#[test]
fn middleware_sees_every_change_and_can_prevent_it() {
    let scratch = Scratch::new();
    let wrapped = RecordingFiles { inner: files(), changes: RefCell::default() };
    let new = NewFile { content: NewContent::Bytes(b"x"), attributes: FileAttributes::default() };
    let (file, state) = (scratch.path().join("f"), scratch.path().join("state"));
    wrapped.write(&file, &new).expect("a file");
    wrapped.write(&file, &new).expect("the same file");
    wrapped.set_attributes(&file, FileAttributes::default()).expect("attributes");
    wrapped.make_directory(&scratch.path().join("d"), FileAttributes::default()).expect("a directory");
    fs::create_dir(&state).expect("a directory");
    wrapped.back_up(&file, &state, std::time::SystemTime::UNIX_EPOCH, BackupName::Path).expect("a backup");
    drop(wrapped.stage(&file, FileAttributes::default()).expect("a staged file"));
    wrapped.remove(&file, false).expect("a removal");
    wrapped.extraction_target(&scratch.path().join("d")).expect("a directory");
    let change = |name: &str, change| (name.to_owned(), change);
    let expected = [
        change("f", FileChange::Write),
        change("f", FileChange::Write),
        change("f", FileChange::SetAttributes),
        change("d", FileChange::MakeDirectory),
        change("f", FileChange::BackUp),
        change("f", FileChange::Write),
        change("f", FileChange::Remove),
        change("d", FileChange::Extract),
    ];
    assert_eq!(*wrapped.changes.borrow(), expected);
    assert!(wrapped.write(&scratch.path().join("locked"), &new).is_err());
    assert!(wrapped.stage(&scratch.path().join("locked"), FileAttributes::default()).is_err());
    let paths = ["one", "locked", "two"].map(|name| scratch.path().join(name));
    let many = [(&*paths[0], new), (&*paths[1], new), (&*paths[2], new)];
    for (after_failure, expected) in
        [(AfterFailure::Stop, [true, false, false]), (AfterFailure::Continue, [true, false, true])]
    {
        let written = wrapped.write_many(&many, after_failure);
        assert_eq!(written.iter().map(Result::is_ok).collect::<Vec<_>>(), expected);
        let is_there = |path: &PathBuf| wrapped.exists(path).expect("a state");
        assert_eq!(paths.each_ref().map(is_there), expected);
    }
    assert!(
        !wrapped.exists(&scratch.path().join("locked")).expect("a state"),
        "a change that is prevented is not made"
    );
    assert!(
        wrapped
            .inspect(&scratch.path().join("d"), InspectOptions::default())
            .expect("a state")
            .target
            .is_some()
    );
    assert_eq!(wrapped.changes.borrow().len(), expected.len() + 3, "what only looks is no change");
}
