//! Runs of some resources on this machine.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use ccm_engine::{ChangeRequest, CommandRequest, Gate, Verdict};
use ccm_host::{
    Cancellation, FileChange, FileError, Files, FilesMiddleware, Host, LocalExecutor, SystemFiles,
};
use ccm_model::{Outcome, Resource, Transaction};
use ccm_redaction::Secrets;
use ccm_resources::types;
use ccm_testkit::{FakeClock, FakeRunner, Scratch};

use crate::build::resource;
use crate::run::{Manner, failure, run_gated};

/// Options of runs.
pub(crate) struct Runs<'a> {
    pub scratch: &'a Scratch,
    pub noop: bool,
    pub diff: bool,
    pub state_directory: Option<PathBuf>,
    pub secrets: Secrets,
    /// Does something once a change of a path is decided on.
    pub after_inspection: &'a dyn Fn(&Path),
}

/// Files of this machine that count their changes.
struct Watched<'a> {
    files: &'a SystemFiles,
    changes: Cell<usize>,
}

impl FilesMiddleware for Watched<'_> {
    fn inner(&self) -> &dyn Files {
        self.files
    }

    fn before_change(&self, path: &Path, change: FileChange) -> Result<(), FileError> {
        assert!(path.is_absolute(), "{change:?}");
        self.changes.set(self.changes.get() + 1);
        Ok(())
    }
}

/// Gate that allows every change, after something was done.
struct Interfering<'a>(&'a dyn Fn(&Path));

impl Gate for Interfering<'_> {
    async fn before_command(&self, _: &CommandRequest<'_>) -> Verdict {
        Verdict::Allow
    }

    async fn before_change(&self, request: &ChangeRequest<'_>) -> Verdict {
        let properties = request.resource.properties();
        let path = properties.get("path").and_then(|path| path.as_text());
        (self.0)(Path::new(path.unwrap_or_default()));
        Verdict::Allow
    }
}

impl<'a> Runs<'a> {
    pub(crate) fn here(scratch: &'a Scratch) -> Self {
        Self {
            scratch,
            noop: false,
            diff: false,
            state_directory: None,
            secrets: Secrets::new(),
            after_inspection: &|_| (),
        }
    }

    pub(crate) fn apply(&self, resources: Vec<Resource>) -> Vec<Transaction> {
        let here = SystemFiles::new(Cancellation::never());
        let files = Watched { files: &here, changes: Cell::new(0) };
        let (runner, clock) = (FakeRunner::default(), FakeClock::default());
        let executor = LocalExecutor::new(&runner, &runner, &files);
        let host = Host { executor: &executor, system: &runner, files: &files, clock: &clock };
        let manner = Manner {
            noop: self.noop,
            diff: self.diff,
            directory: self.scratch.path(),
            state_directory: self.state_directory.as_deref(),
            secrets: self.secrets.clone(),
            ..Manner::default()
        };
        let gate = Interfering(self.after_inspection);
        let transactions = run_gated(&types(), resources, host, &manner, &gate);
        assert!(!self.noop || files.changes.get() == 0, "noop wrote something");
        transactions
    }

    /// Applies one part of the file `f`.
    pub(crate) fn apply_one(&self, kind: &str, properties: &[(&str, &str)]) -> Transaction {
        self.apply(vec![part(self.scratch, kind, "it", properties)]).pop().expect("a transaction")
    }
}

/// Returns a part of the file `f`.
pub(crate) fn part(scratch: &Scratch, kind: &str, name: &str, properties: &[(&str, &str)]) -> Resource {
    let path = scratch.at("f");
    let path = if properties.iter().any(|(name, _)| *name == "path") { None } else { Some(("path", &*path)) };
    let all: Vec<(&str, &str)> = path.into_iter().chain(properties.iter().copied()).collect();
    resource(kind, name, &all)
}

/// Returns the outcomes as words.
pub(crate) fn outcomes(transactions: &[Transaction]) -> Vec<&'static str> {
    let word = |transaction: &Transaction| match &transaction.outcome {
        Outcome::Unchanged => "unchanged",
        Outcome::Changed => "changed",
        Outcome::WouldChange { .. } => "would change",
        Outcome::Failed(_) => "failed",
        other => panic!("{other:?}"),
    };
    transactions.iter().map(word).collect()
}

/// Returns the failure on one line, without the directory of the test.
pub(crate) fn told(transaction: &Transaction, scratch: &Scratch) -> String {
    failure(transaction).chain.join(": ").replace(&scratch.at(""), "")
}
