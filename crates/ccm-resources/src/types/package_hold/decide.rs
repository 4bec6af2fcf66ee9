//! The pure decision about a hold.

use std::time::Duration;

use ccm_engine::Described;
use ccm_model::{Failure, MissingPrerequisite};

use crate::parts::packages::quoted_names;
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

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
    /// Installed packages that provide the name, if it is not that of an installed package.
    pub providers: Vec<String>,
    /// Those of them that are held.
    pub held_providers: Vec<String>,
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

impl ObjectType for DesiredHold {
    type State = HoldState;
    type Difference = HeldVersion;
    type Effect = ();

    fn plan(&self, state: &HoldState) -> ObjectPlan<HeldVersion> {
        match (self.is_absent, state.is_held, &state.version) {
            (true, true, _) => ObjectPlan::Remove,
            (true, false, _) => ObjectPlan::Keep { exists: false },
            (false, true, _) => ObjectPlan::Keep { exists: true },
            (false, false, Some(version)) => ObjectPlan::Create(vec![HeldVersion(version.clone())]),
            (false, false, None) => {
                let name = &self.name;
                if !state.providers.is_empty() {
                    let by = quoted_names(&state.providers);
                    let message = format!("`{name}` is not installed, but provided by the installed {by}");
                    return ObjectPlan::Fail(
                        Failure::conflict(message).with_hint("name that package to hold it"),
                    );
                }
                let message = format!("package `{name}` is not installed, so it has no version to keep");
                let hint = format!("add a `package` resource for `{name}`");
                let missing = MissingPrerequisite::Package(name.clone());
                ObjectPlan::Fail(Failure::conflict(message).with_missing(missing).with_hint(hint))
            }
        }
    }

    fn shown(&self) -> String {
        format!("the hold of `{}`", self.name)
    }

    fn warnings(&self, state: &HoldState) -> Vec<String> {
        if !self.is_absent || state.held_providers.is_empty() {
            return Vec::new();
        }
        let (name, by) = (&self.name, quoted_names(&state.held_providers));
        vec![format!(
            "`{name}` is not installed, but provided by {by}, which is held: name that package to release it"
        )]
    }

    fn describe(&self, state: &HoldState) -> Described {
        let ensure = if state.is_held { "present" } else { "absent" };
        Described::new(ensure).with("version", state.version.clone())
    }
}

#[cfg(test)]
mod tests;
