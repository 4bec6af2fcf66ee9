//! Refreshes that are owed: what a change asked of its subscribers and did not get yet.

use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::json::{Timestamp, is_false};
use crate::{ResourceId, SkipCause};

/// Refresh of a subscriber that an earlier run did not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OwedRefresh {
    /// The resource that changed, or may have been changed by a run that did not come to its end.
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

/// A refresh that is owed at the end of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StillOwed {
    /// The resource to refresh.
    pub subscriber: ResourceId,
    /// The refresh.
    #[serde(flatten)]
    pub refresh: OwedRefresh,
    /// Cause for which this run did not do the refresh.
    #[serde(flatten)]
    pub cause: OwedCause,
}

/// Cause for which a run did not do a pending refresh.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "snake_case")]
pub enum OwedCause {
    /// The subscriber failed.
    Failed,
    /// The subscriber was skipped.
    Skipped {
        /// Cause for which the subscriber was skipped.
        #[serde(default)]
        skip: SkipCause,
        /// Setting of the manifest that keeps further runs from doing the refresh.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_by: Option<KeptBy>,
    },
    /// The run, or the manifest of the subscriber, is in noop.
    Noop {
        /// Setting of the manifest that keeps further runs from doing the refresh.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept_by: Option<KeptBy>,
    },
    /// A value that the subscriber needs was missing.
    NoValue,
    /// The refresh belongs to another manifest, which uses the same ledger.
    OtherManifest {
        /// That manifest.
        manifest: String,
    },
}

/// Setting of the manifest that keeps further runs from doing a pending refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeptBy {
    /// The `control` of the subscriber is off.
    Control,
    /// The manifest of the subscriber is in noop.
    NoopManifest,
}

impl From<SkipCause> for OwedCause {
    fn from(skip: SkipCause) -> Self {
        let is_off = matches!(skip, SkipCause::NotManaged { .. });
        Self::Skipped { skip, kept_by: is_off.then_some(KeptBy::Control) }
    }
}

impl OwedCause {
    /// What keeps further runs of the manifest from doing the refresh, if something does.
    pub fn kept_by(&self) -> Option<KeptBy> {
        match self {
            Self::Skipped { kept_by, .. } | Self::Noop { kept_by } => *kept_by,
            Self::Failed | Self::NoValue | Self::OtherManifest { .. } => None,
        }
    }

    /// Tells whether another run of the same manifest as it is comes to do the refresh.
    pub fn is_for_next_run(&self) -> bool {
        let is_of_others =
            matches!(self, Self::Skipped { skip: SkipCause::NotSelected, .. } | Self::OtherManifest { .. });
        self.kept_by().is_none() && !is_of_others
    }
}

/// An owed refresh that nobody has to do any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettledRefresh {
    /// The resource that is not refreshed any more.
    pub subscriber: ResourceId,
    /// The refresh.
    #[serde(flatten)]
    pub refresh: OwedRefresh,
    /// Part of the manifest that was removed.
    pub cause: SettledCause,
}

/// Part of the manifest that was removed, so that a pending refresh was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SettledCause {
    /// The subscriber.
    NoSubscriber,
    /// The resource that changed.
    NoSource,
    /// The subscription of the subscriber to the resource that changed.
    NoSubscription,
}

/// What became of owed refreshes in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refreshes {
    /// What is owed at the end of it.
    pub owed: Vec<StillOwed>,
    /// What is owed no more although it was not done.
    pub settled: Vec<SettledRefresh>,
    /// What was wrong with the ledger, so that everything counted as owed, and what became of it.
    pub damage: Option<String>,
    /// Why the ledger does not say all this, one layer each; empty if it does.
    pub unwritten: Vec<String>,
}
