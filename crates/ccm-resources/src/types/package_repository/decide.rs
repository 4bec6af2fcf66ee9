//! The pure decision about a repository.

use ccm_engine::{Described, Undescribed};
use ccm_model::Failure;

use super::desired::DesiredRepository;
use super::rivals::{Rival, contradiction};
use crate::support::object_plan::{ObjectDifference, ObjectPlan, ObjectType};

/// State of a repository, and what the format of the package tool makes of the desired one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RepositoryState {
    /// Text of the definition; `None` if there is none.
    pub definition: Option<String>,
    /// Text of the key file; `None` if there is none.
    pub key: Option<String>,
    /// Fingerprints of the key file; empty if it has no readable key.
    pub fingerprints: Vec<String>,
    pub desired_definition: String,
    /// Text that the key file is to have; `None` if the key is downloaded, or if there is none.
    pub desired_key: Option<String>,
    /// Fingerprints that the key file is to have, if they are known.
    pub desired_fingerprints: Vec<String>,
    /// Name of a field, and of the aspect that reports show, in the format of the package tool.
    pub aspects: &'static [(&'static str, &'static str)],
    pub separator: &'static str,
    /// Definitions of the same repository in other files.
    pub rivals: Vec<Rival>,
    /// Clause on what the package tool does with definitions that contradict one another.
    pub consequence: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RepositoryDifference {
    Field {
        aspect: &'static str,
        from: Option<String>,
        to: Option<String>,
    },
    /// The definition differs elsewhere.
    Definition,
    Key {
        from: Option<String>,
        to: Option<String>,
    },
}

impl ObjectDifference for RepositoryDifference {
    fn aspect(&self) -> &'static str {
        match self {
            Self::Field { aspect, .. } => aspect,
            Self::Definition => "definition",
            Self::Key { .. } => "key",
        }
    }

    fn values(&self) -> (Option<String>, Option<String>) {
        let shown = |value: &Option<String>| Some(value.clone().unwrap_or_else(|| "none".to_owned()));
        match self {
            Self::Field { from, to, .. } | Self::Key { from, to } => (shown(from), shown(to)),
            Self::Definition => (None, None),
        }
    }
}

impl ObjectType for DesiredRepository {
    type State = RepositoryState;
    type Difference = RepositoryDifference;
    type Effect = ();

    fn plan(&self, state: &RepositoryState) -> ObjectPlan<RepositoryDifference> {
        if self.is_absent {
            return if state.definition.is_some() || state.key.is_some() {
                ObjectPlan::Remove
            } else {
                ObjectPlan::Keep { exists: false }
            };
        }
        if let Some(failure) = contradiction(&state.rivals, state.consequence) {
            return ObjectPlan::Fail(failure);
        }
        let wrong = state.desired_fingerprints.iter().find(|found| !self.fingerprints.contains(found));
        if let Some(found) = wrong.filter(|_| !self.fingerprints.is_empty()) {
            let message = format!("the key has the fingerprint {found}, which `fingerprint` does not name");
            return ObjectPlan::Fail(
                Failure::conflict(message)
                    .of_property("fingerprint")
                    .with_hint("compare the key with the one that the publisher names"),
            );
        }
        let mut found = fields(state);
        if has_other_key(self, state) {
            let shown = |all: &[String]| (!all.is_empty()).then(|| all.join(", "));
            let to = shown(&state.desired_fingerprints).or_else(|| shown(&self.fingerprints));
            found.push(RepositoryDifference::Key { from: shown(&state.fingerprints), to });
        }
        match (&state.definition, found.is_empty()) {
            (None, _) => ObjectPlan::Create(found),
            (Some(_), true) => ObjectPlan::Keep { exists: true },
            (Some(_), false) => ObjectPlan::Change(found),
        }
    }

    fn shown(&self) -> String {
        format!("the repository `{}`", self.name)
    }

    fn warnings(&self, state: &RepositoryState) -> Vec<String> {
        state.rivals.iter().filter_map(Rival::warning).collect()
    }

    fn undescribed(&self, state: &RepositoryState) -> Undescribed {
        Undescribed::found(&(&state.definition, &state.key))
            .desired(&(&state.desired_definition, &state.desired_key))
    }

    fn describe(&self, state: &RepositoryState) -> Described {
        let ensure = if state.definition.is_some() { "present" } else { "absent" };
        Described::new(ensure).with("fingerprints", state.fingerprints.clone())
    }
}

/// Returns `true` if the key file is not the desired one.
pub(crate) fn has_other_key(repository: &DesiredRepository, state: &RepositoryState) -> bool {
    match (&repository.key, &state.desired_key) {
        (None, _) => false,
        (Some(_), Some(desired)) => state.key.as_ref() != Some(desired),
        (Some(_), None) => {
            let is_known = |found| repository.fingerprints.contains(found);
            state.fingerprints.is_empty() || !state.fingerprints.iter().all(is_known)
        }
    }
}

fn fields(state: &RepositoryState) -> Vec<RepositoryDifference> {
    if state.definition.as_ref() == Some(&state.desired_definition) {
        return Vec::new();
    }
    let old = state.definition.as_deref().unwrap_or_default();
    let value = |text: &str, name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(state.separator));
        lines.find(|(found, _)| *found == name).map(|(_, value)| value.to_owned())
    };
    let differing = state.aspects.iter().filter_map(|(name, aspect)| {
        let (from, to) = (value(old, name), value(&state.desired_definition, name));
        (from != to).then_some(RepositoryDifference::Field { aspect, from, to })
    });
    let found: Vec<RepositoryDifference> = differing.collect();
    if found.is_empty() { vec![RepositoryDifference::Definition] } else { found }
}

#[cfg(test)]
mod tests;
