//! Reading the states of many resources at once, before their steps.

use ccm_model::{Failure, Resource, ResourceIndex};
use tracing::debug;

use crate::bound_resource::BoundResource;
use crate::contract::{Context, Trigger};
use crate::harness::catch_panic;
use crate::names::NameList;
use crate::state_cache::Prefetched;
use crate::step::ResourceStep;

/// Maximum number of prefetched states.
const MAX_PREFETCHED: usize = 256;

/// Maximum number of resources that a debug message names.
pub(crate) const MAX_TRACED: usize = 20;

/// Number of steps to look ahead for resources to prefetch.
const MAX_LOOKAHEAD: usize = 4 * MAX_PREFETCHED;

/// A resource that comes later in the walk.
pub(crate) struct Upcoming<'a> {
    pub index: ResourceIndex,
    pub resource: &'a Resource,
    pub readiness: Readiness,
    /// What triggers it so far.
    pub trigger: Option<Trigger>,
}

/// Readiness of a resource for its step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Will be skipped.
    WontRun,
    /// Cannot be decided before its step: late values, another group.
    Undecided,
    /// Has to wait for other resources.
    Blocked,
    /// Could be processed now.
    Ready,
}

/// Reads the state of a resource. If its provider reads many at once, also reads those of upcoming resources,
/// and caches them for their steps.
pub(crate) async fn read(
    step: &ResourceStep<'_>,
    bound: &mut dyn BoundResource,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let cache = step.host.state_cache();
    let is_triggered = step.trigger.is_some();
    let max = bound.read_batch_size().min(MAX_PREFETCHED);
    if max > 1 && step.is_as_written() && !is_triggered && !cache.is_prefetching_disabled() {
        let (indices, mut others) = gather(step, bound, max - 1, context);
        if !others.is_empty() {
            debug!(with = %NameList::new(step.catalog(), &indices, MAX_TRACED), "reading states together");
            let before = cache.generation();
            let results = catch_panic(bound.read_many(&mut others, context)).await;
            let Ok(Some(mut results)) = results else {
                cache.disable_prefetching();
                return bound.read(is_triggered, context).await;
            };
            let rest = results.split_off(1);
            if before == cache.generation() {
                for ((index, bound), read) in indices.into_iter().zip(others).zip(rest) {
                    cache.put_prefetched(index, Prefetched { bound, read });
                }
            }
            return results.pop().unwrap_or(Ok(()));
        }
    }
    debug!("reading the state");
    bound.read(is_triggered, context).await
}

/// Finds the upcoming resources that can be read together with a resource.
fn gather(
    step: &ResourceStep<'_>,
    bound: &dyn BoundResource,
    max: usize,
    context: &Context<'_>,
) -> (Vec<ResourceIndex>, Vec<Box<dyn BoundResource>>) {
    let upcoming = (0..MAX_LOOKAHEAD).map_while(|distance| step.host.upcoming(step.index, distance));
    let upcoming = upcoming.filter(|upcoming| {
        upcoming.resource.id.type_name == step.resource().id.type_name
            && upcoming.trigger.is_none()
            && matches!(upcoming.readiness, Readiness::Blocked | Readiness::Ready)
            && !step.host.state_cache().is_prefetched(upcoming.index)
    });
    // The errors of a resource are reported at its step.
    let others = upcoming.filter_map(|upcoming| {
        let other = step.binder.bind(upcoming.resource, &context.suitabilities()).ok()?;
        bound.has_same_provider(&*other).then_some((upcoming.index, other))
    });
    others.take(max).unzip()
}
