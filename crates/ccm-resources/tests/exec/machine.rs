//! A machine that the test invents, and a run on it.

use std::sync::OnceLock;

use ccm_engine::{NoLateValues, Run, Stop};
use ccm_host::{Cancellation, Captured, Clock, Exit, FakeClock, FakeFiles, FakeRunner, Finished, Host};
use ccm_model::{Catalog, Event, Failure, Outcome, Resource, Secrets, Transaction};
use ccm_resources::types;

#[derive(Default)]
pub(crate) struct Machine {
    pub runner: FakeRunner,
    pub files: FakeFiles,
    pub clock: FakeClock,
    pub secrets: Secrets,
}

impl Machine {
    /// A machine that has a shell and `/tmp`.
    pub(crate) fn new() -> Self {
        let mut machine = Self::default();
        machine.files.files.insert("/bin/sh".into());
        machine.files.directories.insert("/tmp".into());
        machine
    }

    /// Applies one resource.
    pub(crate) fn apply(&self, resource: Resource) -> Transaction {
        self.run(resource, false, &self.clock, &Cancellation::never())
    }

    /// Applies one resource in a run that may be ended from outside, at the time of another clock.
    pub(crate) fn apply_until(
        &self,
        cancellation: &Cancellation,
        clock: &dyn Clock,
        resource: Resource,
    ) -> Transaction {
        self.run(resource, false, clock, cancellation)
    }

    /// Applies one resource in noop.
    pub(crate) fn noop(&self, resource: Resource) -> Transaction {
        self.run(resource, true, &self.clock, &Cancellation::never())
    }

    fn run(
        &self,
        resource: Resource,
        noop: bool,
        clock: &dyn Clock,
        cancellation: &Cancellation,
    ) -> Transaction {
        let catalog = Catalog { resources: vec![resource], ..Catalog::default() };
        let types: Vec<_> = types().into_iter().map(|found| found as _).collect();
        let run = Run {
            catalog: &catalog,
            types: &types,
            host: Host { runner: &self.runner, files: &self.files, clock },
            late: &NoLateValues,
            secrets: &self.secrets,
            stop: Stop { cancellation, cause: &OnceLock::new() },
            noop,
            fail_on_error: false,
            only: None,
            diff: false,
            directory: std::path::Path::new("/"),
            state_directory: None,
            ledger: None,
            describe_unchanged: true,
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

/// A command that ended that way and printed that.
pub(crate) fn printed(exit: Exit, stdout: &str, stderr: &str) -> Finished {
    let captured = |text: &str| Captured { head: text.into(), ..Captured::default() };
    Finished { stdout: captured(stdout), stderr: captured(stderr), ..FakeRunner::finished(exit) }
}

/// The failure of a transaction that has one.
pub(crate) fn failure(transaction: &Transaction) -> &Failure {
    match &transaction.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("not failed but {other:?}"),
    }
}
