//! Reading the machine outside of the steps of resources.

use std::cell::Cell;
use std::path::Path;
use std::sync::OnceLock;

use ccm_engine::{
    Context, ExportedState, InstanceScope, Instances, NoHealthProbe, NoLateValues, NotExported,
    NotExportedKind, OpenGate, Run, Stop,
};
use ccm_host::{Cancellation, Host, LocalExecutor};
use ccm_model::{Catalog, Failure, FailureKind};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeClock, FakeFiles, FakeRunner};

/// Reads with the doors of a fake machine.
fn read<T>(work: impl AsyncFnOnce(&mut Context<'_>) -> T) -> Result<T, Failure> {
    let (runner, files, clock) = (FakeRunner::default(), FakeFiles::default(), FakeClock::default());
    let executor = LocalExecutor::new(&runner, &runner, &files);
    let (cancellation, cause) = (Cancellation::never(), OnceLock::new());
    let run = Run {
        catalog: &Catalog::default(),
        others: &[],
        types: &[],
        host: Host { executor: &executor, system: &runner, files: &files, clock: &clock },
        late: &NoLateValues,
        secrets: &Secrets::new(),
        stop: Stop { cancellation: &cancellation, cause: &cause },
        noop: false,
        monitor_only: false,
        fail_on_error: false,
        diff: false,
        directory: Path::new("/"),
        state_directory: None,
        describe_unchanged: false,
        only: None,
        skip: &[],
        health: &NoHealthProbe,
        gate: &OpenGate,
        ledger: None,
        witness: None,
        earlier: ccm_engine::EarlierOutcomes::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(run.read(work))
}

#[test]
fn shared_state_is_read_once() {
    let reads = Cell::new(0);
    let read = read(async |context| {
        for _ in 0..3 {
            let found = context.state_cache(async || Ok::<_, Failure>(reads.replace(reads.get() + 1))).await;
            assert_eq!(found.map(|found| *found), Ok(0));
        }
        (context.would_be_principal("ada"), context.is_claimed(Path::new("/a")), context.describe_unchanged)
    });
    assert_eq!((read, reads.get()), (Ok((false, false, true)), 1));
}

#[test]
fn a_panic_is_an_error() {
    let read: Result<(), Failure> = read(async |_| assert_eq!(1, 2, "a bug"));
    assert_eq!(read.map_err(|failure| failure.kind), Err(FailureKind::Internal));
}

#[test]
fn reasons_have_a_kind_and_advice() {
    let failure = Failure::conflict("no rights").because_of("the file can't be read").with_hint("be root");
    let reason = NotExported::from(failure);
    assert_eq!((reason.kind, reason.hint.as_deref()), (NotExportedKind::Unreadable, Some("be root")));
    assert_eq!(reason.to_string(), "the file can't be read: no rights");
    let state = ExportedState::default().with("a", 1).with_some("b", None::<u32>).with_some("c", Some("x"));
    let names: Vec<&str> = state.properties.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["a", "c"]);
    assert_eq!(Instances::from(vec!["x".to_owned()]).names, ["x"]);
    assert_ne!(InstanceScope::All, InstanceScope::MadeByHand);
}
