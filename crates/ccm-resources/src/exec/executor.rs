//! Settings of executors, which a manifest has once below `ccm`.

use std::path::PathBuf;

use ccm_host::{BaseEnvironment, Launch};
use ccm_model::{Diagnostic, DiagnosticKind, Node, NodeMap, closest, escape_control};
use ccm_properties::{
    NamedValues, PropertyKind, PropertySpec, Text, TextValue, ValueError, decode_map, properties,
};

use super::values::{AbsolutePath, Environment};

pub(crate) const SETTINGS: &[PropertySpec] = &[PropertySpec::new::<NamedValues<ExecutorProperties>>(
    "executors",
    &["Ways to start commands, by name: an exec names one with `executor`."],
)];

properties! {
    /// Properties of an executor.
    #[derive(Debug, Default)]
    struct ExecutorProperties {
        /// Kind of the executor: `native` starts commands directly on this host. `exec.native` is the same.
        kind: ExecutorKind { required: true },
        /// Working directory of commands that have neither `cwd` nor `sandbox`.
        default_work_dir: AbsolutePath { default: Some("`/`") },
        /// Environment of every command, to which `environment` and `path` add. No other variables are set.
        default_env: Environment,
        /// Allowed commands, guards included, each exactly as it is written.
        command_whitelist: Vec<Text>,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExecutorKind {
    Native,
}

/// Kinds of a later version.
const LATER: [&str; 2] = ["docker", "exec.docker"];

impl TextValue for ExecutorKind {
    const KIND: PropertyKind = PropertyKind::Words(&["native", "exec.native"]);

    fn from_text(text: &str) -> Result<Self, ValueError> {
        match text {
            "native" | "exec.native" => Ok(Self::Native),
            later if LATER.contains(&later) => {
                Err(ValueError::unsupported(format!("`{later}` is not supported in this version")))
            }
            other => {
                let message = format!("there is no kind `{}`", escape_control(other));
                Err(ValueError::new(message).with_hint("use `native`"))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExecutorSettings {
    pub name: String,
    kind: ExecutorKind,
    pub work_dir: Option<PathBuf>,
    environment: Vec<(String, String)>,
    whitelist: Option<Vec<String>>,
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
        let (kind, written) = read(node).map_err(|_| SettingsError::Invalid)?;
        Ok(Self {
            name: name.to_owned(),
            kind,
            work_dir: written.default_work_dir.map(|path| path.0),
            environment: written.default_env.unwrap_or_default().0,
            whitelist: written.command_whitelist.map(|list| list.into_iter().map(|text| text.0).collect()),
        })
    }

    /// Applies the launch of an exec on top of these settings.
    pub(crate) fn complete(&self, launch: &mut Launch) {
        let own = std::mem::replace(&mut launch.environment, self.environment.clone());
        launch.environment.extend(own);
        match self.kind {
            ExecutorKind::Native => {
                launch.base = BaseEnvironment::Empty;
                if launch.sandbox.is_none() {
                    launch.cwd = launch.cwd.take().or_else(|| self.work_dir.clone());
                }
            }
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
    // The properties of another kind are unknown, and each would be an error.
    if let Some(kind) =
        map.get("kind").filter(|kind| kind.as_text().is_some_and(|text| LATER.contains(&text)))
    {
        let text = kind.as_text().unwrap_or_default();
        let message = format!("`{text}` is not supported in this version");
        return Err(vec![Diagnostic::error(DiagnosticKind::Unsupported, kind.span, message)]);
    }
    let written = decode_map::<ExecutorProperties>(map)?;
    let kind = written.kind.ok_or_else(|| {
        let error = Diagnostic::error(DiagnosticKind::Missing, node.span, "the executor has no `kind`");
        vec![error.with_hint("write `kind: native`")]
    })?;
    Ok((kind, written))
}

/// Returns every error in the executors of a manifest.
pub(crate) fn check(settings: &NodeMap) -> Vec<Diagnostic> {
    let Some(node) = settings.get(SETTINGS[0].name).filter(|node| !node.is_null()) else { return Vec::new() };
    let Some(executors) = node.as_map() else {
        let message = format!("expected a map of names to executors, found {}", node.describe());
        return vec![Diagnostic::error(DiagnosticKind::WrongType, node.span, message)];
    };
    executors.entries().iter().flat_map(|entry| read(&entry.value).err().unwrap_or_default()).collect()
}
