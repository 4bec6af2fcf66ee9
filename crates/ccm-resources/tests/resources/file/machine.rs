//! Runs of one resource, on this machine or on a fake one.

use std::path::Path;

use ccm_host::{Cancellation, Files, Host, LocalExecutor, SystemFiles};
use ccm_model::{Resource, Transaction};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeClock, FakeRunner, Scratch};

use crate::run::{Manner, failure, run};

/// Options of a run.
pub(crate) struct Runs<'a> {
    /// `None` for this machine.
    pub files: Option<&'a dyn Files>,
    pub directory: &'a Path,
    pub state_directory: Option<&'a Path>,
    pub noop: bool,
    pub diff: bool,
    pub secrets: Secrets,
    pub describe_unchanged: bool,
}

impl<'a> Runs<'a> {
    /// Runs on this machine, from the directory of the test.
    pub(crate) fn here(scratch: &'a Scratch) -> Self {
        Self {
            files: None,
            directory: scratch.path(),
            state_directory: None,
            noop: false,
            diff: false,
            secrets: Secrets::new(),
            describe_unchanged: true,
        }
    }

    pub(crate) fn apply(&self, resource: Resource) -> Transaction {
        self.apply_all(vec![resource]).pop().expect("a transaction")
    }

    pub(crate) fn apply_all(&self, resources: Vec<Resource>) -> Vec<Transaction> {
        let here = SystemFiles::new(Cancellation::never());
        let (runner, clock) = (FakeRunner::default(), FakeClock::default());
        let files = self.files.unwrap_or(&here);
        let executor = LocalExecutor::new(&runner, &runner, files);
        let host = Host { executor: &executor, system: &runner, files, clock: &clock };
        let manner = Manner {
            noop: self.noop,
            diff: self.diff,
            directory: self.directory,
            state_directory: self.state_directory,
            secrets: self.secrets.clone(),
            describe_unchanged: self.describe_unchanged,
            ..Manner::default()
        };
        run(resources, host, &manner)
    }
}

/// Returns the failure on one line, without the directory of the test.
pub(crate) fn told(transaction: &Transaction, scratch: &Scratch) -> String {
    failure(transaction).chain.join(": ").replace(&scratch.at(""), "")
}
