//! Decision and verification of objects that exist or not, with properties that differ: accounts, repositories, timers.

use std::fmt;

use ccm_engine::{Decision, Rule, Verified};
use ccm_model::{Action, Failure, FailureKind, Resource, Verb, joined};

/// Change of an object from its state to the desired one. `D` is a difference of the type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ObjectPlan<D> {
    Keep {
        exists: bool,
    },
    /// The differences describe the new object.
    Create(Vec<D>),
    Change(Vec<D>),
    Remove,
    Fail(Failure),
}

/// Difference between an object and its desired state.
pub(crate) trait ObjectDifference {
    /// Name of what differs, such as `shell`.
    fn aspect(&self) -> &'static str;

    /// Value before and after; `None` if it is not shown.
    fn values(&self) -> (Option<String>, Option<String>);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ObjectRule {
    AsDesired,
    Absent,
    /// The object does not exist.
    Missing,
    /// The object exists, and is to be absent.
    Present,
    /// What differs.
    Differs(Vec<&'static str>),
    Conflict,
}

impl Rule for ObjectRule {
    fn name(&self) -> &'static str {
        match self {
            Self::AsDesired => "as_desired",
            Self::Absent => "absent",
            Self::Missing => "missing",
            Self::Present => "present",
            Self::Differs(_) => "differs",
            Self::Conflict => "conflict",
        }
    }
}

impl fmt::Display for ObjectRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::AsDesired => "it is in the desired state",
            Self::Absent | Self::Missing => "it does not exist",
            Self::Present => "it exists",
            Self::Differs(aspects) => return write!(formatter, "it differs in {}", joined(aspects, "and")),
            Self::Conflict => "it cannot be brought to the desired state",
        })
    }
}

/// Turns a plan into a decision. `what` is the name of the type in messages.
pub(crate) fn decide<D: ObjectDifference>(what: &str, plan: ObjectPlan<D>) -> Decision<ObjectRule> {
    let change = |reason, message: String, action| Decision::Change {
        reason,
        noop_message: format!("Would have {message}"),
        action,
        diff: None,
    };
    match plan {
        ObjectPlan::Keep { exists: true } => Decision::Keep { reason: ObjectRule::AsDesired },
        ObjectPlan::Keep { exists: false } => Decision::Keep { reason: ObjectRule::Absent },
        ObjectPlan::Fail(failure) => Decision::Fail { reason: ObjectRule::Conflict, failure },
        ObjectPlan::Create(differences) => {
            let details = differences.iter().map(|difference| match difference.values().1 {
                Some(value) => format!("{} {value}", difference.aspect()),
                None => difference.aspect().to_owned(),
            });
            let details: Vec<String> = details.collect();
            let action = Action::new(Verb::Create);
            let action = if details.is_empty() { action } else { action.of(details.join(", ")) };
            change(ObjectRule::Missing, format!("created the {what}"), action)
        }
        ObjectPlan::Change(differences) => {
            let aspects: Vec<&'static str> = differences.iter().map(ObjectDifference::aspect).collect();
            let action = differences.iter().fold(Action::new(Verb::Change), |action, difference| {
                let (from, to) = difference.values();
                action.changing(difference.aspect(), from, to)
            });
            let message = format!("changed {}", joined(&aspects, "and"));
            change(ObjectRule::Differs(aspects), message, action)
        }
        ObjectPlan::Remove => {
            change(ObjectRule::Present, format!("removed the {what}"), Action::new(Verb::Remove))
        }
    }
}

/// Verifies an object by its plan after a change. `shown` is the object in messages.
pub(crate) fn verify<D: ObjectDifference>(
    shown: &str,
    plan: ObjectPlan<D>,
) -> Result<Verified<ObjectRule>, Failure> {
    let rule = match plan {
        ObjectPlan::Keep { .. } => return Ok(Verified::Changed),
        ObjectPlan::Fail(failure) => {
            let failure = failure.because_of(format!("{shown} is not in the desired state after the change"));
            return Err(Failure { kind: FailureKind::Verification, ..failure });
        }
        ObjectPlan::Create(_) => ObjectRule::Missing,
        ObjectPlan::Change(differences) => {
            ObjectRule::Differs(differences.iter().map(ObjectDifference::aspect).collect())
        }
        ObjectPlan::Remove => ObjectRule::Present,
    };
    Err(Failure::new(FailureKind::Verification, rule.to_string())
        .because_of(format!("{shown} is not in the desired state after the change")))
}

/// Returns `true` if a resource is to be absent.
pub(crate) fn is_absent(resource: &Resource) -> bool {
    resource.ensure.as_ref().is_some_and(|ensure| ensure.value == "absent")
}
