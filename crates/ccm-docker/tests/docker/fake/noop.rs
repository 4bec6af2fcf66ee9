//! What noop asks an Engine.

use std::rc::Rc;
use std::sync::Arc;

use ccm_docker::{DockerExecutor, RunLabels};
use ccm_host::{ContainerRequest, Executor as _, Exit, Launch, LocalExecutor, Purpose, SystemClock};
use ccm_testkit::{FakeCommand, FakeFiles, FakeRunner};

use crate::fake::Bench;

#[test]
fn noop_does_not_start_an_engine_that_waits_for_a_connection() {
    for (state, warnings, requests) in [("listening", 1, 0), ("running", 0, 2)] {
        let bench = Bench::new(FakeCommand::default());
        let (runner, files, clock) = (FakeRunner::default(), FakeFiles::default(), SystemClock::new());
        let mut shown = FakeRunner::finished(Exit::Code(0));
        let socket = bench.engine.socket();
        shown.stdout.head = format!("Listen={} (Stream)\nSubState={state}\n", socket.display()).into_bytes();
        runner.answer_with("systemctl show --no-pager --property=Listen,SubState -- *.socket", shown);
        let local = LocalExecutor::new(&runner, &runner, &files);
        let labels = RunLabels::new("01a200cb-7d00", "/etc/site.yaml", || Ok("0ddba11".to_owned()));
        let executor =
            DockerExecutor::new(Rc::new(local), &clock, &bench.secrets, &bench.cancellation, labels);
        let settings = Arc::new(bench.settings());
        let launch = Launch {
            container: Some(ContainerRequest { settings, resource: "exec#work".to_owned() }),
            ..Launch::default()
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        for round in 0..2 {
            let reported = runtime.block_on(async {
                let plan = executor.resolve(&launch, Purpose::Preflight).await.expect("a plan");
                plan.close().await.warnings
            });
            assert_eq!(reported.len(), warnings, "{state}: {reported:?}");
            assert!(
                reported.iter().all(|warning| warning.contains("noop did not look up the image `debian:12`"))
            );
            // The version is asked for once.
            let asked = bench.engine.requests().len();
            assert_eq!(asked, if requests == 0 { 0 } else { requests + round }, "{state}");
        }
        assert_eq!(runner.ran().len(), 1, "systemd is asked once");
    }
}
