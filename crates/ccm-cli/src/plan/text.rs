//! Plans and their differences as text and as documents.

use ccm_runtime::model::{EntryAction, escape_control};
use ccm_runtime::plan::{
    PlanDifference, PlanDocument, PlanSignature, PlannedOutcome, PlannedResource, Presence, ReadPlan,
    ResourceDifference, shown_source,
};
use ccm_runtime::{Finding, error_layers};
use serde_json::{Value, json};

/// Returns a difference as a clause.
pub(crate) fn described(difference: &PlanDifference) -> String {
    match difference {
        PlanDifference::Machine { planned, found } => {
            format!("it is for another machine: {planned}, and this is {found}")
        }
        PlanDifference::Key => "it was made with another state directory of this machine".to_owned(),
        PlanDifference::Edited => "it was edited: it is not as ccm wrote it".to_owned(),
        PlanDifference::Expired { at } => format!("it expired at {at}"),
        PlanDifference::NotYet { issued } => {
            format!("it is of {issued}, which the clock of this machine has not reached")
        }
        PlanDifference::Used => "it was used: a plan is applied once".to_owned(),
        PlanDifference::Version { planned, found } => format!("it is of ccm {planned}, and this is {found}"),
        PlanDifference::Policy => "the policy is another one".to_owned(),
        PlanDifference::Options { option } if option.contains(' ') => format!("the {option} is another one"),
        PlanDifference::Options { option } => format!("`--{option}` is given differently"),
        PlanDifference::Manifest { manifest, presence: Presence::New } => {
            format!("the manifest {manifest} is not in the plan")
        }
        PlanDifference::Manifest { manifest, .. } => format!("the manifest {manifest} is only in the plan"),
        PlanDifference::Source { manifest, planned, found } => {
            let shown = |source: &Option<String>| source.clone().unwrap_or_else(|| "no source".to_owned());
            format!("{manifest} was taken from {}, and is from {} now", shown(planned), shown(found))
        }
        PlanDifference::File { manifest, file, presence } => {
            let what = if file == manifest {
                "the manifest".to_owned()
            } else {
                format!("{file}, which {manifest} uses,")
            };
            match presence {
                Presence::Changed if file == manifest => format!("the manifest {manifest} was changed"),
                Presence::Changed => format!("{what} was changed"),
                Presence::New => format!("{what} is new"),
                Presence::Missing => format!("{what} is not used any more"),
            }
        }
        PlanDifference::Data { manifest } => format!("the data of {manifest} differ"),
        PlanDifference::Fact { manifest, fact, .. } => {
            format!("the fact `{fact}`, which {manifest} uses, differs")
        }
        PlanDifference::Resource { resource, difference, .. } => of_resource(resource, *difference),
        _ => "it differs in a part that this version of ccm does not know".to_owned(),
    }
}

fn of_resource(resource: &str, difference: ResourceDifference) -> String {
    let moved = |planned: PlannedOutcome, found: PlannedOutcome| {
        if planned == found {
            String::new()
        } else {
            format!(" (planned: {}; now: {})", planned.word(), found.word())
        }
    };
    match difference {
        ResourceDifference::New => format!("{resource} is not in the plan"),
        ResourceDifference::Missing => format!("{resource} is only in the plan"),
        ResourceDifference::State { planned, found } => {
            format!("the state of {resource} has changed{}", moved(planned, found))
        }
        ResourceDifference::Outcome { planned, found } => {
            format!("{resource} has another outcome{}", moved(planned, found))
        }
        ResourceDifference::Change => format!("the change of {resource} is another one"),
        ResourceDifference::Open => format!("the change of {resource} is known in one case only"),
    }
}

/// Returns differences as findings for programs.
pub(crate) fn findings(differences: &[PlanDifference]) -> Vec<Finding> {
    let finding = |difference| Finding::of_plan(PlanDifference::name(difference), described(difference));
    differences.iter().map(finding).collect()
}

/// Returns differences as lines.
pub(crate) fn lines(differences: &[PlanDifference]) -> Vec<String> {
    differences.iter().map(described).collect()
}

/// Returns differences as a part of a document.
pub(super) fn document_of(differences: &[PlanDifference]) -> Value {
    let entry = |difference: &PlanDifference| {
        let (manifest, resource) = match difference {
            PlanDifference::Resource { manifest, resource, .. } => (Some(manifest), Some(resource)),
            PlanDifference::Manifest { manifest, .. }
            | PlanDifference::Source { manifest, .. }
            | PlanDifference::File { manifest, .. }
            | PlanDifference::Data { manifest }
            | PlanDifference::Fact { manifest, .. } => (Some(manifest), None),
            _ => (None, None),
        };
        json!({ "kind": difference.name(), "manifest": manifest, "resource": resource, "message": described(difference) })
    };
    differences.iter().map(entry).collect()
}

