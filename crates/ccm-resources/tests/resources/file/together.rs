//! Files that are written together.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use ccm_host::{
    Cancellation, FileChange, FileError, FileStep, Files, FilesMiddleware, Host, LocalExecutor, SystemFiles,
};
use ccm_model::{Resource, Transaction};
use ccm_testkit::{FakeClock, FakeRunner, Scratch};

use super::file;
use crate::run::{Manner, run};

/// Files of this machine, with the names in the directory before each write. A write of `refused` is prevented.
struct ObservedFiles<'a> {
    inner: SystemFiles,
    directory: &'a Path,
    seen: RefCell<Vec<String>>,
}

impl FilesMiddleware for ObservedFiles<'_> {
    fn inner(&self) -> &dyn Files {
        &self.inner
    }

    fn before_change(&self, path: &Path, _: FileChange) -> Result<(), FileError> {
        let names = names_in(self.directory);
        self.seen.borrow_mut().push(names.into_iter().collect::<Vec<_>>().join(" "));
        if path.ends_with("refused") {
            let source = std::io::ErrorKind::PermissionDenied.into();
            return Err(FileError::Step {
                path: path.to_owned(),
                step: FileStep::Content,
                changed: false,
                source,
            });
        }
        Ok(())
    }
}

fn names_in(directory: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(directory).expect("a directory").flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Applies the files, and returns their outcomes and the names that were there before each write.
fn apply(
    scratch: &Scratch,
    files: &[(&str, &[(&str, &str)])],
    fail_on_error: bool,
) -> (Vec<String>, Vec<String>) {
    let to = scratch.path().join("to");
    std::fs::create_dir_all(&to).expect("a directory");
    let observed = ObservedFiles {
        inner: SystemFiles::new(Cancellation::never()),
        directory: &to,
        seen: RefCell::default(),
    };
    let (runner, clock) = (FakeRunner::default(), FakeClock::default());
    let executor = LocalExecutor::new(&runner, &runner, &observed);
    let host = Host { executor: &executor, system: &runner, files: &observed, clock: &clock };
    let resources: Vec<Resource> =
        files.iter().map(|(name, properties)| file(&scratch.at(&format!("to/{name}")), properties)).collect();
    let manner = Manner { fail_on_error, directory: scratch.path(), ..Manner::default() };
    let transactions = run(resources, host, &manner);
    let word = |transaction: &Transaction| transaction.outcome.word().to_string();
    (transactions.iter().map(word).collect(), observed.seen.into_inner())
}

const TEXT: &[(&str, &str)] = &[("content", "text\n")];

#[test]
fn neighbours_are_written_together() {
    for fail_on_error in [false, true] {
        let scratch = Scratch::new();
        scratch.write("source", "from a source\n");
        let files = [("a", TEXT), ("b", &[("source", "source")]), ("c", &[("mode", "0600")]), ("d", TEXT)];
        let (outcomes, seen) = apply(&scratch, &files, fail_on_error);
        assert_eq!(outcomes, ["changed"; 4]);
        // None is in its place before all of them are ready.
        assert_eq!(seen, [""; 4]);
        assert_eq!(scratch.read("to/b").as_deref(), Some("from a source\n"));
    }
}

#[test]
fn file_whose_source_is_managed_waits_for_it() {
    let scratch = Scratch::new();
    scratch.write("to/a", "old\n");
    std::os::unix::fs::symlink("to/a", scratch.path().join("link")).expect("a link");
    for source in ["to/a", "link"] {
        scratch.write("to/a", "old\n");
        let files = [("a", TEXT), ("b", &[("source", source)]), ("c", TEXT)];
        let (outcomes, _) = apply(&scratch, &files, false);
        assert_eq!(outcomes[1], "changed", "{source}");
        assert_eq!(scratch.read("to/b").as_deref(), Some("text\n"), "{source}");
        for name in ["to/b", "to/c"] {
            std::fs::remove_file(scratch.path().join(name)).expect("a file");
        }
    }
}

#[test]
fn nothing_is_written_after_a_failure_that_ends_the_run() {
    for (fail_on_error, outcomes, names) in [
        (false, ["changed", "failed", "changed"], &["a", "c"][..]),
        (true, ["changed", "failed", "skipped"], &["a"]),
    ] {
        let scratch = Scratch::new();
        let (found, seen) = apply(&scratch, &[("a", TEXT), ("refused", TEXT), ("c", TEXT)], fail_on_error);
        assert_eq!(found, outcomes);
        assert!(seen.iter().all(String::is_empty), "{seen:?}");
        let names: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(names_in(&scratch.path().join("to")), names);
    }
    // A backup that can't be stored is found before anything is written.
    let scratch = Scratch::new();
    scratch.write("to/b", "old\n");
    let with_backup: &[(&str, &str)] = &[("content", "new\n"), ("backup", "true")];
    let (found, _) = apply(&scratch, &[("a", TEXT), ("b", with_backup), ("c", TEXT)], true);
    assert_eq!((&*found[1], &*found[2]), ("failed", "skipped"));
    assert_eq!(scratch.read("to/b").as_deref(), Some("old\n"));
    assert_eq!(scratch.read("to/c"), None);
}
