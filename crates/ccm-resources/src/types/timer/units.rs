//! Texts of the units of a timer.

use std::path::PathBuf;

use crate::parts::systemd::words::systemd_word;

/// Directory of units that an administrator writes.
const DIRECTORY: &str = "/etc/systemd/system";

/// First line of each unit.
const COMMENT: &str = "# Managed by ccm; changes are overwritten.\n";

/// What the units of a timer are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimerUnits {
    pub command: Vec<String>,
    pub times: Vec<String>,
    /// Seconds.
    pub jitter: u64,
    pub user: Option<String>,
    pub persistent: bool,
}

/// Returns the path of a unit of a timer.
pub(crate) fn unit_path(name: &str, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{DIRECTORY}/{name}.{suffix}"))
}

impl TimerUnits {
    /// Returns the text of the service.
    pub(crate) fn service(&self, name: &str) -> String {
        let words: Vec<String> = self.command.iter().map(|word| systemd_word(word)).collect();
        let user = self.user.as_ref().map(|user| format!("User={user}\n")).unwrap_or_default();
        format!(
            "{COMMENT}[Unit]\nDescription=Command of {name}.timer\n\n[Service]\nType=oneshot\n{user}ExecStart={}\n",
            words.join(" ")
        )
    }

    /// Returns the text of the timer.
    pub(crate) fn timer(&self, name: &str) -> String {
        let times = self.times.iter().map(|time| format!("OnCalendar={time}\n"));
        let times: String = times.collect();
        let jitter = match self.jitter {
            0 => String::new(),
            seconds => format!("RandomizedDelaySec={seconds}s\nFixedRandomDelay=true\n"),
        };
        format!(
            "{COMMENT}[Unit]\nDescription=Times of {name}.service\n\n[Timer]\n{times}{jitter}AccuracySec=15s\n\
             Persistent={}\n\n[Install]\nWantedBy=timers.target\n",
            self.persistent
        )
    }
}

/// Returns the values of a directive of a unit, with commas between; `None` if the unit does not have it.
pub(crate) fn directive(unit: &str, name: &str) -> Option<String> {
    let values = unit.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let values: Vec<&str> = values.collect();
    (!values.is_empty()).then(|| values.join(", "))
}
