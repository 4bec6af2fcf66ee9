//! The harness: one resource from late values to outcome. Only here are noop and verification handled.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::pin::pin;

use ccm_host::{CancellationLevel, Executor, Host, Launch};
use ccm_model::{Action, Failure, FailureKind, Outcome, ResourceId, SkipCause, Stream};
use ccm_properties::{HEALTH_CHECKS, TypeSpec};
use tracing::debug;

use crate::batch::{self, Executed};
use crate::bound_resource::BoundResource;
use crate::contract::{Context, Decision, Verified, reason};
use crate::gate::GatedExecutor;
use crate::health;
use crate::late::{Resolved, RunProgress};
use crate::noop_executor::NoopExecutor;
use crate::prefetch;
use crate::rules::EngineRule;
use crate::state_cache::{InvalidatingExecutor, Prefetched};
use crate::step::{ResourceStep, StepResult, WouldChange};

/// Processes a resource. Every error, including a bug, is a failure of this resource.
pub(crate) async fn handle(
    step: &ResourceStep<'_>,
    on_line: &mut dyn FnMut(Stream, &str),
) -> (Outcome, StepResult) {
    in_context(step, StepResult::default(), on_line, async |result, context| {
        outcome_of(step, result, context).await
    })
    .await
}

/// Runs the health checks of the node of a group, whose members are done.
pub(crate) async fn handle_node(
    step: &ResourceStep<'_>,
    (outcome, result): (Outcome, StepResult),
    on_line: &mut dyn FnMut(Stream, &str),
) -> (Outcome, StepResult) {
    in_context(step, result, on_line, async |result, context| {
        let directory = context.directory;
        match health::check(step, outcome, || default_launch(directory), result, context).await {
            Ok(outcome) => outcome,
            Err(failure) => Outcome::Failed(Box::new(with_location(failure, step))),
        }
    })
    .await
}

/// Returns the launch of commands without settings of their own.
pub(crate) fn default_launch(directory: &Path) -> Launch {
    Launch { manifest_directory: directory.to_owned(), ..Launch::default() }
}

/// Does a part of a step with access to the machine. Every error, including a bug, is a failure of its resource.
pub(crate) async fn in_context(
    step: &ResourceStep<'_>,
    mut result: StepResult,
    on_line: &mut dyn FnMut(Stream, &str),
    work: impl AsyncFnOnce(&mut StepResult, &mut Context<'_>) -> Outcome,
) -> (Outcome, StepResult) {
    let run = step.host.run();
    let noop = NoopExecutor(run.host.executor);
    let started_by: &dyn Executor = if step.policy.noop { &noop } else { run.host.executor };
    let invalidating = InvalidatingExecutor { executor: started_by, cache: step.host.state_cache() };
    // A command that is refused changes nothing, so the cached state stays valid.
    let gated = GatedExecutor { step, executor: &invalidating };
    let gated_queries = GatedExecutor { step, executor: started_by };
    let is_open = run.gate.is_open();
    let executor: &dyn Executor = if is_open { &invalidating } else { &gated };
    let queries: &dyn Executor = if is_open { started_by } else { &gated_queries };
    let mut context = Context {
        host: Host { executor, ..run.host },
        queries,
        step,
        cancellation: run.stop.cancellation,
        directory: step.policy.directory,
        state_directory: run.state_directory,
        diff: run.diff || !is_open,
        describe_unchanged: run.describe_unchanged,
        secrets: run.secrets,
        on_line,
        warnings: Vec::new(),
        notes: Vec::new(),
        artifacts: Vec::new(),
    };
    let outcome = {
        // After a panic, only values that the step reported before the panic are used.
        match catch_panic(work(&mut result, &mut context)).await {
            Ok(outcome) => outcome,
            Err(panic) => Outcome::Failed(Box::new(from_panic(&*panic))),
        }
    };
    // A warning about a command also covers its guards and its tries.
    for warning in context.warnings.drain(..) {
        if !result.warnings.contains(&warning) {
            result.warnings.push(warning);
        }
    }
    result.notes.append(&mut context.notes);
    result.artifacts.append(&mut context.artifacts);
    (outcome, result)
}

/// Catches the panic of a future.
pub(crate) async fn catch_panic<T>(future: impl Future<Output = T>) -> std::thread::Result<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|waker| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(waker))) {
        Ok(poll) => poll.map(Ok),
        Err(panic) => std::task::Poll::Ready(Err(panic)),
    })
    .await
}

/// Builds the failure for a panic.
fn from_panic(panic: &(dyn std::any::Any + Send)) -> Failure {
    let message = panic.downcast_ref::<&str>().copied();
    let message =
        message.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let mut failure =
        Failure::new(FailureKind::Internal, message).because_of("internal error, this is a bug in ccm");
    // The panic may have interrupted an execution.
    failure.changed = true;
    failure
}

