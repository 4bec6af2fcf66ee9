//! Changing resources that are ready together, each with an outcome of its own.

use std::cell::RefCell;
use std::collections::HashMap;

use ccm_model::{Action, Failure, FailureKind, Reason, Resource, ResourceIndex};
use ccm_properties::HEALTH_CHECKS;
use tracing::debug;

use crate::bound_resource::{BoundResource, without_effect};
use crate::contract::{Context, Decision};
use crate::names::NameList;
use crate::prefetch::{MAX_TRACED, Readiness, Upcoming};
use crate::state_cache::Prefetched;
use crate::step::ResourceStep;
use crate::witness::DecidedChange;

/// Number of steps to look ahead for resources to batch with.
const MAX_LOOKAHEAD: usize = 256;

/// A resource that was changed in the batch of an earlier one. Its own step verifies it.
pub(crate) struct Executed {
    pub provider: &'static str,
    pub reason: Reason,
    pub action: Action,
    pub diff: Option<String>,
    /// The resource to verify, or its failure.
    pub bound: Result<Box<dyn BoundResource>, Failure>,
}

/// Resources that were changed before their steps.
#[derive(Default)]
pub(crate) struct Batch(RefCell<HashMap<ResourceIndex, Executed>>);

impl Batch {
    pub(crate) fn holds(&self, index: ResourceIndex) -> bool {
        self.0.borrow().contains_key(&index)
    }

    pub(crate) fn take(&self, index: ResourceIndex) -> Option<Executed> {
        let mut executed = self.0.borrow_mut();
        if executed.is_empty() { None } else { executed.remove(&index) }
    }

    fn put(&self, index: ResourceIndex, executed: Executed) {
        self.0.borrow_mut().insert(index, executed);
    }

    /// Leaves a resource to its own step, which finds it as it was.
    fn leave(&self, index: ResourceIndex) {
        self.0.borrow_mut().remove(&index);
    }

    fn set_result(&self, index: ResourceIndex, result: Result<Box<dyn BoundResource>, Failure>) {
        if let Some(executed) = self.0.borrow_mut().get_mut(&index) {
            executed.bound = result;
        }
    }
}

/// An upcoming resource to change in the same batch.
struct BatchCandidate<'a> {
    index: ResourceIndex,
    resource: &'a Resource,
    bound: Box<dyn BoundResource>,
    reason: Reason,
    action: Action,
    diff: Option<String>,
}

/// Changes a resource, and with it the neighbours that its provider changes at once. Invalidates the state
/// cache whatever the outcome.
pub(crate) async fn execute(
    step: &ResourceStep<'_>,
    bound: &mut dyn BoundResource,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let neighbours = allowed(step, neighbours(step, bound, context).await).await;
    let executed: Vec<_> =
        std::iter::once(step.index).chain(neighbours.iter().map(|neighbour| neighbour.index)).collect();
    step.host.record_intents(&executed)?;
    let _invalidation = step.host.state_cache().invalidate_on_drop();
    if neighbours.is_empty() {
        debug!("executing");
        return bound.execute(context).await;
    }
    debug!(with = %NameList::new(step.catalog(), &executed[1..], MAX_TRACED), "executing together");
    let mut indices = Vec::with_capacity(neighbours.len());
    let mut others = Vec::with_capacity(neighbours.len());
    for BatchCandidate { index, bound, reason, action, diff, .. } in neighbours {
        // The neighbour keeps this failure if a panic ends the execution, which may have changed any of them.
        let message = format!("it was changed together with {}", step.resource().id);
        let mut failure =
            Failure::new(FailureKind::Internal, message).because_of("internal error, this is a bug in ccm");
        failure.changed = true;
        let provider = bound.provider();
        let diff = step.reported_diff(diff);
        step.host.batch().put(index, Executed { provider, reason, action, diff, bound: Err(failure) });
        indices.push(index);
        others.push(bound);
    }
    let mut results = bound.execute_many(&mut others, context).await.into_iter();
    let own = results.next().unwrap_or_else(|| Err(without_effect()));
    for ((index, bound), result) in indices.into_iter().zip(others).zip(results) {
        match result {
            // The run is cancelled or ends with an earlier failure, so the step skips the resource.
            Err(failure) if failure.kind == FailureKind::Stopped && !failure.changed => {
                step.host.batch().leave(index);
            }
            result => step.host.batch().set_result(index, result.map(|()| bound)),
        }
    }
    own
}

