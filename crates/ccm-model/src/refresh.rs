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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StillOwed {
    /// The resource that has to be refreshed.
    pub subscriber: ResourceId,
    /// What it owes.
    pub refresh: OwedRefresh,
    /// Why this run did not refresh it.
    pub cause: OwedCause,
}

/// Why a run did not do a refresh that is owed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OwedCause {
    /// The subscriber failed.
    Failed,
    /// The subscriber had no turn.
    Skipped(SkipCause),
    /// The run is in noop.
    Noop,
    /// The manifest of the subscriber is in noop, whatever the run is in.
    NoopManifest,
    /// A value that the subscriber needs was not there.
    NoValue,
    /// It is owed by another manifest, which keeps its ledger under the same name.
    OtherManifest(String),
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

impl OwedCause {
    /// What keeps further runs of the manifest from doing the refresh, if something does.
    pub fn kept_by(&self) -> Option<KeptBy> {
        match self {
            Self::Skipped(SkipCause::NotManaged { .. }) => Some(KeptBy::Control),
            Self::NoopManifest => Some(KeptBy::NoopManifest),
            _ => None,
        }
    }

    /// Tells whether another run of the same manifest as it is comes to do the refresh.
    pub fn is_for_next_run(&self) -> bool {
        self.kept_by().is_none()
            && !matches!(self, Self::Skipped(SkipCause::NotSelected) | Self::OtherManifest(_))
    }
}

/// An owed refresh that nobody has to do any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettledRefresh {
    /// The resource that should have been refreshed.
    pub subscriber: ResourceId,
    /// What it owed.
    pub refresh: OwedRefresh,
    /// Why nobody has to do it.
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
