//! Limits on the number of calls.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use ccm_policy::ToolLimits;

/// Maximum number of remembered calls.
const MAX_REMEMBERED: usize = 1_000_000;

/// Calls that count against the limits of the policy. Copies count the same calls.
#[derive(Clone, Debug, Default)]
pub struct CallBudget(Rc<CountedCalls>);

#[derive(Debug, Default)]
struct CountedCalls {
    begun: RefCell<VecDeque<Duration>>,
    going_on: Cell<i64>,
}

/// Call that goes on until this value is dropped.
#[derive(Debug)]
pub(crate) struct CallInProgress(Rc<CountedCalls>);

/// Limit that a call would exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RateError {
    /// Too many calls in a time.
    #[error("the limit of {0} calls in {time} is reached", time = ccm_model::display_duration(*.1))]
    Calls(i64, Duration),
    /// Too many calls at the same time.
    #[error("the limit of {0} calls at the same time is reached")]
    Parallel(i64),
}

impl CallBudget {
    /// Counts a call that begins at a time of the monotonic clock.
    pub(crate) fn begin(&self, limits: &ToolLimits, now: Duration) -> Result<CallInProgress, RateError> {
        let CountedCalls { begun, going_on } = &*self.0;
        if let Some(most) = limits.parallel.filter(|most| going_on.get() >= *most) {
            return Err(RateError::Parallel(most));
        }
        if let Some((most, time)) = limits.calls {
            let mut begun = begun.borrow_mut();
            while begun.front().is_some_and(|at| now.saturating_sub(*at) >= time) {
                begun.pop_front();
            }
            if begun.len() >= usize::try_from(most).unwrap_or(MAX_REMEMBERED) {
                return Err(RateError::Calls(most, time));
            }
            begun.push_back(now);
        }
        going_on.set(going_on.get() + 1);
        Ok(CallInProgress(Rc::clone(&self.0)))
    }
}

impl Drop for CallInProgress {
    fn drop(&mut self) {
        self.0.going_on.set(self.0.going_on.get() - 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_limited_in_a_time_and_at_the_same_time() {
        let second = Duration::from_secs(1);
        let limits = ToolLimits { calls: Some((2, 10 * second)), parallel: Some(2), ..ToolLimits::default() };
        let budget = CallBudget::default();
        let first = budget.begin(&limits, Duration::ZERO).expect("a call");
        let _second = budget.begin(&limits, second).expect("a call");
        assert_eq!(budget.begin(&limits, second).err(), Some(RateError::Parallel(2)));
        drop(first);
        let error = budget.begin(&limits, 9 * second).err();
        assert_eq!(error, Some(RateError::Calls(2, 10 * second)));
        assert_eq!(error.expect("an error").to_string(), "the limit of 2 calls in 10s is reached");
        assert!(budget.begin(&limits, 10 * second).is_ok());
        assert!(budget.begin(&ToolLimits::default(), 10 * second).is_ok());
    }
}
