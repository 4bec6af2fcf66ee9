//! Commands that are ended, and containers that end otherwise.

use ccm_host::{CancellationLevel, ContainerSettings, Exit, Launch};
use ccm_testkit::FakeCommand;

use crate::fake::{Bench, limited};

fn signals(bench: &Bench) -> Vec<String> {
    let requests = bench.engine.requests();
    requests.iter().filter_map(|line| Some(line.split_once("/kill?signal=")?.1.to_owned())).collect()
}

fn hanging(ignores_signals: bool) -> Bench {
    Bench::new(FakeCommand {
        hangs: true,
        ignores_signals,
        frames: vec![(1, b"begun\n".into())],
        ..FakeCommand::default()
    })
}

#[test]
fn at_the_deadline_a_container_is_stopped_and_removed() {
    for (ignores_signals, expected) in [(false, &["SIGTERM"][..]), (true, &["SIGTERM", "SIGKILL"])] {
        let bench = hanging(ignores_signals);
        let ran = bench.run_with(bench.settings(), limited(), |_| {});
        assert_eq!(ran.finished().exit, Exit::TimedOut { after: std::time::Duration::from_secs(1) });
        assert_eq!(ran.lines, ["stdout begun"]);
        // KILL also goes to a container that ended by TERM in the same moment.
        assert_eq!(&signals(&bench)[..expected.len()], expected);
        assert!(bench.engine.containers().is_empty());
    }
}

#[test]
fn a_container_that_was_stopped_is_kept_if_asked() {
    let bench = hanging(false);
    let ran = bench.run_with(ContainerSettings { auto_remove: false, ..bench.settings() }, limited(), |_| {});
    assert!(matches!(ran.finished().exit, Exit::TimedOut { .. }));
    assert_eq!(bench.engine.containers().len(), 1);
    assert!(ran.plan.notes[0].starts_with("kept the container ccm-01a200cb-1-"), "{:?}", ran.plan.notes);
}

#[test]
fn a_cancelled_run_stops_its_container() {
    for (level, expected) in
        [(CancellationLevel::Stop, &["SIGTERM"][..]), (CancellationLevel::Kill, &["SIGKILL"])]
    {
        let bench = hanging(false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let ran = runtime.block_on(bench.run_async(
            bench.settings(),
            Launch::default(),
            |_| {},
            |_| bench.source.raise(level),
        ));
        assert_eq!(ran.finished().exit, Exit::Cancelled);
        assert_eq!(&signals(&bench)[..1], expected);
        assert!(bench.engine.containers().is_empty());
    }
}

#[test]
fn a_cancelled_run_starts_nothing() {
    let bench = Bench::new(FakeCommand::default());
    bench.source.raise(CancellationLevel::Stop);
    let ran = bench.run(bench.settings());
    assert_eq!(ran.finished().exit, Exit::Cancelled);
    assert!(bench.engine.bodies("POST /containers/create").is_empty());
}

#[test]
fn a_container_that_is_removed_from_outside_is_an_error() {
    let bench = hanging(false);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let ran = runtime.block_on(bench.run_async(
        bench.settings(),
        Launch::default(),
        |_| {},
        |_| {
            let names = bench.engine.containers();
            bench.engine.remove(&names[0]);
        },
    ));
    let error = ran.container_error();
    assert!(error.message.contains("was removed from outside while its command ran"), "{}", error.message);
    assert!(error.has_run);
    assert_eq!(ran.end.warnings, Vec::<String>::new());
}
