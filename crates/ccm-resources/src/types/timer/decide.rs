//! The pure decision about a timer.

use ccm_engine::Described;
use ccm_model::{Failure, MissingPrerequisite};

use super::desired::DesiredTimer;
use crate::parts::systemd::units::directive;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// State of a timer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimerState {
    /// Text of the service; `None` if it does not exist.
    pub service: Option<String>,
    pub timer: Option<String>,
    pub is_enabled: bool,
    pub is_active: bool,
    /// True if systemd has not read the present units.
    pub needs_reload: bool,
    /// True if the user of the command does not exist.
    pub user_missing: bool,
    /// Error that systemd reports for the timer.
    pub load_error: Option<String>,
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
            return if state.service.is_some() || state.timer.is_some() {
                ObjectPlan::Remove
            } else {
                ObjectPlan::Keep { exists: false }
            };
        };
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
                let (from, to) = (directive(old, name), directive(new, name));
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

    fn explain(&self, state: &TimerState, failure: Failure) -> Failure {
        match &state.load_error {
            Some(error) => failure.because_of(format!("systemd refuses the timer: {error}")),
            None => failure,
        }
    }

    fn describe(&self, state: &TimerState) -> Described {
        let ensure = if state.timer.is_some() { "present" } else { "absent" };
        Described::new(ensure).with("enabled", state.is_enabled).with("active", state.is_active)
    }
}

/// Directives that have a property.
const SERVICE_DIRECTIVES: [(&str, &str); 2] = [("ExecStart", "command"), ("User", "user")];
const TIMER_DIRECTIVES: [(&str, &str); 3] =
    [("OnCalendar", "times"), ("RandomizedDelaySec", "jitter"), ("Persistent", "persistent")];

#[cfg(test)]
mod tests;
