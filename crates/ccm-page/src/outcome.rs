//! Marks of outcomes: a colour and a shape each.

use ccm_report::{RecordedOutcome, RunGraph};
use serde::Serialize;

/// Mark of an outcome. Its name is a class of the style, which has a colour, and the name of a shape in pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mark {
    /// Failed: a lozenge.
    Failed,
    /// Dependency failed: a triangle.
    Unmet,
    /// Changed: a square.
    Changed,
    /// Refreshed: a disc.
    Refreshed,
    /// Would be changed or refreshed: a ring.
    Would,
    /// Skipped: an empty square.
    Skipped,
    /// Not reached: a dot.
    Open,
    /// Unchanged: a bar.
    Same,
}

/// Number of resources or hosts with an outcome.
#[derive(Serialize)]
pub(crate) struct LegendEntry {
    pub(crate) mark: Mark,
    pub(crate) word: &'static str,
    pub(crate) count: usize,
}

impl Mark {
    /// Every mark, the most important one first.
    pub(crate) const ALL: [Self; 8] = [
        Self::Failed,
        Self::Unmet,
        Self::Changed,
        Self::Refreshed,
        Self::Would,
        Self::Skipped,
        Self::Open,
        Self::Same,
    ];

    pub(crate) fn of(outcome: Option<RecordedOutcome>) -> Self {
        match outcome {
            Some(RecordedOutcome::Failed) => Self::Failed,
            Some(RecordedOutcome::DependencyFailed) => Self::Unmet,
            Some(RecordedOutcome::Changed) => Self::Changed,
            Some(RecordedOutcome::Refreshed) => Self::Refreshed,
            Some(RecordedOutcome::WouldChange | RecordedOutcome::WouldRefresh) => Self::Would,
            Some(RecordedOutcome::Skipped) => Self::Skipped,
            Some(RecordedOutcome::Unchanged) => Self::Same,
            None => Self::Open,
        }
    }

    /// Returns the mark of a resource of a graph.
    pub(crate) fn at(graph: &RunGraph, at: usize) -> Self {
        Self::of(graph.nodes[at].result.as_ref().map(|result| result.outcome))
    }

    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Unmet => "dependency failed",
            Self::Changed => "changed",
            Self::Refreshed => "refreshed",
            Self::Would => "would change",
            Self::Skipped => "skipped",
            Self::Open => "not reached",
            Self::Same => "unchanged",
        }
    }

    /// Returns `true` for what a reader looks for first.
    pub(crate) fn is_notable(self) -> bool {
        matches!(self, Self::Failed | Self::Changed | Self::Refreshed | Self::Would)
    }
}
