//! The setting resource: one key of an ini-like file, with its value, or absent.

mod desired;
mod ini_line;
mod plan;
mod properties;

use ccm_engine::{DynProvider, TypedResource};
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{PropertyError, TypeSpec, TypedProperties, WrittenCommand};

use crate::parts::text::{PartEditor, PartKind, path_claim, path_of};
use crate::parts::validator::{VALIDATE, written_commands};
use desired::DesiredSetting;
use properties::SettingProperties;

#[derive(Debug)]
pub(crate) struct SettingType;

impl TypeSpec for SettingType {
    fn name(&self) -> &'static str {
        "setting"
    }

    fn summary(&self) -> &'static str {
        "Manages one setting of an ini-like file."
    }

    fn ensures(&self) -> &'static [&'static str] {
        &["present", "absent"]
    }

    fn providers(&self) -> &'static [&'static str] {
        &["posix"]
    }

    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let text = |name| resource.properties.get(name).and_then(|node| node.as_text());
        let setting = text("key").zip(path_of(resource)).map(|(key, path)| {
            let section = text("section").map(|section| format!("[{section}] ")).unwrap_or_default();
            Claim::exclusive(ClaimKind::Setting, format!("{path}: {section}{key}"))
        });
        path_claim(resource).into_iter().chain(setting).collect()
    }

    fn commands(&self, resource: &Resource) -> Vec<WrittenCommand> {
        written_commands(VALIDATE, resource)
    }
}

impl TypedProperties for SettingType {
    type Written = SettingProperties;
    type Desired = DesiredSetting;

    fn build(resource: &Resource, written: SettingProperties) -> Result<DesiredSetting, Vec<PropertyError>> {
        DesiredSetting::build(resource, written)
    }
}

impl TypedResource for SettingType {
    type Kind = PartKind<DesiredSetting>;

    const PROVIDERS: &'static [&'static dyn DynProvider<Self::Kind>] = &[&PartEditor::<DesiredSetting>::NEW];
}
