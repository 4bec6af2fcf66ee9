//! The desired job, complete and checked.

use ccm_model::{DiagnosticKind, Resource};
use ccm_properties::PropertyError;

use super::properties::CronProperties;

/// Maximum length of the name, which is a file.
const MAX_NAME: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredJob {
    pub name: String,
    /// Times and command; `None` if the job is to be absent.
    pub entry: Option<CronEntry>,
    pub user: String,
}

/// Line of a crontab.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CronEntry {
    /// The five fields, with blanks between.
    pub times: String,
    /// Command, escaped for cron.
    pub command: String,
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
            return if errors.is_empty() { Ok(Self { name, entry: None, user }) } else { Err(errors) };
        }
        let fields = [
            written.minute.map(|field| field.0),
            written.hour.map(|field| field.0),
            written.day.map(|field| field.0),
            written.month.map(|field| field.0),
            written.weekday.map(|field| field.0),
        ];
        if fields.iter().all(Option::is_none) {
            let error = PropertyError::new(DiagnosticKind::Missing, "minute", "the job has no time");
            errors.push(error.with_hint("write `minute` and `hour`; `minute: \"*\"` runs it every minute"));
        }
        let Some(command) = written.command else {
            errors.push(PropertyError::missing("command", "write `command`, the text for the shell"));
            return Err(errors);
        };
        if !errors.is_empty() {
            return Err(errors);
        }
        let fields = fields.map(|field| field.unwrap_or_else(|| "*".to_owned()));
        let entry = CronEntry { times: fields.join(" "), command: command.0.replace('%', "\\%") };
        Ok(Self { name, entry: Some(entry), user })
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
