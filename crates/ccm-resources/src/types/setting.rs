//! The setting resource: one key of an ini-like file, with its value, or absent.

mod desired;
mod ini_line;
mod plan;
mod properties;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Resource};
use ccm_properties::{CommandsView, PropertyError, Providers, TypeSpec, TypedResource};

use crate::parts::text::{PartEditor, PartKind, path_claim, path_of};
use crate::parts::validator::VALIDATE;
use desired::DesiredSetting;
use properties::SettingProperties;

#[derive(Debug)]
pub(crate) struct SettingType;

impl TypedResource for SettingType {
    type Written = SettingProperties;
    type Desired = DesiredSetting;
    type Provider = dyn DynProvider<PartKind<DesiredSetting>>;

    const NAME: &'static str = "setting";
    const SUMMARY: &'static str = "Manages one setting of an ini-like file.";
    const PROVIDERS: Providers<Self::Provider> = &[("posix", &PartEditor::<DesiredSetting>::NEW)];

    fn build(resource: &Resource, written: SettingProperties) -> Result<DesiredSetting, Vec<PropertyError>> {
        DesiredSetting::build(resource, written)
    }
}

impl TypeSpec for SettingType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let text = |name| resource.properties.get(name).and_then(|node| node.as_text());
        let setting = text("key").zip(path_of(resource)).map(|(key, path)| {
            let section = text("section").map(|section| format!("[{section}] ")).unwrap_or_default();
            Claim::exclusive(ClaimKind::Setting, format!("{path}: {section}{key}"))
        });
        path_claim(resource).into_iter().chain(setting).collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&VALIDATE)
    }
}
