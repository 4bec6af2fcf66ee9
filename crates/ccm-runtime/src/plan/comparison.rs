//! Comparison of a plan with another one, with the machine, and with a change that is about to be made. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

use super::document::{PlanDocument, PlannedMachine, PlannedManifest, PlannedOutcome, PlannedResource};

/// Difference of a plan from what is found now, or from another plan.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanDifference {
    /// The plan is for another machine.
    Machine {
        /// Machine of the plan.
        planned: String,
        /// This machine.
        found: String,
    },
    /// The digests are of another key: the plan was made with another state directory.
    Key,
    /// The plan is not as ccm wrote it.
    Edited,
    /// The plan has expired.
    Expired {
        /// Time at which it expired.
        at: String,
    },
    /// The plan is of a later time than that of the clock.
    NotYet {
        /// Time of the plan.
        issued: String,
    },
    /// The plan was used.
    Used,
    /// The plan is of another version of ccm.
    Version {
        /// Version of the plan.
        planned: String,
        /// This version.
        found: String,
    },
    /// The policy is another one.
    Policy,
    /// An option has another value.
    Options {
        /// Name of the option, without dashes.
        option: &'static str,
    },
    /// A manifest was added or removed.
    Manifest {
        /// Name of the manifest.
        manifest: String,
        /// Kind of the difference.
        presence: Presence,
    },
    /// A manifest is taken from another version of its source.
    Source {
        /// Name of the manifest.
        manifest: String,
        /// Version of the plan.
        planned: Option<String>,
        /// Version that is found.
        found: Option<String>,
    },
    /// A file that a manifest reads is another one.
    File {
        /// Name of the manifest.
        manifest: String,
        /// Path of the file.
        file: String,
        /// Kind of the difference.
        presence: Presence,
    },
    /// The data of a manifest differ.
    Data {
        /// Name of the manifest.
        manifest: String,
    },
    /// A fact that a manifest uses differs.
    Fact {
        /// Name of the manifest.
        manifest: String,
        /// Path of the fact.
        fact: String,
        /// Kind of the difference.
        presence: Presence,
    },
    /// A resource differs.
    Resource {
        /// Name of the manifest.
        manifest: String,
        /// Type and name.
        resource: String,
        /// Kind of the difference.
        difference: ResourceDifference,
    },
}

/// Kind of the difference of a part of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// The plan does not have it.
    New,
    /// Only the plan has it.
    Missing,
    /// It has another content.
    Changed,
}

/// Difference of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResourceDifference {
    /// The plan does not have the resource.
    New,
    /// Only the plan has the resource.
    Missing,
    /// The state is not the one that the plan was computed from.
    State {
        /// Outcome in the plan.
        planned: PlannedOutcome,
        /// Outcome that is found.
        found: PlannedOutcome,
    },
    /// The outcome is another one.
    Outcome {
        /// Outcome in the plan.
        planned: PlannedOutcome,
        /// Outcome that is found.
        found: PlannedOutcome,
    },
    /// The change is another one.
    Change,
    /// The change is known in one of the plans only.
    Open,
}

/// Machine and time at which a plan is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanCircumstances<'a> {
    /// This machine.
    pub(crate) machine: &'a PlannedMachine,
    /// This version of ccm.
    pub(crate) version: &'a str,
    /// The time.
    pub(crate) now: SystemTime,
    /// The seal is one of the key of this machine; `None` if the plan is of another key.
    pub(crate) is_sealed: Option<bool>,
    /// The plan was used.
    pub(crate) is_used: bool,
}

/// Reason for which a change that a run is about to make is not the one of its plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepDifference {
    /// The plan does not have the resource.
    NotInPlan,
    /// The plan does not change the resource.
    NotPlanned,
    /// The state is not the one that the plan was computed from.
    State,
    /// The change is another one.
    Change,
}

/// Digests of a change that a run is about to make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepDigests<'a> {
    /// Digest of the state.
    pub(crate) state: &'a str,
    /// Digest of the change.
    pub(crate) change: &'a str,
}

