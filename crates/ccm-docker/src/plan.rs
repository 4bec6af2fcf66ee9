//! Plans: the commands of one resource, in containers.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_host::{
    Cancellation, CancellationLevel, CapturedOutput, ClosedPlan, Command, CommandOrigin, ContainerError,
    ContainerOutcome, ContainerRequest, ContainerSettings, Enforced, Exit, Finished, Launch, LaunchPlan,
    Local, Purpose, Runner, StartError, after, log_command_end, log_command_start,
};
use ccm_model::{Stream, display_duration};

use crate::answers::ImageConfig;
use crate::engine_use::EngineUse;
use crate::error::EngineError;
use crate::executor::DockerExecutor;
use crate::specification::{is_shared, search_path, user};
use crate::streams::ContainerOutput;
use crate::{shared, single, sweep};

/// Plan of the commands of one resource.
pub(crate) struct ContainerPlan<'a> {
    pub executor: &'a DockerExecutor<'a>,
    pub used: Rc<EngineUse>,
    pub settings: &'a ContainerSettings,
    pub request: &'a ContainerRequest,
    launch: &'a Launch,
    purpose: Purpose,
    cwd: PathBuf,
    /// User of the commands, as the Engine takes it.
    pub user: Option<String>,
    environment: Vec<(String, String)>,
    pub search_path: String,
    report: RefCell<ClosedPlan>,
}

impl<'a> ContainerPlan<'a> {
    pub(crate) async fn resolve(
        executor: &'a DockerExecutor<'a>,
        launch: &'a Launch,
        request: &'a ContainerRequest,
        purpose: Purpose,
    ) -> Result<Self, StartError> {
        let settings = &*request.settings;
        let used = executor.engine(&settings.engine);
        let environment = unique(&launch.environment);
        let mut report = ClosedPlan::default();
        let image = match purpose {
            Purpose::Noop => ImageConfig::default(),
            Purpose::Preflight => {
                check_secrets(executor, settings, &environment)?;
                // That would start every container with a restart policy, which is a change.
                if used.would_start(executor).await {
                    report.warnings.push(format!(
                        "noop did not look up the image `{}`: the Engine at {} does not run, and a connection would start it",
                        settings.image, settings.engine
                    ));
                    ImageConfig::default()
                } else {
                    let found = used.find_image(settings).await;
                    found.map_err(|error| refused(executor, settings, error, launch))?.unwrap_or_default()
                }
            }
            Purpose::Run => {
                check_secrets(executor, settings, &environment)?;
                let found = async {
                    sweep::once(&used, &executor.labels, &mut report).await;
                    used.image(settings, executor).await
                };
                let found = tokio::select! {
                    biased;
                    found = found => found,
                    // The plan of a run that ends starts nothing.
                    () = executor.cancellation.reached(CancellationLevel::Stop) => Ok((ImageConfig::default(), None)),
                    within = after(launch.timeout) => return Err(slow_pull(settings, &display_duration(within))),
                };
                let (image, note) = found.map_err(|error| refused(executor, settings, error, launch))?;
                report.notes.extend(note);
                image
            }
        };
        let directory = image.working_dir.as_deref().filter(|directory| !directory.is_empty());
        let cwd = launch.cwd.clone().unwrap_or_else(|| directory.unwrap_or("/").into());
        Ok(Self {
            executor,
            used,
            settings,
            request,
            launch,
            purpose,
            cwd,
            user: user(launch.user.as_deref(), launch.group.as_deref(), settings, &image),
            search_path: search_path(&environment, &image),
            environment,
            report: RefCell::new(report),
        })
    }

    pub(crate) fn warn(&self, warning: &str) {
        let warning = self.executor.secrets.redact(warning).into_owned();
        self.report.borrow_mut().warnings.push(warning);
    }

    pub(crate) fn note(&self, note: String) {
        self.report.borrow_mut().notes.push(note);
    }

    /// Returns the labels of a container.
    pub(crate) fn labels(&self) -> Vec<(&'static str, String)> {
        let resource = self.executor.secrets.redact(&self.request.resource).into_owned();
        self.executor.labels.of(self.settings, resource)
    }

    /// Builds the error of a command that the Engine did not start.
    pub(crate) fn not_started(&self, error: EngineError) -> StartError {
        refused(self.executor, self.settings, error, self.launch)
    }

    /// Builds the error of a command whose end is not known.
    pub(crate) fn lost(&self, error: EngineError) -> StartError {
        redacted(self.executor, error.while_running(self.settings))
    }

    /// Builds the result of a command that was started.
    pub(crate) fn finished(&self, name: &str, exit: Exit, collected: ContainerOutput) -> Finished {
        let ContainerOutput { stdout, stderr, unredacted } = collected;
        let container = ContainerOutcome {
            name: name.to_owned(),
            image: self.settings.image.clone(),
            network: self.settings.network != ccm_host::ContainerNetwork::None,
            explanation: None,
        };
        Finished { stdout, stderr, unredacted, container: Some(Box::new(container)), ..ended(exit) }
    }
}

