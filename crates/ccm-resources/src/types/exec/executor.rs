//! Settings of executors, which a manifest has once below `ccm`.

pub(super) mod container;
mod values;

use std::path::PathBuf;
use std::sync::Arc;

use ccm_host::{BaseEnvironment, ContainerRequest, ContainerSettings, Launch};
use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeMap, Severity, Span, closest, escape_control};
use ccm_properties::{
    NamedValues, PropertyKind, PropertySpec, PropertyValue, Text, TextValue, ValueError, decode_map,
    properties,
};

use super::values::Environment;
use crate::support::values::absolute_path::AbsolutePath;
use values::{
    Capability, ContainerUser, CpuQuota, EngineHost, Image, Labels, MemoryLimit, Network, PidsLimit,
    PlatformName, Pull, Reuse, Tmpfs, VolumeText,
};

pub(crate) const SETTINGS: &[PropertySpec] = &[PropertySpec::new::<NamedValues<ExecutorProperties>>(
    "executors",
    &["Ways to start commands, by name: an exec names one with `executor`."],
)];

/// Words for `default_work_dir`, `default_env` and `command_whitelist`.
const WORK_DIRS: &[&str] = &["work_dir", "workdir", "working_dir", "cwd"];
const ENVIRONMENTS: &[&str] = &["env", "environment"];
const WHITELISTS: &[&str] = &["whitelist", "allowed_commands", "commands"];

properties! {
    /// Properties of an executor that starts commands on this host.
    #[derive(Clone, Debug, Default)]
    struct NativeProperties {
        /// Kind of the executor: directly on this host. `exec.native` is the same.
        kind: NativeKind { required: true },
        /// Working directory of commands that have neither `cwd` nor `sandbox`.
        default_work_dir: AbsolutePath { default: Some("`/`"), foreign_names: WORK_DIRS },
        /// Environment of every command, to which `environment` and `path` add. No other variables are set.
        default_env: Environment { foreign_names: ENVIRONMENTS },
        /// Allowed commands, guards included, each exactly as it is written.
        command_whitelist: Vec<Text> { foreign_names: WHITELISTS },
    }
}

properties! {
    /// Properties of an executor that starts commands in containers.
    #[derive(Clone, Debug, Default)]
    struct DockerProperties {
        /// Kind of the executor: in containers. `exec.docker` is the same.
        kind: DockerKind { required: true },
        /// Working directory inside, of commands without `cwd`.
        default_work_dir: AbsolutePath { default: Some("that of the image"), foreign_names: WORK_DIRS },
        /// Variables of every command, over those of the image. `environment` and `path` of the exec come over them.
        default_env: Environment { foreign_names: ENVIRONMENTS },
        /// Allowed commands, guards included, each exactly as it is written.
        command_whitelist: Vec<Text> { foreign_names: WHITELISTS },
        /// Image of the container.
        image: Image { required: true },
        /// Address of the Engine: `unix://` and the path of a socket, or `tcp://HOST:PORT`, which is not
        /// encrypted.
        host: EngineHost { default: Some("`unix:///var/run/docker.sock`") },
        /// `per_command` starts a container for each command, `per_run` one for all commands of a run with
        /// the same settings.
        container: Reuse { default: Some("`per_command`") },
        /// Moment at which the Engine fetches the image: `never`, when it is `missing`, or `always`, once a
        /// run.
        pull: Pull { default: Some("`never`") },
        /// Platform of the image, such as `linux/arm64`.
        platform: PlatformName { default: Some("that of the Engine") },
        /// Labels of the container. Names that begin with `ccm.` are refused.
        labels: Labels,
        /// Network of the container: `bridge`, `host` or `none`.
        network_mode: Network { default: Some("`bridge`") },
        /// Directories and files of the host of the Engine that are visible inside, each as `HOST:INSIDE` or
        /// `HOST:INSIDE:ro`.
        volumes: Vec<VolumeText> { default: Some("none") },
        /// File systems in memory, as a map of paths to mount options.
        tmpfs: Tmpfs { default: Some("none") },
        /// User of commands without `user`, by name or number inside, with or without `:GROUP`.
        user: ContainerUser { default: Some("that of the image") },
        /// Largest amount of memory in bytes; `0` means no limit.
        memory_limit: MemoryLimit { default: Some("`0`") },
        /// Processor time in microseconds of each tenth of a second, so that `100000` is one processor; `0`
        /// means no limit.
        cpu_quota: CpuQuota { default: Some("`0`") },
        /// Largest number of processes and threads; `0` means no limit.
        pids_limit: PidsLimit { default: Some("`0`") },
        /// Remove the container after its end. Otherwise it is kept, and the report names it.
        auto_remove: bool { default: Some("`false`") },
        /// Forbid writing outside of `volumes` and `tmpfs`.
        read_only_rootfs: bool { default: Some("`false`") },
        /// Keep programs from gaining privileges, as with set-user-ID.
        no_new_privileges: bool { default: Some("`false`") },
        /// Capabilities that the container loses, such as `ALL`.
        cap_drop: Vec<Capability> { default: Some("none") },
        /// Capabilities that the container gains, such as `NET_ADMIN`.
        cap_add: Vec<Capability> { default: Some("none") },
    }
}

