//! Exit codes of runs.

use ccm_model::{RunSummary, StopCause};

use crate::status::CheckLevel;

/// Exit code of ccm, which the record of a run keeps as well. Converts into [`std::process::ExitCode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitCode {
    /// 0: everything is in the desired state; in noop, everything was read.
    Success,
    /// 1: failure before the run; nothing was run.
    NothingRun,
    /// 2: changes, or in noop pending changes; only if details are requested.
    Changes,
    /// 4: at least one resource failed, the time limit ended the run, or its record could not be written.
    Failures,
    /// 6: changes and failures; only if details are requested.
    ChangesAndFailures,
    /// 0 to 3: result of a check, as monitoring systems expect.
    Check(CheckLevel),
    /// 5: the policy denies a command that was only judged, or a service refuses its client.
    Denied,
    /// 7: the policy wants an approval of a command that was only judged.
    ApprovalRequired,
    /// 64: bad usage.
    Usage,
    /// 128 and more: end by the signal of this number.
    Signal(u8),
}

impl ExitCode {
    /// Returns the exit code of a run. With `detailed`, changes have codes of their own.
    pub fn of(summary: &RunSummary, detailed: bool) -> Self {
        if let Some(cause @ StopCause::Signal { .. }) = &summary.stopped {
            return Self::of_stop(cause);
        }
        let counts = &summary.counts;
        let unrecorded = !summary.refreshes.unwritten.is_empty();
        let failed = counts.failed + counts.unmet > 0 || summary.stopped.is_some() || unrecorded;
        match (failed, detailed && counts.any_change()) {
            (true, true) => Self::ChangesAndFailures,
            (true, false) => Self::Failures,
            (false, true) => Self::Changes,
            (false, false) => Self::Success,
        }
    }

    /// Returns the exit code of a run without changes that was ended early.
    pub(crate) fn of_stop(cause: &StopCause) -> Self {
        match cause {
            StopCause::Signal { number, .. } => Self::Signal(u8::try_from(*number).unwrap_or_default()),
            _ => Self::Failures,
        }
    }

    /// Returns the exit code of the same run with another failure, such as a record that could not be
    /// written.
    #[must_use]
    pub fn and_failed(self) -> Self {
        match self {
            Self::Success => Self::Failures,
            Self::Changes => Self::ChangesAndFailures,
            worse => worse,
        }
    }

    /// Returns the exit code of two runs together, as if they were one.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let is_either = |codes: [Self; 2]| codes.contains(&self) || codes.contains(&other);
        let failed = is_either([Self::Failures, Self::ChangesAndFailures]);
        let changed = is_either([Self::Changes, Self::ChangesAndFailures]);
        match (self, other) {
            (signal @ Self::Signal(_), _) | (_, signal @ Self::Signal(_)) => signal,
            (
                nothing @ (Self::NothingRun
                | Self::Usage
                | Self::Check(_)
                | Self::Denied
                | Self::ApprovalRequired),
                _,
            )
            | (
                _,
                nothing @ (Self::NothingRun
                | Self::Usage
                | Self::Check(_)
                | Self::Denied
                | Self::ApprovalRequired),
            ) => nothing,
            _ if failed && changed => Self::ChangesAndFailures,
            _ if failed => Self::Failures,
            _ if changed => Self::Changes,
            _ => Self::Success,
        }
    }

    /// Returns the number.
    pub fn number(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::NothingRun => 1,
            Self::Changes => 2,
            Self::Failures => 4,
            Self::Denied => 5,
            Self::ChangesAndFailures => 6,
            Self::ApprovalRequired => 7,
            Self::Check(level) => level.number(),
            Self::Usage => 64,
            Self::Signal(number) => 128_u8.saturating_add(number),
        }
    }
}

impl From<ExitCode> for std::process::ExitCode {
    fn from(code: ExitCode) -> Self {
        Self::from(code.number())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ccm_model::{CheckCounts, Counts, RefreshSummary, ResourceId};

    use super::*;

    #[test]
    fn codes_of_several_runs_count_as_one() {
        use ExitCode::{Changes, ChangesAndFailures, Failures, Signal, Success};
        for (one, other, expected) in [
            (Success, Success, Success),
            (Success, Changes, Changes),
            (Success, Failures, Failures),
            (Changes, Changes, Changes),
            (Changes, Failures, ChangesAndFailures),
            (ChangesAndFailures, Success, ChangesAndFailures),
            (Failures, Failures, Failures),
            (ChangesAndFailures, Signal(2), Signal(2)),
        ] {
            assert_eq!((one.and(other), other.and(one)), (expected, expected), "{one:?} {other:?}");
        }
    }

    #[test]
    fn a_summary_becomes_a_number() {
        let signal = |name: &str, number| Some(StopCause::Signal { name: name.to_owned(), number });
        let culprit = Some(StopCause::Failed { culprit: ResourceId::new("exec", "a") });
        let timeout = Some(StopCause::Timeout { after: Duration::from_secs(1) });
        for (changed, refreshed, failed, stopped, plain, detailed) in [
            (0, 0, 0, None, 0, 0),
            (1, 0, 0, None, 0, 2),
            (0, 1, 0, None, 0, 2),
            (0, 0, 1, None, 4, 4),
            (1, 0, 1, None, 4, 6),
            (0, 0, 1, culprit, 4, 4),
            (0, 0, 0, timeout.clone(), 4, 4),
            (1, 0, 0, timeout, 4, 6),
            (1, 0, 1, signal("SIGHUP", 1), 129, 129),
            (1, 0, 1, signal("SIGINT", 2), 130, 130),
            (0, 0, 0, signal("SIGTERM", 15), 143, 143),
        ] {
            let counts = Counts { changed, refreshed, failed, ..Counts::default() };
            let refreshes = RefreshSummary::default();
            let summary = RunSummary {
                noop: false,
                duration: Duration::ZERO,
                counts,
                checks: CheckCounts::default(),
                monitor_only: false,
                stopped,
                message: None,
                refreshes,
            };
            assert_eq!(ExitCode::of(&summary, false).number(), plain, "{summary:?}");
            assert_eq!(ExitCode::of(&summary, true).number(), detailed, "{summary:?}");
            let unrecorded = ExitCode::of(&summary, true).and_failed().number();
            let expected = match detailed {
                0 => 4,
                2 => 6,
                other => other,
            };
            assert_eq!(unrecorded, expected, "{summary:?}");
        }
    }
}
