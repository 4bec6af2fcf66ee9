//! Runs of one archive on this machine.

use std::path::Path;

use ccm_host::{Cancellation, Host, LocalExecutor, SystemFiles};
use ccm_model::{Outcome, Transaction};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeClock, FakeRunner, Scratch, TarFile, tar};

use crate::build::resource;
use crate::run::{Manner, failure, run};

/// Runs of archives.
pub(crate) struct Runs<'a> {
    pub scratch: &'a Scratch,
    pub noop: bool,
    pub state_directory: Option<&'a Path>,
    pub secrets: Secrets,
    pub cancellation: Cancellation,
}

impl<'a> Runs<'a> {
    pub(crate) fn in_directory(scratch: &'a Scratch) -> Self {
        Self {
            scratch,
            noop: false,
            state_directory: None,
            secrets: Secrets::new(),
            cancellation: Cancellation::never(),
        }
    }

    /// Runs the archive `name` of the directory of the test. `[dir]` in values is that directory.
    pub(crate) fn apply(&self, name: &str, properties: &[(&str, &str)]) -> Transaction {
        let directory = self.scratch.path().to_string_lossy().into_owned();
        let values: Vec<(&str, String)> =
            properties.iter().map(|(key, value)| (*key, value.replace("[dir]", &directory))).collect();
        let properties: Vec<(&str, &str)> =
            values.iter().map(|(key, value)| (*key, value.as_str())).collect();
        let resource = resource("archive", &self.scratch.at(name), &properties);
        let files = SystemFiles::new(self.cancellation.clone());
        let (runner, clock) = (FakeRunner::default(), FakeClock::default());
        runner.runs_as_owner_of(self.scratch.path());
        let executor = LocalExecutor::new(&runner, &runner, &files);
        let host = Host { executor: &executor, system: &runner, files: &files, clock: &clock };
        let manner = Manner {
            noop: self.noop,
            directory: self.scratch.path(),
            state_directory: self.state_directory,
            secrets: self.secrets.clone(),
            cancellation: self.cancellation.clone(),
            ..Manner::default()
        };
        run(vec![resource], host, &manner).pop().expect("a transaction")
    }
}

/// Runs noop, applies, and applies again, which must change nothing.
pub(crate) fn converge(scratch: &Scratch, name: &str, properties: &[(&str, &str)]) -> (String, Transaction) {
    let before = scratch.names();
    let noop = Runs { noop: true, ..Runs::in_directory(scratch) }.apply(name, properties);
    assert_eq!(scratch.names(), before, "noop changed something");
    let Outcome::WouldChange { message } = noop.outcome else { panic!("{noop:?}") };
    let applied = Runs::in_directory(scratch).apply(name, properties);
    assert_eq!(applied.outcome, Outcome::Changed, "{applied:?}");
    let again = Runs::in_directory(scratch).apply(name, properties);
    assert_eq!(again.outcome, Outcome::Unchanged, "{again:?}");
    (message, applied)
}

/// Returns the failure on one line, without the directory of the test.
pub(crate) fn told(transaction: &Transaction, scratch: &Scratch) -> String {
    failure(transaction).chain.join(": ").replace(&scratch.at(""), "")
}

/// An archive of a program and its documentation.
pub(crate) fn app() -> Vec<u8> {
    tar(&[
        TarFile { path: "app-1.0/bin/app", mode: 0o755, content: b"#!/bin/sh\n", link: None },
        TarFile { path: "app-1.0/README", mode: 0o644, content: b"read me\n", link: None },
    ])
}
