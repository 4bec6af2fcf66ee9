//! One resource from its late values to its outcome: the only place that knows noop and verification.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;

use ccm_host::{Executor, Host, Level};
use ccm_model::{Failure, FailureKind, Outcome, ResourceId, SkipCause, Stream};
use tracing::debug;

use crate::ahead;
use crate::contract::{Context, Decision, Verified, reason};
use crate::gate::GatedExecutor;
use crate::known::{Ahead, Forgetting};
use crate::late::{Progress, Resolved};
use crate::managed::Managed;
use crate::rules::EngineRule;
use crate::step::{ResourceStep, StepResult, WouldChange};
use crate::together::{self, Executed};

/// Takes a resource through its step. Whatever goes wrong inside, a bug included, is this resource's failure.
pub(crate) async fn handle(
    step: &ResourceStep<'_>,
    on_line: &mut dyn FnMut(Stream, &str),
) -> (Outcome, StepResult) {
    let run = step.host.run();
    let forgetting = Forgetting { executor: run.host.executor, known: step.host.known() };
    // A command that is refused changes nothing, so what was read still holds.
    let gated = GatedExecutor { step, executor: &forgetting };
    let gated_queries = GatedExecutor { step, executor: run.host.executor };
    let is_open = run.gate.is_open();
    let executor: &dyn Executor = if is_open { &forgetting } else { &gated };
    let queries: &dyn Executor = if is_open { run.host.executor } else { &gated_queries };
    let mut context = Context {
        host: Host { executor, ..run.host },
        queries,
        step,
        known: step.host.known(),
        cancellation: run.stop.cancellation,
        directory: step.policy.directory,
        state_directory: run.state_directory,
        diff: run.diff || !is_open,
        describe_unchanged: run.describe_unchanged,
        secrets: run.secrets,
        would_be_directories: step.host.would_be_directories(),
        on_line,
        warnings: Vec::new(),
        notes: Vec::new(),
        artifacts: Vec::new(),
    };
    let mut result = StepResult::default();
    let outcome = {
        // After a panic nothing of the step is used again but what it had reported by then.
        match caught(attempt(step, &mut result, &mut context)).await {
            Ok(outcome) => outcome,
            Err(panic) => Outcome::Failed(Box::new(from_panic(&*panic))),
        }
    };
    // What holds for a command holds for its guards, and for each try.
    for warning in context.warnings.drain(..) {
        if !result.warnings.contains(&warning) {
            result.warnings.push(warning);
        }
    }
    result.notes.append(&mut context.notes);
    result.artifacts.append(&mut context.artifacts);
    (outcome, result)
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

async fn attempt(step: &ResourceStep<'_>, result: &mut StepResult, context: &mut Context<'_>) -> Outcome {
    let failure = match manage(step, result, context).await {
        Ok(outcome) => return outcome,
        Err(failure) => failure,
    };
    match step.would_change_before(&failure) {
        Some(WouldChange { resource, is_related: true }) => {
            not_known(step, result, &resource, Some(failure.one_line()))
        }
        Some(WouldChange { resource, is_related: false }) => {
            // Nothing says that the two have to do with each other, and a typing error looks the same.
            result.warnings.push(format!("as things are now: {}", failure.one_line()));
            not_known(step, result, &resource, None)
        }
        None if context.cancellation.level() > Level::Go => Outcome::Failed(Box::new(failure)),
        None => Outcome::Failed(Box::new(placed(failure, step))),
    }
}

/// Adds where what failed was written: the property that the failure names, or the resource. What has run has more
/// to say of itself than that.
fn placed(mut failure: Failure, step: &ResourceStep<'_>) -> Failure {
    if failure.changed || failure.location.is_some() {
        return failure;
    }
    let named = failure.property.as_deref().and_then(|name| step.resource().properties.entry(name));
    let span = named.map_or(step.resource().span, |entry| entry.key.span);
    failure.location = step.host.run().late.location(span).map(Box::new);
    failure
}

/// In noop, what can't be known because an earlier resource was not really changed.
fn not_known(
    step: &ResourceStep<'_>,
    result: &mut StepResult,
    before: &ResourceId,
    cause: Option<String>,
) -> Outcome {
    let message = EngineRule::NotKnownBefore { before, cause: None }.to_string();
    result.reason = Some(reason(&EngineRule::NotKnownBefore { before, cause }));
    if step.trigger.is_some() { Outcome::WouldRefresh { message } } else { Outcome::WouldChange { message } }
}

async fn manage(
    step: &ResourceStep<'_>,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    if let Some(executed) = step.host.together().take(step.index) {
        return conclude(step, executed, result, context).await;
    }
    let run = step.host.run();
    let progress: &dyn Progress = step.host;
    match run.late.resolve(step.index, step.resource(), progress)? {
        Resolved::AsWritten => {}
        Resolved::Completed(resource) => step.complete(resource),
        Resolved::NotManaged { reason } => {
            return Ok(Outcome::Skipped { cause: SkipCause::NotManaged { reason } });
        }
        Resolved::NotBefore(before) if step.host.is_never_done_for(before, step.index) => {
            let noop = vec![run.catalog.resource(before).id.clone()];
            return Ok(Outcome::Skipped { cause: SkipCause::Undone { noop } });
        }
        Resolved::NotBefore(before) => {
            return Ok(not_known(step, result, &run.catalog.resource(before).id, None));
        }
        Resolved::NoValue { reason: why } => {
            result.reason = Some(reason(&EngineRule::NoValue(&why)));
            return Ok(Outcome::Unchanged);
        }
    }
    // It was read as one that is not triggered, with what was known of it.
    let is_usable = step.is_as_written() && step.trigger.is_none();
    let (mut managed, read) = match step.host.known().take_ahead(step.index).filter(|_| is_usable) {
        Some(Ahead { managed, read }) => {
            debug!("using the prefetched state");
            (managed, Some(read))
        }
        None => (step.binder.bind(step.resource(), context.host)?, None),
    };
    result.provider = Some(managed.provider());
    debug!(provider = %managed.provider(), "provider chosen");
    let read = match read {
        Some(read) => read,
        None => ahead::read(step, &mut *managed, context).await,
    };
    let outcome = match read {
        Ok(()) => drive(step, &mut *managed, result, context).await,
        Err(failure) => Err(failure),
    };
    describe(step, &*managed, &outcome, result);
    outcome
}

