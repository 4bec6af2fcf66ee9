//! A machine that the test invents, and a run on it.

use ccm_host::{Cancellation, Clock, Host, LocalExecutor};
use ccm_model::{Resource, Transaction};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeClock, FakeFiles, FakeRunner};

use crate::run::{Manner, run};

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
        let manner = Manner {
            noop,
            secrets: self.secrets.clone(),
            cancellation: cancellation.clone(),
            ..Manner::default()
        };
        let executor = LocalExecutor::new(&self.runner, &self.runner, &self.files);
        let host = Host { executor: &executor, system: &self.runner, files: &self.files, clock };
        run(vec![resource], host, &manner).pop().expect("a transaction")
    }
}
