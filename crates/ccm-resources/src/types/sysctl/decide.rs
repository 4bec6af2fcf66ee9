//! The pure decision about a kernel parameter.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use ccm_engine::Described;
use ccm_model::{Failure, MissingPrerequisite, Resource};
use ccm_properties::PropertyError;

use super::boot_files::LaterLine;
use super::parameter_file::ParameterFile;
use super::properties::{SysctlProperties, is_same};
use crate::parts::parameter_key::ParameterKey;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// File from which the values are set at boot, unless another one is given.
pub(super) const DEFAULT_FILE: &str = "/etc/sysctl.d/90-ccm.conf";

/// The desired parameter, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredParameter {
    pub name: String,
    pub key: ParameterKey,
    pub is_absent: bool,
    /// Empty if the parameter is to be absent.
    pub value: String,
    pub file: PathBuf,
}

impl DesiredParameter {
    pub(super) fn build(resource: &Resource, written: SysctlProperties) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        let is_absent = resource.is_absent();
        let mut errors = Vec::new();
        let key = ParameterKey::parse(&name);
        if key.is_none() {
            let message = format!("`{}` is not the name of a kernel parameter", name.escape_debug());
            let error = PropertyError::of_name(message);
            errors.push(match name.split_once('=') {
                Some((key, value)) if ParameterKey::parse(key.trim()).is_some() => {
                    let (key, value) = (key.trim(), value.trim().escape_debug());
                    error.with_hint(format!("write `- {key}: {{value: {value}}}`"))
                }
                _ => error.with_hint("write the name as `sysctl -a` does, such as `net.ipv4.ip_forward`"),
            });
        }
        match (&written.value, is_absent) {
            (None, false) => {
                errors.push(PropertyError::missing("value", "write `value`, what the kernel is to use"));
            }
            (Some(_), true) => {
                errors.push(PropertyError::not_with_absent(
                    "value",
                    "remove `value`: the kernel keeps its value until the next boot",
                ));
            }
            _ => {}
        }
        match key {
            Some(key) if errors.is_empty() => Ok(Self {
                name,
                key,
                is_absent,
                value: written.value.map(|value| value.0).unwrap_or_default(),
                file: written.file.map_or_else(|| PathBuf::from(DEFAULT_FILE), |file| file.0),
            }),
            _ => Err(errors),
        }
    }
}

/// State of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParameterState {
    /// Value of the kernel, with one blank between its parts; `None` if the kernel has no such parameter.
    pub running: Option<String>,
    /// Reason why the value can't be changed; only known if it differs.
    pub obstacle: Option<ParameterObstacle>,
    pub file: Rc<ParameterFile>,
    /// Line of another file that has another value, and is read later at boot.
    pub later: Option<LaterLine>,
}

/// Reason why nobody can change a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParameterObstacle {
    /// The kernel only reports the value.
    Reported,
    /// The parameters are mounted without a permission to write, as in most containers.
    ReadOnlyMount(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParameterDifference {
    Running {
        from: String,
        to: String,
    },
    /// The value in the file.
    Saved {
        from: Option<String>,
        to: String,
    },
    /// Number of lines with the parameter in the file.
    Lines(usize),
}

impl ObjectDifference for ParameterDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Running { .. } => "value",
            Self::Saved { .. } => "value at boot",
            Self::Lines(_) => "lines",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        match self {
            Self::Running { from, to } => (Some(from.clone()), Some(to.clone())),
            Self::Saved { from, to } => {
                (Some(from.clone().unwrap_or_else(|| "none".to_owned())), Some(to.clone()))
            }
            Self::Lines(count) => (Some(count.to_string()), Some("1".to_owned())),
        }
    }
}

impl ObjectType for DesiredParameter {
    type State = ParameterState;
    type Difference = ParameterDifference;
    type Effect = ();

    fn plan(&self, state: &ParameterState) -> ObjectPlan<ParameterDifference> {
        let saved = state.file.get(&self.key);
        if self.is_absent {
            return if saved.is_some() { ObjectPlan::Remove } else { ObjectPlan::Keep { exists: false } };
        }
        let Some(running) = &state.running else { return ObjectPlan::Fail(unknown(self)) };
        let mut differences = Vec::new();
        if !is_same(running, &self.value) {
            if let Some(obstacle) = &state.obstacle {
                return ObjectPlan::Fail(unchangeable(self, obstacle));
            }
            differences.push(ParameterDifference::Running { from: running.clone(), to: self.value.clone() });
        }
        match saved {
            Some(saved) if is_same(&saved.value, &self.value) && saved.lines == 1 => {}
            Some(saved) if is_same(&saved.value, &self.value) => {
                differences.push(ParameterDifference::Lines(saved.lines));
            }
            saved => differences.push(ParameterDifference::Saved {
                from: saved.map(|saved| saved.value.clone()),
                to: self.value.clone(),
            }),
        }
        ObjectPlan::of_existing(differences)
    }

    fn warnings(&self, state: &ParameterState) -> Vec<String> {
        let warning = state.later.as_ref().map(|later| later.warning(&self.file));
        warning.into_iter().collect()
    }

    fn shown(&self) -> String {
        format!("kernel parameter `{}`", self.name)
    }

    fn explain(&self, _: &ParameterState, failure: Failure) -> Failure {
        failure.with_hint("write the value as the kernel reports it: it may round or limit a number")
    }

    fn describe(&self, state: &ParameterState) -> Described {
        let saved = state.file.get(&self.key);
        let ensure = if saved.is_some() { "present" } else { "absent" };
        Described::new(ensure)
            .with("value", state.running.clone())
            .with("value_at_boot", saved.map(|saved| saved.value.clone()))
    }
}

fn unknown(parameter: &DesiredParameter) -> Failure {
    let message = format!("the kernel has no parameter `{}`", parameter.name);
    let path = parameter.key.path();
    let hint = match parameter.key.module() {
        Some(module) => format!("add a `kernel_module` resource for `{module}`, which brings the parameter"),
        None => {
            "check the name with `sysctl -a`, or load the kernel module that brings the parameter".to_owned()
        }
    };
    Failure::conflict(message).with_missing(MissingPrerequisite::Path(path)).with_hint(hint)
}

fn unchangeable(parameter: &DesiredParameter, obstacle: &ParameterObstacle) -> Failure {
    let message = format!("kernel parameter `{}` is read-only", parameter.name);
    let failure = Failure::conflict(message).of_property("value");
    match obstacle {
        ParameterObstacle::Reported => {
            failure.with_hint("remove the resource: the kernel only reports this value")
        }
        ParameterObstacle::ReadOnlyMount(mount_point) => {
            let mut failure = failure;
            failure.chain.push(format!("\"{}\" is mounted read-only", Path::new(mount_point).display()));
            failure.with_hint(
                "set the parameter on the host of the container, or add `control` to leave it out here",
            )
        }
    }
}

#[cfg(test)]
mod tests;
