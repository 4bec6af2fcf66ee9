//! Changing ready neighbours at once, each with an outcome of its own.

use std::cell::RefCell;
use std::collections::HashMap;

use ccm_model::{Failure, FailureKind, Reason, Resource, ResourceIndex};
use tracing::debug;

use crate::ahead::{MAX_TRACED, Standing};
use crate::contract::{Context, Decision};

use crate::known::Ahead;
use crate::managed::{Managed, without_effect};
use crate::names::Names;
use crate::step::ResourceStep;

/// So far the walk is looked ahead for neighbours.
const FARTHEST: usize = 256;

/// A resource that was executed together with an earlier one. At its turn it is verified.
pub(crate) struct Executed {
    pub provider: &'static str,
    pub reason: Reason,
    pub diff: Option<String>,
    /// What it is verified with; or why it failed.
    pub managed: Result<Box<dyn Managed>, Failure>,
}

/// What was executed before its turn.
#[derive(Default)]
pub(crate) struct Together(RefCell<HashMap<ResourceIndex, Executed>>);

impl Together {
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

    fn set_result(&self, index: ResourceIndex, result: Result<Box<dyn Managed>, Failure>) {
        if let Some(executed) = self.0.borrow_mut().get_mut(&index) {
            executed.managed = result;
        }
    }
}

/// A neighbour that is to be changed as well.
struct Neighbour<'a> {
    index: ResourceIndex,
    resource: &'a Resource,
    managed: Box<dyn Managed>,
    reason: Reason,
    noop_message: String,
    diff: Option<String>,
}

/// Executes a resource that is to be changed, and with it the neighbours that its provider changes at once.
/// Whatever comes of it, what was known before is forgotten.
pub(crate) async fn execute(
    step: &ResourceStep<'_>,
    managed: &mut dyn Managed,
    context: &mut Context<'_>,
) -> Result<(), Failure> {
    let neighbours = allowed(step, neighbours(step, managed, context).await).await;
    let executed: Vec<_> =
        std::iter::once(step.index).chain(neighbours.iter().map(|neighbour| neighbour.index)).collect();
    step.host.record_intents(&executed)?;
    let _forgets = step.host.known().forgets();
    if neighbours.is_empty() {
        debug!("executing");
        return managed.execute(context).await;
    }
    debug!(with = %Names::new(step.catalog(), &executed[1..], MAX_TRACED), "executing together");
    let mut indices = Vec::with_capacity(neighbours.len());
    let mut others = Vec::with_capacity(neighbours.len());
    for Neighbour { index, managed, reason, diff, .. } in neighbours {
        // This stays if a bug ends the execution: it may have changed any of them.
        let mut failure = Failure::new(
            FailureKind::Internal,
            format!("it was changed together with {}", step.resource().id),
        )
        .because_of("internal error, this is a bug in ccm");
        failure.changed = true;
        let provider = managed.provider();
        let diff = step.reported_diff(diff);
        step.host.together().put(index, Executed { provider, reason, diff, managed: Err(failure) });
        indices.push(index);
        others.push(managed);
    }
    let mut results = managed.execute_many(&mut others, context).await.into_iter();
    let own = results.next().unwrap_or_else(|| Err(without_effect()));
    for ((index, managed), result) in indices.into_iter().zip(others).zip(results) {
        step.host.together().set_result(index, result.map(|()| managed));
    }
    own
}

/// Leaves out the neighbours that the gate refuses. Each of them is asked for again at its turn, and fails there.
async fn allowed<'n>(step: &ResourceStep<'_>, neighbours: Vec<Neighbour<'n>>) -> Vec<Neighbour<'n>> {
    let mut allowed = Vec::with_capacity(neighbours.len());
    for neighbour in neighbours {
        let Neighbour { resource, managed, reason, noop_message, diff, .. } = &neighbour;
        if step.allows_with(resource, managed.provider(), reason, noop_message, diff.as_deref()).await {
            allowed.push(neighbour);
        }
    }
    allowed
}

/// Finds the neighbours that can be changed at once with a resource: those that come next in the walk, up to the
/// first of another kind, that has to wait, or whose change does not go with the others. What is in its state
/// already is passed over.
async fn neighbours<'s>(
    step: &'s ResourceStep<'_>,
    first: &dyn Managed,
    context: &mut Context<'_>,
) -> Vec<Neighbour<'s>> {
    let most = first.changes_at_once();
    let mut found: Vec<Neighbour<'_>> = Vec::new();
    // With a failure that ends the run the next must not have been touched.
    if most <= 1 || step.trigger.is_some() || step.policy.ends_on_failure {
        return found;
    }
    let before = step.host.known().forgotten();
    for later in (0..FARTHEST).map_while(|distance| step.host.later(step.index, distance)) {
        match later.standing {
            Standing::Passed => continue,
            Standing::Open | Standing::Waiting => break,
            Standing::Ready if later.resource.id.type_name != step.resource().id.type_name => break,
            Standing::Ready => {}
        }
        let managed = match step.host.known().take_ahead(later.index) {
            Some(Ahead { managed, read: Ok(()) }) => managed,
            Some(_) => break,
            None => {
                let Ok(mut managed) = step.binder.bind(later.resource, context.host) else { break };
                if !first.is_like(&*managed) || managed.read(false, context).await.is_err() {
                    break;
                }
                managed
            }
        };
        let (reason, noop_message, diff) = match managed.decide(None) {
            Decision::Keep { .. } => continue,
            Decision::Fail { .. } => break,
            Decision::Change { reason, noop_message, diff } => (reason, noop_message, diff),
        };
        let fits = first.goes_with(&*managed) && found.iter().all(|due| due.managed.goes_with(&*managed));
        if !first.is_like(&*managed) || !fits {
            break;
        }
        found.push(Neighbour {
            index: later.index,
            resource: later.resource,
            managed,
            reason,
            noop_message,
            diff,
        });
        if found.len() + 1 >= most {
            break;
        }
    }
    // A command that ran meanwhile may have changed what was read.
    if before == step.host.known().forgotten() { found } else { Vec::new() }
}
