//! The line of a resource.

use std::borrow::Cow;
use std::time::{Duration, SystemTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::TransactionProtocol;
use crate::json::{Nanoseconds, Timestamp, is_false, known};
use crate::{
    Action, FailureKind, Fields, GuardResult, HealthCheckResult, Intent, Location, Outcome, PendingRefresh,
    ResourceId, SkipCause,
};

/// The line of a resource, at the end of its step.
///
/// `P` is the form of its properties: a map of JSON when the line is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TransactionLine", deny_unknown_fields)]
pub struct TransactionLine<'a, P = Map<String, Value>> {
    /// Name of the protocol, with its version.
    pub protocol: TransactionProtocol,
    /// Name of the event, a UUID of version 7; sorted as text, the events of a run are in order.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub event_id: Cow<'a, str>,
    /// Time at which the resource was reached.
    #[serde(with = "Timestamp")]
    pub timestamp: SystemTime,
    /// Name of the run, a UUID of version 7.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    #[schemars(!default, !skip_serializing_if)]
    pub run_id: Cow<'a, str>,
    /// Type of the resource.
    #[serde(rename = "type")]
    pub type_name: Cow<'a, str>,
    /// Provider that did the work; null if none was needed.
    pub provider: Option<Cow<'a, str>>,
    /// Name of the resource.
    pub name: Cow<'a, str>,
    /// Second name of the resource.
    pub alias: Option<Cow<'a, str>>,
    /// Requested state.
    pub requested_ensure: Cow<'a, str>,
    /// State that was read last.
    pub final_ensure: Option<Cow<'a, str>>,
    /// Duration in nanoseconds.
    #[serde(with = "Nanoseconds")]
    pub duration: Duration,
    /// Properties from the manifest. Content and secrets are replaced by their size and checksum, or
    /// redacted.
    pub properties: P,
    /// State that was read last, in the shape of its type.
    pub status: Option<Cow<'a, Fields>>,
    /// Action that was taken or, in noop, that a run would take; null if there was nothing to do, or if what is
    /// to be done is not known. For a failed resource, the action that was decided on; `changed` tells whether
    /// it was begun.
    #[serde(default, deserialize_with = "known")]
    pub action: Option<Cow<'a, Action>>,
    /// In noop: the change that a run would make.
    pub noop_message: Option<Cow<'a, str>>,
    /// Error of a failed resource, then its causes.
    pub error: Cow<'a, [String]>,
    /// `true` if the resource was changed or, in noop, would be. For a failed resource, `true` if it may have
    /// been changed.
    pub changed: bool,
    /// `true` if the resource was refreshed or, in noop, would be.
    pub refreshed: bool,
    /// `true` if the resource is not in the requested state.
    pub failed: bool,
    /// `true` if the resource was skipped.
    pub skipped: bool,
    /// `true` if the resource was processed in noop, whatever its outcome. `false` if it was skipped.
    pub noop: bool,
    /// `true` if, in noop, a run would fail here as the machine is now. A warning has the reason.
    #[serde(default)]
    pub would_fail: bool,
    /// Dependencies that caused the skip, because they failed or are in noop.
    pub unmet_requirements: Cow<'a, [ResourceId]>,
    /// Outcome of the resource.
    pub outcome: OutcomeName,
    /// Rule that led to the outcome, for people.
    pub reason: Option<Cow<'a, str>>,
    /// Resources whose change triggered this one, in this run or an earlier one.
    pub triggered_by: Cow<'a, [ResourceId]>,
    /// Pending refreshes of an earlier run that triggered this resource.
    #[serde(default)]
    #[schemars(!default)]
    pub pending: Cow<'a, [PendingRefresh]>,
    /// Earlier name of `pending`, which the next release leaves out.
    #[serde(default)]
    #[schemars(!default)]
    pub owed: Cow<'a, [PendingRefresh]>,
    /// Problems that are no failure.
    pub warnings: Cow<'a, [String]>,
    /// Other things that were done, such as a backup and its path.
    pub notes: Cow<'a, [String]>,
    /// Change of content as a unified diff.
    pub diff: Option<Cow<'a, str>>,
    /// Advice on what to do about a failure.
    #[serde(default)]
    pub hints: Cow<'a, [String]>,
    /// Location in the manifest of the failure's cause.
    #[serde(default)]
    pub location: Option<Cow<'a, Location>>,
    /// Further fields of the failure. Output of commands is not included; the record of the run keeps it in
    /// files.
    #[serde(default, deserialize_with = "known")]
    pub failure: Option<FailureLine<'a>>,
    /// Name of the rule that led to the outcome, for programs. It stays the same when the text of `reason`
    /// changes.
    #[serde(default)]
    pub rule: Option<Cow<'a, str>>,
    /// Results of the guards, in the order in which they were run. Only a resource whose guards were run has
    /// them.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub guards: Cow<'a, [GuardResult]>,
    /// Results of the health checks, in the order of the manifest. Only a resource whose checks were run has them.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub health_check: Cow<'a, [HealthCheckResult]>,
    /// Cause of skipping the resource.
    #[serde(default, deserialize_with = "known")]
    pub skip: Option<Cow<'a, SkipCause>>,
}

/// Failure of a resource, for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FailureLine<'a> {
    /// Kind of the failure.
    pub kind: FailureKind,
    /// Name of the property that the failure concerns.
    pub property: Option<Cow<'a, str>>,
    /// `true` if the system may have been changed before the failure.
    pub changed: bool,
    /// `true` if the change was made and verified, and only what came after it failed, such as a health check. Left
    /// out if `false`.
    #[serde(default, skip_serializing_if = "is_false")]
    pub verified: bool,
    /// Name of the intent that waits for an approval. Only a failure that requires an approval has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Cow<'a, Intent>>,
}

/// Name of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeName {
    /// The resource was in the requested state.
    Unchanged,
    /// The resource was brought to the requested state.
    Changed,
    /// The resource was refreshed.
    Refreshed,
    /// Noop: the resource would be changed.
    WouldChange,
    /// Noop: the resource would be refreshed.
    WouldRefresh,
    /// The resource was skipped.
    Skipped,
    /// The resource failed.
    Failed,
}

impl From<&Outcome> for OutcomeName {
    fn from(outcome: &Outcome) -> Self {
        match outcome {
            Outcome::Unchanged => Self::Unchanged,
            Outcome::Changed => Self::Changed,
            Outcome::Refreshed => Self::Refreshed,
            Outcome::WouldChange { .. } => Self::WouldChange,
            Outcome::WouldRefresh { .. } => Self::WouldRefresh,
            Outcome::Skipped { .. } => Self::Skipped,
            Outcome::Failed(_) => Self::Failed,
        }
    }
}
