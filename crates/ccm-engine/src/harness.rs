//! One resource from its late values to its outcome: the only place that knows noop and verification.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use ccm_host::Level;
use ccm_model::{
    Artifact, Catalog, Failure, FailureKind, Missing, Outcome, Reason, Resource, ResourceId, ResourceIndex,
    SkipCause,
};
use tracing::debug;

use crate::ahead::{self, Later};
use crate::contract::{Binder, Context, Decision, Described, Trigger, Verified, reason};
use crate::known::{Ahead, Known};
use crate::late::{LateValues, Progress, Resolved};
use crate::managed::Managed;
use crate::rules::EngineRule;
use crate::together::{self, Executed, Together};

/// What the harness needs to know about a resource's turn.
pub(crate) struct Turn<'a> {
    pub catalog: &'a Catalog,
    pub index: ResourceIndex,
    pub resource: &'a Resource,
    pub binder: &'a dyn Binder,
    pub late: &'a dyn LateValues,
    pub progress: &'a dyn Progress,
    pub noop: bool,
    pub trigger: Option<Trigger>,
    pub describe_unchanged: bool,
    /// A failure of this resource ends the run, or the manifest it is of.
    pub ends_on_failure: bool,
    pub known: &'a Known,
    pub together: &'a Together,
    /// What comes at a distance in the walk, as far as that is to be seen now; 0 is the next.
    pub later: &'a dyn Fn(usize) -> Option<Later<'a>>,
    /// Tells whether a run that does this resource does another one not, because that is in a child in noop.
    pub is_never_done: &'a dyn Fn(ResourceIndex) -> bool,
    /// Remembers what changes of these would owe to others. Without that nothing is executed.
    pub before_execute: &'a dyn Fn(&[ResourceIndex]) -> Result<(), Failure>,
    /// Finds, in noop, the resource whose change would come before this turn and might bring what a read misses.
    pub would_change_before: &'a dyn Fn(&Missing) -> Option<WouldChange>,
}

/// In noop, a resource that would have changed before another's turn.
pub(crate) struct WouldChange {
    pub resource: ResourceId,
    /// It claims what the other lacks, or the other depends on it.
    pub is_related: bool,
}

/// What became of it.
#[derive(Default)]
pub(crate) struct Handled {
    pub provider: Option<&'static str>,
    pub reason: Option<Reason>,
    pub described: Option<Described>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
    pub diff: Option<String>,
    pub artifacts: Vec<Artifact>,
}

/// Takes a resource through its turn. Whatever goes wrong inside, a bug included, is this resource's failure.
pub(crate) async fn handle(turn: &Turn<'_>, context: &mut Context<'_>) -> (Outcome, Handled) {
    let mut handled = Handled::default();
    let outcome = {
        // After a panic nothing of the turn is used again but what it had reported by then.
        match caught(attempt(turn, &mut handled, context)).await {
            Ok(outcome) => outcome,
            Err(panic) => Outcome::Failed(Box::new(from_panic(&*panic))),
        }
    };
    // What holds for a command holds for its guards, and for each try.
    for warning in context.warnings.drain(..) {
        if !handled.warnings.contains(&warning) {
            handled.warnings.push(warning);
        }
    }
    handled.notes.append(&mut context.notes);
    handled.artifacts.append(&mut context.artifacts);
    (outcome, handled)
}

/// Waits for a future that may panic.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> std::thread::Result<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|waker| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(waker))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(panic)),
    })
    .await
}

fn from_panic(panic: &(dyn std::any::Any + Send)) -> Failure {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let mut failure =
        Failure::new(FailureKind::Internal, said).because_of("internal error, this is a bug in ccm");
    // It may have come in the middle of an execution.
    failure.changed = true;
    failure
}

async fn attempt(turn: &Turn<'_>, handled: &mut Handled, context: &mut Context<'_>) -> Outcome {
    match manage(turn, handled, context).await {
        Ok(outcome) => outcome,
        Err(failure) => {
            match failure.missing.as_deref().filter(|_| turn.noop).and_then(turn.would_change_before) {
                Some(WouldChange { resource, is_related: true }) => {
                    not_known(turn, handled, &resource, Some(failure.one_line()))
                }
                Some(WouldChange { resource, is_related: false }) => {
                    // Nothing says that the two have to do with each other, and a typing error looks the same.
                    handled.warnings.push(format!("as things are now: {}", failure.one_line()));
                    not_known(turn, handled, &resource, None)
                }
                None if context.cancellation.level() > Level::Go => Outcome::Failed(Box::new(failure)),
                None => Outcome::Failed(Box::new(placed(failure, turn))),
            }
        }
    }
}

/// Adds where what failed was written: the property that the failure names, or the resource. What has run has more
/// to say of itself than that.
fn placed(mut failure: Failure, turn: &Turn<'_>) -> Failure {
    if failure.changed || failure.location.is_some() {
        return failure;
    }
    let named = failure.property.as_deref().and_then(|name| turn.resource.properties.entry(name));
    let span = named.map_or(turn.resource.span, |entry| entry.key.span);
    failure.location = turn.late.location(span).map(Box::new);
    failure
}

