//! The properties of a job, as the manifest writes them.

use ccm_properties::{Exposure, PropertyKind, TextKind, TextSyntax, TextValue, ValueError, properties};

use super::environment::JobEnvironment;
use super::fields::{CronDay, CronField, CronHour, CronMinute, CronMonth, CronWeekday};
use super::nickname::Nickname;
use crate::parts::accounts::AccountName;

properties! {
    /// Properties of a job; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct CronProperties {
        /// Command, which `/bin/sh` reads. `%` has no special meaning: ccm escapes it for cron.
        command: CronCommand { exposure: Exposure::File("let the program read the value from a file with `mode: \"0600\"`"), syntax: TextSyntax::Shell, foreign_names: &["job"] },
        /// Minutes, from 0 to 59. Each time has the form of cron: a number, `*`, `1-5`, `*/15`, or a list.
        minute: CronField<CronMinute> { default: Some("`*`") },
        /// Hours, from 0 to 23.
        hour: CronField<CronHour> { default: Some("`*`") },
        /// Days of the month, from 1 to 31.
        day: CronField<CronDay> { default: Some("`*`"), foreign_names: &["monthday"] },
        /// Months, from 1 to 12 or from `jan` to `dec`.
        month: CronField<CronMonth> { default: Some("`*`") },
        /// Days of the week, from 0 (Sunday) to 7 (Sunday) or from `sun` to `sat`. A range may end with Sunday.
        weekday: CronField<CronWeekday> { default: Some("`*`") },
        /// Times by the name that cron has for them, in place of the five above: `reboot`, `yearly`, `annually`,
        /// `monthly`, `weekly`, `daily`, `midnight` or `hourly`.
        special: Nickname { foreign_names: &["special_time", "nickname"] },
        /// Variables for the command and for cron, such as `MAILTO`: a map. Only for the provider `cron_d`.
        environment: JobEnvironment { exposure: Exposure::File("let the program read the value from a file with `mode: \"0600\"`"), foreign_names: &["env", "variables", "mailto"] },
        /// User who runs the command.
        user: AccountName { default: Some("`root`") },
    }
}

/// Maximum length of a line of a crontab, with the times.
const MAX_COMMAND: usize = 900;

/// Returns a command as a line of cron has it. `%` would end the command there. A `%` that has its backslash already stays:
/// versions of cron differ in what they make of two backslashes.
pub(crate) fn escaped(command: &str) -> String {
    let mut escaped = String::with_capacity(command.len());
    let mut is_escaped = false;
    for part in command.chars() {
        if part == '%' && !is_escaped {
            escaped.push('\\');
        }
        is_escaped = part == '\\' && !is_escaped;
        escaped.push(part);
    }
    escaped
}

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
        if escaped(text.trim()).len() > MAX_COMMAND {
            return Err(ValueError::new(format!("the command is longer than {MAX_COMMAND} bytes"))
                .with_hint("write a script with a `file` resource, and run it"));
        }
        Ok(Self(text.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_signs_get_one_backslash() {
        for (command, line) in [
            ("date +%F", r"date +\%F"),
            ("date +%F%T", r"date +\%F\%T"),
            (r"date +\%F", r"date +\%F"),
            (r"printf '\n%s'", r"printf '\n\%s'"),
            ("true", "true"),
        ] {
            assert_eq!(escaped(command), line);
        }
    }
}
