//! What is written down about a source.

use std::time::SystemTime;

use ccm_fetch::ServedVersion;
use ccm_model::{VersionId, display_timestamp, parse_timestamp};
use ccm_release::{Accepted, ChannelName, Release};
use serde::{Deserialize, Serialize};

/// Everything that is written down about a source, as `accepted.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceRecord {
    /// Address of the source.
    pub source: String,
    /// File of the people who may sign; `none` if nobody has to.
    pub signers: String,
    /// Number of people who have to sign.
    pub threshold: usize,
    /// Version that is applied, unless the source was rewound.
    pub accepted: AcceptedVersion,
    /// Digest of the version that was applied without a failure last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub applied: Option<String>,
    /// Version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<AcceptedVersion>,
    /// Earlier version that somebody has gone back to, until a newer one comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewound: Option<RewoundVersion>,
    /// Reason for which nothing newer is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptReason>,
}

/// Version that is applied in place of the one that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RewoundVersion {
    /// The version.
    pub version: AcceptedVersion,
    /// Reason that the person gave.
    pub reason: String,
    /// Time at which the source was rewound, by RFC 3339.
    pub since: String,
}

impl SourceRecord {
    /// Returns the version that is applied.
    pub fn current(&self) -> &AcceptedVersion {
        self.rewound.as_ref().map_or(&self.accepted, |rewound| &rewound.version)
    }
}

/// Version of a source that was accepted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedVersion {
    /// Channel of a release, or branch.
    pub channel: String,
    /// Version.
    pub version: VersionId,
    /// Digest of the content.
    pub digest: String,
    /// Time at which it was accepted, by RFC 3339.
    pub at: String,
    /// People who signed it. Nobody has signed a commit of a source without signers.
    pub signed_by: Vec<String>,
    /// What else decides about later releases.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<AcceptedRelease>,
    /// What else decides about later commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<AcceptedCommit>,
}

/// What is written down about a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedRelease {
    /// Epoch.
    pub epoch: u64,
    /// Newest time at which a release of the source was issued, by RFC 3339.
    pub newest_issued: String,
    /// Entity tag that the web server gave the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity_tag: Option<String>,
    /// Time of its last change that the web server gave the release.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<String>,
}

impl AcceptedRelease {
    /// Returns the names that the web server gave the release; `None` if it gave none.
    pub(crate) fn served(&self) -> Option<ServedVersion> {
        let served = ServedVersion { entity_tag: self.entity_tag.clone(), modified: self.modified.clone() };
        (served != ServedVersion::default()).then_some(served)
    }
}

/// What is written down about a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedCommit {
    /// First commit of the history, which every later commit has.
    pub root: String,
    /// Number of versions that were accepted before.
    pub after: u64,
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
        (signed_by, served): (Vec<String>, ServedVersion),
    ) -> Self {
        Self {
            channel: release.channel.to_string(),
            version: VersionId::Number(release.version),
            digest: release.bundle.sha256.clone(),
            at: display_timestamp(now, 0),
            signed_by,
            release: Some(AcceptedRelease {
                epoch: release.epoch,
                newest_issued: display_timestamp(accepted.newest_issued, 0),
                entity_tag: served.entity_tag,
                modified: served.modified,
            }),
            commit: None,
        }
    }

    /// Returns what decides about later releases; `None` of a commit, and if the record was changed by somebody else.
    pub fn accepted(&self) -> Option<Accepted> {
        let release = self.release.as_ref()?;
        let VersionId::Number(version) = self.version else { return None };
        Some(Accepted {
            channel: ChannelName::parse(&self.channel).ok()?,
            epoch: release.epoch,
            version,
            digest: self.digest.clone(),
            newest_issued: parse_timestamp(&release.newest_issued)?,
        })
    }
}
