//! The executor against a real Docker daemon, which the tests start and stop themselves. Where none can run, each test
//! is skipped.

mod confinement;
mod ending;
mod errors;
mod output;
mod podman;
mod pulling;
mod running;
mod shared;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

use ccm_docker::{DockerExecutor, RunLabels};
use ccm_host::{
    Cancellation, CancellationSource, ClosedPlan, ContainerError, ContainerNetwork, ContainerRequest,
    ContainerReuse, ContainerSettings, EngineAddress, Executor as _, Exit, Finished, Launch, LocalExecutor,
    Purpose, StartError, SystemClock,
};
use ccm_redaction::Secrets;
use ccm_testkit::{FakeFiles, FakeRunner, IMAGE};

/// Both ways to reuse containers.
const BOTH: [ContainerReuse; 2] = [ContainerReuse::PerCommand, ContainerReuse::PerRun];

/// Settings for an Engine at a socket.
fn settings(socket: &Path) -> ContainerSettings {
    ContainerSettings {
        network: ContainerNetwork::None,
        auto_remove: true,
        ..ContainerSettings::new("box", EngineAddress::Unix(socket.to_owned()), IMAGE)
    }
}

/// A run, and what it reported.
struct Run {
    /// Label that finds its containers.
    owner: String,
    secrets: Secrets,
    /// File with logins at registries.
    logins: Option<PathBuf>,
    source: CancellationSource,
    cancellation: Cancellation,
    reports: Mutex<ClosedPlan>,
}

/// Command of a test.
#[derive(Default)]
struct Task {
    launch: Launch,
    stdin: Option<String>,
}

impl Task {
    /// A task with a time limit in seconds.
    fn limited(seconds: u64) -> Self {
        let timeout = Some(std::time::Duration::from_secs(seconds));
        Self { launch: Launch { timeout, ..Launch::default() }, ..Self::default() }
    }
}

/// Executor of a [`Run`].
struct Session<'a> {
    run: &'a Run,
    executor: &'a DockerExecutor<'a>,
}

impl Run {
    fn new() -> Self {
        let (source, cancellation) = CancellationSource::new();
        let owner = format!("{:032x}", ccm_host::random());
        Self { owner, secrets: Secrets::new(), logins: None, source, cancellation, reports: Mutex::default() }
    }

    fn label(&self) -> String {
        format!("ccm.owner={}", self.owner)
    }

    /// Runs commands with one executor, and ends the run.
    fn session<T>(&self, body: impl AsyncFnOnce(Session<'_>) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let (runner, files, clock) = (FakeRunner::default(), FakeFiles::default(), SystemClock::new());
            let local = LocalExecutor::new(&runner, &runner, &files);
            let id = format!("{:032x}", ccm_host::random());
            let labels = RunLabels::new(id, "/etc/site.yaml", || Ok(self.owner.clone()));
            let executor =
                DockerExecutor::new(Rc::new(local), &clock, &self.secrets, &self.cancellation, labels);
            let executor = executor.with_logins(|| self.logins.clone());
            let value = body(Session { run: self, executor: &executor }).await;
            self.report(executor.close().await);
            value
        })
    }

    /// Runs one command.
    fn one(&self, settings: &ContainerSettings, words: &[&str], task: Task) -> Result<Finished, StartError> {
        self.session(async |session| session.start(settings, words, task, |_| {}).await)
    }

    fn report(&self, closed: ClosedPlan) {
        let mut reports = self.reports.lock().expect("reports");
        reports.warnings.extend(closed.warnings);
        reports.notes.extend(closed.notes);
    }

    fn warnings(&self) -> Vec<String> {
        self.reports.lock().expect("reports").warnings.clone()
    }

    fn notes(&self) -> Vec<String> {
        self.reports.lock().expect("reports").notes.clone()
    }
}

impl Session<'_> {
    async fn start(
        &self,
        settings: &ContainerSettings,
        words: &[&str],
        task: Task,
        on_line: impl Fn(&str),
    ) -> Result<Finished, StartError> {
        let container =
            ContainerRequest { settings: Arc::new(settings.clone()), resource: "exec#work".to_owned() };
        let launch = Launch { container: Some(container), ..task.launch };
        let plan = self.executor.resolve(&launch, Purpose::Run).await?;
        let args: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        let mut command = plan.command(words[0], &args).expect("a command");
        command.stdin = task.stdin.map(Into::into);
        let result = plan.run(&command, &self.run.cancellation, &mut |_, line| on_line(line)).await;
        self.run.report(plan.close().await);
        result
    }

    /// Runs a shell text, which has to start.
    async fn sh(&self, settings: &ContainerSettings, text: &str) -> Finished {
        let result = self.start(settings, &["sh", "-c", text], Task::default(), |_| {}).await;
        result.unwrap_or_else(|error| panic!("{text}: {error:?}"))
    }
}

/// Returns what a command printed, its line end left out.
fn stdout(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stdout.head).trim_end().to_owned()
}

/// Runs a shell text in a container of its own, and returns what it printed.
fn printed(settings: &ContainerSettings, text: &str) -> String {
    let finished = Run::new().one(settings, &["sh", "-c", text], Task::default());
    stdout(&finished.unwrap_or_else(|error| panic!("{text}: {error:?}")))
}

fn container_error(result: &Result<Finished, StartError>) -> &ContainerError {
    match result {
        Err(StartError::Container(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn is_timeout(exit: &Exit) -> bool {
    matches!(exit, Exit::TimedOut { .. })
}
