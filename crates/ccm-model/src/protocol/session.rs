//! The first and the last line of a run.
//!
//! Old records may lack fields with `serde(default)`. With `schemars(!default)`, the schema of new records requires
//! them.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{StartProtocol, SummaryProtocol};
use crate::json::{Nanoseconds, OptionalTimestamp, Timestamp, is_false, known};
use crate::{
    CancelledRefresh, CheckCounts, Counts, ResourceId, SourceVersion, StartedBy, StopCause, UnfinishedRefresh,
};

/// The first line of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StartLine<'a> {
    /// Name of the protocol, with its version.
    pub protocol: StartProtocol,
    /// ID of the event, a UUID of version 7; sorted as text, the events of a run are in order.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub event_id: Cow<'a, str>,
    /// Time of the start.
    #[serde(with = "Timestamp")]
    pub timestamp: SystemTime,
    /// ID of the run, a UUID of version 7.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub run_id: Cow<'a, str>,
    /// Absolute path of the manifest, or `standard input`.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub manifest: Cow<'a, str>,
    /// Name of the machine. A run that was refused has none.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub host: Cow<'a, str>,
    /// Version of ccm.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub version: Cow<'a, str>,
    /// `true` if the run changes nothing.
    pub noop: bool,
    /// `true` if nothing but health checks runs (`--monitor-only`). Left out if `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub monitor_only: bool,
    /// Number of resources of the manifest.
    pub resources: usize,
    /// The `pre_message` of the manifest.
    pub message: Option<Cow<'a, str>>,
    /// User, terminal and systemd unit that started the run.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub started_by: Option<Cow<'a, StartedBy>>,
    /// Version of the source that the manifest comes from (`--from`).
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub source: Option<Cow<'a, SourceVersion>>,
    /// The run that this one verifies (`--verify-idempotent`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verifies: Option<Cow<'a, str>>,
}

/// The last line of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SummaryLine<'a> {
    /// Name of the protocol, with its version.
    pub protocol: SummaryProtocol,
    /// ID of the event, a UUID of version 7; sorted as text, the events of a run are in order.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub event_id: Cow<'a, str>,
    /// Time of the end.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "OptionalTimestamp")]
    #[schemars(!default, !skip_serializing_if, with = "Timestamp")]
    pub timestamp: Option<SystemTime>,
    /// ID of the run, a UUID of version 7.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub run_id: Cow<'a, str>,
    /// Absolute path of the manifest, or `standard input`.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub manifest: Cow<'a, str>,
    /// `true` for a noop run, which changes nothing.
    pub noop: bool,
    /// `true` for a run of health checks alone. Other runs have no such field.
    #[serde(default, skip_serializing_if = "is_false")]
    pub monitor_only: bool,
    /// Duration of the run, in nanoseconds.
    #[serde(with = "Nanoseconds")]
    pub duration: Duration,
    /// Number of resources with each outcome.
    pub counts: Counts,
    /// Number of health checks with each status. Only a run of a manifest with health checks has it.
    #[serde(default, skip_serializing_if = "CheckCounts::is_empty")]
    pub checks: CheckCounts,
    /// Cause of the early end of the run.
    #[serde(default, deserialize_with = "known")]
    pub stopped: Option<StopRecord>,
    /// The `post_message` of the manifest.
    pub message: Option<Cow<'a, str>>,
    /// Refreshes that are pending at the end of the run.
    #[serde(default)]
    #[schemars(!default)]
    pub pending: Vec<PendingRefreshRecord<'a>>,
    /// Earlier name of `pending`, which the next release leaves out.
    #[serde(default)]
    #[schemars(!default)]
    pub owed: Vec<PendingRefreshRecord<'a>>,
    /// Refreshes that were cancelled, because a part of the manifest was removed.
    #[serde(default)]
    #[schemars(!default)]
    pub cancelled: Vec<CancelledRefreshRecord<'a>>,
    /// Earlier name of `cancelled`, which the next release leaves out.
    #[serde(default)]
    #[schemars(!default)]
    pub settled: Vec<CancelledRefreshRecord<'a>>,
    /// Damage of the ledger, which made every refresh pending, and how the file is kept.
    pub ledger_damage: Option<Cow<'a, str>>,
    /// Error of writing the ledger, then its causes. Empty if the ledger is up to date.
    pub ledger_error: Cow<'a, [String]>,
    /// Resources that a run with `verifies` changed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_again: Option<Cow<'a, [ResourceId]>>,
}

/// Cause of the early end of a run, with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "StopLine", deny_unknown_fields)]
pub struct StopRecord {
    /// The cause.
    #[serde(flatten)]
    pub cause: StopCause,
    /// The cause as text.
    pub message: String,
}

/// A refresh that is pending at the end of a run, with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PendingRefreshLine", deny_unknown_fields)]
pub struct PendingRefreshRecord<'a> {
    /// The refresh.
    #[serde(flatten)]
    pub pending: Cow<'a, UnfinishedRefresh>,
    /// The cause as text.
    pub message: Cow<'a, str>,
}

/// A refresh that was cancelled, with its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SettledRefreshLine", deny_unknown_fields)]
pub struct CancelledRefreshRecord<'a> {
    /// The refresh.
    #[serde(flatten)]
    pub cancelled: Cow<'a, CancelledRefresh>,
    /// The cause as text.
    pub message: Cow<'a, str>,
}
