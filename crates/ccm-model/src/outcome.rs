//! What became of a resource.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Nanoseconds;
use crate::{Failure, ResourceId};

/// What became of a resource; each has exactly one at the end of a run, however the run ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
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

/// Cause for which a resource was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
#[schemars(deny_unknown_fields)]
pub enum SkipCause {
    /// A resource that it depends on, directly or not, failed.
    #[serde(rename = "dependency_failed")]
    Unmet {
        /// The resources that failed, not those between.
        culprits: Vec<ResourceId>,
    },
    /// A resource that it depends on, directly or not, is in noop, so that its change is never made.
    #[serde(rename = "depends_on_noop")]
    Undone {
        /// The resources that are in noop, while this one is not.
        noop: Vec<ResourceId>,
    },
    /// The `control` of the resource, or of a manifest around it, is off.
    NotManaged {
        /// Reason, for people.
        reason: String,
    },
    /// The resource is neither named by `--only` nor needed by a named one.
    NotSelected,
    /// The manifest of the resource ended early, and the run goes on.
    ManifestEnded {
        /// The resource of that manifest that failed.
        culprit: ResourceId,
    },
    /// The run ended early.
    Stopped {
        /// Cause of the end.
        #[serde(flatten)]
        by: StopCause,
    },
    /// A cause that another version of ccm did not record, or that this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Cause for which a run ended early.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
pub enum StopCause {
    /// A resource failed, and the manifest has `fail_on_error`.
    Failed {
        /// The resource that failed.
        culprit: ResourceId,
    },
    /// A signal asked ccm to end.
    Signal {
        /// Name of the signal, such as `SIGINT`.
        name: String,
        /// Number of the signal.
        number: i32,
    },
    /// The `--timeout` of the run passed.
    Timeout {
        /// The `--timeout`, in nanoseconds.
        #[serde(with = "Nanoseconds")]
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
