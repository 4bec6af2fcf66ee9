//! Health checks of a resource: when they run, how often, and what their results mean for the resource.

use std::time::Duration;

use ccm_host::{CancellationLevel, Launch, Local};
use ccm_model::{
    CheckStatus, Failure, FailureKind, HealthCheckResult, Outcome, PerformanceValue, StreamTail,
};
use ccm_properties::{HEALTH_CHECKS, HealthCheck, is_sensitive};
use ccm_redaction::REDACTED;
use tracing::debug;

use crate::contract::Context;
use crate::step::{ResourceStep, StepResult};

/// Time limit of a try.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Time in which a check has to become ok after a change.
const TIMEOUT_AFTER_CHANGE: Duration = Duration::from_secs(30);
/// Shortest pause between two tries after a change, whose number is not limited.
const MIN_PAUSE: Duration = Duration::from_millis(100);
/// Maximum number of checks that a failure names.
const MAX_NAMED: usize = 20;

/// Looks at what a health check checks. The engine decides when and how often.
pub trait HealthProbe {
    /// Tries a check once.
    fn probe<'a>(&'a self, request: &'a ProbeRequest<'a>, context: &'a mut Context<'_>) -> Local<'a, Probed>;
}

/// One try of a health check.
#[derive(Clone, Copy, Debug)]
pub struct ProbeRequest<'a> {
    /// The check.
    pub check: &'a HealthCheck,
    /// Launch of its command, with the time limit of this try.
    pub launch: &'a Launch,
    /// Time limit of this try.
    pub timeout: Duration,
}

/// Result of one try of a health check.
#[derive(Clone, Debug, Default)]
pub struct Probed {
    /// Status.
    pub status: CheckStatus,
    /// Summary in a line.
    pub output: String,
    /// Values that were measured.
    pub values: Vec<PerformanceValue>,
    /// Last lines that the command printed, if they are more than the summary.
    pub tails: Vec<StreamTail>,
    /// Problems beside the result, such as a process that was left running.
    pub warnings: Vec<String>,
    /// Refusal of the check by the gate. It is not tried again.
    pub refusal: Option<Box<Failure>>,
}

impl Probed {
    /// Returns a result without values.
    pub fn new(status: CheckStatus, output: impl Into<String>) -> Self {
        Self { status, output: output.into(), ..Self::default() }
    }
}

/// Probe for runs without health checks: every check is unknown.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHealthProbe;

impl HealthProbe for NoHealthProbe {
    fn probe<'a>(&'a self, _: &'a ProbeRequest<'a>, _: &'a mut Context<'_>) -> Local<'a, Probed> {
        Box::pin(async { Probed::new(CheckStatus::Unknown, "nothing here can run health checks") })
    }
}

/// Runs the health checks of a resource after its step. `launch` is that of their commands. Returns the outcome, or the
/// failure of a resource that is not healthy.
pub(crate) async fn check(
    step: &ResourceStep<'_>,
    outcome: Outcome,
    launch: impl FnOnce() -> Launch,
    result: &mut StepResult,
    context: &mut Context<'_>,
) -> Result<Outcome, Failure> {
    let Some(node) = step.resource().properties.get(HEALTH_CHECKS) else { return Ok(outcome) };
    let has_changed = match outcome {
        Outcome::Unchanged | Outcome::WouldChange { .. } | Outcome::WouldRefresh { .. } => false,
        Outcome::Changed | Outcome::Refreshed => true,
        Outcome::Skipped { .. } | Outcome::Failed(_) => return Ok(outcome),
    };
    let failed = |failure: Failure| {
        let failure = failure.of_property(HEALTH_CHECKS);
        Failure { changed: has_changed, verified: has_changed, ..failure }
    };
    let checks = HealthCheck::read_all(node).map_err(|errors| {
        let mut failure = Failure::new(FailureKind::Properties, "the health checks are not valid");
        failure.chain.extend(errors.iter().map(|error| error.one_line().into_owned()));
        failed(failure)
    })?;
    if step.policy.noop {
        result.checks_not_run = checks.len();
        return Ok(outcome);
    }
    let sensitive = is_sensitive(&step.resource().properties);
    let mut launch = Launch { sensitive, ..launch() };
    let (mut bad, mut refusal, mut tails) = (Vec::new(), None, Vec::new());
    for check in &checks {
        let HealthCheckRun { result: mut checked, probed } =
            run(check, &mut launch, has_changed, context).await;
        if sensitive {
            (checked.output, checked.values) = (REDACTED.to_owned(), Vec::new());
        }
        debug!(check = %checked.name, status = %checked.status, tries = checked.tries, "health check done");
        probed.warnings.into_iter().for_each(|warning| context.warn(warning));
        if checked.status.is_failure() {
            bad.push(checked.clone());
            result.retries_refresh |= check.retries_refresh;
            refusal = refusal.or(probed.refusal);
            if tails.is_empty() && !sensitive {
                tails = probed.tails;
            }
        }
        result.health_checks.push(checked);
    }
    if bad.is_empty() {
        return Ok(outcome);
    }
    let is_stopped = context.cancellation.level() > CancellationLevel::Go;
    result.unchecked = Some(outcome);
    let failure = failure_of(&bad, checks.len(), refusal, is_stopped);
    Err(failed(Failure { output: tails, ..failure }))
}

