//! Origin of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// User, terminal and systemd unit that started a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StartedBy {
    /// UID of the user.
    pub uid: u32,
    /// Name of the user; null if the UID has no entry.
    pub user: Option<String>,
    /// User who called `sudo`, according to `SUDO_USER`.
    pub sudo_user: Option<String>,
    /// systemd unit of the process; null in a terminal.
    pub unit: Option<String>,
    /// `INVOCATION_ID` of the unit.
    pub invocation_id: Option<String>,
    /// Terminal of the process.
    pub terminal: Option<String>,
}

impl StartedBy {
    /// Returns the name of the unit, or that of the user.
    pub fn label(&self) -> String {
        let user = || self.user.clone().unwrap_or_else(|| format!("uid {}", self.uid));
        match (&self.unit, &self.sudo_user) {
            (Some(unit), _) => unit.clone(),
            (None, Some(sudo_user)) if self.user.as_ref() != Some(sudo_user) => {
                format!("{sudo_user} as {}", user())
            }
            (None, _) => user(),
        }
    }

    /// Returns the label without the ending of a service, for tables.
    pub fn short_label(&self) -> String {
        let label = self.label();
        if self.unit.is_none() {
            return label;
        }
        label.strip_suffix(".service").map_or(label.clone(), str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_names_the_unit_or_the_user() {
        let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        for (uid, user, sudo_user, unit, expected) in [
            (0, "root", "", "", "root"),
            (0, "root", "ada", "", "ada as root"),
            (0, "root", "root", "", "root"),
            (0, "root", "", "ccm-apply@site.service", "ccm-apply@site.service"),
            (1000, "", "", "", "uid 1000"),
        ] {
            let started = StartedBy {
                uid,
                user: text(user),
                sudo_user: text(sudo_user),
                unit: text(unit),
                invocation_id: None,
                terminal: None,
            };
            assert_eq!(started.label(), expected);
            assert_eq!(started.short_label(), expected.trim_end_matches(".service"));
        }
    }
}