/// Determines the outcome of a resource, failures included.
async fn outcome_of(step: &ResourceStep<'_>, result: &mut StepResult, context: &mut Context<'_>) -> Outcome {
    let failure = match read_and_act(step, result, context).await {
        Ok(outcome) => return as_after_removals(step, result, outcome),
        Err(failure) => failure,
    };
    match step.would_change_before(&failure) {
        Some(WouldChange { resource, is_related: true }) => {
            not_known(step, result, &resource, Some(failure.one_line()))
        }
        Some(WouldChange { is_related: false, .. }) => {
            // The failure and the change may be unrelated, and a misspelt name looks the same.
            let why = failure.one_line();
            result.warnings.push(format!("a run fails unless an earlier resource provides it: {why}"));
            not_decided(step, result, &EngineRule::MayFail)
        }
        None if context.cancellation.level() > CancellationLevel::Go => Outcome::Failed(Box::new(failure)),
        None => Outcome::Failed(Box::new(with_location(failure, step))),
    }
}

/// Returns the outcome of a resource. In noop, what was read of one whose user, group or directory an earlier resource would
/// have removed says nothing about the run.
fn as_after_removals(step: &ResourceStep<'_>, result: &mut StepResult, outcome: Outcome) -> Outcome {
    let is_read =
        matches!(outcome, Outcome::Unchanged | Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. });
    let would_change = !matches!(outcome, Outcome::Unchanged);
    let before = || step.host.would_be_removed_before(step.resource(), would_change);
    let before = if step.policy.noop { before() } else { None };
    let Some(before) = before.filter(|_| is_read) else { return outcome };
    (result.action, result.diff) = (None, None);
    not_known(step, result, &before, None)
}

/// Adds the location of the property that the failure names, or of the resource.
fn with_location(mut failure: Failure, step: &ResourceStep<'_>) -> Failure {
    if failure.location.is_some() {
        return failure;
    }
    let named = failure.property.as_deref().and_then(|name| step.resource().properties.entry(name));
    let span = named.map_or(step.resource().span, |entry| entry.key.span);
    failure.location = step.host.run().late.location(span).map(Box::new);
    failure
}

/// Returns the outcome in noop of a resource that depends on a change that was not made.
fn not_known(
    step: &ResourceStep<'_>,
    result: &mut StepResult,
    before: &ResourceId,
    cause: Option<String>,
) -> Outcome {
    let outcome = not_decided(step, result, &EngineRule::NotKnownBefore { before, cause: None });
    result.reason = Some(reason(&EngineRule::NotKnownBefore { before, cause }));
    outcome
}

/// Returns the outcome in noop of a resource for which nothing is decided.
fn not_decided(step: &ResourceStep<'_>, result: &mut StepResult, rule: &EngineRule<'_>) -> Outcome {
    let message = rule.to_string();
    result.reason = Some(reason(rule));
    if result.action.is_none() {
        let resource_type = step.host.run().resource_type(step.resource());
        result.action = resource_type.and_then(TypeSpec::only_verb).map(Action::new);
    }
    if step.trigger.is_some() { Outcome::WouldRefresh { message } } else { Outcome::WouldChange { message } }
}

/// Resolves the late values of a resource, reads its state and acts on it.
async fn read_and_act(
    step: &ResourceStep<'_>,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    if let Some(executed) = step.host.batch().take(step.index) {
        return verify_batched(step, executed, result, context).await;
    }
    let run = step.host.run();
    if step.is_monitored && step.resource().properties.get(HEALTH_CHECKS).is_none() {
        return Ok(only_checks_run());
    }
    let progress: &dyn RunProgress = step.host;
    match run.late.resolve(step.index, step.resource(), progress)? {
        Resolved::AsWritten => {}
        Resolved::Completed(resource) => step.complete(resource),
        Resolved::NotManaged { reason } => {
            return Ok(Outcome::Skipped { cause: SkipCause::NotManaged { reason } });
        }
        Resolved::NotBefore(before) if step.host.is_never_done_for(before, step.index) => {
            let noop = vec![run.catalog.resource(before).id.clone()];
            return Ok(Outcome::Skipped { cause: SkipCause::DependsOnNoop { noop } });
        }
        Resolved::NotBefore(before) => {
            return Ok(not_known(step, result, &run.catalog.resource(before).id, None));
        }
        Resolved::NoValue { reason } if step.is_monitored => {
            return Err(Failure::new(FailureKind::Value, reason)
                .because_of("its health checks can't run without the values of a whole run"));
        }
        Resolved::NoValue { reason: why } => {
            result.reason = Some(reason(&EngineRule::NoValue(&why)));
            return Ok(Outcome::Unchanged);
        }
    }
    if step.is_monitored {
        return monitor(step, result, context).await;
    }
    // A prefetched state was read for the resource as it is written, and without a trigger.
    let is_usable = step.is_as_written() && step.trigger.is_none();
    let (mut bound, read) = match step.host.state_cache().take_prefetched(step.index).filter(|_| is_usable) {
        Some(Prefetched { bound, read }) => {
            debug!("using the prefetched state");
            (bound, Some(read))
        }
        None => (step.binder.bind(step.resource(), &context.suitabilities())?, None),
    };
    result.provider = Some(bound.provider());
    debug!(provider = %bound.provider(), "provider chosen");
    let read = match read {
        Some(read) => read,
        None => prefetch::read(step, &mut *bound, context).await,
    };
    let outcome = match read {
        Ok(()) => decide_and_change(step, &mut *bound, result, context).await,
        Err(failure) => Err(failure),
    };
    let outcome = healthy(step, &*bound, outcome, result, context).await;
    describe(step, &*bound, &outcome, result);
    outcome
}