/// Returns the faults of a plan itself, whatever it would change.
pub(crate) fn faults(plan: &PlanDocument, at: PlanCircumstances<'_>) -> Vec<PlanDifference> {
    let mut found = origins(&plan.machine, at.machine, (&plan.ccm, at.version));
    if at.is_sealed == Some(false) {
        found.push(PlanDifference::Edited);
    }
    if plan.expires_at().is_none_or(|end| end <= at.now) {
        found.push(PlanDifference::Expired { at: plan.expires.clone() });
    }
    if plan.issued_at().is_none_or(|issued| at.now < issued) {
        found.push(PlanDifference::NotYet { issued: plan.issued.clone() });
    }
    if at.is_used {
        found.push(PlanDifference::Used);
    }
    found
}

/// Returns what differs between the machines and versions of two plans.
fn origins(
    planned: &PlannedMachine,
    found: &PlannedMachine,
    (version, found_version): (&str, &str),
) -> Vec<PlanDifference> {
    let mut differences = Vec::new();
    let shown = |machine: &PlannedMachine| format!("{} ({})", machine.name, machine.id);
    if planned.id != found.id {
        differences.push(PlanDifference::Machine { planned: shown(planned), found: shown(found) });
    } else if planned.key != found.key {
        differences.push(PlanDifference::Key);
    }
    if version != found_version {
        let (planned, found) = (version.to_owned(), found_version.to_owned());
        differences.push(PlanDifference::Version { planned, found });
    }
    differences
}

/// Returns everything in which two plans differ. Times are no difference.
pub fn compare(planned: &PlanDocument, found: &PlanDocument) -> Vec<PlanDifference> {
    let mut differences = origins(&planned.machine, &found.machine, (&planned.ccm, &found.ccm));
    differences.extend(differences_of_content(planned, found));
    differences
}

/// Returns in what the content of two plans differs, whatever the machine.
pub(crate) fn differences_of_content(planned: &PlanDocument, found: &PlanDocument) -> Vec<PlanDifference> {
    let mut differences = Vec::new();
    if planned.policy != found.policy {
        differences.push(PlanDifference::Policy);
    }
    let (options, now) = (&planned.options, &found.options);
    for (option, differs) in [
        ("only", options.only != now.only),
        ("skip", options.skip != now.skip),
        ("fail-on-error", options.fail_on_error != now.fail_on_error),
    ] {
        if differs {
            differences.push(PlanDifference::Options { option });
        }
    }
    let by_name = |plan: &'_ PlanDocument| -> Vec<String> {
        plan.manifests.iter().map(|manifest| manifest.name.clone()).collect()
    };
    let (planned_names, found_names) = (by_name(planned), by_name(found));
    let presence = |names: &[String], others: &[String], presence| {
        let missing: Vec<_> = names.iter().filter(|name| !others.contains(name)).cloned().collect();
        missing.into_iter().map(move |manifest| PlanDifference::Manifest { manifest, presence })
    };
    differences.extend(presence(&planned_names, &found_names, Presence::Missing));
    differences.extend(presence(&found_names, &planned_names, Presence::New));
    let is_reordered = planned_names != found_names
        && planned_names.iter().collect::<BTreeSet<_>>() == found_names.iter().collect();
    if is_reordered {
        differences.push(PlanDifference::Options { option: "order of the manifests" });
    }
    for manifest in &planned.manifests {
        if let Some(other) = found.manifests.iter().find(|other| other.name == manifest.name) {
            compare_manifest(manifest, other, &mut differences);
        }
    }
    differences
}

