//! Following a source: fetch, verify, accept, or go on with what was accepted.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_model::{display_timestamp, error_layers, timestamp};
use ccm_release::{
    AcceptanceRules, Accepted, Envelope, EnvelopeError, Newness, Release, ReleaseError, ReleaseRefusal,
    ThresholdError, splay_of,
};

use crate::address::SourceAddress;
use crate::cache::{CacheError, SourceCache};
use crate::offer::{FetchError, SourceDoors};
use crate::record::{AcceptedVersion, KeptKind, KeptReason, SourceRecord};

/// Directory of a version that is only looked at, in a private one.
const PREVIEW: &str = "version";

/// Verifies the signatures of an envelope, and returns who signed.
pub type VerifyEnvelope<'a> = &'a dyn Fn(&Envelope) -> Result<Vec<String>, ThresholdError>;
/// Checks the manifests of an unpacked version. The error is a clause.
pub type CheckVersion<'a> = &'a dyn Fn(&Path) -> Result<(), String>;

/// Source to follow, and what decides about its releases.
#[derive(Clone, Copy)]
pub struct Following<'a> {
    /// Address of the source.
    pub address: &'a SourceAddress,
    /// File of the people who may sign, for the record.
    pub signers: &'a str,
    /// Number of people who have to sign, for the record.
    pub threshold: usize,
    /// Verifies signatures.
    pub verify: VerifyEnvelope<'a>,
    /// Checks manifests before they are accepted.
    pub check: CheckVersion<'a>,
    /// Name of this machine, for waves.
    pub node: &'a str,
    /// Rules of acceptance.
    pub rules: AcceptanceRules<'a>,
    /// Begins anew if nothing tells any more what was accepted.
    pub bootstrap: bool,
    /// Doors to the source.
    pub doors: SourceDoors<'a>,
}

/// Version of a source to apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// Name of the source.
    pub name: String,
    /// Directory of the version.
    pub path: PathBuf,
    /// The version.
    pub version: AcceptedVersion,
    /// It was accepted just now.
    pub is_new: bool,
    /// Reason for which nothing newer is applied.
    pub kept: Option<KeptReason>,
    /// The reason is another one than before.
    pub is_reason_new: bool,
}

/// Reason for which nothing of a source can be applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FollowError {
    /// The cache can't be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Nothing was ever accepted, and what is offered is not.
    #[error("nothing of the source {address} was accepted yet: {reason}")]
    Nothing {
        /// Address of the source.
        address: String,
        /// Reason, as a clause.
        reason: String,
    },
}

