//! Reading many resources at once, before their turns.

use ccm_model::{Failure, Resource, ResourceIndex};
use tracing::debug;

use crate::contract::Context;
use crate::harness::caught;
use crate::known::Ahead;
use crate::managed::Managed;
use crate::names::Names;
use crate::step::ResourceStep;

/// So many states are held at most.
const MOST: usize = 256;

/// Maximum number of resources that a debug message names.
pub(crate) const MAX_TRACED: usize = 20;

/// So far the walk is looked ahead for more of the same kind.
const FARTHEST: usize = 4 * MOST;

/// A resource that comes later in the walk.
pub(crate) struct Later<'a> {
    pub index: ResourceIndex,
    pub resource: &'a Resource,
    pub standing: Standing,
}

/// What can be said of a turn that comes later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It will not come.
    Passed,
    /// Only then will all be known of it: its values, or that it is like the turns of other resources.
    Open,
    /// It comes, and other turns have to come before it.
    Waiting,
    /// It comes, and could come now.
    Ready,
}

/// Reads a resource. If its provider reads many at once, so are those that come later, and what was read of
/// them is kept for their turns.
pub(crate) async fn read(
    step: &ResourceStep<'_>,
    managed: &mut dyn Managed,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let most = managed.reads_at_once().min(MOST);
    if most > 1 && step.is_as_written() && step.trigger.is_none() && !step.host.known().reads_singly() {
        let (indices, mut others) = gather(step, managed, most - 1, context);
        if !others.is_empty() {
            debug!(with = %Names::new(step.catalog(), &indices, MAX_TRACED), "reading states together");
            let before = step.host.known().forgotten();
            let results = caught(managed.read_many(&mut others, context)).await;
            let Ok(Some(mut results)) = results else {
                step.host.known().read_singly();
                return managed.read(step.trigger.is_some(), context).await;
            };
            let rest = results.split_off(1);
            if before == step.host.known().forgotten() {
                for ((index, managed), read) in indices.into_iter().zip(others).zip(rest) {
                    step.host.known().put_ahead(index, Ahead { managed, read });
                }
            }
            return results.pop().unwrap_or(Ok(()));
        }
    }
    debug!("reading the state");
    managed.read(step.trigger.is_some(), context).await
}

/// Finds what comes later and can be read with a resource.
fn gather(
    step: &ResourceStep<'_>,
    managed: &dyn Managed,
    most: usize,
    context: &Context<'_>,
) -> (Vec<ResourceIndex>, Vec<Box<dyn Managed>>) {
    let later = (0..FARTHEST).map_while(|distance| step.host.later(step.index, distance));
    let later = later.filter(|later| {
        later.resource.id.type_name == step.resource().id.type_name
            && matches!(later.standing, Standing::Waiting | Standing::Ready)
            && !step.host.known().is_ahead(later.index)
    });
    // What is wrong with one of them shows at its turn.
    let bound = later.filter_map(|later| {
        let bound = step.binder.bind(later.resource, context.host).ok()?;
        managed.is_like(&*bound).then_some((later.index, bound))
    });
    bound.take(most).unzip()
}