/// Describes the state that was read last, if a listener needs it.
fn describe(
    step: &ResourceStep<'_>,
    bound: &dyn BoundResource,
    outcome: &Result<Outcome, Failure>,
    result: &mut StepResult,
) {
    if step.host.run().describe_unchanged || !matches!(outcome, Ok(Outcome::Unchanged)) {
        let decision = result.reason.as_ref().map_or("", |reason| &*reason.text);
        let described = bound.describe(decision);
        result.described = described.map(|described| described.with_header(&step.resource().id));
    }
}

/// Runs only the health checks of a resource, which is not managed besides.
async fn monitor(
    step: &ResourceStep<'_>,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let bound = step.binder.bind(step.resource(), &context.suitabilities())?;
    match healthy(step, &*bound, Ok(Outcome::Unchanged), result, context).await {
        Ok(_) => Ok(only_checks_run()),
        Err(failure) => {
            result.unchecked = Some(only_checks_run());
            Err(failure)
        }
    }
}

/// Returns the outcome of a resource that is not managed but for its health checks.
fn only_checks_run() -> Outcome {
    Outcome::Skipped { cause: SkipCause::NotManaged { reason: "only health checks run".to_owned() } }
}

/// Returns the outcome if the resource is healthy afterwards.
async fn healthy(
    step: &ResourceStep<'_>,
    bound: &dyn BoundResource,
    outcome: Result<Outcome, Failure>,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let directory = context.directory;
    health::check(step, outcome?, || bound.check_launch(directory), result, context).await
}

/// Ends the step of a resource that was changed in the batch of an earlier one.
async fn verify_batched(
    step: &ResourceStep<'_>,
    executed: Executed,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let Executed { provider, reason, action, diff, bound } = executed;
    result.provider = Some(provider);
    result.reason = Some(reason);
    result.action = Some(action);
    result.diff = diff;
    let mut bound = bound?;
    let outcome = verify(step, &mut *bound, result, context).await;
    let outcome = healthy(step, &*bound, outcome, result, context).await;
    describe(step, &*bound, &outcome, result);
    outcome
}

/// Decides on the state that was read, and makes the change if one is needed.
async fn decide_and_change(
    step: &ResourceStep<'_>,
    bound: &mut dyn BoundResource,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    result.warnings.extend(bound.warnings());
    result.guards = bound.guards();
    let decision = bound.decide(step.trigger.as_ref());
    if let Err(failure) = step.witness(bound, &decision) {
        if let Decision::Change { reason, action, diff } = decision {
            (result.reason, result.action) = (Some(reason), Some(action));
            result.diff = step.reported_diff(diff);
        }
        return Err(failure);
    }
    match decision {
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
        Decision::Change { reason, action, diff } => {
            debug!(%reason, "decided to change the state");
            let verdict = step.before_change(bound.provider(), &reason, &action, diff.as_deref()).await;
            result.reason = Some(reason);
            result.action = Some(action);
            result.diff = step.reported_diff(diff);
            verdict?;
        }
    }
    if step.policy.noop {
        match bound.preflight(context).await {
            Ok(warnings) => result.warnings.extend(warnings),
            // An earlier change may provide the missing prerequisite, as with a state that can't be read yet.
            Err(failure) if step.would_change_before(&failure).is_some() => return Err(failure),
            // A real run would end with the same refusal.
            Err(failure) if failure.kind.is_refusal() => return Err(failure),
            Err(failure) => {
                result.would_fail = true;
                result.warnings.push(format!("a run would fail now: {}", failure.one_line()));
            }
        }
        // The message is that of the action, once its secrets are redacted.
        let message = String::new();
        return Ok(if step.trigger.is_some() {
            Outcome::WouldRefresh { message }
        } else {
            Outcome::WouldChange { message }
        });
    }
    batch::execute(step, bound, context).await?;
    verify(step, bound, result, context).await
}

/// Verifies an execution, and returns its outcome.
async fn verify(
    step: &ResourceStep<'_>,
    bound: &mut dyn BoundResource,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let verified = bound.verify(context).await.map_err(|mut failure| {
        // The execution may have changed the system even if the state can't be read afterwards.
        failure.changed = true;
        failure
    })?;
    result.action = result.action.take().map(|planned| bound.action_taken(planned));
    if let Some(values) = bound.captured() {
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