/// Returns a plan for people, with what is wrong about it here. All of it is shown, because somebody may approve it.
pub(crate) fn text(plan: &ReadPlan, faults: &[PlanDifference]) -> String {
    let PlanDocument { id, ccm, machine, issued, expires, options, manifests, .. } = &plan.document;
    let mut text = format!(
        "plan {} for {} ({}), made by ccm {}\nissued {issued}, expires {expires}\n",
        id.get(..8).unwrap_or(id),
        escape_control(&machine.name),
        escape_control(&machine.id),
        escape_control(ccm),
    );
    text += &format!("{}\n", signature(&plan.signature));
    for fault in faults {
        text += &format!("does not hold here: {}\n", escape_control(&described(fault)));
    }
    for (name, values) in [("only", &options.only), ("skip", &options.skip)] {
        for value in values {
            text += &format!("--{name} {}\n", escape_control(value));
        }
    }
    if options.fail_on_error {
        text += "--fail-on-error\n";
    }
    for manifest in manifests {
        text += &format!("\n{}", escape_control(&manifest.name));
        if let Some(version) = &manifest.source {
            text += &format!(", from {}", escape_control(&shown_source(version)));
        }
        text.push('\n');
        let shown = manifest.resources.iter().filter(|resource| {
            resource.is_change() || resource.open.is_some() || resource.outcome == PlannedOutcome::Failed
        });
        for resource in shown {
            text += &of_planned(resource);
        }
        text += &counts(&manifest.resources);
    }
    text
}

/// Returns what the signature of a plan says.
pub(crate) fn signature(signature: &PlanSignature) -> String {
    match signature {
        PlanSignature::Missing => "not approved".to_owned(),
        PlanSignature::Approved { by } => format!("approved by {}", escape_control(by)),
        PlanSignature::Refused(error) => {
            let reason = error_layers(&**error).join(": ");
            format!("not approved: the signature does not count: {}", escape_control(&reason))
        }
    }
}

fn of_planned(resource: &PlannedResource) -> String {
    let sign = match resource.outcome {
        PlannedOutcome::Refresh => '>',
        PlannedOutcome::Failed => 'x',
        _ => '~',
    };
    let message = resource.message.as_deref().or(resource.error.as_deref());
    let message = message.filter(|text| !text.is_empty() && resource.open.is_none());
    let mut message = message.unwrap_or_else(|| resource.outcome.word()).to_owned();
    // The command, which an approver has to see.
    let detail = resource.action.as_ref().and_then(|action| action.detail.as_deref());
    if let Some(detail) = detail.filter(|detail| !message.contains(detail)) {
        message += &format!(": {detail}");
    }
    let mut text = format!("  {sign} {}   {}", escape_control(&resource.id), escape_control(&message));
    let reason = resource.reason.as_deref().filter(|reason| !reason.is_empty() && resource.open.is_none());
    if let Some(reason) = reason {
        text += &format!(" ({})", escape_control(reason));
    }
    text.push('\n');
    for EntryAction { path, verb, .. } in resource.action.iter().flat_map(|action| &action.entries) {
        text += &format!("      {} {}\n", verb.infinitive(), escape_control(path));
    }
    if let Some(open) = &resource.open {
        text += &format!(
            "      open: {}\n",
            escape_control(if open.is_empty() { "not known before the run" } else { open })
        );
    }
    if resource.needs_approval {
        text += "      the policy asks for an approval\n";
    }
    for line in resource.diff.as_deref().unwrap_or_default().lines() {
        text += &format!("      {}\n", escape_control(line));
    }
    text
}

fn counts(resources: &[PlannedResource]) -> String {
    let count = |outcome| resources.iter().filter(|resource| resource.outcome == outcome).count();
    let of = |outcome: PlannedOutcome| {
        let count = count(outcome);
        (count > 0).then(|| format!("{count} {}", outcome.word()))
    };
    let outcomes = [
        PlannedOutcome::Change,
        PlannedOutcome::Refresh,
        PlannedOutcome::Failed,
        PlannedOutcome::Skipped,
        PlannedOutcome::Unchanged,
    ];
    let parts: Vec<String> = outcomes.into_iter().filter_map(of).collect();
    let noun = if resources.len() == 1 { "resource" } else { "resources" };
    format!("  {} {noun}: {}\n", resources.len(), parts.join(", "))
}
