//! Pending refreshes: refreshes that a change has triggered and that are not done yet.

use std::fmt;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::{Timestamp, is_false};
use crate::{ResourceId, SkipCause};

/// Refresh of a subscriber that an earlier run did not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "OwedRefresh")]
pub struct PendingRefresh {
    /// The resource that changed, or that an interrupted run may have changed.
    pub source: ResourceId,
    /// The run in which the resource changed.
    pub run_id: String,
    /// Time of the change.
    #[serde(with = "Timestamp")]
    pub since: SystemTime,
    /// `true` if the refresh is assumed to be pending, because the ledger was damaged.
    #[serde(rename = "assumed", default, skip_serializing_if = "is_false")]
    pub is_assumed: bool,
}

/// Refresh that is pending at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnfinishedRefresh {
    /// The resource to refresh.
    pub subscriber: ResourceId,
    /// The refresh.
    #[serde(flatten)]
    pub refresh: PendingRefresh,
    /// Reason why this run did not do the refresh.
    #[serde(flatten)]
    pub cause: PendingCause,
}

/// Reason why a run did not do a pending refresh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum PendingCause {
    /// The subscriber failed.
    Failed,
    /// The subscriber was skipped.
    Skipped {
        /// Cause of the skip.
        #[serde(default)]
        skip: SkipCause,
        /// Setting of the manifest that blocks the refresh in further runs.
        #[serde(rename = "kept_by", default, skip_serializing_if = "Option::is_none")]
        blocked_by: Option<RefreshBlocker>,
    },
    /// The run, or the manifest of the subscriber, is in noop.
    Noop {
        /// Setting of the manifest that blocks the refresh in further runs.
        #[serde(rename = "kept_by", default, skip_serializing_if = "Option::is_none")]
        blocked_by: Option<RefreshBlocker>,
    },
    /// A value that the subscriber needs was missing.
    NoValue,
    /// The refresh belongs to another manifest, which uses the same ledger.
    OtherManifest {
        /// Path of the other manifest.
        manifest: String,
    },
}

/// Setting of the manifest that blocks a pending refresh in further runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "KeptBy")]
pub enum RefreshBlocker {
    /// The `control` of the subscriber is off.
    Control,
    /// The manifest of the subscriber is in noop.
    NoopManifest,
}

impl From<SkipCause> for PendingCause {
    fn from(skip: SkipCause) -> Self {
        let is_off = matches!(skip, SkipCause::NotManaged { .. });
        Self::Skipped { skip, blocked_by: is_off.then_some(RefreshBlocker::Control) }
    }
}

impl PendingCause {
    /// Returns the setting of the manifest that blocks the refresh in further runs.
    pub fn blocked_by(&self) -> Option<RefreshBlocker> {
        match self {
            Self::Skipped { blocked_by, .. } | Self::Noop { blocked_by } => *blocked_by,
            Self::Failed | Self::NoValue | Self::OtherManifest { .. } => None,
        }
    }

    /// Returns `true` if another run of the unchanged manifest does the refresh.
    pub fn is_for_next_run(&self) -> bool {
        let is_for_others = matches!(
            self,
            Self::Skipped { skip: SkipCause::NotSelected | SkipCause::Excluded, .. }
                | Self::OtherManifest { .. }
        );
        self.blocked_by().is_none() && !is_for_others
    }
}

impl fmt::Display for PendingCause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed => formatter.write_str("it failed"),
            Self::Skipped { skip: skip @ SkipCause::NotManaged { .. }, .. } => {
                write!(formatter, "{skip}; it is refreshed once it is managed")
            }
            Self::Skipped { skip: SkipCause::NotSelected, .. } => {
                formatter.write_str("not selected; a run without `--only` refreshes it")
            }
            Self::Skipped { skip: skip @ SkipCause::Excluded, .. } => {
                write!(formatter, "{skip}; a run without that option refreshes it")
            }
            Self::Skipped { skip: SkipCause::Unknown, .. } => formatter.write_str("it was skipped"),
            Self::Skipped { skip, .. } => write!(formatter, "{skip:#}"),
            Self::Noop { blocked_by: None } => formatter.write_str("it is in noop"),
            Self::Noop { .. } => {
                formatter.write_str("its manifest is in noop; it is refreshed once noop is removed")
            }
            Self::NoValue => formatter.write_str("a value that it needs is missing"),
            Self::OtherManifest { manifest } => write!(
                formatter,
                "it is for {manifest}, which has the same name; give each manifest its own `ccm.name`"
            ),
        }
    }
}

impl CancelledRefresh {
    /// Returns the cause as text.
    pub fn explanation(&self) -> String {
        let (subscriber, source) = (&self.subscriber, &self.refresh.source);
        match self.cause {
            CancelledCause::NoSubscriber => format!("{subscriber} is not in the manifest"),
            CancelledCause::NoSource => format!("{source} is not in the manifest"),
            CancelledCause::NoSubscription => format!("{subscriber} does not subscribe to {source}"),
        }
    }
}

/// Pending refresh that is not needed any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelledRefresh {
    /// The resource that is not refreshed any more.
    pub subscriber: ResourceId,
    /// The refresh.
    #[serde(flatten)]
    pub refresh: PendingRefresh,
    /// Part of the manifest that was removed.
    pub cause: CancelledCause,
}

/// Part of the manifest that was removed, so that a pending refresh was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SettledCause")]
pub enum CancelledCause {
    /// The subscriber.
    NoSubscriber,
    /// The resource that changed.
    NoSource,
    /// The subscription of the subscriber to the resource that changed.
    NoSubscription,
}

/// Pending and cancelled refreshes of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefreshSummary {
    /// Refreshes that are pending at the end of the run.
    #[serde(rename = "owed")]
    pub pending: Vec<UnfinishedRefresh>,
    /// Refreshes that were cancelled, because a part of the manifest was removed.
    #[serde(rename = "settled")]
    pub cancelled: Vec<CancelledRefresh>,
    /// Damage of the ledger, which made every refresh pending, and the name of the kept file.
    pub damage: Option<String>,
    /// Error of writing the ledger, one layer each. Empty if the ledger is up to date.
    pub unwritten: Vec<String>,
}
