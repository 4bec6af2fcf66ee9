//! The properties of a timer, as the manifest writes them.

use std::time::Duration;

use ccm_properties::{Exposure, OneOrMany, properties};

use super::values::CalendarTime;
use crate::parts::schedule::Schedule;
use crate::parts::systemd::failure_actions::{FailureAction, SummaryFormat};
use crate::parts::systemd::one_command::OneCommand;
use crate::support::values::principal::Principal;

properties! {
    /// Properties of a timer; their documentation is the reference for users.
    #[derive(Debug, Default)]
    pub(crate) struct TimerProperties {
        /// Program and arguments, split at blanks outside of quotes. No shell reads the command.
        command: OneCommand { exposure: Exposure::File("let the program read the value from a file with `mode: \"0600\"`"), foreign_names: &["exec_start", "program"] },
        /// Times in the syntax of systemd, such as `*-*-* 02:30` or `Mon 08:00`; one or a list.
        on_calendar: OneOrMany<CalendarTime> { foreign_names: &["schedule", "when", "time"] },
        /// Time between two runs: whole minutes that divide a day, such as `30m` or `2h`, or `1d` or `7d`. The command runs at
        /// fixed times of day.
        every: Schedule { foreign_names: &["interval"] },
        /// Maximum delay of a run. Each machine has its own delay, which stays the same.
        jitter: Duration { default: Some("`0`"), foreign_names: &["randomized_delay_sec", "random_delay"] },
        /// User who runs the command, by name or number.
        user: Principal { default: Some("`root`") },
        /// Run the command after a boot, if the machine was off at a time.
        persistent: bool { default: Some("`true`") },
        /// What a failure of the command starts: a unit of systemd, such as `notify@%n.service`, or a command, which gets a
        /// summary of the failure on its standard input, such as `mail -s "backup failed" root`; one or a list.
        on_failure: OneOrMany<FailureAction> { exposure: Exposure::File("let the program read the value from a file with `mode: \"0600\"`"), foreign_names: &["notify"] },
        /// Form of the summary: `text`, or `json` for a JSON object whose `text` has the lines, as chats take it.
        on_failure_format: SummaryFormat { default: Some("`text`") },
    }
}
