//! The desired setting, complete and checked.

use ccm_model::{Resource, escape_control};
use ccm_properties::PropertyError;

use super::properties::SettingProperties;
use crate::parts::text::{PartTarget, TargetProperties};

const SEPARATOR: &str = " = ";

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DesiredSetting {
    pub target: PartTarget,
    /// Section; empty for the lines above the first section.
    pub section: String,
    pub key: String,
    /// `None` if the setting is to be absent.
    pub value: Option<String>,
    pub separator: Separator,
}

/// Text between a key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separator {
    /// The text of a new line, with blanks.
    pub written: String,
}

impl Separator {
    /// Returns the text without the blanks around it; empty if blanks alone separate.
    pub(crate) fn core(&self) -> &str {
        self.written.trim()
    }
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
        let separator =
            Separator { written: written.separator.map_or_else(|| SEPARATOR.to_owned(), |text| text.0) };
        errors.extend(separator_error(&separator));
        let section = written.section.map(|section| section.0).unwrap_or_default();
        errors.extend(section_error(&section));
        match &written.key {
            Some(key) => errors.extend(key_error(key, &separator)),
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
            Some(value) => errors.extend(value_error(value)),
            None => {}
        }
        match (target, written.key) {
            (Some(target), Some(key)) if errors.is_empty() => Ok(Self {
                target,
                section: section.trim().to_owned(),
                key: key.0,
                value: written.value.map(|value| value.0),
                separator,
            }),
            _ => Err(errors),
        }
    }
}

fn separator_error(separator: &Separator) -> Option<PropertyError> {
    let written = &separator.written;
    if written.is_empty() || written.contains(['\n', '\r', '\0']) {
        let message = "`separator` must be text on one line".to_owned();
        return Some(PropertyError::invalid(
            "separator",
            message,
            "write the text between key and value, such as `\" = \"` or `\":\"`",
        ));
    }
    None
}

fn section_error(section: &str) -> Option<PropertyError> {
    let shown = escape_control(section);
    if section.starts_with('[') && section.ends_with(']') {
        return Some(PropertyError::invalid(
            "section",
            format!("the section `{shown}` has brackets"),
            "write the section without brackets",
        ));
    }
    if section.contains(['[', ']', '\n', '\r', '\0']) {
        let message = format!("the section `{shown}` contains a bracket or a control character");
        return Some(PropertyError::invalid("section", message, "write the text between the brackets"));
    }
    None
}

fn key_error(key: &str, separator: &Separator) -> Option<PropertyError> {
    let shown = escape_control(key);
    let core = separator.core();
    let separates = if core.is_empty() { key.contains([' ', '\t']) } else { key.contains(core) };
    if key.trim().is_empty() {
        Some(PropertyError::invalid("key", "the key is empty".to_owned(), "write the name of the setting"))
    } else if key.trim() != key || key.contains(['\n', '\r', '\0']) {
        let message = format!("the key `{shown}` has blanks around it or contains a control character");
        Some(PropertyError::invalid("key", message, "write the name of the setting alone"))
    } else if separates {
        let message = format!("the key `{shown}` contains the separator");
        Some(PropertyError::invalid(
            "key",
            message,
            "write the text before the separator as `key`, and the rest as `value`",
        ))
    } else if key.starts_with(['[', '#', ';']) {
        let message = format!("the key `{shown}` would begin a section or a comment");
        Some(PropertyError::invalid("key", message, "write the name of the setting alone"))
    } else {
        None
    }
}

fn value_error(value: &str) -> Option<PropertyError> {
    if value.contains(['\n', '\r', '\0']) {
        let message = "the value contains a line end or a NUL character".to_owned();
        return Some(PropertyError::invalid("value", message, "write a value of one line"));
    }
    if value.trim() != value {
        let message = "the value has blanks around it, which are not part of a value".to_owned();
        return Some(PropertyError::invalid(
            "value",
            message,
            "remove the blanks, or put quotes into the value if the program knows them",
        ));
    }
    None
}
