//! Decision and verification of objects that exist or not, with properties that differ: accounts, repositories, timers.

use std::fmt;
use std::marker::PhantomData;

use ccm_engine::{Decision, Described, ResourceKind, Rule, Trigger, Undescribed, Verified};
use ccm_model::{Action, Failure, FailureKind, Verb, joined};

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

impl<D> ObjectPlan<D> {
    /// Returns the plan for an object that exists.
    pub(crate) fn of_existing(differences: Vec<D>) -> Self {
        if differences.is_empty() { Self::Keep { exists: true } } else { Self::Change(differences) }
    }

    /// Returns the differences to make, for a new object as well.
    pub(crate) fn differences(&self) -> &[D] {
        match self {
            Self::Create(differences) | Self::Change(differences) => differences,
            Self::Keep { .. } | Self::Remove | Self::Fail(_) => &[],
        }
    }

    /// Returns the differences to make; `None` if there are none. Only for an object that is never removed.
    pub(crate) fn differences_of_permanent(self) -> Result<Option<Vec<D>>, Failure> {
        match self {
            Self::Keep { .. } | Self::Remove => Ok(None),
            Self::Fail(failure) => Err(failure),
            Self::Create(differences) | Self::Change(differences) => Ok(Some(differences)),
        }
    }
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

/// Object of this machine that exists or not, as it is desired.
pub(crate) trait ObjectType: 'static {
    type State;
    type Difference: ObjectDifference;
    /// Result of an execution that can't be read from the system afterwards.
    type Effect;

    /// Plans the change from a state to the desired one.
    fn plan(&self, state: &Self::State) -> ObjectPlan<Self::Difference>;

    /// Returns the object as messages name it, such as "group `adm`".
    fn shown(&self) -> String;

    /// Describes a state for events.
    fn describe(&self, state: &Self::State) -> Described;

    /// Returns what [`ResourceKind::undescribed`] does.
    fn undescribed(&self, state: &Self::State) -> Undescribed {
        let _ = state;
        Undescribed::default()
    }

    /// Returns warnings about a state, before a change.
    fn warnings(&self, state: &Self::State) -> Vec<String> {
        let _ = state;
        Vec::new()
    }

    /// Returns what is removed together with the object, for reports.
    fn removed_with(&self, state: &Self::State) -> Option<String> {
        let _ = state;
        None
    }

    /// Adds what the state says about the failure of a verification.
    fn explain(&self, state: &Self::State, failure: Failure) -> Failure {
        let _ = state;
        failure
    }
}

/// Typed side of the type of an object.
pub(crate) struct Object<T>(PhantomData<T>);

impl<T: ObjectType> ResourceKind for Object<T> {
    type Properties = T;
    type State = T::State;
    type Effect = T::Effect;
    type Rule = ObjectRule;

    fn decide(object: &T, state: &T::State, _: Option<&Trigger>) -> Decision<ObjectRule> {
        let change = |reason, action| Decision::Change { reason, action, diff: None };
        match object.plan(state) {
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
                change(ObjectRule::Missing, action)
            }
            ObjectPlan::Change(differences) => {
                let aspects = aspects(&differences);
                let action = differences.iter().fold(Action::new(Verb::Change), |action, difference| {
                    let (from, to) = difference.values();
                    action.changing(difference.aspect(), from, to)
                });
                change(ObjectRule::Differs(aspects), action)
            }
            ObjectPlan::Remove => {
                let action = Action::new(Verb::Remove);
                let with = object.removed_with(state);
                change(ObjectRule::Present, with.into_iter().fold(action, Action::of))
            }
        }
    }

    fn verify(object: &T, state: &T::State, _: &T::Effect) -> Result<Verified<ObjectRule>, Failure> {
        let failed = |rule: ObjectRule| Failure::new(FailureKind::Verification, rule.to_string());
        let failure = match object.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(Verified::Changed),
            ObjectPlan::Fail(failure) => Failure { kind: FailureKind::Verification, ..failure },
            ObjectPlan::Create(_) => failed(ObjectRule::Missing),
            ObjectPlan::Change(differences) => failed(ObjectRule::Differs(aspects(&differences))),
            ObjectPlan::Remove => failed(ObjectRule::Present),
        };
        let message = format!("{} is not in the desired state after the change", object.shown());
        Err(object.explain(state, failure.because_of(message)))
    }

    fn warnings(object: &T, state: &T::State) -> Vec<String> {
        object.warnings(state)
    }

    fn describe(object: &T, state: &T::State, _: &str) -> Described {
        object.describe(state)
    }

    fn undescribed(object: &T, state: &T::State) -> Undescribed {
        object.undescribed(state)
    }
}

/// Returns a flag as messages show it.
pub(crate) fn yes_or_no(flag: bool) -> String {
    if flag { "yes" } else { "no" }.to_owned()
}

fn aspects<D: ObjectDifference>(differences: &[D]) -> Vec<&'static str> {
    differences.iter().map(ObjectDifference::aspect).collect()
}
