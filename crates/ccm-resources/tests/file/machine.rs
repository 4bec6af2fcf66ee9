//! Runs of one resource, on this machine or on one that the test invents.

use std::path::Path;
use std::sync::OnceLock;

use ccm_engine::{NoLateValues, Run, Stop};
use ccm_host::{Cancellation, FakeClock, FakeRunner, Files, Host, SystemFiles};
use ccm_model::{Catalog, Event, Failure, Outcome, Resource, Secrets, Transaction};
use ccm_resources::types;
use ccm_testkit::Scratch;

/// How a resource is run.
pub(crate) struct Runs<'a> {
    /// None is this machine.
    pub files: Option<&'a dyn Files>,
    pub directory: &'a Path,
    pub state_directory: Option<&'a Path>,
    pub noop: bool,
    pub diff: bool,
    pub secrets: Secrets,
}

impl<'a> Runs<'a> {
    /// On this machine, from a directory of the test's own.
    pub(crate) fn here(scratch: &'a Scratch) -> Self {
        Self {
            files: None,
            directory: scratch.path(),
            state_directory: None,
            noop: false,
            diff: false,
            secrets: Secrets::new(),
        }
    }

    pub(crate) fn apply(&self, resource: Resource) -> Transaction {
        let catalog = Catalog { resources: vec![resource], ..Catalog::default() };
        let clock = FakeClock::default();
        let here = SystemFiles::new(Cancellation::never());
        let types: Vec<_> = types().into_iter().map(|found| found as _).collect();
        let run = Run {
            catalog: &catalog,
            types: &types,
            host: Host { runner: &FakeRunner::default(), files: self.files.unwrap_or(&here), clock: &clock },
            late: &NoLateValues,
            secrets: &self.secrets,
            stop: Stop { cancellation: &Cancellation::never(), cause: &OnceLock::new() },
            noop: self.noop,
            fail_on_error: false,
            diff: self.diff,
            directory: self.directory,
            state_directory: self.state_directory,
            ledger: None,
            describe_unchanged: true,
            only: None,
        };
        let mut transaction = None;
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(run.apply(&mut |event| {
            if let Event::ResourceFinished(finished) = event {
                transaction = Some(*finished);
            }
        }));
        transaction.expect("a transaction")
    }
}

/// The failure of a transaction that has one.
pub(crate) fn failure(transaction: &Transaction) -> &Failure {
    match &transaction.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("not failed but {other:?}"),
    }
}

/// What failed and why, on one line, without the test's directory.
pub(crate) fn told(transaction: &Transaction, scratch: &Scratch) -> String {
    failure(transaction).chain.join(": ").replace(&scratch.at(""), "")
}