/// Properties of an executor of either kind.
#[derive(Debug)]
struct ExecutorProperties;

/// The loader checks executors by [`check`], because the properties depend on the kind.
impl PropertyValue for ExecutorProperties {
    const KIND: PropertyKind = PropertyKind::Either(&[NativeProperties::KIND, DockerProperties::KIND]);

    fn decode(_: &Node, _: &mut Vec<Diagnostic>) -> Option<Self> {
        Some(Self)
    }
}

/// Declares a kind of executors with its names.
macro_rules! kind {
    ($kind:ident, $words:expr) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        struct $kind;

        impl $kind {
            const NAMES: [&str; 2] = $words;
        }

        impl TextValue for $kind {
            const KIND: PropertyKind = PropertyKind::Words(&Self::NAMES);

            fn from_text(text: &str) -> Result<Self, ValueError> {
                if Self::NAMES.contains(&text) {
                    Ok(Self)
                } else {
                    Err(ValueError::not_one_of(text, &Self::NAMES))
                }
            }
        }
    };
}

kind!(NativeKind, ["native", "exec.native"]);
kind!(DockerKind, ["docker", "exec.docker"]);

/// Executor as it is written.
#[derive(Debug)]
enum WrittenExecutor {
    Native(Box<NativeProperties>),
    Docker(Box<DockerProperties>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecutorSettings {
    pub name: String,
    place: Place,
    pub work_dir: Option<PathBuf>,
    environment: Vec<(String, String)>,
    whitelist: Option<Vec<String>>,
}

/// Returns the names of the executors among the settings of a manifest.
pub fn names(settings: &NodeMap) -> impl Iterator<Item = &str> {
    let executors = settings.get(SETTINGS[0].name).and_then(Node::as_map);
    executors.into_iter().flat_map(|executors| executors.entries().iter().map(|entry| &*entry.key.text))
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
        let (place, work_dir, environment, whitelist) = match read(node)
            .map_err(|_| SettingsError::Invalid)?
        {
            WrittenExecutor::Native(written) => {
                let NativeProperties { default_work_dir, default_env, command_whitelist, .. } = *written;
                (Place::Host, default_work_dir, default_env, command_whitelist)
            }
            WrittenExecutor::Docker(mut written) => {
                let (work_dir, environment) = (written.default_work_dir.take(), written.default_env.take());
                let whitelist = written.command_whitelist.take();
                let settings = container::settings(name, *written).ok_or(SettingsError::Invalid)?;
                (Place::Container(settings), work_dir, environment, whitelist)
            }
        };
        Ok(Self {
            name: name.to_owned(),
            place,
            work_dir: work_dir.map(|path| path.0),
            environment: environment.unwrap_or_default().0,
            whitelist: whitelist.map(|list| list.into_iter().map(|text| text.0).collect()),
        })
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

fn read(node: &Node) -> Result<WrittenExecutor, Vec<Diagnostic>> {
    let Some(map) = node.as_map() else {
        let message = format!("expected a map with `kind`, found {}", node.describe());
        return Err(vec![Diagnostic::error(DiagnosticKind::WrongType, node.span, message)]);
    };
    let missing = |message: &str, hint: &str| {
        vec![Diagnostic::error(DiagnosticKind::Missing, node.span, message).with_hint(hint)]
    };
    let kind = map.get("kind").filter(|kind| !kind.is_null());
    match kind.map(Node::as_text) {
        Some(Some(name)) if DockerKind::NAMES.contains(&name) => {
            let written = decode_map::<DockerProperties>(map)?;
            if written.image.is_none() {
                return Err(missing("the executor has no `image`", "write for example `image: debian:12`"));
            }
            let errors: Vec<_> = container::findings(map, &written).into_iter().filter(is_error).collect();
            if errors.is_empty() { Ok(WrittenExecutor::Docker(Box::new(written))) } else { Err(errors) }
        }
        Some(Some(name)) if !NativeKind::NAMES.contains(&name) => Err(vec![unknown_kind(name, kind)]),
        Some(_) => {
            let foreign = container::errors_of_native(map);
            if !foreign.is_empty() {
                return Err(foreign);
            }
            decode_map(map).map(|written| WrittenExecutor::Native(Box::new(written)))
        }
        None => {
            // Of both kinds `docker` has more properties, so that only misspelt ones are unknown.
            decode_map::<DockerProperties>(map)?;
            let hint =
                if map.get("image").is_some() { "write `kind: docker`" } else { "write `kind: native`" };
            Err(missing("the executor has no `kind`", hint))
        }
    }
}

fn unknown_kind(name: &str, kind: Option<&Node>) -> Diagnostic {
    let error = ValueError::new(format!("there is no kind `{}`", escape_control(name)));
    let hint = match name {
        "podman" => "use `docker`, and name the socket of Podman with `host`",
        _ => "use `native` or `docker`",
    };
    error.with_hint(hint).at(kind.map_or_else(Span::default, |kind| kind.span))
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
        (Ok(WrittenExecutor::Docker(written)), Some(map)) => container::findings(map, &written),
        (Ok(_), _) => Vec::new(),
    };
    executors.entries().iter().flat_map(|entry| findings(&entry.value)).collect()
}