fn compare_manifest(
    planned: &PlannedManifest,
    found: &PlannedManifest,
    differences: &mut Vec<PlanDifference>,
) {
    let manifest = || planned.name.clone();
    if planned.source != found.source {
        let shown = |of: &PlannedManifest| of.source.as_ref().map(shown_source);
        let (planned, found) = (shown(planned), shown(found));
        differences.push(PlanDifference::Source { manifest: manifest(), planned, found });
    }
    for (file, presence) in compare_digests(&planned.files, &found.files) {
        differences.push(PlanDifference::File { manifest: manifest(), file, presence });
    }
    if planned.data != found.data {
        differences.push(PlanDifference::Data { manifest: manifest() });
    }
    for (fact, presence) in compare_digests(&planned.facts, &found.facts) {
        differences.push(PlanDifference::Fact { manifest: manifest(), fact, presence });
    }
    let mut others: BTreeMap<&str, Vec<&PlannedResource>> = BTreeMap::new();
    for resource in found.resources.iter().rev() {
        others.entry(&resource.id).or_default().push(resource);
    }
    let mut add = |resource: &PlannedResource, difference| {
        let resource = resource.id.clone();
        differences.push(PlanDifference::Resource { manifest: planned.name.clone(), resource, difference });
    };
    for resource in &planned.resources {
        match others.get_mut(&*resource.id).and_then(Vec::pop) {
            Some(other) => {
                if let Some(difference) = compare_resource(resource, other) {
                    add(resource, difference);
                }
            }
            None => add(resource, ResourceDifference::Missing),
        }
    }
    for resource in &found.resources {
        let left =
            others.get(&*resource.id).is_some_and(|left| left.iter().any(|one| std::ptr::eq(*one, resource)));
        if left {
            add(resource, ResourceDifference::New);
        }
    }
}

/// Returns the name of a version of a source with its digest.
pub fn shown_source(version: &ccm_model::SourceVersion) -> String {
    let digest = version.digest.get(..12).unwrap_or(&version.digest);
    format!("{} {} ({digest})", version.name, version.version)
}

fn compare_digests(
    planned: &BTreeMap<String, String>,
    found: &BTreeMap<String, String>,
) -> Vec<(String, Presence)> {
    let names: BTreeSet<&String> = planned.keys().chain(found.keys()).collect();
    let presence = |name: &String| match (planned.get(name), found.get(name)) {
        (Some(one), Some(other)) if one == other => None,
        (Some(_), Some(_)) => Some(Presence::Changed),
        (Some(_), None) => Some(Presence::Missing),
        (None, _) => Some(Presence::New),
    };
    names.into_iter().filter_map(|name| Some((name.clone(), presence(name)?))).collect()
}

/// Returns how a resource differs between two plans.
fn compare_resource(planned: &PlannedResource, found: &PlannedResource) -> Option<ResourceDifference> {
    let outcomes = (planned.outcome, found.outcome);
    if planned.state != found.state && planned.state.is_some() && found.state.is_some() {
        return Some(ResourceDifference::State { planned: outcomes.0, found: outcomes.1 });
    }
    if outcomes.0 != outcomes.1 {
        return Some(ResourceDifference::Outcome { planned: outcomes.0, found: outcomes.1 });
    }
    if planned.open.is_some() != found.open.is_some() || planned.state.is_some() != found.state.is_some() {
        return Some(ResourceDifference::Open);
    }
    (planned.change != found.change || planned.needs_approval != found.needs_approval)
        .then_some(ResourceDifference::Change)
}

/// Checks a change that a run is about to make. With `is_affected`, an earlier change of the same plan may have changed the
/// state since, so that only the plan of a change is needed.
pub(crate) fn check_step(
    planned: Option<&PlannedResource>,
    found: StepDigests<'_>,
    is_affected: bool,
) -> Result<(), StepDifference> {
    let planned = planned.ok_or(StepDifference::NotInPlan)?;
    if planned.open.is_some() {
        return Ok(());
    }
    if !planned.is_change() {
        return Err(StepDifference::NotPlanned);
    }
    if is_affected {
        return Ok(());
    }
    if planned.state.as_deref() != Some(found.state) {
        return Err(StepDifference::State);
    }
    if planned.change.as_deref() != Some(found.change) {
        return Err(StepDifference::Change);
    }
    Ok(())
}

impl PlanDifference {
    /// Returns the name for programs, which stays the same when the text changes.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Machine { .. } => "machine",
            Self::Key => "key",
            Self::Edited => "edited",
            Self::Expired { .. } => "expired",
            Self::NotYet { .. } => "not_yet",
            Self::Used => "used",
            Self::Version { .. } => "version",
            Self::Policy => "policy",
            Self::Options { .. } => "options",
            Self::Manifest { .. } => "manifest",
            Self::Source { .. } => "source",
            Self::File { .. } => "file",
            Self::Data { .. } => "data",
            Self::Fact { .. } => "fact",
            Self::Resource { .. } => "resource",
        }
    }
}

#[cfg(test)]
mod tests;
