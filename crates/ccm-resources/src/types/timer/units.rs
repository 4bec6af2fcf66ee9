//! Texts of the units of a timer.

use crate::parts::systemd::failure_actions::OnFailure;
use crate::parts::systemd::units::UnitText;

/// First line of each unit, by which ccm knows its own units.
pub(super) const COMMENT: &str = "# Managed by ccm; changes are overwritten.\n";

/// What the units of a timer are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimerUnits {
    pub command: Vec<String>,
    pub times: Vec<String>,
    /// Seconds.
    pub jitter: u64,
    pub user: Option<String>,
    pub persistent: bool,
    pub on_failure: OnFailure,
}

/// Program that gives the commands for a failure their summary. Its path is that of systemd, so that the text of the unit
/// does not depend on where the ccm is that writes it. It runs as root, whose mail and files it may need, and its own
/// failure is not one of the command.
const NOTIFIER: &str = "-+ccm timer notify";

/// Returns the commands for a failure as they were written.
pub(super) fn without_notifier(values: String) -> String {
    if !values.contains(NOTIFIER) {
        return values;
    }
    let as_json = format!("{NOTIFIER} --format json %n -- ");
    values.replace(&as_json, "json to ").replace(&format!("{NOTIFIER} %n -- "), "")
}

impl TimerUnits {
    /// Returns the text of the service.
    pub(crate) fn service(&self, name: &str) -> String {
        let text = UnitText::new(COMMENT).section("Unit");
        let text = text.directive("Description", format_args!("Command of {name}.timer"));
        let text = self.on_failure.in_unit_section(text).lines("\n");
        let text = text.section("Service").directive("Type", "oneshot");
        let text = match &self.user {
            Some(user) => text.directive("User", user),
            None => text,
        };
        let text = text.command(self.command.iter().map(String::as_str));
        self.on_failure.in_service_section(text, NOTIFIER).finish()
    }

    /// Returns the text of the timer.
    pub(crate) fn timer(&self, name: &str) -> String {
        let text = UnitText::new(COMMENT).section("Unit");
        let text = text.directive("Description", format_args!("Times of {name}.service")).lines("\n");
        let text = text.section("Timer").times(&self.times);
        let text = match self.jitter {
            0 => text,
            seconds => text
                .directive("RandomizedDelaySec", format_args!("{seconds}s"))
                .directive("FixedRandomDelay", true),
        };
        text.directive("AccuracySec", "15s")
            .directive("Persistent", self.persistent)
            .lines("\n")
            .section("Install")
            .directive("WantedBy", "timers.target")
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::systemd::failure_actions::FailureAction;

    #[test]
    fn units_have_one_text_each() {
        let units = TimerUnits {
            command: ["/usr/bin/backup", "50% $HOME"].map(str::to_owned).into(),
            times: ["*-*-* 02:30", "Sun 12:00"].map(str::to_owned).into(),
            jitter: 900,
            user: Some("ada".to_owned()),
            persistent: true,
            on_failure: OnFailure::default(),
        };
        let service = "\
# Managed by ccm; changes are overwritten.
[Unit]
Description=Command of backup.timer

[Service]
Type=oneshot
User=ada
ExecStart=/usr/bin/backup \"50%% $$HOME\"
";
        let timer = "\
# Managed by ccm; changes are overwritten.
[Unit]
Description=Times of backup.service

[Timer]
OnCalendar=*-*-* 02:30
OnCalendar=Sun 12:00
RandomizedDelaySec=900s
FixedRandomDelay=true
AccuracySec=15s
Persistent=true

[Install]
WantedBy=timers.target
";
        assert_eq!((&*units.service("backup"), &*units.timer("backup")), (service, timer));
        let actions = ["notify@%n.service", "mail -s failed root"];
        let actions = actions.iter().map(|text| FailureAction::parse(text).expect("an action")).collect();
        let notifying =
            TimerUnits { on_failure: OnFailure { actions, ..OnFailure::default() }, ..units.clone() };
        let expected = service.replace("backup.timer\n", "backup.timer\nOnFailure=notify@%n.service\n")
            + "ExecStopPost=-+ccm timer notify %n -- mail -s failed root\n";
        assert_eq!(notifying.service("backup"), expected);
        let plain = TimerUnits { jitter: 0, user: None, ..units };
        assert_eq!(plain.service("backup"), service.replace("User=ada\n", ""));
        let jitter = "RandomizedDelaySec=900s\nFixedRandomDelay=true\n";
        assert_eq!(plain.timer("backup"), timer.replace(jitter, ""));
    }
}
