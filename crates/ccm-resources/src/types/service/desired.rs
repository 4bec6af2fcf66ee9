//! The desired service, complete and checked.

use std::time::Duration;

use ccm_properties::PropertyError;

use super::decide::UnitVerb;
use super::properties::ServiceProperties;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ServiceEnsure {
    Running,
    Stopped,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Service {
    pub name: String,
    /// Full name of the unit.
    pub unit: String,
    pub ensure: ServiceEnsure,
    pub enable: Option<bool>,
    pub masked: Option<bool>,
    pub on_refresh: UnitVerb,
    pub timeout: Option<Duration>,
    /// True if the unit belongs to the service manager of the user who runs ccm.
    pub user: bool,
}

impl Service {
    /// Builds the service, or returns all errors.
    pub(crate) fn build(
        name: &str,
        ensure: Option<&str>,
        written: &ServiceProperties,
    ) -> Result<Self, Vec<PropertyError>> {
        let ensure = if ensure == Some("stopped") { ServiceEnsure::Stopped } else { ServiceEnsure::Running };
        let mut errors = Vec::new();
        let unit = unit_name(name).unwrap_or_else(|error| {
            errors.push(error);
            String::new()
        });
        if written.masked == Some(true) && ensure == ServiceEnsure::Running {
            let message = "a masked service cannot be started";
            errors.push(PropertyError::conflict("masked", message, "add `ensure: stopped`"));
        }
        if written.masked == Some(true) && written.enable == Some(true) {
            let message = "a masked service cannot be enabled";
            errors.push(PropertyError::conflict("enable", message, "drop `enable` or `masked`"));
        }
        if written.on_refresh.is_some() && ensure == ServiceEnsure::Stopped {
            let message = "`on_refresh` is not allowed with `ensure: stopped`";
            errors.push(PropertyError::conflict(
                "on_refresh",
                message,
                "remove `on_refresh`: a stopped service is not refreshed",
            ));
        }
        let timeout = written.timeout;
        if timeout.is_some_and(|timeout| timeout.is_zero()) {
            let message = "`timeout` must not be zero";
            errors.push(PropertyError::invalid("timeout", message, "write a duration like `90s`"));
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(Self {
            name: name.to_owned(),
            unit,
            ensure,
            enable: written.enable,
            masked: written.masked,
            on_refresh: written.on_refresh.map_or(UnitVerb::Restart, |on_refresh| on_refresh.0),
            timeout,
            user: written.user.unwrap_or_default(),
        })
    }
}

/// Types of units.
pub(super) const SUFFIXES: [&str; 11] = [
    "service",
    "socket",
    "device",
    "mount",
    "automount",
    "swap",
    "target",
    "path",
    "timer",
    "slice",
    "scope",
];

/// Maximum length of a unit name in systemd.
const MAX_UNIT_NAME: usize = 255;

/// Returns the full name of a unit; a name without a unit type stands for a service.
pub(super) fn unit_name(name: &str) -> Result<String, PropertyError> {
    let error = |message: String, hint: Option<&str>| {
        Err(hint.into_iter().fold(PropertyError::of_name(message), PropertyError::with_hint))
    };
    let shown = name.escape_debug();
    if name.contains('/') {
        let hint = "name the unit, like `nginx` or `backup.timer`";
        return error(format!("`{shown}` is a path, not a unit name"), Some(hint));
    }
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "._+:~-@\\".contains(c);
    if let Some(wrong) = name.chars().find(|c| !is_allowed(*c)) {
        let hint = "escape the text with `systemd-escape`";
        let wrong = wrong.escape_debug();
        return error(
            format!("`{shown}` contains `{wrong}`, which is not allowed in a unit name"),
            Some(hint),
        );
    }
    let suffix = name.rsplit_once('.').map(|(_, suffix)| suffix);
    let unit = match suffix.filter(|suffix| SUFFIXES.contains(suffix)) {
        Some(_) => name.to_owned(),
        None => format!("{name}.service"),
    };
    let stem = unit.rsplit_once('.').map_or(&*unit, |(stem, _)| stem);
    if stem.is_empty() || stem.starts_with('@') {
        return error(format!("`{shown}` is not a unit name"), None);
    }
    if unit.len() > MAX_UNIT_NAME {
        return error(format!("`{shown}` is too long for a unit name"), None);
    }
    if let Some(template) = stem.strip_suffix('@') {
        let hint = format!("name an instance of the template, like `{template}@NAME`");
        return error(format!("`{shown}` is a template"), Some(&hint));
    }
    Ok(unit)
}

/// Returns the template of an instance: `a@.service` for `a@b.service`.
pub(crate) fn template_of(unit: &str) -> Option<String> {
    let (stem, rest) = unit.split_once('@')?;
    let (_, suffix) = rest.rsplit_once('.')?;
    Some(format!("{stem}@.{suffix}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_without_a_type_stands_for_a_service() {
        for (name, unit) in [
            ("nginx", "nginx.service"),
            ("nginx.service", "nginx.service"),
            ("backup.timer", "backup.timer"),
            ("org.example.daemon", "org.example.daemon.service"),
            ("getty@tty1", "getty@tty1.service"),
            ("srv-a\\x2db.mount", "srv-a\\x2db.mount"),
            ("-.mount", "-.mount"),
        ] {
            assert_eq!(unit_name(name).as_deref(), Ok(unit));
        }
    }

    #[test]
    fn invalid_names_are_rejected() {
        let long = "a".repeat(MAX_UNIT_NAME);
        for name in ["", "/etc/nginx", "a b", "a*", "getty@", "getty@.service", "@tty1", "a\n", "ä", &long] {
            assert!(unit_name(name).is_err(), "{name}");
        }
    }
}
