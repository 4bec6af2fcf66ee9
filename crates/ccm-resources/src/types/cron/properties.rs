//! The properties of a job, as the manifest writes them.

use ccm_properties::{PropertyKind, TextKind, TextValue, ValueError, properties};

use super::fields::{CronDay, CronField, CronHour, CronMinute, CronMonth, CronWeekday};
use crate::parts::accounts::AccountName;

properties! {
    /// Properties of a job; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct CronProperties {
        /// Command, which `/bin/sh` reads. `%` has no special meaning: ccm escapes it for cron.
        command: CronCommand { foreign_names: &["job"] },
        /// Minutes, from 0 to 59. Each time has the form of cron: a number, `*`, `1-5`, `*/15`, or a list.
        minute: CronField<CronMinute> { default: Some("`*`") },
        /// Hours, from 0 to 23.
        hour: CronField<CronHour> { default: Some("`*`") },
        /// Days of the month, from 1 to 31.
        day: CronField<CronDay> { default: Some("`*`"), foreign_names: &["monthday"] },
        /// Months, from 1 to 12 or from `jan` to `dec`.
        month: CronField<CronMonth> { default: Some("`*`") },
        /// Days of the week, from 0 (Sunday) to 7 (Sunday) or from `sun` to `sat`.
        weekday: CronField<CronWeekday> { default: Some("`*`") },
        /// User who runs the command.
        user: AccountName { default: Some("`root`") },
    }
}

/// Maximum length of a line of a crontab, with the times.
const MAX_COMMAND: usize = 900;

/// Text for the shell of cron.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CronCommand(pub String);

impl TextValue for CronCommand {
    const KIND: PropertyKind = PropertyKind::Text(TextKind {
        min_length: 1,
        ..TextKind::STRICT.matching("^[^\\n\\r]*\\S[^\\n\\r]*$")
    });

    fn from_text(text: &str) -> Result<Self, ValueError> {
        if text.trim().is_empty() {
            return Err(ValueError::new("the command is empty"));
        }
        if text.contains(|part: char| part.is_control() && part != '\t') {
            return Err(ValueError::new("a command of cron is one line")
                .with_hint("write a script with a `file` resource, and run it"));
        }
        let escaped = text.trim().replace('%', "\\%");
        if escaped.len() > MAX_COMMAND {
            return Err(ValueError::new(format!("the command is longer than {MAX_COMMAND} bytes"))
                .with_hint("write a script with a `file` resource, and run it"));
        }
        Ok(Self(text.trim().to_owned()))
    }
}