/// Reason for which a release is not accepted now.
#[derive(Debug, thiserror::Error)]
enum NotAccepted {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the release can't be read")]
    Envelope(#[from] EnvelopeError),
    #[error("the release does not count")]
    Threshold(#[from] ThresholdError),
    #[error("the release can't be read")]
    Document(#[from] ReleaseError),
    #[error("version {version} is refused")]
    Refused { version: u64, source: ReleaseRefusal },
    #[error("version {version} is refused: {reason}")]
    Invalid { version: u64, reason: String },
    #[error("version {version} is held back: {}", reason.escape_debug())]
    Held { version: u64, reason: String },
    #[error("version {version} is for this machine from {} on", timestamp(*due, 0))]
    Waiting { version: u64, due: SystemTime },
    #[error("version {version} is not for this machine: none of its waves holds it")]
    NoWave { version: u64 },
    /// Nothing can be kept on this machine.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

impl NotAccepted {
    fn kind(&self) -> KeptKind {
        match self {
            Self::Fetch(FetchError::Bundle(_)) => KeptKind::Refused,
            Self::Fetch(_) => KeptKind::Unreachable,
            Self::Held { .. } => KeptKind::Held,
            Self::Waiting { .. } | Self::NoWave { .. } => KeptKind::Waiting,
            _ => KeptKind::Refused,
        }
    }
}

/// Release that comes next.
struct Next {
    envelope: Envelope,
    release: Release,
    signed_by: Vec<String>,
}

impl Following<'_> {
    /// Fetches what the source offers, and accepts it if it comes after what was accepted. Otherwise the version that was
    /// accepted is the one to apply.
    pub async fn follow(&self, state: &Path) -> Result<Followed, FollowError> {
        let name = self.address.name();
        let cache = SourceCache::open(state, &name)?;
        let record = self.record(&cache)?;
        let tried = self.try_next(&cache, record.as_ref()).await;
        let (record, kept) = match (tried, record) {
            (Ok(Some((next, record))), _) => {
                let path = cache.accept(&next.envelope, &next.release.bundle.sha256, &record)?;
                let version = record.accepted;
                return Ok(Followed { name, path, version, is_new: true, kept: None, is_reason_new: false });
            }
            (Ok(None), Some(record)) => (record, None),
            (Ok(None), None) => return Err(self.nothing("the source offers nothing".to_owned())),
            (Err(error), None) => return Err(self.nothing(error_layers(&error).join(": "))),
            (Err(error), Some(record)) => {
                let kept = self.kept(&error, record.kept.as_ref());
                (record, Some(kept))
            }
        };
        cache.discard()?;
        if !cache.has_version(&record.accepted.digest) {
            return Err(self.nothing("the version that was accepted is lost".to_owned()));
        }
        let is_reason_new =
            kept.as_ref().map(|kept| &kept.reason) != record.kept.as_ref().map(|kept| &kept.reason);
        let record = SourceRecord { kept, ..record };
        if is_reason_new {
            cache.write(&record)?;
        }
        let path = cache.version(&record.accepted.digest);
        let SourceRecord { accepted: version, kept, .. } = record;
        Ok(Followed { name, path, version, is_new: false, kept, is_reason_new })
    }

    /// Shows which version would be applied, and accepts nothing. A new version is unpacked into a private directory.
    pub async fn preview(&self, state: &Path, private: &Path) -> Result<Followed, FollowError> {
        let name = self.address.name();
        let record = SourceCache::peek(state, &name)?;
        let accepted = record.as_ref().and_then(|record| record.accepted.accepted());
        let result = match self.next(accepted.as_ref(), private).await {
            Ok(Some(next)) => self.look_at(&next, private).await.map(|path| Some((next, path))),
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        };
        let kept = match (result, &record) {
            (Ok(Some((next, path))), _) => {
                let after = self.rules.accept(&next.release, accepted.as_ref());
                let version = AcceptedVersion::new(&next.release, &after, self.rules.now, next.signed_by);
                return Ok(Followed { name, path, version, is_new: true, kept: None, is_reason_new: false });
            }
            (Ok(None), Some(_)) => None,
            (Ok(None), None) => return Err(self.nothing("the source offers nothing".to_owned())),
            (Err(error), None) => return Err(self.nothing(error_layers(&error).join(": "))),
            (Err(error), Some(record)) => Some(self.kept(&error, record.kept.as_ref())),
        };
        let Some(record) = record else { return Err(self.nothing("nothing was accepted".to_owned())) };
        let path = SourceCache::path_of(state, &name, &record.accepted.digest);
        let is_reason_new = kept.is_some();
        Ok(Followed { name, path, version: record.accepted, is_new: false, kept, is_reason_new })
    }

    async fn look_at(&self, next: &Next, private: &Path) -> Result<PathBuf, NotAccepted> {
        let path = private.join(PREVIEW);
        let attributes = ccm_host::FileAttributes::default();
        self.doors.files.make_directory(&path, attributes).map_err(FetchError::from)?;
        self.address.unpack(&next.release, &path, self.doors, private).await?;
        self.checked(next, &path)?;
        Ok(path)
    }

    /// Returns the release that comes next, unpacked and checked, with the record of it; `None` if nothing is new.
    async fn try_next(
        &self,
        cache: &SourceCache,
        record: Option<&SourceRecord>,
    ) -> Result<Option<(Next, SourceRecord)>, NotAccepted> {
        let accepted = record.and_then(|record| record.accepted.accepted());
        let is_whole = record.is_none_or(|record| cache.has_version(&record.accepted.digest));
        // A version that was lost is fetched again.
        let scratch = cache.scratch();
        let found = self.next(accepted.as_ref(), scratch).await?;
        let next = match found {
            None if !is_whole => self.offered(accepted.as_ref(), scratch).await?.map(|(next, _)| next),
            found => found,
        };
        let Some(next) = next else { return Ok(None) };
        let path = if cache.has_version(&next.release.bundle.sha256) {
            cache.version(&next.release.bundle.sha256)
        } else {
            let path = cache.stage()?;
            self.address.unpack(&next.release, &path, self.doors, scratch).await?;
            path
        };
        self.checked(&next, &path)?;
        let after = self.rules.accept(&next.release, accepted.as_ref());
        let record = SourceRecord {
            source: self.address.to_string(),
            signers: self.signers.to_owned(),
            threshold: self.threshold,
            accepted: AcceptedVersion::new(&next.release, &after, self.rules.now, next.signed_by.clone()),
            applied: record.and_then(|record| record.applied.clone()),
            before: record.map(|record| record.accepted.digest.clone()),
            kept: None,
        };
        Ok(Some((next, record)))
    }

    fn checked(&self, next: &Next, path: &Path) -> Result<(), NotAccepted> {
        let version = next.release.version;
        (self.check)(path).map_err(|reason| NotAccepted::Invalid { version, reason })
    }

    /// Returns the release that comes next, if it is time for it; `None` if nothing is new.
    async fn next(&self, accepted: Option<&Accepted>, scratch: &Path) -> Result<Option<Next>, NotAccepted> {
        let Some((next, newness)) = self.offered(accepted, scratch).await? else { return Ok(None) };
        if newness == Newness::Same {
            return Ok(None);
        }
        let version = next.release.version;
        if let Some(reason) = self.address.hold(self.doors, scratch).await? {
            return Err(NotAccepted::Held { version, reason });
        }
        if accepted.is_some() {
            self.check_wave(&next.release, accepted)?;
        }
        Ok(Some(next))
    }

    /// Returns what the source offers, verified, and whether it is new.
    async fn offered(
        &self,
        accepted: Option<&Accepted>,
        scratch: &Path,
    ) -> Result<Option<(Next, Newness)>, NotAccepted> {
        let bytes = self.address.envelope(self.doors, scratch).await?;
        let envelope = Envelope::parse(&bytes)?;
        let signed_by = (self.verify)(&envelope)?;
        let release = Release::parse(envelope.payload())?;
        let version = release.version;
        let newness = self.rules.check(&release, accepted);
        let newness = newness.map_err(|source| NotAccepted::Refused { version, source })?;
        Ok(Some((Next { envelope, release, signed_by }, newness)))
    }

    /// Checks that the wave of this machine has come. A first version is for every machine at once.
    fn check_wave(&self, release: &Release, accepted: Option<&Accepted>) -> Result<(), NotAccepted> {
        let version = release.version;
        let due = release.waves.due(release.channel.as_str(), self.node, release.issued);
        let due = due.ok_or(NotAccepted::NoWave { version })?;
        let due = due + splay_of(self.node, &release.bundle.sha256, release.splay);
        if self.rules.time(accepted) < due { Err(NotAccepted::Waiting { version, due }) } else { Ok(()) }
    }

    /// Returns what was accepted. If the record is lost, it is the newest version of the store.
    fn record(&self, cache: &SourceCache) -> Result<Option<SourceRecord>, CacheError> {
        let lost = match cache.record(self.bootstrap) {
            Err(error @ (CacheError::Lost { .. } | CacheError::Damaged { .. })) => error,
            found => return found,
        };
        let Some(release) = cache.stored_releases().into_iter().next() else {
            return if self.bootstrap { Ok(None) } else { Err(lost) };
        };
        let accepted = self.rules.accept(&release, None);
        Ok(Some(SourceRecord {
            source: self.address.to_string(),
            signers: self.signers.to_owned(),
            threshold: self.threshold,
            accepted: AcceptedVersion::new(&release, &accepted, self.rules.now, Vec::new()),
            applied: None,
            before: None,
            kept: None,
        }))
    }

    /// Returns the reason for which the version that was accepted is kept. It lasts since it was seen first.
    fn kept(&self, error: &NotAccepted, before: Option<&KeptReason>) -> KeptReason {
        let reason = error_layers(error).join(": ");
        let since = before.filter(|before| before.reason == reason).map(|before| before.since.clone());
        let since = since.unwrap_or_else(|| display_timestamp(self.rules.now, 0));
        KeptReason { kind: error.kind(), reason, since }
    }

    fn nothing(&self, reason: String) -> FollowError {
        FollowError::Nothing { address: self.address.to_string(), reason }
    }
}
