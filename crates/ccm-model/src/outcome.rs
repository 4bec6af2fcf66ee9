//! What became of a resource.

use std::time::Duration;

use crate::{Failure, ResourceId};

/// What became of a resource; each has exactly one at the end of a run, however the run ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It was in the desired state, or had nothing to do.
    Unchanged,
    /// It was brought to the desired state.
    Changed,
    /// It was triggered, and did what a trigger asks of it.
    Refreshed,
    /// Noop: it would have been changed.
    WouldChange {
        /// What would have happened, in the voice of `Would have executed`.
        message: String,
    },
    /// Noop: it would have been refreshed.
    WouldRefresh {
        /// What would have happened.
        message: String,
    },
    /// It was not looked at.
    Skipped {
        /// Why not.
        cause: SkipCause,
    },
    /// It is not in the desired state, and could not be brought there.
    Failed(Box<Failure>),
}

/// Why a resource was not looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipCause {
    /// Something it depends on, directly or not, failed.
    Unmet {
        /// The resources that failed, not those between.
        culprits: Vec<ResourceId>,
    },
    /// What it waits for is never done, and that of something it depends on neither.
    Undone {
        /// The resources that are in noop, while this one is not.
        noop: Vec<ResourceId>,
    },
    /// Its `control` is off, or that of a manifest around it.
    NotManaged {
        /// Why, in words.
        reason: String,
    },
    /// It is neither named by `--only` nor needed by what is.
    NotSelected,
    /// The manifest it stands in was ended before its turn, and the run goes on.
    ManifestEnded {
        /// The resource that failed in it.
        culprit: ResourceId,
    },
    /// The run ended before its turn.
    Stopped {
        /// What ended the run.
        by: StopCause,
    },
}

/// What ended a run before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// `fail_on_error`, and this resource failed.
    Failed {
        /// The resource.
        culprit: ResourceId,
    },
    /// A signal asked ccm to end.
    Signal {
        /// Its name, such as `SIGINT`.
        name: String,
        /// Its number.
        number: i32,
    },
    /// The time given to the whole run was over.
    Timeout {
        /// The time that was given.
        after: Duration,
    },
}

impl Outcome {
    /// Tells whether it did, or in noop would do, something; only this triggers subscribers.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed | Self::Refreshed | Self::WouldChange { .. } | Self::WouldRefresh { .. })
    }

    /// One word for it, as the text report prints it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unchanged => "stable",
            Self::Changed => "changed",
            Self::Refreshed => "refreshed",
            Self::WouldChange { .. } => "would change",
            Self::WouldRefresh { .. } => "would refresh",
            Self::Skipped { cause: SkipCause::Unmet { .. } | SkipCause::Undone { .. } } => "unmet",
            Self::Skipped { .. } => "skipped",
            Self::Failed(_) => "failed",
        }
    }
}
