//! Outcomes of resources.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::Nanoseconds;
use crate::{Failure, ResourceId, display_duration, escape_control};

/// Outcome of a resource. A run ends with exactly one for each resource, even if it was stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The resource was in the desired state, or had nothing to do.
    Unchanged,
    /// The resource was brought to the desired state.
    Changed,
    /// The resource was refreshed by a trigger.
    Refreshed,
    /// Noop: the resource would be changed.
    WouldChange {
        /// Description of the change, such as `Would have executed`.
        message: String,
    },
    /// Noop: the resource would be refreshed.
    WouldRefresh {
        /// Description of the refresh.
        message: String,
    },
    /// The resource was skipped.
    Skipped {
        /// Cause.
        cause: SkipCause,
    },
    /// The resource could not be brought to the desired state.
    Failed(Box<Failure>),
}

/// Cause of skipping a resource.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
#[schemars(deny_unknown_fields)]
pub enum SkipCause {
    /// A resource that it depends on, directly or not, failed.
    DependencyFailed {
        /// The resources that failed, not those between.
        culprits: Vec<ResourceId>,
    },
    /// A resource that it depends on, directly or not, is in noop, so that its change is never made.
    DependsOnNoop {
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
    /// The resource, or the resource that applies its manifest, is named by `--skip`.
    Excluded,
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
    /// A cause that another version of ccm did not record or that this version does not support.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Cause of the early end of a run.
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
    /// Returns `true` for a change or refresh, also in noop. Only these trigger subscribers.
    pub fn is_change(&self) -> bool {
        matches!(self, Self::Changed | Self::Refreshed | Self::WouldChange { .. } | Self::WouldRefresh { .. })
    }

    /// Returns the word of the text report for the outcome.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::Changed => "changed",
            Self::Refreshed => "refreshed",
            Self::WouldChange { .. } => "would change",
            Self::WouldRefresh { .. } => "would refresh",
            Self::Skipped { cause: SkipCause::DependencyFailed { .. } } => "dependency failed",
            Self::Skipped { .. } => "skipped",
            Self::Failed(_) => "failed",
        }
    }
}

/// The cause, on one line. The alternate form (`{:#}`) names the setting of the manifest that ended it.
impl fmt::Display for SkipCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |ids: &[ResourceId]| ids.iter().map(escaped).collect::<Vec<_>>().join(", ");
        match self {
            Self::DependencyFailed { culprits } => write!(formatter, "{} failed", names(culprits)),
            Self::DependsOnNoop { noop } => {
                let verb = if noop.len() == 1 { "is" } else { "are" };
                write!(formatter, "not known, because {} {verb} in noop", names(noop))
            }
            Self::NotManaged { reason } => write!(formatter, "not managed: {reason}"),
            Self::NotSelected => formatter.write_str("not selected"),
            Self::Excluded => formatter.write_str("excluded by `--skip`"),
            Self::ManifestEnded { culprit } => {
                let setting = if formatter.alternate() { " (fail_on_error)" } else { "" };
                write!(formatter, "its manifest ended because {} failed{setting}", escaped(culprit))
            }
            Self::Stopped { by } => by.fmt(formatter),
            Self::Unknown => Ok(()),
        }
    }
}

impl fmt::Display for StopCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { culprit } => {
                write!(formatter, "the run was stopped because {} failed (fail_on_error)", escaped(culprit))
            }
            Self::Signal { name, .. } => write!(formatter, "the run was stopped by {name}"),
            Self::Timeout { after } => {
                let after = display_duration(*after);
                write!(formatter, "the run was stopped after {after} by --timeout")
            }
        }
    }
}

/// Returns the name of a resource for a message of one line.
fn escaped(id: &ResourceId) -> String {
    escape_control(&id.to_string()).into_owned()
}
