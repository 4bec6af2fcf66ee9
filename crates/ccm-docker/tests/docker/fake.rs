//! The executor against a fake Engine: its requests, and faults that a real one does not have on demand.

mod ending;
mod errors;
mod noop;
mod running;
mod sweeping;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use ccm_docker::{DockerExecutor, RunLabels};
use ccm_host::{
    Cancellation, CancellationSource, ClosedPlan, Command, ContainerError, ContainerRequest,
    ContainerSettings, EngineAddress, Executor as _, Finished, Launch, LocalExecutor, Purpose, StartError,
    SystemClock,
};
use ccm_model::Stream;
use ccm_redaction::Secrets;
use ccm_testkit::{FakeCommand, FakeEngine, FakeFiles, FakeRunner};

/// A run with one Engine.
struct Bench {
    engine: FakeEngine,
    secrets: Secrets,
    source: CancellationSource,
    cancellation: Cancellation,
}

/// Result of a run with one command.
struct Ran {
    result: Result<Finished, StartError>,
    /// Lines as they came.
    lines: Vec<String>,
    /// Report of the command.
    plan: ClosedPlan,
    /// Report of the end of the run.
    end: ClosedPlan,
}

impl Bench {
    fn new(command: FakeCommand) -> Self {
        let (source, cancellation) = CancellationSource::new();
        Self { engine: FakeEngine::start(command), secrets: Secrets::new(), source, cancellation }
    }

    fn settings(&self) -> ContainerSettings {
        ContainerSettings {
            auto_remove: true,
            ..ContainerSettings::new("box", EngineAddress::Unix(self.engine.socket()), "debian:12")
        }
    }

    /// Runs `prog a b` with these settings.
    fn run(&self, settings: ContainerSettings) -> Ran {
        self.run_with(settings, Launch::default(), |_| {})
    }

    fn run_with(
        &self,
        settings: ContainerSettings,
        launch: Launch,
        change: impl FnOnce(&mut Command),
    ) -> Ran {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(self.run_async(settings, launch, change, |_| {}))
    }

    async fn run_async(
        &self,
        settings: ContainerSettings,
        launch: Launch,
        change: impl FnOnce(&mut Command),
        on_line: impl Fn(&str),
    ) -> Ran {
        let (runner, files, clock) = (FakeRunner::default(), FakeFiles::default(), SystemClock::new());
        let local = LocalExecutor::new(&runner, &runner, &files);
        let labels = RunLabels::new("01a200cb-7d00", "/etc/site.yaml", || Ok("0ddba11".to_owned()));
        let executor = DockerExecutor::new(Rc::new(local), &clock, &self.secrets, &self.cancellation, labels);
        let container = ContainerRequest { settings: Arc::new(settings), resource: "exec#work".to_owned() };
        let launch = Launch { container: Some(container), ..launch };
        let mut lines = Vec::new();
        let (result, plan) = match executor.resolve(&launch, Purpose::Run).await {
            Err(error) => (Err(error), ClosedPlan::default()),
            Ok(plan) => {
                let mut command = plan.command("prog", &["a".to_owned(), "b".to_owned()]).expect("a command");
                change(&mut command);
                let mut take = |stream: Stream, line: &str| {
                    on_line(line);
                    lines.push(format!("{} {line}", stream.name()));
                };
                let result = plan.run(&command, &self.cancellation, &mut take).await;
                (result, plan.close().await)
            }
        };
        let end = executor.close().await;
        assert!(runner.ran().is_empty(), "a command for a container ran here");
        Ran { result, lines, plan, end }
    }

    /// Returns the path of the socket in messages.
    fn host(&self) -> String {
        format!("unix://{}", self.engine.socket().display())
    }
}

impl Ran {
    fn finished(&self) -> &Finished {
        self.result.as_ref().unwrap_or_else(|error| panic!("{error}"))
    }

    fn error(&self) -> &StartError {
        self.result.as_ref().map_or_else(|error| error, |finished| panic!("{finished:?}"))
    }

    fn container_error(&self) -> &ContainerError {
        match self.error() {
            StartError::Container(error) => error,
            other => panic!("{other:?}"),
        }
    }
}

fn path(text: &str) -> PathBuf {
    PathBuf::from(text)
}

/// Returns a launch with a time limit of a second.
fn limited() -> Launch {
    Launch { timeout: Some(Duration::from_secs(1)), ..Launch::default() }
}
