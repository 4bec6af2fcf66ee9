//! The pure decision about a timer.

use std::path::PathBuf;

use ccm_engine::{Described, Undescribed};
use ccm_model::{Failure, MissingPrerequisite};

use super::desired::DesiredTimer;
use super::units::without_notifier;
use crate::parts::systemd::units::directive;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// State of a timer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimerState {
    /// Text of the service that ccm wrote; `None` if there is none.
    pub service: Option<String>,
    pub timer: Option<String>,
    /// Units of these names that ccm did not write.
    pub other_service: Option<OtherUnit>,
    pub other_timer: Option<OtherUnit>,
    pub is_enabled: bool,
    pub is_active: bool,
    /// True if systemd has not read the present units.
    pub needs_reload: bool,
    /// True if the user of the command does not exist.
    pub user_missing: bool,
    /// Error that systemd reports for the timer.
    pub load_error: Option<String>,
}

/// Unit that ccm did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OtherUnit {
    /// A file or link at the path of the unit of ccm.
    InPlace(PathBuf),
    /// A link to the null device there, by which systemd masks the unit.
    Mask(PathBuf),
    /// A file in another directory of systemd.
    Elsewhere(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TimerDifference {
    /// Values of a directive that has a property.
    Directive {
        aspect: &'static str,
        from: Option<String>,
        to: Option<String>,
    },
    /// A unit differs elsewhere.
    Unit(&'static str),
    Disabled,
    Inactive,
    Reload,
}

impl ObjectDifference for TimerDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Directive { aspect, .. } | Self::Unit(aspect) => aspect,
            Self::Disabled => "enabled",
            Self::Inactive => "active",
            Self::Reload => "loaded unit",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        let flag = || (Some("no".to_owned()), Some("yes".to_owned()));
        match self {
            Self::Directive { from, to, .. } => {
                let shown = |value: &Option<String>| Some(value.clone().unwrap_or_else(|| "none".to_owned()));
                (shown(from), shown(to))
            }
            Self::Unit(_) | Self::Reload => (None, None),
            Self::Disabled | Self::Inactive => flag(),
        }
    }
}

impl ObjectType for DesiredTimer {
    type State = TimerState;
    type Difference = TimerDifference;
    type Effect = ();

    fn plan(&self, state: &TimerState) -> ObjectPlan<TimerDifference> {
        let Some(units) = &self.units else {
            if let Some(in_place @ (OtherUnit::InPlace(_) | OtherUnit::Mask(_))) = &state.other_timer {
                return ObjectPlan::Fail(self.taken(in_place));
            }
            return if state.service.is_some() || state.timer.is_some() {
                ObjectPlan::Remove
            } else {
                ObjectPlan::Keep { exists: false }
            };
        };
        if let Some(other) = state.other_service.as_ref().or(state.other_timer.as_ref()) {
            return ObjectPlan::Fail(self.taken(other));
        }
        if let Some(user) = self.user.as_ref().filter(|_| state.user_missing) {
            let failure = Failure::conflict(format!("user `{user}` does not exist"));
            return ObjectPlan::Fail(
                failure
                    .of_property("user")
                    .with_missing(MissingPrerequisite::Principal(user.clone()))
                    .with_hint(format!("add a `user` resource for `{user}`")),
            );
        }
        let (service, timer_unit) = (units.service(&self.name), units.timer(&self.name));
        if state.service.is_none() && state.timer.is_none() {
            let all = [("command", &service, "ExecStart"), ("times", &timer_unit, "OnCalendar")];
            let all = all.into_iter().map(|(aspect, unit, name)| TimerDifference::Directive {
                aspect,
                from: None,
                to: directive(unit, name),
            });
            return ObjectPlan::Create(all.collect());
        }
        let mut found = Vec::new();
        let units = [
            ("service unit", &state.service, &service, &SERVICE_DIRECTIVES[..]),
            ("timer unit", &state.timer, &timer_unit, &TIMER_DIRECTIVES[..]),
        ];
        for (what, old, new, directives) in units {
            if old.as_ref() == Some(new) {
                continue;
            }
            let before = found.len();
            let old = old.as_deref().unwrap_or_default();
            for (name, aspect) in directives {
                let [from, to] = [old, new].map(|unit| directive(unit, name).map(without_notifier));
                if from != to {
                    found.push(TimerDifference::Directive { aspect, from, to });
                }
            }
            if found.len() == before {
                found.push(TimerDifference::Unit(what));
            }
        }
        if found.is_empty() && state.needs_reload {
            found.push(TimerDifference::Reload);
        }
        if !state.is_enabled {
            found.push(TimerDifference::Disabled);
        }
        if !state.is_active {
            found.push(TimerDifference::Inactive);
        }
        ObjectPlan::of_existing(found)
    }

    fn shown(&self) -> String {
        format!("the timer `{}`", self.name)
    }

    fn warnings(&self, state: &TimerState) -> Vec<String> {
        match &state.other_timer {
            Some(OtherUnit::Elsewhere(path)) if self.units.is_none() => {
                vec![format!(
                    "\"{}\" stays, because ccm did not write it; a `service` resource can stop and disable `{}.timer`",
                    path.display(),
                    self.name
                )]
            }
            _ => Vec::new(),
        }
    }

    fn explain(&self, state: &TimerState, failure: Failure) -> Failure {
        match &state.load_error {
            Some(error) => failure.because_of(format!("systemd refuses the timer: {error}")),
            None => failure,
        }
    }

    fn undescribed(&self, state: &TimerState) -> Undescribed {
        Undescribed::found(state)
    }

    fn describe(&self, state: &TimerState) -> Described {
        let ensure = if state.timer.is_some() { "present" } else { "absent" };
        Described::new(ensure).with("enabled", state.is_enabled).with("active", state.is_active)
    }
}

impl DesiredTimer {
    /// Returns the failure of a timer whose name is taken.
    fn taken(&self, other: &OtherUnit) -> Failure {
        let Self { name, units, .. } = self;
        let (OtherUnit::InPlace(path) | OtherUnit::Mask(path) | OtherUnit::Elsewhere(path)) = other;
        let shown = path.display();
        let unit = path.file_name().unwrap_or_default().display();
        let failure = Failure::conflict(match other {
            OtherUnit::InPlace(_) => format!("\"{shown}\" was not written by ccm"),
            OtherUnit::Mask(_) => format!("the link \"{shown}\" masks the unit"),
            OtherUnit::Elsewhere(_) => {
                format!("the units of the timer `{name}` would replace \"{shown}\", which ccm did not write")
            }
        });
        let hint = match (other, units) {
            (OtherUnit::Mask(_), Some(_)) => {
                format!("run `systemctl unmask {unit}`, or give the timer another name")
            }
            (OtherUnit::InPlace(_), Some(_)) => {
                "give the timer another name, or remove the file by hand if nothing needs it".to_owned()
            }
            (OtherUnit::Elsewhere(_), _) => "give the timer another name".to_owned(),
            (_, None) => {
                format!("remove it by hand, or stop and disable `{unit}` with a `service` resource")
            }
        };
        failure.with_hint(hint).with_missing(MissingPrerequisite::Path(path.clone()))
    }
}

/// Directives that have a property.
const SERVICE_DIRECTIVES: [(&str, &str); 4] =
    [("ExecStart", "command"), ("User", "user"), ("OnFailure", "on_failure"), ("ExecStopPost", "on_failure")];
const TIMER_DIRECTIVES: [(&str, &str); 3] =
    [("OnCalendar", "times"), ("RandomizedDelaySec", "jitter"), ("Persistent", "persistent")];

#[cfg(test)]
mod tests;
