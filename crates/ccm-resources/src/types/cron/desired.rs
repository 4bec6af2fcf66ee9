//! The desired job, complete and checked.

use ccm_model::{DiagnosticKind, Resource};
use ccm_properties::PropertyError;

use super::properties::{CronProperties, escaped};

/// Maximum length of the name, which is a file.
const MAX_NAME: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredJob {
    pub name: String,
    /// Times and command; `None` if the job is to be absent.
    pub entry: Option<CronEntry>,
    /// Lines with the variables of the job.
    pub environment: Vec<String>,
    pub user: String,
}

/// Line of a crontab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CronEntry {
    /// The five fields, with blanks between, or a name of cron such as `@daily`.
    pub times: String,
    /// Command, escaped for cron.
    pub command: String,
}

impl CronEntry {
    /// Returns the line of a crontab.
    pub(crate) fn line(&self) -> String {
        format!("{} {}", self.times, self.command)
    }
}

impl DesiredJob {
    pub(crate) fn build(resource: &Resource, written: CronProperties) -> Result<Self, Vec<PropertyError>> {
        let name = resource.id.name.to_string();
        let mut errors: Vec<PropertyError> = name_error(&name)
            .map(|message| {
                PropertyError::of_name(message)
                    .with_hint("cron reads files whose names have letters, digits, `-` and `_`")
            })
            .into_iter()
            .collect();
        let user = written.user.map_or_else(|| "root".to_owned(), |user| user.0);
        if resource.is_absent() {
            let absent = Self { name, entry: None, environment: Vec::new(), user };
            return if errors.is_empty() { Ok(absent) } else { Err(errors) };
        }
        let fields = [
            ("minute", written.minute.map(|field| field.0)),
            ("hour", written.hour.map(|field| field.0)),
            ("day", written.day.map(|field| field.0)),
            ("month", written.month.map(|field| field.0)),
            ("weekday", written.weekday.map(|field| field.0)),
        ];
        let given = fields.iter().find(|(_, field)| field.is_some()).map(|(name, _)| *name);
        match (given, written.special) {
            (None, None) => {
                let error = PropertyError::new(DiagnosticKind::Missing, "minute", "the job has no time");
                let hint =
                    "write `minute` and `hour`, or `special: daily`; `minute: \"*\"` runs it every minute";
                errors.push(error.with_hint(hint));
            }
            (Some(field), Some(_)) => {
                let message = format!("`special` and `{field}` exclude each other");
                errors.push(PropertyError::conflict("special", message, "remove one of them"));
            }
            _ => {}
        }
        if written.environment.is_some()
            && resource.provider.as_ref().is_some_and(|given| given.value == "crontab")
        {
            let message = "a variable in the crontab of a user would hold for all jobs below it";
            let hint = "remove `provider: crontab`, or begin `command` with `NAME=value`; cron itself reads `MAILTO`, which \
                        only the provider `cron_d` can set";
            errors.push(PropertyError::conflict("environment", message, hint));
        }
        let Some(command) = written.command else {
            errors.push(PropertyError::missing("command", "write `command`, the text for the shell"));
            return Err(errors);
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let times = match written.special {
            Some(nickname) => format!("@{}", nickname.0),
            None => fields.map(|(_, field)| field.unwrap_or_else(|| "*".to_owned())).join(" "),
        };
        let entry = CronEntry { times, command: escaped(&command.0) };
        let environment = written.environment.unwrap_or_default().0;
        Ok(Self { name, entry: Some(entry), environment, user })
    }
}

/// Returns the error in the name of a job.
pub(crate) fn name_error(name: &str) -> Option<String> {
    let is_allowed = |part: char| part.is_ascii_alphanumeric() || "_-".contains(part);
    let shown = name.escape_debug();
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_allowed) {
        Some(format!("`{shown}` is not the name of a job"))
    } else if name.len() > MAX_NAME {
        Some(format!("`{shown}` is longer than {MAX_NAME} bytes"))
    } else {
        None
    }
}
