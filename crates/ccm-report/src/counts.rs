//! Counts of a run, in the order and the words of every report.

use ccm_model::{Counts, RunSummary};

/// Group of resources that are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountedGroup {
    /// Resources that were not changed.
    Unchanged,
    /// Changed resources.
    Changed,
    /// Refreshed resources.
    Refreshed,
    /// Resources that would be changed.
    WouldChange,
    /// Resources that would be refreshed.
    WouldRefresh,
    /// Failed resources.
    Failed,
    /// Resources that were skipped because of a failure.
    SkippedAfterFailure,
    /// Resources that were skipped for another reason.
    Skipped,
}

impl CountedGroup {
    /// Returns the words for people.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Refreshed => "refreshed",
            Self::WouldChange => "would change",
            Self::WouldRefresh => "would refresh",
            Self::Failed => "failed",
            Self::SkippedAfterFailure => "dependency failed",
            Self::Skipped => "skipped",
        }
    }

    /// Returns the key of a field.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::WouldChange => "would_change",
            Self::WouldRefresh => "would_refresh",
            Self::SkippedAfterFailure => "dependency_failed",
            _ => self.words(),
        }
    }
}

/// Returns the counts of a run that are not zero. What a run in noop counts as changed would be changed.
pub(crate) fn counted(run: &RunSummary) -> impl Iterator<Item = (CountedGroup, usize)> {
    let Counts {
        total: _,
        unchanged,
        changed,
        refreshed,
        pending_changes,
        pending_refreshes,
        failed,
        failed_after_change: _,
        unmet,
        skipped,
    } = run.counts;
    let (done, would) = if run.noop {
        ([0, 0], [changed + pending_changes, refreshed + pending_refreshes])
    } else {
        ([changed, refreshed], [pending_changes, pending_refreshes])
    };
    let counts = [
        (CountedGroup::Unchanged, unchanged),
        (CountedGroup::Changed, done[0]),
        (CountedGroup::Refreshed, done[1]),
        (CountedGroup::WouldChange, would[0]),
        (CountedGroup::WouldRefresh, would[1]),
        (CountedGroup::Failed, failed),
        (CountedGroup::SkippedAfterFailure, unmet),
        (CountedGroup::Skipped, skipped),
    ];
    counts.into_iter().filter(|(_, count)| *count > 0)
}
