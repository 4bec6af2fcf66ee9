//! Settings of executors, which a manifest has once below `ccm`.

pub(super) mod container;
mod values;

use std::path::PathBuf;
use std::sync::Arc;

use ccm_host::{BaseEnvironment, ContainerRequest, ContainerSettings, Launch};
use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeMap, Severity, closest, escape_control};
use ccm_properties::{
    NamedValues, PropertyKind, PropertySpec, Text, TextValue, ValueError, decode_map, properties,
};

use super::values::{AbsolutePath, Environment};
use values::{
    Capability, ContainerUser, CpuQuota, EngineHost, Image, Labels, MemoryLimit, Network, PidsLimit,
    Platform, Pull, Reuse, Tmpfs, VolumeText,
};

pub(crate) const SETTINGS: &[PropertySpec] = &[PropertySpec::new::<NamedValues<ExecutorProperties>>(
    "executors",
    &["Ways to start commands, by name: an exec names one with `executor`."],
)];

properties! {
    /// Properties of an executor.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct ExecutorProperties {
        /// Kind of the executor: `native` starts commands directly on this host, `docker` in containers.
        /// `exec.native` and `exec.docker` are the same.
        kind: ExecutorKind { required: true },
        /// Working directory of commands that have neither `cwd` nor `sandbox`; for `docker`, inside.
        default_work_dir: AbsolutePath { default: Some("`/`, or that of the image") },
        /// Environment of every command, to which `environment` and `path` add. No other variables are set but, for
        /// `docker`, those of the image.
        default_env: Environment,
        /// Allowed commands, guards included, each exactly as it is written.
        command_whitelist: Vec<Text>,
        /// docker: image of the container, which is required.
        image: Image,
        /// docker: address of the Engine: `unix://` and the path of a socket, or `tcp://HOST:PORT`, which is not
        /// encrypted.
        host: EngineHost { default: Some("`unix:///var/run/docker.sock`") },
        /// docker: `per_command` starts a container for each command, `per_run` one for all commands of a run with
        /// the same settings.
        container: Reuse { default: Some("`per_command`") },
        /// docker: moment at which the Engine fetches the image: `never`, when it is `missing`, or `always`, once a
        /// run.
        pull: Pull { default: Some("`never`") },
        /// docker: platform of the image, such as `linux/arm64`.
        platform: Platform { default: Some("that of the Engine") },
        /// docker: labels of the container. Names that begin with `ccm.` are refused.
        labels: Labels,
        /// docker: network of the container: `bridge`, `host` or `none`.
        network_mode: Network { default: Some("`bridge`") },
        /// docker: directories and files of the host of the Engine that are visible inside, each as `HOST:INSIDE` or
        /// `HOST:INSIDE:ro`.
        volumes: Vec<VolumeText> { default: Some("none") },
        /// docker: file systems in memory, as a map of paths to mount options.
        tmpfs: Tmpfs { default: Some("none") },
        /// docker: user of commands without `user`, by name or number inside, with or without `:GROUP`.
        user: ContainerUser { default: Some("that of the image") },
        /// docker: largest amount of memory in bytes; `0` means no limit.
        memory_limit: MemoryLimit { default: Some("`0`") },
        /// docker: processor time in microseconds of each tenth of a second, so that `100000` is one processor; `0`
        /// means no limit.
        cpu_quota: CpuQuota { default: Some("`0`") },
        /// docker: largest number of processes and threads; `0` means no limit.
        pids_limit: PidsLimit { default: Some("`0`") },
        /// docker: remove the container after its end. Otherwise it is kept, and the report names it.
        auto_remove: bool { default: Some("`false`") },
        /// docker: forbid writing outside of `volumes` and `tmpfs`.
        read_only_rootfs: bool { default: Some("`false`") },
        /// docker: keep programs from gaining privileges, as with set-user-ID.
        no_new_privileges: bool { default: Some("`false`") },
        /// docker: capabilities that the container loses, such as `ALL`.
        cap_drop: Vec<Capability> { default: Some("none") },
        /// docker: capabilities that the container gains, such as `NET_ADMIN`.
        cap_add: Vec<Capability> { default: Some("none") },
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExecutorKind {
    Native,
    Docker,
}

impl TextValue for ExecutorKind {
    const KIND: PropertyKind = PropertyKind::Words(&["native", "docker", "exec.native", "exec.docker"]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "native" | "exec.native" => Ok(Self::Native),
            "docker" | "exec.docker" => Ok(Self::Docker),
            other => {
                let message = format!("there is no kind `{}`", escape_control(other));
                Err(ValueError::new(message).with_hint(if other == "podman" {
                    "use `docker`, and name the socket of Podman with `host`"
                } else {
                    "use `native` or `docker`"
                }))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecutorSettings {
    pub name: String,
    place: Place,
    pub work_dir: Option<PathBuf>,
    environment: Vec<(String, String)>,
    whitelist: Option<Vec<String>>,
}

/// Place of the commands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Place {
    Host,
    Container(Arc<ContainerSettings>),
}

/// Reason why an executor can't be used.
pub(crate) enum SettingsError {
    /// The manifest has no executor of this name; with advice.
    Unknown(String),
    /// The executor is invalid, which the check of all executors reports.
    Invalid,
}

impl ExecutorSettings {
    /// Finds an executor by name among the settings of the manifest.
    pub(crate) fn find(settings: &NodeMap, name: &str) -> Result<Self, SettingsError> {
        let empty = NodeMap::default();
        let executors = settings.get(SETTINGS[0].name).and_then(Node::as_map).unwrap_or(&empty);
        let Some(node) = executors.get(name) else {
            let names = || executors.entries().iter().map(|entry| &*entry.key.text);
            let hint = match (closest(name, names()), executors.is_empty()) {
                (Some(near), _) => format!("did you mean `{near}`?"),
                (None, true) => "declare the executor in `executors` below `ccm` of this manifest: a child does not inherit executors".to_owned(),
                (None, false) => format!("use one of: {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(SettingsError::Unknown(hint));
        };
        let (kind, mut written) = read(node).map_err(|_| SettingsError::Invalid)?;
        let work_dir = written.default_work_dir.take().map(|path| path.0);
        let environment = written.default_env.take().unwrap_or_default().0;
        let whitelist = written.command_whitelist.take();
        let place = match kind {
            ExecutorKind::Native => Place::Host,
            ExecutorKind::Docker => {
                container::settings(name, written).map(Place::Container).ok_or(SettingsError::Invalid)?
            }
        };
        let whitelist = whitelist.map(|list| list.into_iter().map(|text| text.0).collect());
        Ok(Self { name: name.to_owned(), place, work_dir, environment, whitelist })
    }

    /// Returns the settings of the container that commands are started in; `None` for this host.
    pub(crate) fn container(&self) -> Option<&ContainerSettings> {
        match &self.place {
            Place::Host => None,
            Place::Container(settings) => Some(settings),
        }
    }

    /// Applies the launch of an exec on top of these settings. `resource` is the exec.
    pub(crate) fn complete(&self, launch: &mut Launch, resource: String) {
        let own = std::mem::replace(&mut launch.environment, self.environment.clone());
        launch.environment.extend(own);
        launch.base = BaseEnvironment::Empty;
        if launch.sandbox.is_none() {
            launch.cwd = launch.cwd.take().or_else(|| self.work_dir.clone());
        }
        if let Place::Container(settings) = &self.place {
            launch.container = Some(ContainerRequest { settings: Arc::clone(settings), resource });
        }
    }

    /// Returns message and hint if a command is not in the whitelist.
    pub(crate) fn refusal(&self, command: &str) -> Option<(String, String)> {
        let whitelist = self.whitelist.as_ref()?;
        if whitelist.iter().any(|allowed| allowed == command) {
            return None;
        }
        let shown = escape_control(command);
        let message = format!("`{shown}` is not in the whitelist of the executor `{}`", self.name);
        let hint = match closest(command, whitelist.iter().map(String::as_str)) {
            Some(near) => {
                format!("write the command exactly as in the whitelist: `{}`", escape_control(near))
            }
            None => "add the command to `command_whitelist`, exactly as quoted above".to_owned(),
        };
        Some((message, hint))
    }
}

fn read(node: &Node) -> Result<(ExecutorKind, ExecutorProperties), Vec<Diagnostic>> {
    let Some(map) = node.as_map() else {
        let message = format!("expected a map with `kind`, found {}", node.describe());
        return Err(vec![Diagnostic::error(DiagnosticKind::WrongType, node.span, message)]);
    };
    let written = decode_map::<ExecutorProperties>(map)?;
    let missing = |message: &str, hint: &str| {
        vec![Diagnostic::error(DiagnosticKind::Missing, node.span, message).with_hint(hint)]
    };
    let kind = written.kind.ok_or_else(|| missing("the executor has no `kind`", "write `kind: native`"))?;
    let errors = match kind {
        ExecutorKind::Native => container::errors_of_native(map),
        ExecutorKind::Docker if written.image.is_none() => {
            missing("the executor has no `image`", "write for example `image: debian:12`")
        }
        ExecutorKind::Docker => container::findings(map, &written).into_iter().filter(is_error).collect(),
    };
    if errors.is_empty() { Ok((kind, written)) } else { Err(errors) }
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// Returns every error in the executors of a manifest, and warnings about them.
pub(crate) fn check(settings: &NodeMap) -> Vec<Diagnostic> {
    let Some(node) = settings.get(SETTINGS[0].name).filter(|node| !node.is_null()) else { return Vec::new() };
    let Some(executors) = node.as_map() else {
        let message = format!("expected a map of names to executors, found {}", node.describe());
        return vec![Diagnostic::error(DiagnosticKind::WrongType, node.span, message)];
    };
    let findings = |node: &Node| match (read(node), node.as_map()) {
        (Err(errors), _) => errors,
        (Ok((ExecutorKind::Docker, written)), Some(map)) => container::findings(map, &written),
        (Ok(_), _) => Vec::new(),
    };
    executors.entries().iter().flat_map(|entry| findings(&entry.value)).collect()
}