fn describe(
    step: &ResourceStep<'_>,
    managed: &dyn Managed,
    outcome: &Result<Outcome, Failure>,
    result: &mut StepResult,
) {
    if step.host.run().describe_unchanged || !matches!(outcome, Ok(Outcome::Unchanged)) {
        let decision = result.reason.as_ref().map_or("", |reason| &*reason.text);
        result.described = managed.describe(decision);
    }
}

/// Ends the turn of a resource that was executed together with an earlier one.
async fn conclude(
    step: &ResourceStep<'_>,
    executed: Executed,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let Executed { provider, reason, diff, managed } = executed;
    result.provider = Some(provider);
    result.reason = Some(reason);
    result.diff = diff;
    let mut managed = managed?;
    let outcome = verify(step, &mut *managed, result, context).await;
    describe(step, &*managed, &outcome, result);
    outcome
}

/// Decides on what was read, and does what there is to do.
async fn drive(
    step: &ResourceStep<'_>,
    managed: &mut dyn Managed,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    result.warnings.extend(managed.remarks());
    let noop_message = match managed.decide(step.trigger.as_ref()) {
        Decision::Keep { reason } => {
            debug!(%reason, "decided to keep the state");
            result.reason = Some(reason);
            return Ok(Outcome::Unchanged);
        }
        Decision::Fail { reason, failure } => {
            debug!(%reason, "decided to fail");
            result.reason = Some(reason);
            return Err(failure);
        }
        Decision::Change { reason, noop_message, diff } => {
            debug!(%reason, "decided to change the state");
            let asked = step.before_change(managed.provider(), &reason, &noop_message, diff.as_deref()).await;
            result.reason = Some(reason);
            result.diff = step.reported_diff(diff);
            asked?;
            noop_message
        }
    };
    if step.policy.noop {
        match managed.foresee(context).await {
            Ok(warnings) => result.warnings.extend(warnings),
            // It may be there by then, as with what can't be read yet.
            Err(failure) if step.would_change_before(&failure).is_some() => return Err(failure),
            // It would be in a run what it is here.
            Err(failure) if failure.kind.is_refusal() => return Err(failure),
            Err(failure) => {
                result.warnings.push(format!("as things are now it would fail: {}", failure.one_line()));
            }
        }
        return Ok(if step.trigger.is_some() {
            Outcome::WouldRefresh { message: noop_message }
        } else {
            Outcome::WouldChange { message: noop_message }
        });
    }
    together::execute(step, managed, context).await?;
    verify(step, managed, result, context).await
}

/// Finds out what an execution amounted to.
async fn verify(
    step: &ResourceStep<'_>,
    managed: &mut dyn Managed,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let verified = managed.verify(context).await.map_err(|mut failure| {
        // It was executed, so something may have been changed whatever was read afterwards.
        failure.changed = true;
        failure
    })?;
    if let Some(values) = managed.captured() {
        step.host.run().late.remember(step.index, values);
    }
    Ok(match verified {
        Verified::Unchanged(reason) => {
            result.reason = Some(reason);
            Outcome::Unchanged
        }
        Verified::Changed if step.trigger.is_some() => Outcome::Refreshed,
        Verified::Changed => Outcome::Changed,
    })
}
