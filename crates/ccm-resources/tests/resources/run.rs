//! Runs of a few resources.

use std::path::Path;
use std::sync::OnceLock;

use ccm_engine::{DynGate, EarlierOutcomes, NoLateValues, OpenGate, ResourceType, Run, Stop};
use ccm_host::{Cancellation, CapturedOutput, Exit, Finished, Host};
use ccm_model::{Catalog, Event, Failure, Outcome, Resource, Transaction};
use ccm_redaction::Secrets;
use ccm_resources::{HealthChecks, types};
use ccm_testkit::FakeRunner;

/// Options of a run.
#[derive(Clone)]
pub(crate) struct Manner<'a> {
    pub noop: bool,
    pub fail_on_error: bool,
    pub diff: bool,
    pub directory: &'a Path,
    pub state_directory: Option<&'a Path>,
    pub secrets: Secrets,
    pub cancellation: Cancellation,
    pub describe_unchanged: bool,
}

impl Default for Manner<'_> {
    fn default() -> Self {
        Self {
            noop: false,
            fail_on_error: false,
            diff: false,
            directory: Path::new("/"),
            state_directory: None,
            secrets: Secrets::new(),
            cancellation: Cancellation::never(),
            describe_unchanged: true,
        }
    }
}

/// Runs resources and returns their transactions.
pub(crate) fn run(resources: Vec<Resource>, host: Host<'_>, manner: &Manner<'_>) -> Vec<Transaction> {
    run_types(&types(), resources, host, manner)
}

/// Runs resources of the given types.
pub(crate) fn run_types(
    types: &[&'static dyn ResourceType],
    resources: Vec<Resource>,
    host: Host<'_>,
    manner: &Manner<'_>,
) -> Vec<Transaction> {
    run_gated(types, resources, host, manner, &OpenGate)
}

/// The same behind a gate.
pub(crate) fn run_gated(
    types: &[&'static dyn ResourceType],
    resources: Vec<Resource>,
    host: Host<'_>,
    manner: &Manner<'_>,
    gate: &dyn DynGate,
) -> Vec<Transaction> {
    let catalog = Catalog { resources, ..Catalog::default() };
    let types: Vec<_> = types.iter().map(|found| *found as _).collect();
    let run = Run {
        catalog: &catalog,
        others: &[],
        types: &types,
        host,
        late: &NoLateValues,
        secrets: &manner.secrets,
        stop: Stop { cancellation: &manner.cancellation, cause: &OnceLock::new() },
        noop: manner.noop,
        fail_on_error: manner.fail_on_error,
        monitor_only: false,
        only: None,
        skip: &[],
        diff: manner.diff,
        directory: manner.directory,
        state_directory: manner.state_directory,
        health: &HealthChecks,
        gate,
        earlier: EarlierOutcomes::default(),
        ledger: None,
        witness: None,
        describe_unchanged: manner.describe_unchanged,
    };
    let mut transactions = Vec::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(run.apply(&mut |event| {
        if let Event::ResourceFinished(finished) = event {
            transactions.push(*finished);
        }
    }));
    transactions
}

/// Runs resources on a fake machine, in noop or not.
pub(crate) fn run_simply(resources: Vec<Resource>, host: Host<'_>, noop: bool) -> Vec<Transaction> {
    run_types_simply(&types(), resources, host, noop)
}

/// Runs resources of the given types on a fake machine.
pub(crate) fn run_types_simply(
    types: &[&'static dyn ResourceType],
    resources: Vec<Resource>,
    host: Host<'_>,
    noop: bool,
) -> Vec<Transaction> {
    let manner = Manner { noop, state_directory: Some(Path::new("/state")), ..Manner::default() };
    run_types(types, resources, host, &manner)
}

/// Returns the result of a command with this exit and output.
pub(crate) fn printed(exit: Exit, stdout: &str, stderr: &str) -> Finished {
    let captured = |text: &str| CapturedOutput { head: text.into(), ..CapturedOutput::default() };
    Finished { stdout: captured(stdout), stderr: captured(stderr), ..FakeRunner::finished(exit) }
}

/// Returns the failure of a transaction, which must have one.
pub(crate) fn failure(transaction: &Transaction) -> &Failure {
    match &transaction.outcome {
        Outcome::Failed(failure) => failure,
        other => panic!("not failed but {other:?}"),
    }
}
