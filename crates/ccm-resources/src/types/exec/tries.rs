//! Tries of a command.

use std::time::Duration;

use serde_json::{Value, json};

/// Maximum pause between two tries, unless the first one is longer.
const MAX_PAUSE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Exit code; `None` if the command did not end by itself.
    pub exit_code: Option<i32>,
    pub duration: Duration,
    /// Failure in one line; `None` for a success.
    pub error: Option<String>,
}

/// Returns the pause after a try, counted from 1. The pause doubles up to a minute and is randomly up to a
/// quarter longer, so that many machines do not retry at once. A longer first pause stays as it is.
pub(crate) fn pause(first: Duration, after: usize, chance: u128) -> Duration {
    let doublings = u32::try_from(after.saturating_sub(1)).unwrap_or(u32::MAX);
    let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
    let doubled = first.saturating_mul(factor).min(MAX_PAUSE.max(first));
    let parts = u32::try_from(chance % 1001).unwrap_or_default();
    doubled.saturating_add(doubled / 4000 * parts)
}

pub(crate) fn describe(attempts: &[Attempt]) -> Value {
    let one = |(at, attempt): (usize, &Attempt)| {
        json!({
            "attempt": at + 1,
            "exitcode": attempt.exit_code,
            "duration": u64::try_from(attempt.duration.as_nanos()).unwrap_or(u64::MAX),
            "error": attempt.error,
        })
    };
    attempts.iter().enumerate().map(one).collect()
}

/// Returns a note about a command that was tried more than once.
pub(crate) fn summary(succeeded: bool, attempts: usize, tries: usize) -> Option<String> {
    match (succeeded, attempts) {
        (_, 0 | 1) => None,
        (true, _) => Some(format!("succeeded on the {} of {tries} tries", ordinal(attempts))),
        (false, _) if attempts == tries => Some(format!("failed on each of {tries} tries")),
        (false, _) => Some(format!("given up after the {} of {tries} tries", ordinal(attempts))),
    }
}

fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_minute() {
        let pauses = |first, count| {
            (1..=count).map(|after| pause(Duration::from_secs(first), after, 0).as_secs()).collect::<Vec<_>>()
        };
        assert_eq!(pauses(1, 9), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(pauses(90, 3), [90, 90, 90]);
        assert_eq!(pauses(0, 3), [0, 0, 0]);
        assert_eq!(pause(Duration::from_secs(1), usize::MAX, 0), MAX_PAUSE);
    }

    #[test]
    fn chance_adds_at_most_a_quarter() {
        let first = Duration::from_secs(4);
        assert_eq!(pause(first, 1, 1000), Duration::from_secs(5));
        for chance in [0, 1, 500, 1001, u128::MAX] {
            let pause = pause(first, 1, chance);
            assert!(pause >= first && pause <= Duration::from_secs(5), "{chance}: {pause:?}");
        }
    }

    #[test]
    fn the_summary_counts_the_tries() {
        for (succeeded, attempts, expected) in [
            (true, 1, None),
            (true, 2, Some("succeeded on the 2nd of 25 tries")),
            (true, 3, Some("succeeded on the 3rd of 25 tries")),
            (true, 11, Some("succeeded on the 11th of 25 tries")),
            (true, 21, Some("succeeded on the 21st of 25 tries")),
            (false, 4, Some("given up after the 4th of 25 tries")),
            (false, 25, Some("failed on each of 25 tries")),
        ] {
            assert_eq!(summary(succeeded, attempts, 25).as_deref(), expected);
        }
    }
}
