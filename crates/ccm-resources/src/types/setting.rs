//! The setting resource: one key of an ini-like file, with its value, or absent.

mod ambiguity;
mod desired;
mod document;
mod edit;
mod format;
mod git_file;
mod ini_file;
mod joined_lines;
mod mysql_file;
mod placement;
mod plan;
mod properties;
mod written;

use ccm_engine::DynProvider;
use ccm_model::{Claim, ClaimKind, Diagnostic, Resource};
use ccm_properties::{
    CheckInput, CommandsView, PropertyError, Providers, TextPart, TextView, TypeSpec, TypedResource,
};

use crate::parts::text::{PartEditor, PartKind, detached, path_claim, path_of, shown, unread_path};
use crate::parts::validator::VALIDATE;
use crate::support::export::without_state;
use desired::DesiredSetting;
use format::{Format, Syntax};
use properties::SettingProperties;
use written::section_name;

#[derive(Debug)]
pub(crate) struct SettingType;

without_state!(
    SettingType,
    "a `setting` is a part of a file, which can't be told from the other lines",
    "export the file: `ccm resource file PATH`"
);

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

    fn warnings(_: &DesiredSetting, checked: &CheckInput<'_>) -> Vec<Diagnostic> {
        unread_path(checked.resource).into_iter().collect()
    }
}

impl TypeSpec for SettingType {
    fn claims<'r>(&self, resource: &'r Resource) -> Vec<Claim<'r>> {
        let text = |name| resource.properties.get(name).and_then(|node| node.as_text());
        let setting = text("key").zip(path_of(resource)).map(|(key, path)| {
            let syntax = Syntax::new(text("format").and_then(Format::parse), None, key);
            let section = section_name(text("section").unwrap_or_default(), &syntax);
            let section = Some(section).filter(|section| !section.is_empty());
            let section = section.map(|section| format!("[{}] ", shown(&section))).unwrap_or_default();
            let key = shown(&syntax.key(key.as_bytes()));
            Claim::exclusive(ClaimKind::Setting, format!("{path}: {section}{key}"))
        });
        path_claim(resource).into_iter().chain(setting).collect()
    }

    fn commands(&self) -> Option<&dyn CommandsView> {
        Some(&VALIDATE)
    }

    fn text(&self) -> Option<&dyn TextView> {
        Some(self)
    }
}

impl TextView for SettingType {
    fn changes_other_lines(&self, _: &Resource) -> bool {
        false
    }

    fn part(&self, resource: &Resource) -> Option<Box<dyn TextPart>> {
        detached::<Self>(resource)
    }
}
