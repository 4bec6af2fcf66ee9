//! Containers, as a manifest asks for them, and the errors of what runs them.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use ccm_model::MissingPrerequisite;

/// Container of the commands of a [`Launch`](super::Launch).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerRequest {
    /// Settings, which resources share.
    pub settings: Arc<ContainerSettings>,
    /// Resource that the commands belong to, as `exec#build`.
    pub resource: String,
}

/// Settings of a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerSettings {
    /// Name of the executor in the manifest.
    pub executor: String,
    /// Address of the Engine that runs the container.
    pub engine: EngineAddress,
    /// Image, as the manifest names it.
    pub image: String,
    /// Commands that share a container.
    pub reuse: ContainerReuse,
    /// Moment at which the Engine fetches the image from its registry.
    pub pull: PullPolicy,
    /// Platform of the image, such as `linux/arm64`; the default is that of the Engine.
    pub platform: Option<String>,
    /// Labels besides those of ccm.
    pub labels: Vec<(String, String)>,
    /// Network of the container.
    pub network: ContainerNetwork,
    /// Directories and files of the host that are visible inside.
    pub volumes: Vec<Volume>,
    /// File systems in memory: the path inside, and the mount options.
    pub tmpfs: Vec<(String, String)>,
    /// User of commands that name none, as `user` or `user:group` of the image; the default is that of the image.
    pub user: Option<String>,
    /// Maximum number of bytes of memory.
    pub memory: Option<u64>,
    /// Maximum processor time in microseconds of each tenth of a second.
    pub cpu_quota: Option<u64>,
    /// Maximum number of processes and threads.
    pub pids: Option<u64>,
    /// Removes the container after its end. Otherwise it is kept, and named in the report.
    pub auto_remove: bool,
    /// Forbids writing to the file system of the image.
    pub read_only_root: bool,
    /// Keeps programs from gaining privileges, as with set-user-ID.
    pub no_new_privileges: bool,
    /// Capabilities that the container loses.
    pub cap_drop: Vec<String>,
    /// Capabilities that the container gains.
    pub cap_add: Vec<String>,
}

impl ContainerSettings {
    /// Creates the settings of an executor that sets nothing but its image.
    pub fn new(executor: impl Into<String>, engine: EngineAddress, image: impl Into<String>) -> Self {
        Self {
            executor: executor.into(),
            engine,
            image: image.into(),
            reuse: ContainerReuse::default(),
            pull: PullPolicy::default(),
            platform: None,
            labels: Vec::new(),
            network: ContainerNetwork::default(),
            volumes: Vec::new(),
            tmpfs: Vec::new(),
            user: None,
            memory: None,
            cpu_quota: None,
            pids: None,
            auto_remove: false,
            read_only_root: false,
            no_new_privileges: false,
            cap_drop: Vec::new(),
            cap_add: Vec::new(),
        }
    }
}

/// Address of an Engine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum EngineAddress {
    /// Unix socket at this path.
    Unix(PathBuf),
    /// Host and port, without encryption.
    Tcp(String),
}

/// The address as a manifest writes it.
impl fmt::Display for EngineAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(formatter, "unix://{}", path.display()),
            Self::Tcp(address) => write!(formatter, "tcp://{address}"),
        }
    }
}

/// Commands that share a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContainerReuse {
    /// None: each command and each guard has a container of its own.
    #[default]
    PerCommand,
    /// All commands of a run with the same settings.
    PerRun,
}

/// Moment at which an Engine fetches an image from its registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PullPolicy {
    /// Never.
    #[default]
    Never,
    /// Only if the Engine does not have the image.
    Missing,
    /// Once in each run.
    Always,
}

/// Network of a container.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContainerNetwork {
    /// A network of the Engine's own, behind a bridge.
    #[default]
    Bridge,
    /// The network of the host.
    Host,
    /// None.
    None,
}

impl ContainerNetwork {
    /// Returns the name that manifests and Engines use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bridge => "bridge",
            Self::Host => "host",
            Self::None => "none",
        }
    }
}

/// Directory or file of the host that is visible in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Volume {
    /// Path on the host of the Engine.
    pub source: String,
    /// Path in the container.
    pub target: String,
    /// Forbids writing to it.
    pub read_only: bool,
}

/// Container that a command ran in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainerOutcome {
    /// Name of the container.
    pub name: String,
    /// Image, as the manifest names it.
    pub image: String,
    /// `true` if the container had a network.
    pub network: bool,
    /// Fact about the end that its exit code does not show, such as a signal from outside.
    pub explanation: Option<String>,
}

/// Error of a container, or of the Engine that runs it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct ContainerError {
    /// Error in words.
    pub message: String,
    /// Cause.
    #[source]
    pub source: Option<Box<dyn Error + Send + Sync>>,
    /// Advice.
    pub hints: Vec<String>,
    /// Property of the resource that the error concerns.
    pub property: Option<&'static str>,
    /// Prerequisite that an earlier resource could have provided.
    pub missing: Option<MissingPrerequisite>,
    /// `true` if the command may have run.
    pub has_run: bool,
}
