//! Observations: one look at the machine that answers all questions of a rule, within a time.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use ccm_check::{Attribute, CheckStatus, Fact, FactError, Judgement, Rule, RuleResult};
use ccm_host::{CancellationLevel, Clock, Local};
use ccm_model::display_duration;

use super::CheckScope;

/// Maximum number of observations of the network at a time.
const MAX_TOGETHER: usize = 32;

/// Observation of the subject of a rule.
pub(super) trait Observation {
    /// Returns the value of an attribute.
    fn fact(&self, attribute: Attribute) -> Result<Fact, FactError>;
}

/// Returns the error of a value that can't be read.
pub(super) fn unreadable(reason: impl Into<String>) -> FactError {
    FactError::Unreadable(reason.into())
}

/// Returns the error of an attribute that the observed thing can't have. The tables of `ccm-check` name no such attribute.
pub(super) fn no_attribute(attribute: Attribute) -> FactError {
    unreadable(format!("there is no `{}` here", attribute.name()))
}

/// End of all rules of a check.
pub(super) struct Deadline {
    end: Option<Duration>,
    limit: Duration,
}

impl Deadline {
    /// Begins the check.
    pub(super) fn begin(scope: &CheckScope<'_>) -> Self {
        let limit = scope.timeout.unwrap_or_default();
        Self { end: scope.timeout.map(|limit| scope.host.clock.monotonic() + limit), limit }
    }

    /// Returns the time that an observation may take, or the reason why there is none left.
    pub(super) fn limit(&self, rule: &Rule, scope: &CheckScope<'_>) -> Result<Duration, FactError> {
        if scope.cancellation.level() >= CancellationLevel::Stop {
            return Err(stopped());
        }
        let Some(end) = self.end else { return Ok(rule.timeout) };
        match end.checked_sub(scope.host.clock.monotonic()).filter(|left| !left.is_zero()) {
            Some(left) => Ok(rule.timeout.min(left)),
            None => Err(FactError::Unsupported(format!(
                "the check ended after {} before this rule was judged",
                display_duration(self.limit)
            ))),
        }
    }

    /// Waits until the time of all rules has passed; for ever, if there is no limit.
    pub(super) async fn passed(&self, clock: &dyn Clock) {
        match self.end {
            Some(end) => clock.wait(end.saturating_sub(clock.monotonic())).await,
            None => std::future::pending().await,
        }
    }
}

/// Returns the reason why nothing is known after a cancellation.
pub(super) fn stopped() -> FactError {
    FactError::Unsupported("the check was stopped together with the run".to_owned())
}

/// Waits for an observation, but no longer than a time and the run.
pub(super) async fn within<T>(
    limit: Duration,
    scope: &CheckScope<'_>,
    observation: impl Future<Output = T>,
) -> Result<T, FactError> {
    tokio::select! {
        biased;
        found = observation => Ok(found),
        () = scope.cancellation.reached(CancellationLevel::Stop) => Err(stopped()),
        () = scope.host.clock.wait(limit) => {
            Err(unreadable(format!("no answer within {}", display_duration(limit))))
        }
    }
}

/// Judges a rule by an observation, which is only made if the rule asks for a value. A rule that fails is judged again
/// as often as it says.
pub(super) async fn judge_observed<O: Observation>(
    rule: &Rule,
    scope: &CheckScope<'_>,
    deadline: &Deadline,
    observe: impl AsyncFn(Duration) -> Result<O, FactError>,
) -> RuleResult {
    let mut retries = rule.retries;
    loop {
        let mut judgement = Judgement::new(rule);
        let mut observed = None;
        while let Some(attribute) = judgement.next_question() {
            if observed.is_none() {
                observed = Some(match deadline.limit(rule, scope) {
                    Ok(limit) => observe(limit).await,
                    Err(error) => Err(error),
                });
            }
            judgement.answer(match &observed {
                Some(Ok(observed)) => observed.fact(attribute),
                Some(Err(error)) => Err(error.clone()),
                None => Err(no_attribute(attribute)),
            });
        }
        let result = judgement.finish();
        if retries == 0 || result.status() != CheckStatus::Critical {
            return result;
        }
        retries -= 1;
        tokio::select! {
            biased;
            goes_on = scope.host.pause(rule.retry_delay, scope.cancellation) => if !goes_on { return result },
            () = deadline.passed(scope.host.clock) => return result,
        }
    }
}

/// Runs futures side by side, a bounded number at a time, and returns their results in order.
pub(super) async fn together<T>(futures: Vec<Local<'_, T>>) -> Vec<T> {
    let mut results = Vec::with_capacity(futures.len());
    let mut waiting = futures.into_iter();
    loop {
        let mut running: Vec<Slot<'_, T>> = waiting.by_ref().take(MAX_TOGETHER).map(Slot::Running).collect();
        if running.is_empty() {
            return results;
        }
        std::future::poll_fn(|context| {
            let mut is_ready = true;
            for slot in &mut running {
                if let Slot::Running(future) = slot {
                    match Pin::as_mut(future).poll(context) {
                        Poll::Ready(result) => *slot = Slot::Done(result),
                        Poll::Pending => is_ready = false,
                    }
                }
            }
            if is_ready { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        results.extend(running.into_iter().filter_map(|slot| match slot {
            Slot::Done(result) => Some(result),
            Slot::Running(_) => None,
        }));
    }
}

/// Future, or its result.
enum Slot<'a, T> {
    Running(Local<'a, T>),
    Done(T),
}
