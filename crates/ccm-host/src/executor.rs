//! Starting commands in a place: on this machine, or elsewhere under the same contract.
//!
//! A [`Launch`] is the request of a manifest, in names. An [`Executor`] resolves it into a [`LaunchPlan`],
//! which runs the commands of one resource there. An executor for another place wraps the
//! [`LocalExecutor`], and passes on every launch that is not for its place. A [`RunnerMiddleware`] around the
//! outermost executor therefore sees every command.

mod container;
mod following;
mod local;
mod middleware;
mod version;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_model::Stream;

use crate::Local;
use crate::command::{Cancellation, Command, Finished, LastLine, Runner, SandboxLimits, StartError};

pub use container::{
    ContainerError, ContainerNetwork, ContainerOutcome, ContainerRequest, ContainerReuse, ContainerSettings,
    EngineAddress, PullPolicy, Volume,
};
pub use following::FollowingExecutor;
pub use local::{Commands, LocalExecutor, LocalSystem};
pub use middleware::RunnerMiddleware;
pub use version::VersionCommands;

/// Place that commands are started in, and the only way to start one in a run.
pub trait Executor {
    /// Resolves the request of a manifest, and makes the directories that its commands need. A plan that is
    /// dropped instead of [closed](LaunchPlan::close) removes them as far as possible without waiting.
    fn resolve<'a>(
        &'a self,
        launch: &'a Launch,
        purpose: Purpose,
    ) -> Local<'a, Result<Box<dyn LaunchPlan + 'a>, StartError>>;

    /// Returns where the last line of what runs is shown; `None` if it is not.
    fn last_line(&self) -> Option<&LastLine> {
        None
    }

    /// Runs a tool such as `apt-get`, whose command is complete. The default launch runs on this machine.
    fn run_tool<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            let launch = Launch::default();
            let plan = self.resolve(&launch, Purpose::Run).await?;
            let finished = plan.run(command, cancellation, on_line).await;
            // A default launch has nothing to report.
            let _closed = plan.close().await;
            finished
        })
    }
}

/// Runs one command of a launch, and closes its plan whatever the end.
pub async fn run_launched(
    executor: &dyn Executor,
    launch: &Launch,
    command: impl FnOnce(&dyn LaunchPlan) -> Result<Command, StartError>,
    cancellation: &Cancellation,
    on_line: &mut dyn FnMut(Stream, &str),
) -> (Result<Finished, StartError>, ClosedPlan) {
    let plan = match executor.resolve(launch, Purpose::Run).await {
        Ok(plan) => plan,
        Err(error) => return (Err(error), ClosedPlan::default()),
    };
    let finished = match command(&*plan) {
        Ok(command) => plan.run(&command, cancellation, on_line).await,
        Err(error) => Err(error),
    };
    (finished, plan.close().await)
}

/// Resolved launch: starts the commands of one resource in turn, and owns their temporary directories.
pub trait LaunchPlan: Runner {
    /// Returns the working directory of its commands.
    fn cwd(&self) -> &Path;

    /// Returns the directory that the relative path of a program starts from.
    fn program_base(&self) -> &Path;

    /// Looks a program up, and returns the complete command.
    fn command(&self, program: &str, args: &[String]) -> Result<Command, StartError>;

    /// Removes what the commands needed, such as temporary directories, and returns what is to be reported.
    fn close<'p>(self: Box<Self>) -> Local<'p, ClosedPlan>
    where
        Self: 'p;
}

/// Report of a [`LaunchPlan`] that was closed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosedPlan {
    /// Warnings, such as a directory that could not be removed.
    pub warnings: Vec<String>,
    /// Notes on side effects, such as a container that is kept.
    pub notes: Vec<String>,
}

/// Purpose of a [`LaunchPlan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Commands are run.
    Run,
    /// Commands are run in noop. A place that commands would change only by being started there runs none.
    Noop,
    /// Commands are only [checked](Runner::preflight), as in noop. No directory is made.
    Preflight,
}

/// Request of a manifest for the commands of one resource. Its user, group and program are names that the
/// executor resolves. By default a command runs on this machine as the user who runs ccm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// User, by name or in digits; the default is the one who runs ccm.
    pub user: Option<String>,
    /// Primary group, by name or in digits; the default is that of the user.
    pub group: Option<String>,
    /// Permissions that new files do not get; the default is the umask of ccm.
    pub umask: Option<u32>,
    /// Working directory; the default is the `workdir` of the sandbox, or else the root directory.
    pub cwd: Option<PathBuf>,
    /// Variables that the environment begins with.
    pub base: BaseEnvironment,
    /// Variables laid over the base environment; the last of one name counts. Programs are found by PATH.
    pub environment: Vec<(String, String)>,
    /// Time limit of each command; `None` is no limit.
    pub timeout: Option<Duration>,
    /// Confinement of the commands; by default only the permissions of their user limit them.
    pub sandbox: Option<SandboxRequest>,
    /// Keeps arguments out of debug messages.
    pub sensitive: bool,
    /// The program is the interpreter of the requested script, so that a sandbox may start it from any
    /// directory.
    pub is_interpreted: bool,
    /// Directory of the manifest, where relative paths of the sandbox and of its programs start.
    pub manifest_directory: PathBuf,
    /// Container of the commands; by default they run on this machine. User, group, working directory and
    /// programs are those of the container.
    pub container: Option<ContainerRequest>,
}

/// Variables that the environment of a command begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BaseEnvironment {
    /// `PATH`, the variables of the user, and the language.
    #[default]
    Standard,
    /// None.
    Empty,
    /// `PATH` alone.
    Minimal,
    /// All variables that ccm was started with.
    Inherited,
}

/// Sandbox of a [`Launch`]. Relative paths start in the directory of the manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxRequest {
    /// Directory to work in, which may be read and written.
    pub workdir: Workdir,
    /// Paths that may be read and executed besides.
    pub read: Vec<PathBuf>,
    /// Paths that may be read, executed and written besides.
    pub write: Vec<PathBuf>,
    /// Relative paths within the directories that may be written. They may only be read, and each is at least a
    /// directory deep; where that directory does not exist, neither has to the path.
    pub fixed: Vec<PathBuf>,
    /// Allows the network.
    pub network: bool,
    /// Allows Unix sockets.
    pub unix_sockets: bool,
    /// Limits of what the commands use.
    pub limits: SandboxLimits,
    /// Runs commands also if not all of this can be enforced.
    pub advisory: bool,
}

/// Directory that a sandboxed command works in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Workdir {
    /// A fresh directory that is removed afterwards.
    #[default]
    Private,
    /// The directory of the manifest.
    Manifest,
    /// The directory at this path.
    At(PathBuf),
}
