//! Runs with the tools and files of this machine, which most tests replace by mounts of their own.

use ccm_host::{Cancellation, Host, LocalExecutor, SystemClock, SystemFiles, SystemRunner};
use ccm_model::{Outcome, Resource, Transaction};

use crate::run::{Manner, run};

/// Runs resources on this machine.
pub(crate) fn run_on_machine(resources: Vec<Resource>, manner: &Manner<'_>) -> Vec<Transaction> {
    let files = SystemFiles::new(Cancellation::never());
    let runner = SystemRunner::new().expect("a runner").redacting(manner.secrets.clone());
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let host = Host { executor: &executor, system: &runner, files: &files, clock: &SystemClock::default() };
    run(resources, host, manner)
}

/// Runs resources on this machine, in noop or not.
pub(crate) fn run_here(resources: Vec<Resource>, noop: bool) -> Vec<Transaction> {
    run_on_machine(resources, &Manner { noop, ..Manner::default() })
}

/// Applies resources, and returns a word for each outcome; a failure with its texts.
pub(crate) fn applied(resources: Vec<Resource>) -> Vec<String> {
    run_here(resources, false).iter().map(outcome).collect()
}

/// Applies resources in noop.
pub(crate) fn in_noop(resources: Vec<Resource>) -> Vec<String> {
    run_here(resources, true).iter().map(outcome).collect()
}

pub(crate) fn outcome(transaction: &Transaction) -> String {
    match &transaction.outcome {
        Outcome::Unchanged => "unchanged".to_owned(),
        Outcome::Changed => "changed".to_owned(),
        Outcome::WouldChange { message } => message.clone(),
        Outcome::Failed(failure) => {
            let changed = if failure.changed { " (changed)" } else { "" };
            format!("{}{changed}", failure.chain.join(": "))
        }
        other => format!("{other:?}"),
    }
}

/// Announces a change in noop, makes it, and finds nothing to do afterwards.
pub(crate) fn assert_changes(resource: &Resource) {
    assert_changes_in(&Manner::default(), resource);
}

/// The same in a run with these options.
pub(crate) fn assert_changes_in(manner: &Manner<'_>, resource: &Resource) {
    let run = |noop| {
        let manner = Manner { noop, ..manner.clone() };
        run_on_machine(vec![resource.clone()], &manner).pop().expect("a transaction")
    };
    let announced = run(true);
    assert!(outcome(&announced).starts_with("Would have "), "{}", outcome(&announced));
    let done = run(false);
    assert_eq!(outcome(&done), "changed", "{}", resource.id);
    assert_eq!(announced.action, done.action, "{}", resource.id);
    for noop in [false, true] {
        assert_eq!(outcome(&run(noop)), "unchanged", "{}", resource.id);
    }
}