/// A check that was tried, with the result of its last try.
struct HealthCheckRun {
    result: HealthCheckResult,
    probed: Probed,
}

/// Tries a check until it is ok, or may not be tried again.
async fn run(
    check: &HealthCheck,
    launch: &mut Launch,
    has_changed: bool,
    context: &mut Context<'_>,
) -> HealthCheckRun {
    let clock = context.host.clock;
    let began = clock.monotonic();
    let elapsed = || clock.monotonic().saturating_sub(began);
    let (default, pause) = if has_changed {
        (TIMEOUT_AFTER_CHANGE, check.try_sleep.max(MIN_PAUSE))
    } else {
        (TIMEOUT, check.try_sleep)
    };
    let timeout = check.timeout.unwrap_or(default);
    let mut tries = 0;
    let probed = loop {
        if context.cancellation.level() > CancellationLevel::Go {
            break Probed::new(CheckStatus::Unknown, "not run, because the run was stopped");
        }
        tries += 1;
        // Of the time after a change, a try gets what is left.
        let limit = if has_changed { timeout.saturating_sub(elapsed()).max(MIN_PAUSE) } else { timeout };
        launch.timeout = Some(limit);
        let request = ProbeRequest { check, launch, timeout: limit };
        let probed = context.probe(&request).await;
        let again = if has_changed { elapsed() + pause < timeout } else { tries < check.tries };
        if probed.status == CheckStatus::Ok || probed.refusal.is_some() || !again {
            break probed;
        }
        if !context.host.pause(pause, context.cancellation).await {
            break probed;
        }
    };
    let result = HealthCheckResult {
        name: check.name.clone(),
        status: probed.status,
        output: probed.output.clone(),
        tries,
        duration: elapsed(),
        values: probed.values.clone(),
    };
    HealthCheckRun { result, probed }
}

/// Builds the failure of a resource whose checks are critical or unknown.
fn failure_of(
    bad: &[HealthCheckResult],
    all: usize,
    refusal: Option<Box<Failure>>,
    is_stopped: bool,
) -> Failure {
    let described = |check: &HealthCheckResult| match &*check.output {
        "" => format!("health check `{}` is {}", check.name, check.status),
        output => format!("health check `{}` is {}: {output}", check.name, check.status),
    };
    let mut failure = match refusal {
        Some(refusal) => *refusal,
        None if is_stopped => Failure::new(FailureKind::Stopped, ""),
        None => Failure::new(FailureKind::HealthCheck, ""),
    };
    failure.chain = if let [only] = bad {
        vec![described(only)]
    } else {
        let count = format!("{} of {all} health checks failed", bad.len());
        std::iter::once(count).chain(bad.iter().take(MAX_NAMED).map(described)).collect()
    };
    failure
}
