//! The desired timer, complete and checked.

use ccm_model::{DiagnosticKind, Resource};
use ccm_properties::PropertyError;

use super::properties::TimerProperties;
use super::units::TimerUnits;
use crate::parts::systemd::failure_actions::OnFailure;

/// Maximum length of the name, which gets a suffix.
const MAX_NAME: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredTimer {
    pub name: String,
    /// `None` if the timer is to be absent.
    pub units: Option<TimerUnits>,
    /// Times for systemd to check.
    pub times: Vec<String>,
    pub user: Option<String>,
}

impl DesiredTimer {
    pub(crate) fn build(resource: &Resource, written: TimerProperties) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        let mut errors = Vec::new();
        if let Some((message, hint)) = name_error(&name) {
            errors.push(PropertyError::of_name(message).with_hint(hint));
        }
        let user = written.user.map(|user| user.0);
        if resource.is_absent() {
            let absent = Self { name, units: None, times: Vec::new(), user };
            return if errors.is_empty() { Ok(absent) } else { Err(errors) };
        }
        if written.command.is_none() {
            errors.push(PropertyError::missing("command", "write `command`, the program to run"));
        }
        let times: Vec<String> = match (&written.on_calendar, written.every) {
            (Some(times), None) => times.0.iter().map(|time| time.0.clone()).collect(),
            (None, Some(schedule)) => schedule.calendar(),
            (Some(_), Some(_)) => {
                let message = "`on_calendar` and `every` exclude each other";
                errors.push(PropertyError::conflict("every", message, "remove one of them"));
                Vec::new()
            }
            (None, None) => {
                let message = "the times are missing";
                let error = PropertyError::new(DiagnosticKind::Missing, "on_calendar", message);
                errors.push(error.with_hint("write `on_calendar: \"*-*-* 02:30\"`, or `every: 30m`"));
                Vec::new()
            }
        };
        if written.on_calendar.as_ref().is_some_and(|times| times.0.is_empty()) {
            errors.push(PropertyError::new(
                DiagnosticKind::Missing,
                "on_calendar",
                "the list of times is empty",
            ));
        }
        let on_failure = OnFailure {
            actions: written.on_failure.map(|actions| actions.0).unwrap_or_default(),
            format: written.on_failure_format.unwrap_or_default(),
        };
        if on_failure.own_unit(&format!("{name}.service")).is_some() {
            let message = "the service of the timer would start itself after a failure";
            errors.push(PropertyError::invalid("on_failure", message, "name a unit that tells somebody"));
        }
        match written.command.filter(|_| errors.is_empty()) {
            Some(command) => {
                let units = TimerUnits {
                    command: command.0,
                    times: times.clone(),
                    jitter: written.jitter.unwrap_or_default().as_secs(),
                    user: user.clone(),
                    persistent: written.persistent.unwrap_or(true),
                    on_failure,
                };
                Ok(Self { name, units: Some(units), times, user })
            }
            None => Err(errors),
        }
    }
}

/// Returns the error in the name of a timer, with advice.
pub(crate) fn name_error(name: &str) -> Option<(String, &'static str)> {
    let shown = name.escape_debug();
    let is_allowed = |part: char| part.is_ascii_alphanumeric() || "_.:-".contains(part);
    if name.is_empty() || name.starts_with(['.', '-']) || !name.chars().all(is_allowed) {
        let hint = "write letters, digits, `-`, `_` and `.`, beginning with a letter";
        return Some((format!("`{shown}` is not the name of a timer"), hint));
    }
    if name.len() > MAX_NAME {
        return Some((format!("`{shown}` is longer than {MAX_NAME} bytes"), "write a shorter name"));
    }
    if [".timer", ".service"].iter().any(|suffix| name.ends_with(suffix)) {
        return Some((format!("the name `{shown}` ends like a unit"), "remove the ending: the units get it"));
    }
    None
}
