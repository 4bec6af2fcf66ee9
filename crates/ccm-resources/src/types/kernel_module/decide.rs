//! The pure decision about a kernel module.

use ccm_engine::Described;
use ccm_model::{Failure, Resource};
use ccm_properties::PropertyError;

use super::module_files::ModprobeSettings;
use super::properties::KernelModuleProperties;
use crate::parts::text::TextFile;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType, yes_or_no};

/// Maximum length of a name in bytes, which is that of the kernel.
const MAX_NAME: usize = 55;

/// The desired module, complete and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredModule {
    /// Name with `_` in place of `-`, as the kernel has it.
    pub name: String,
    pub is_absent: bool,
    pub boot: Option<bool>,
    pub blacklist: Option<bool>,
    pub options: Option<String>,
}

impl DesiredModule {
    pub(super) fn build(
        resource: &Resource,
        written: KernelModuleProperties,
    ) -> Result<Self, Vec<PropertyError>> {
        let name = kernel_name(&resource.id.name);
        let is_absent = resource.is_absent();
        let mut errors: Vec<PropertyError> = name_error(&resource.id.name).into_iter().collect();
        if written.blacklist == Some(true) && !is_absent {
            let message = "`blacklist` needs `ensure: absent`";
            errors.push(PropertyError::conflict(
                "blacklist",
                message,
                "write `ensure: absent`, so that the module is also unloaded",
            ));
        }
        if written.boot == Some(true) && is_absent {
            errors.push(PropertyError::not_with_absent(
                "boot",
                "remove `boot`: the module is not loaded at boot either",
            ));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Self {
            name,
            is_absent,
            boot: if is_absent { Some(false) } else { written.boot },
            // What is to be loaded can't be blacklisted.
            blacklist: if is_absent { written.blacklist } else { Some(false) },
            options: written.options.map(|options| options.0),
        })
    }

    /// Returns the settings that modprobe is to have.
    pub(super) fn settings(&self, old: &ModprobeSettings) -> ModprobeSettings {
        ModprobeSettings {
            is_blacklisted: self.blacklist.unwrap_or(old.is_blacklisted),
            options: self.options.clone().unwrap_or_else(|| old.options.clone()),
        }
    }
}

/// Returns the name that the kernel has for a module.
pub(super) fn kernel_name(name: &str) -> String {
    name.replace('-', "_")
}

fn name_error(name: &str) -> Option<PropertyError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let is_name = !name.is_empty() && !name.starts_with('-') && name.bytes().all(is_allowed);
    if is_name && name.len() <= MAX_NAME {
        return None;
    }
    let message = format!("`{}` is not the name of a kernel module", name.escape_debug());
    Some(
        PropertyError::of_name(message)
            .with_hint("write the name without its path and `.ko`, such as `br_netfilter`"),
    )
}

/// Place of a module in the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ModuleActivity {
    #[default]
    Unloaded,
    Loaded,
    /// A part of the kernel, which can't be unloaded.
    BuiltIn,
}

/// State of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleState {
    pub activity: ModuleActivity,
    /// File that loads the module at boot.
    pub boot_file: TextFile,
    pub is_loaded_at_boot: bool,
    /// File for modprobe.
    pub modprobe_file: TextFile,
    pub settings: ModprobeSettings,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ModuleDifference {
    Loaded(bool),
    Boot(bool),
    Blacklist(bool),
    Options { from: String, to: String },
}

impl ObjectDifference for ModuleDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Loaded(_) => "loaded",
            Self::Boot(_) => "boot",
            Self::Blacklist(_) => "blacklist",
            Self::Options { .. } => "options",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        let shown = |text: &str| Some(if text.is_empty() { "none" } else { text }.to_owned());
        match self {
            Self::Loaded(to) | Self::Boot(to) | Self::Blacklist(to) => {
                (Some(yes_or_no(!to)), Some(yes_or_no(*to)))
            }
            Self::Options { from, to } => (shown(from), shown(to)),
        }
    }
}

impl ObjectType for DesiredModule {
    type State = ModuleState;
    type Difference = ModuleDifference;
    type Effect = ();

    fn plan(&self, state: &ModuleState) -> ObjectPlan<ModuleDifference> {
        let is_loaded = state.activity != ModuleActivity::Unloaded;
        if self.is_absent && state.activity == ModuleActivity::BuiltIn {
            return ObjectPlan::Fail(built_in(self));
        }
        let mut differences = Vec::new();
        if is_loaded == self.is_absent {
            differences.push(ModuleDifference::Loaded(!is_loaded));
        }
        if let Some(to) = self.boot.filter(|to| *to != state.is_loaded_at_boot) {
            differences.push(ModuleDifference::Boot(to));
        }
        if let Some(to) = self.blacklist.filter(|to| *to != state.settings.is_blacklisted) {
            differences.push(ModuleDifference::Blacklist(to));
        }
        if let Some(to) = self.options.as_ref().filter(|to| **to != state.settings.options) {
            let from = state.settings.options.clone();
            differences.push(ModuleDifference::Options { from, to: to.clone() });
        }
        if differences.is_empty() {
            ObjectPlan::Keep { exists: !self.is_absent }
        } else {
            ObjectPlan::Change(differences)
        }
    }

    fn shown(&self) -> String {
        format!("kernel module `{}`", self.name)
    }

    fn describe(&self, state: &ModuleState) -> Described {
        let ensure = if state.activity == ModuleActivity::Unloaded { "absent" } else { "present" };
        Described::new(ensure)
            .with("built_in", state.activity == ModuleActivity::BuiltIn)
            .with("boot", state.is_loaded_at_boot)
            .with("blacklist", state.settings.is_blacklisted)
            .with("options", state.settings.options.as_str())
            .named(&*self.name)
    }
}

fn built_in(module: &DesiredModule) -> Failure {
    let message = format!("`{}` is built into the kernel", module.name);
    Failure::conflict(message)
        .with_hint("use a kernel without it, or add `control` to leave the module out on this machine")
}

#[cfg(test)]
mod tests;