/// Builds the error of a container that is gone while its command ran.
pub(crate) fn removed_from_outside(name: &str) -> StartError {
    StartError::Container(Box::new(ContainerError {
        message: format!("the container {name} was removed from outside while its command ran"),
        source: None,
        hints: vec!["find out who removes containers of this Engine".to_owned()],
        property: Some("executor"),
        missing: None,
        has_run: true,
    }))
}

/// Returns the result of a command without output.
pub(crate) fn ended(exit: Exit) -> Finished {
    Finished {
        exit,
        stdout: CapturedOutput::default(),
        stderr: CapturedOutput::default(),
        unredacted: None,
        duration: std::time::Duration::ZERO,
        left_running: Vec::new(),
        unkillable: Vec::new(),
        enforced: None,
        reached: Vec::new(),
        container: None,
    }
}

/// Returns the variables, the last of each name.
fn unique(environment: &[(String, String)]) -> Vec<(String, String)> {
    let mut unique: Vec<(String, String)> = Vec::with_capacity(environment.len());
    for (name, value) in environment {
        match unique.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => known.clone_from(value),
            None => unique.push((name.clone(), value.clone())),
        }
    }
    unique
}

/// Refuses a secret in the environment of a container that is kept, where everyone who can use the Engine could read
/// it. A secret that is known before the run is an error of the manifest.
fn check_secrets(
    executor: &DockerExecutor<'_>,
    settings: &ContainerSettings,
    environment: &[(String, String)],
) -> Result<(), StartError> {
    let redactor = executor.secrets.redactor();
    if settings.auto_remove || !environment.iter().any(|(_, value)| redactor.finds(value.as_bytes())) {
        return Ok(());
    }
    let name = &settings.executor;
    Err(StartError::Container(Box::new(ContainerError {
        message: format!(
            "a sensitive value in the environment would stay readable in the container, which the executor `{name}` keeps"
        ),
        source: None,
        hints: vec!["set `auto_remove: true` in the executor, or pass the value with `stdin`".to_owned()],
        property: Some("environment"),
        missing: None,
        has_run: false,
    })))
}

fn slow_pull(settings: &ContainerSettings, within: &str) -> StartError {
    StartError::Container(Box::new(ContainerError {
        message: format!("the image `{}` could not be pulled within {within}", settings.image),
        source: None,
        hints: vec!["raise `timeout`, or pull the image before the run".to_owned()],
        property: Some("executor"),
        missing: None,
        has_run: false,
    }))
}

fn refused(
    executor: &DockerExecutor<'_>,
    settings: &ContainerSettings,
    error: EngineError,
    launch: &Launch,
) -> StartError {
    let is_about = |what: &str| error.message().contains(what);
    let property = match () {
        () if is_about("unable to find user") && launch.user.is_some() => Some("user"),
        () if is_about("unable to find group") && launch.group.is_some() => Some("group"),
        () => None,
    };
    let mut error = redacted(executor, error.before_start(settings));
    if let (StartError::Container(error), Some(property)) = (&mut error, property) {
        error.property = Some(property);
    }
    error
}

/// Hides secrets that an Engine quotes.
fn redacted(executor: &DockerExecutor<'_>, mut error: StartError) -> StartError {
    if let StartError::Container(error) = &mut error {
        error.message = executor.secrets.redact(&error.message).into_owned();
    }
    error
}

impl LaunchPlan for ContainerPlan<'_> {
    fn cwd(&self) -> &Path {
        &self.cwd
    }

    fn program_base(&self) -> &Path {
        &self.cwd
    }

    fn command(&self, program: &str, args: &[String]) -> Result<Command, StartError> {
        Ok(Command {
            args: args.iter().map(OsString::from).collect(),
            // An empty one is that of the image.
            cwd: self.launch.cwd.clone().unwrap_or_default(),
            environment: self.environment.clone(),
            timeout: self.launch.timeout,
            image: Some(self.settings.image.clone()),
            sensitive: self.launch.sensitive,
            origin: if self.launch.is_interpreted { CommandOrigin::Shell } else { CommandOrigin::Argv },
            ..Command::new(program)
        })
    }

    fn close<'p>(self: Box<Self>) -> Local<'p, ClosedPlan>
    where
        Self: 'p,
    {
        Box::pin(std::future::ready(self.report.into_inner()))
    }
}

impl Runner for ContainerPlan<'_> {
    fn preflight(&self, _: &Command) -> Result<Option<Enforced>, StartError> {
        Ok(None)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            if self.purpose != Purpose::Run {
                return Err(StartError::NotInNoop);
            }
            if cancellation.level() > CancellationLevel::Go {
                return Ok(ended(Exit::Cancelled));
            }
            log_command_start(command, self.executor.secrets);
            let result = if is_shared(self.settings) {
                shared::run(self, command, cancellation, on_line).await
            } else {
                single::run(self, command, cancellation, on_line).await
            };
            log_command_end(command, &result);
            result
        })
    }
}