/// In noop, what can't be known because an earlier resource was not really changed.
fn not_known(turn: &Turn<'_>, handled: &mut Handled, before: &ResourceId, cause: Option<String>) -> Outcome {
    let message = EngineRule::NotKnownBefore { before, cause: None }.to_string();
    handled.reason = Some(reason(&EngineRule::NotKnownBefore { before, cause }));
    if turn.trigger.is_some() { Outcome::WouldRefresh { message } } else { Outcome::WouldChange { message } }
}

async fn manage(
    turn: &Turn<'_>,
    handled: &mut Handled,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    if let Some(executed) = turn.together.take(turn.index) {
        return conclude(turn, executed, handled, context).await;
    }
    let completed;
    let resource = match turn.late.resolve(turn.index, turn.resource, turn.progress)? {
        Resolved::AsWritten => turn.resource,
        Resolved::Completed(resource) => {
            completed = resource;
            &*completed
        }
        Resolved::NotManaged { reason } => {
            return Ok(Outcome::Skipped { cause: SkipCause::NotManaged { reason } });
        }
        Resolved::NotBefore(before) if (turn.is_never_done)(before) => {
            let noop = vec![turn.catalog.resource(before).id.clone()];
            return Ok(Outcome::Skipped { cause: SkipCause::Undone { noop } });
        }
        Resolved::NotBefore(before) => {
            return Ok(not_known(turn, handled, &turn.catalog.resource(before).id, None));
        }
        Resolved::NoValue { reason: why } => {
            handled.reason = Some(reason(&EngineRule::NoValue(&why)));
            return Ok(Outcome::Unchanged);
        }
    };
    let is_as_written = std::ptr::eq(resource, turn.resource);
    // It was read as one that is not triggered, with what was known of it.
    let ahead = turn.known.take_ahead(turn.index).filter(|_| is_as_written && turn.trigger.is_none());
    let (mut managed, read) = match ahead {
        Some(Ahead { managed, read }) => {
            debug!("using the prefetched state");
            (managed, Some(read))
        }
        None => (turn.binder.bind(resource, context.host)?, None),
    };
    handled.provider = Some(managed.provider());
    debug!(provider = %managed.provider(), "provider chosen");
    let read = match read {
        Some(read) => read,
        None => ahead::read(turn, &mut *managed, is_as_written, context).await,
    };
    let result = match read {
        Ok(()) => drive(turn, &mut *managed, handled, context).await,
        Err(failure) => Err(failure),
    };
    describe(turn, &*managed, &result, handled);
    result
}

fn describe(
    turn: &Turn<'_>,
    managed: &dyn Managed,
    result: &Result<Outcome, Failure>,
    handled: &mut Handled,
) {
    if turn.describe_unchanged || !matches!(result, Ok(Outcome::Unchanged)) {
        let decision = handled.reason.as_ref().map_or("", |reason| &*reason.text);
        handled.described = managed.describe(decision);
    }
}

/// Ends the turn of a resource that was executed together with an earlier one.
async fn conclude(
    turn: &Turn<'_>,
    executed: Executed,
    handled: &mut Handled,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let Executed { provider, reason, diff, result } = executed;
    handled.provider = Some(provider);
    handled.reason = Some(reason);
    handled.diff = diff;
    let mut managed = result?;
    let result = verify(turn, &mut *managed, handled, context).await;
    describe(turn, &*managed, &result, handled);
    result
}

/// Decides on what was read, and does what there is to do.
async fn drive(
    turn: &Turn<'_>,
    managed: &mut dyn Managed,
    handled: &mut Handled,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    handled.warnings.extend(managed.remarks());
    let noop_message = match managed.decide(turn.trigger.as_ref()) {
        Decision::Keep { reason } => {
            debug!(%reason, "decided to keep the state");
            handled.reason = Some(reason);
            return Ok(Outcome::Unchanged);
        }
        Decision::Fail { reason, failure } => {
            debug!(%reason, "decided to fail");
            handled.reason = Some(reason);
            return Err(failure);
        }
        Decision::Change { reason, noop_message, diff } => {
            debug!(%reason, "decided to change the state");
            handled.reason = Some(reason);
            handled.diff = diff;
            noop_message
        }
    };
    if turn.noop {
        match managed.foresee(context).await {
            Ok(warnings) => handled.warnings.extend(warnings),
            // It may be there by then, as with what can't be read yet.
            Err(failure) if failure.missing.as_deref().and_then(turn.would_change_before).is_some() => {
                return Err(failure);
            }
            Err(failure) => {
                handled.warnings.push(format!("as things are now it would fail: {}", failure.one_line()));
            }
        }
        return Ok(if turn.trigger.is_some() {
            Outcome::WouldRefresh { message: noop_message }
        } else {
            Outcome::WouldChange { message: noop_message }
        });
    }
    together::execute(turn, managed, context).await?;
    verify(turn, managed, handled, context).await
}

/// Finds out what an execution amounted to.
async fn verify(
    turn: &Turn<'_>,
    managed: &mut dyn Managed,
    handled: &mut Handled,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let verified = managed.verify(context).await.map_err(|mut failure| {
        // It was executed, so something may have been changed whatever was read afterwards.
        failure.changed = true;
        failure
    })?;
    if let Some(values) = managed.captured() {
        turn.late.remember(turn.index, values);
    }
    Ok(match verified {
        Verified::Unchanged(reason) => {
            handled.reason = Some(reason);
            Outcome::Unchanged
        }
        Verified::Changed if turn.trigger.is_some() => Outcome::Refreshed,
        Verified::Changed => Outcome::Changed,
    })
}
