//! Runs that make exactly the changes of a plan.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

use ccm_engine::{Decided, DecisionWitness};
use ccm_graph::Graph;
use ccm_model::{ClaimKind, Event, Failure, FailureKind, Outcome, ResourceIndex};

use super::comparison::{StepDifference, StepDigests, check_step};
use super::document::PlannedResource;
use super::key::PlanKey;
use super::recording::{change_digest, ids, state_digest};
use super::store::ReadPlan;
use crate::manifest::LoadedManifest;

/// Guard of a run that follows a plan: a change that is not the one of the plan fails.
pub(crate) struct PlanGuard {
    key: PlanKey,
    /// Resources of the plan, by their names without secrets.
    planned: HashMap<String, Vec<PlannedResource>>,
    /// Names of the resources of the manifest, secrets included, and without secrets.
    ids: Vec<(String, String)>,
    graph: Graph,
    claims: Vec<Vec<(ClaimKind, String)>>,
    /// Positions of the resources that the run has changed, or may have changed.
    changed: RefCell<BTreeSet<usize>>,
    /// Name of the approval of the plan, and the approver.
    pub(crate) approval: Option<(String, String)>,
}

impl PlanGuard {
    /// Builds the guard of the run of a manifest.
    pub(crate) fn new(key: PlanKey, plan: &ReadPlan, manifest: &LoadedManifest<'_>) -> Rc<Self> {
        let mut planned: HashMap<String, Vec<PlannedResource>> = HashMap::new();
        let name = manifest.session.secrets.redact(manifest.input.full_name());
        let of_manifest = plan.document.manifests.iter().filter(|planned| planned.name == name);
        for resource in of_manifest.flat_map(|planned| &planned.resources) {
            planned.entry(resource.id.clone()).or_default().push(resource.clone());
        }
        let shown = |id: String| {
            let shown = manifest.session.secrets.redact(&id).into_owned();
            (id, shown)
        };
        let claims = manifest.catalog.resources.iter().map(|resource| {
            let spec = manifest.session.types.iter().find(|spec| *spec.name() == *resource.id.type_name);
            let claims = spec.map(|spec| spec.claims(resource)).unwrap_or_default();
            claims.into_iter().map(|claim| (claim.kind, claim.key.into_owned())).collect()
        });
        let approver = plan.signature.approver();
        Rc::new(Self {
            key,
            planned,
            ids: ids(manifest).into_iter().map(shown).collect(),
            graph: Graph::of(&manifest.catalog),
            claims: claims.collect(),
            changed: RefCell::default(),
            approval: approver.map(|by| (format!("plan:{}", plan.document.id), by.to_owned())),
        })
    }

    /// Takes an event of the run.
    pub(crate) fn accept(&self, event: &Event) {
        let Event::ResourceFinished(transaction) = event else { return };
        let may_have_changed = match &transaction.outcome {
            Outcome::Changed | Outcome::Refreshed => true,
            Outcome::Failed(failure) => failure.changed,
            _ => false,
        };
        if may_have_changed {
            let id = transaction.id.to_string();
            let positions = self.ids.iter().enumerate().filter(|(_, (_, shown))| *shown == id);
            self.changed.borrow_mut().extend(positions.map(|(position, _)| position));
        }
    }

    /// Returns `true` if something that the run has changed may have changed the state of a resource: what it depends on,
    /// and what manages the same thing.
    fn is_affected(&self, index: ResourceIndex) -> bool {
        let changed = self.changed.borrow();
        if changed.is_empty() {
            return false;
        }
        let (mut seen, mut waiting) = (BTreeSet::new(), vec![index]);
        while let Some(next) = waiting.pop() {
            for dependency in self.graph.dependencies(next) {
                if changed.contains(&dependency.get()) {
                    return true;
                }
                if seen.insert(dependency.get()) {
                    waiting.push(dependency);
                }
            }
        }
        changed.iter().any(|position| self.shares_claim(*position, index.get()))
    }

    fn shares_claim(&self, one: usize, other: usize) -> bool {
        let claims = |position: usize| self.claims.get(position).map(Vec::as_slice).unwrap_or_default();
        claims(one).iter().any(|(kind, key)| {
            claims(other).iter().any(|(other_kind, other_key)| {
                let is_around = || {
                    let (one, other) = (Path::new(key), Path::new(other_key));
                    *kind == ClaimKind::Path && (one.starts_with(other) || other.starts_with(one))
                };
                kind == other_kind && (key == other_key || is_around())
            })
        })
    }
}

impl DecisionWitness for PlanGuard {
    fn observe(&self, index: ResourceIndex, decided: &Decided<'_>) -> Result<(), Failure> {
        let (Some(change), Some((id, shown))) = (decided.change, self.ids.get(index.get())) else {
            return Ok(());
        };
        let state = state_digest(&self.key, id, decided);
        let change = change_digest(&self.key, id, decided, change);
        let digests = StepDigests { state: &state, change: &change };
        let planned = self.planned.get(shown).map(Vec::as_slice).unwrap_or_default();
        let is_affected = self.is_affected(index);
        // Names that only differ in a secret are one name here.
        if planned.iter().any(|planned| check_step(Some(planned), digests, is_affected).is_ok()) {
            return Ok(());
        }
        check_step(planned.first(), digests, is_affected).map_err(failure)
    }
}

fn failure(difference: StepDifference) -> Failure {
    let message = match difference {
        StepDifference::NotInPlan => "the plan does not have this resource",
        StepDifference::NotPlanned => "the plan does not change this resource",
        StepDifference::State => "its state is not the one that the plan was made from",
        StepDifference::Change => "the change is not the one of the plan",
    };
    Failure::new(FailureKind::NotPlanned, message)
        .because_of("not changed, because it differs from the plan")
        .with_hint("make a new plan; if an earlier resource changes the state, let this one `require` it")
}
