//! The desired setting, complete and checked.

use ccm_model::Resource;
use ccm_properties::PropertyError;

use super::format::Syntax;
use super::properties::SettingProperties;
use super::written::{key_error, section_error, section_name, separator_error, text_of, value_error};
use crate::parts::text::{PartTarget, TargetProperties};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DesiredSetting {
    pub target: PartTarget,
    pub syntax: Syntax,
    /// Section; empty for the lines above the first section.
    pub section: String,
    pub key: String,
    /// `None` if the setting is to be absent.
    pub value: Option<String>,
    /// The value as it is written, with quotes and escapes where the program needs them.
    pub text: Option<String>,
}

impl DesiredSetting {
    /// Builds the setting, or returns all errors.
    pub(crate) fn build(resource: &Resource, written: SettingProperties) -> Result<Self, Vec<PropertyError>> {
        let mut errors = Vec::new();
        let target = TargetProperties {
            path: written.path,
            create: written.create,
            backup: written.backup,
            sensitive: written.sensitive,
            validate: written.validate,
        };
        let is_absent = resource.is_absent();
        let target = PartTarget::build(resource, target, &mut errors);
        let syntax = Syntax::new(
            written.format,
            written.separator.map(|text| text.0),
            written.key.as_deref().unwrap_or_default(),
        );
        errors.extend(separator_error(&syntax));
        let section = written.section.map(|section| section.0).unwrap_or_default();
        errors.extend(section_error(&section, &syntax));
        match &written.key {
            Some(key) => errors.extend(key_error(key, &syntax)),
            None => errors.push(PropertyError::missing("key", "write `key`, the name of the setting")),
        }
        match &written.value {
            Some(_) if is_absent => {
                errors.push(PropertyError::not_with_absent(
                    "value",
                    "remove `value`: the setting is removed whatever its value",
                ));
            }
            None if !is_absent => {
                errors.push(PropertyError::missing("value", "write `value`, which may be `\"\"`"));
            }
            Some(value) => errors.extend(value_error(value, syntax.format)),
            None => {}
        }
        match (target, written.key) {
            (Some(target), Some(key)) if errors.is_empty() => {
                let value = written.value.map(|value| value.0);
                let text = value.as_deref().map(|value| text_of(value, syntax.format));
                Ok(Self { target, section, key: key.0, value, text, syntax })
            }
            _ => Err(errors),
        }
    }

    /// Returns the section in the form in which the program compares names.
    pub(super) fn section_name(&self) -> Vec<u8> {
        section_name(&self.section, &self.syntax)
    }
}
