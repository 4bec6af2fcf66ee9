//! The pure decision about a timer.

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_model::{Failure, FailureKind, Fields, MissingPrerequisite};
use serde_json::Value;

use super::desired::DesiredTimer;
use crate::parts::systemd::units::directive;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectRule, decide, verify};

pub(crate) struct TimerKind;

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

impl ResourceKind for TimerKind {
    type Properties = DesiredTimer;
    type State = TimerState;
    type Effect = ();
    type Rule = ObjectRule;

    fn decide(timer: &DesiredTimer, state: &TimerState, _: Option<&Trigger>) -> Decision<ObjectRule> {
        decide("timer", plan(timer, state))
    }

    fn verify(timer: &DesiredTimer, state: &TimerState, (): &()) -> Result<Verified<ObjectRule>, Failure> {
        let verified = verify(&format!("the timer `{}`", timer.name), plan(timer, state));
        verified.map_err(|failure| match &state.load_error {
            Some(error) => failure.because_of(format!("systemd refuses the timer: {error}")),
            None => failure,
        })
    }

    fn describe(timer: &DesiredTimer, state: &TimerState, _: &str) -> Described {
        let ensure = if state.timer.is_some() { "present" } else { "absent" };
        Described {
            ensure: ensure.to_owned(),
            state: Fields::from([
                ("protocol", Value::from("io.choria.ccm.v1.resource.timer.state")),
                ("resource_type", Value::from("timer")),
                ("name", Value::from(timer.name.as_str())),
                ("ensure", Value::from(ensure)),
                ("enabled", Value::from(state.is_enabled)),
                ("active", Value::from(state.is_active)),
            ]),
        }
    }
}

/// Directives that have a property.
const SERVICE_DIRECTIVES: [(&str, &str); 2] = [("ExecStart", "command"), ("User", "user")];
const TIMER_DIRECTIVES: [(&str, &str); 3] =
    [("OnCalendar", "times"), ("RandomizedDelaySec", "jitter"), ("Persistent", "persistent")];

/// Plans the change of a timer.
pub(crate) fn plan(timer: &DesiredTimer, state: &TimerState) -> ObjectPlan<TimerDifference> {
    let Some(units) = &timer.units else {
        return if state.service.is_some() || state.timer.is_some() {
            ObjectPlan::Remove
        } else {
            ObjectPlan::Keep { exists: false }
        };
    };
    if let Some(user) = timer.user.as_ref().filter(|_| state.user_missing) {
        let failure = Failure::new(FailureKind::Conflict, format!("user `{user}` does not exist"));
        return ObjectPlan::Fail(
            failure
                .of_property("user")
                .with_missing(MissingPrerequisite::Principal(user.clone()))
                .with_hint(format!("add a `user` resource for `{user}`")),
        );
    }
    let (service, timer) = (units.service(&timer.name), units.timer(&timer.name));
    if state.service.is_none() && state.timer.is_none() {
        let all = [("command", &service, "ExecStart"), ("times", &timer, "OnCalendar")];
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
        ("timer unit", &state.timer, &timer, &TIMER_DIRECTIVES[..]),
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
    if found.is_empty() { ObjectPlan::Keep { exists: true } } else { ObjectPlan::Change(found) }
}

#[cfg(test)]
mod tests;
