//! What is written down about a source.

use std::time::SystemTime;

use ccm_model::{display_timestamp, parse_timestamp};
use ccm_release::{Accepted, ChannelName, Release};
use serde::{Deserialize, Serialize};

/// Everything that is written down about a source, as `accepted.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// Address of the source.
    pub source: String,
    /// File of the people who may sign.
    pub signers: String,
    /// Number of people who have to sign.
    pub threshold: usize,
    /// Version that is applied.
    pub accepted: AcceptedVersion,
    /// Digest of the version that was applied without a failure last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<String>,
    /// Digest of the version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Reason for which nothing newer is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptReason>,
}

/// Version of a source that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedVersion {
    /// Channel.
    pub channel: String,
    /// Epoch.
    pub epoch: u64,
    /// Version.
    pub version: u64,
    /// Digest of the bundle.
    pub digest: String,
    /// Newest time at which a release of the source was issued, by RFC 3339.
    pub newest_issued: String,
    /// Time at which it was accepted, by RFC 3339.
    pub at: String,
    /// People who signed it.
    pub signed_by: Vec<String>,
}

/// Reason for which the version that was accepted before is applied, and no newer one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptReason {
    /// Kind of the reason.
    pub kind: KeptKind,
    /// Reason.
    pub reason: String,
    /// Time at which it was seen first, by RFC 3339.
    pub since: String,
}

/// Kind of a reason for which no newer version is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptKind {
    /// The source can't be reached.
    Unreachable,
    /// What it offers is refused.
    Refused,
    /// A wave of a later time holds this machine.
    Waiting,
    /// It is held back by whoever serves the releases.
    Held,
}

impl AcceptedVersion {
    /// Returns what is written down about a release.
    pub(crate) fn new(
        release: &Release,
        accepted: &Accepted,
        now: SystemTime,
        signed_by: Vec<String>,
    ) -> Self {
        Self {
            channel: release.channel.to_string(),
            epoch: release.epoch,
            version: release.version,
            digest: release.bundle.sha256.clone(),
            newest_issued: display_timestamp(accepted.newest_issued, 0),
            at: display_timestamp(now, 0),
            signed_by,
        }
    }

    /// Returns what decides about later releases; `None` if the record was changed by somebody else.
    pub fn accepted(&self) -> Option<Accepted> {
        Some(Accepted {
            channel: ChannelName::parse(&self.channel).ok()?,
            epoch: self.epoch,
            version: self.version,
            digest: self.digest.clone(),
            newest_issued: parse_timestamp(&self.newest_issued)?,
        })
    }
}