/// Leaves out the neighbours that the gate refuses. Each fails at its own step, which asks the gate again. Where a failure
/// ends the run, those that come after it are left out as well.
async fn allowed<'n>(
    step: &ResourceStep<'_>,
    neighbours: Vec<BatchCandidate<'n>>,
) -> Vec<BatchCandidate<'n>> {
    let mut allowed = Vec::with_capacity(neighbours.len());
    for neighbour in neighbours {
        let BatchCandidate { index, resource, bound, reason, action, diff } = &neighbour;
        let change = DecidedChange { action, diff: diff.as_deref() };
        if step.witness_with(*index, &**bound, reason, change)
            && step.allows_with(resource, bound.provider(), reason, action, diff.as_deref()).await
        {
            allowed.push(neighbour);
        } else if step.policy.ends_on_failure {
            break;
        }
    }
    allowed
}

/// Finds the neighbours to change together with a resource: the resources that come next in the walk, up to
/// the first that has another type, has to wait or can't be changed in the same batch. Neighbours in the
/// desired state are passed over.
async fn neighbours<'s>(
    step: &'s ResourceStep<'_>,
    first: &dyn BoundResource,
    context: &mut Context<'_>,
) -> Vec<BatchCandidate<'s>> {
    let max = first.change_batch_size();
    let mut found: Vec<BatchCandidate<'_>> = Vec::new();
    // After a failure that ends the run, the next resource must not have been changed. A health check fails a resource
    // after its change.
    let ends_on_failure = step.policy.ends_on_failure;
    let ends_batch =
        |resource: &Resource| ends_on_failure && resource.properties.get(HEALTH_CHECKS).is_some();
    if max <= 1 || ends_on_failure && !first.stops_at_failure() || ends_batch(step.resource()) {
        return found;
    }
    let cache = step.host.state_cache();
    let before = cache.generation();
    for upcoming in (0..MAX_LOOKAHEAD).map_while(|distance| step.host.upcoming(step.index, distance)) {
        match upcoming.readiness {
            Readiness::WontRun => continue,
            Readiness::Undecided | Readiness::Blocked => break,
            Readiness::Ready if upcoming.resource.id.type_name != step.resource().id.type_name => break,
            Readiness::Ready => {}
        }
        let is_triggered = upcoming.trigger.is_some();
        // A prefetched state was read without a trigger.
        let bound = match cache.take_prefetched(upcoming.index).filter(|_| !is_triggered) {
            Some(Prefetched { bound, read: Ok(()) }) => bound,
            Some(_) => break,
            None => {
                let Ok(mut bound) = step.binder.bind(upcoming.resource, &context.suitabilities()) else {
                    break;
                };
                if !first.has_same_provider(&*bound) || bound.read(is_triggered, context).await.is_err() {
                    break;
                }
                bound
            }
        };
        let (reason, action, diff) = match bound.decide(upcoming.trigger.as_ref()) {
            Decision::Keep { .. } => continue,
            Decision::Fail { .. } => break,
            Decision::Change { reason, action, diff } => (reason, action, diff),
        };
        let fits = first.can_batch_with(&*bound)
            && found.iter().all(|neighbour| neighbour.bound.can_batch_with(&*bound));
        if !first.has_same_provider(&*bound) || !fits {
            break;
        }
        let Upcoming { index, resource, .. } = upcoming;
        found.push(BatchCandidate { index, resource, bound, reason, action, diff });
        if found.len() + 1 >= max || ends_batch(resource) {
            break;
        }
    }
    // A command that ran meanwhile may have changed what was read.
    if before == cache.generation() { found } else { Vec::new() }
}
