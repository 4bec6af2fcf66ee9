//! The pure decision about a hold.

use std::time::Duration;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_model::{Failure, FailureKind, Fields};
use serde_json::Value;

use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectRule, decide, verify};

pub(crate) struct HoldKind;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DesiredHold {
    /// Name of the package.
    pub name: String,
    pub is_absent: bool,
    pub lock_timeout: Duration,
}

/// State of a hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HoldState {
    /// Version of the package in its displayed form; `None` if it is not installed.
    pub version: Option<String>,
    pub is_held: bool,
}

/// Version that a new hold keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeldVersion(String);

impl ObjectDifference for HeldVersion {
    fn aspect(&self) -> &'static str {
        "version"
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        (None, Some(self.0.clone()))
    }
}

impl ResourceKind for HoldKind {
    type Properties = DesiredHold;
    type State = HoldState;
    type Effect = ();
    type Rule = ObjectRule;

    fn decide(hold: &DesiredHold, state: &HoldState, _: Option<&Trigger>) -> Decision<ObjectRule> {
        decide("hold", plan(hold, state))
    }

    fn verify(hold: &DesiredHold, state: &HoldState, (): &()) -> Result<Verified<ObjectRule>, Failure> {
        verify(&format!("the hold of `{}`", hold.name), plan(hold, state))
    }

    fn describe(hold: &DesiredHold, state: &HoldState, _: &str) -> Described {
        let ensure = if state.is_held { "present" } else { "absent" };
        Described {
            ensure: ensure.to_owned(),
            state: Fields::from([
                ("protocol", Value::from("io.choria.ccm.v1.resource.package_hold.state")),
                ("resource_type", Value::from("package_hold")),
                ("name", Value::from(hold.name.as_str())),
                ("ensure", Value::from(ensure)),
                ("version", Value::from(state.version.clone())),
            ]),
        }
    }
}

/// Plans the change of a hold.
pub(crate) fn plan(hold: &DesiredHold, state: &HoldState) -> ObjectPlan<HeldVersion> {
    match (hold.is_absent, state.is_held, &state.version) {
        (true, true, _) => ObjectPlan::Remove,
        (true, false, _) => ObjectPlan::Keep { exists: false },
        (false, true, _) => ObjectPlan::Keep { exists: true },
        (false, false, Some(version)) => ObjectPlan::Create(vec![HeldVersion(version.clone())]),
        (false, false, None) => {
            let name = &hold.name;
            let message = format!("package `{name}` is not installed, so it has no version to keep");
            let hint = format!("add a `package` resource for `{name}`");
            ObjectPlan::Fail(Failure::new(FailureKind::Conflict, message).with_hint(hint))
        }
    }
}

#[cfg(test)]
mod tests;
