//! Following a source: fetch, verify, accept, or go on with what was accepted.

mod branch;
mod not_accepted;
mod release;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use ccm_fetch::ServedVersion;
use ccm_model::{display_timestamp, error_layers};
use ccm_release::Envelope;

use crate::address::{SourceAddress, SourcePlace};
use crate::cache::{CacheError, SourceCache};
use crate::offer::{FetchError, SourceDoors};
use crate::pushed;
use crate::record::{AcceptedVersion, KeptReason, RewoundVersion, SourceRecord};

pub use branch::{BranchFollowing, VerifyCommit};
use not_accepted::NotAccepted;
pub use release::{ReleaseFollowing, VerifyEnvelope};

/// Directory of a version that is only looked at, in a private one.
const PREVIEW: &str = "version";
/// Directory of the repository of a version that is only looked at, in a private one.
const PREVIEW_REPOSITORY: &str = "repository";

/// Checks the manifests of an unpacked version. The error is a clause.
pub type CheckVersion<'a> = &'a dyn Fn(&Path) -> Result<(), String>;

/// Source to follow, and what decides about its versions.
#[derive(Clone, Copy)]
pub struct Following<'a> {
    /// Address of the source.
    pub address: &'a SourceAddress,
    /// File of the people who may sign, for the record.
    pub signers: &'a str,
    /// Number of people who have to sign, for the record.
    pub threshold: usize,
    /// What else decides, for the kind of the source.
    pub rules: FollowingRules<'a>,
    /// Checks manifests before they are accepted.
    pub check: CheckVersion<'a>,
    /// Time by the clock of the machine.
    pub now: SystemTime,
    /// Begins anew if nothing tells any more what was accepted.
    pub bootstrap: bool,
    /// Doors to the source.
    pub doors: SourceDoors<'a>,
}

/// What decides about versions of one kind of source.
#[derive(Clone, Copy)]
pub enum FollowingRules<'a> {
    /// Releases.
    Releases(ReleaseFollowing<'a>),
    /// A branch of a repository.
    Branch(BranchFollowing<'a>),
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
    /// Somebody has gone back to this version.
    pub rewound: Option<RewoundVersion>,
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

/// Next version of a source, unpacked and checked.
struct NextVersion {
    version: AcceptedVersion,
    /// Directory of the version.
    path: PathBuf,
    /// Envelope of a release.
    envelope: Option<Envelope>,
}

impl Following<'_> {
    /// Fetches what the source offers, and accepts it if it comes after what was accepted. Otherwise the version that was
    /// accepted is the one to apply.
    pub async fn follow(&self, state: &Path) -> Result<Followed, FollowError> {
        if let Some(followed) = pushed::follow(self.address, state)? {
            return Ok(followed);
        }
        let name = self.address.name();
        let cache = SourceCache::open(state, &name)?;
        let record = self.record(&cache)?;
        let tried = self.try_next(&cache, record.as_ref()).await;
        let (record, kept) = match (tried, record) {
            (Ok(Some(next)), record) => {
                let record = self.record_of(&next.version, record);
                let path = cache.accept(next.envelope.as_ref(), &record)?;
                let path = path.with_file_name(&record.current().digest);
                let (version, rewound) = (record.current().clone(), record.rewound);
                let is_new = rewound.is_none();
                return Ok(Followed {
                    name,
                    path,
                    version,
                    is_new,
                    kept: None,
                    is_reason_new: false,
                    rewound,
                });
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
        if !cache.has_version(&record.current().digest) {
            return Err(self.nothing("the version that was accepted is lost".to_owned()));
        }
        let is_reason_new =
            kept.as_ref().map(|kept| &kept.reason) != record.kept.as_ref().map(|kept| &kept.reason);
        let record = SourceRecord { kept, ..record };
        if is_reason_new {
            cache.write(&record)?;
        }
        let (path, version) = (cache.version(&record.current().digest), record.current().clone());
        let SourceRecord { rewound, kept, .. } = record;
        Ok(Followed { name, path, version, is_new: false, kept, is_reason_new, rewound })
    }

    /// Shows which version would be applied, and accepts nothing. A new version is unpacked into a private directory.
    pub async fn preview(&self, state: &Path, private: &Path) -> Result<Followed, FollowError> {
        if let Some(followed) = pushed::follow(self.address, state)? {
            return Ok(followed);
        }
        let name = self.address.name();
        let record = SourceCache::peek(state, &name)?;
        let result = match (&self.address.place, &self.rules) {
            (SourcePlace::Git(place), FollowingRules::Branch(rules)) => {
                self.preview_commit(place, rules, record.as_ref(), (state, private)).await
            }
            (_, FollowingRules::Releases(rules)) => {
                self.preview_release(rules, record.as_ref(), private).await
            }
            _ => Err(NotAccepted::OtherKind),
        };
        let kept = match (result, &record) {
            (Ok(Some(NextVersion { version, path, .. })), _) => {
                return Ok(Followed {
                    name,
                    path,
                    version,
                    is_new: true,
                    kept: None,
                    is_reason_new: false,
                    rewound: None,
                });
            }
            (Ok(None), Some(_)) => None,
            (Ok(None), None) => return Err(self.nothing("the source offers nothing".to_owned())),
            (Err(error), None) => return Err(self.nothing(error_layers(&error).join(": "))),
            (Err(error), Some(record)) => Some(self.kept(&error, record.kept.as_ref())),
        };
        let Some(record) = record else { return Err(self.nothing("nothing was accepted".to_owned())) };
        let version = record.current().clone();
        let path = SourceCache::path_of(state, &name, &version.digest);
        let is_reason_new = kept.is_some();
        Ok(Followed { name, path, version, is_new: false, kept, is_reason_new, rewound: record.rewound })
    }

    /// Returns the version that comes next, unpacked and checked; `None` if nothing is new.
    async fn try_next(
        &self,
        cache: &SourceCache,
        record: Option<&SourceRecord>,
    ) -> Result<Option<NextVersion>, NotAccepted> {
        match (&self.address.place, &self.rules) {
            (SourcePlace::Git(place), FollowingRules::Branch(rules)) => {
                self.try_commit(place, rules, cache, record).await
            }
            (_, FollowingRules::Releases(rules)) => self.try_release(rules, cache, record).await,
            _ => Err(NotAccepted::OtherKind),
        }
    }

    /// Makes an empty directory for a version that is only looked at.
    fn preview_directory(&self, private: &Path, name: &str) -> Result<PathBuf, NotAccepted> {
        let path = private.join(name);
        // As in the cache: sandboxes of other users open it to their commands.
        let attributes = ccm_host::FileAttributes { mode: Some(0o755), ..Default::default() };
        self.doors.files.make_directory(&path, attributes).map_err(FetchError::from)?;
        Ok(path)
    }

    fn checked(&self, version: &AcceptedVersion, path: &Path) -> Result<(), NotAccepted> {
        let failed = |reason| NotAccepted::Invalid { version: version.version.clone(), reason };
        (self.check)(path).map_err(failed)
    }

    /// Returns the record after a version was accepted. A version that was only fetched again changes nothing else.
    fn record_of(&self, version: &AcceptedVersion, before: Option<SourceRecord>) -> SourceRecord {
        let record = SourceRecord {
            source: self.address.to_string(),
            signers: self.signers.to_owned(),
            threshold: self.threshold,
            accepted: version.clone(),
            applied: before.as_ref().and_then(|before| before.applied.clone()),
            before: None,
            rewound: None,
            kept: None,
        };
        match before {
            Some(known) if known.accepted.version == version.version => {
                SourceRecord { before: known.before, rewound: known.rewound, ..record }
            }
            known => SourceRecord { before: known.map(|known| known.accepted), ..record },
        }
    }

    /// Returns what was accepted. If the record is lost, it is the newest version of the store.
    fn record(&self, cache: &SourceCache) -> Result<Option<SourceRecord>, CacheError> {
        let lost = match cache.record(self.bootstrap) {
            Err(error @ (CacheError::Lost { .. } | CacheError::Damaged { .. })) => error,
            found => return found,
        };
        let stored = match &self.rules {
            FollowingRules::Releases(rules) => cache.stored_releases().first().map(|release| {
                let accepted = rules.rules.accept(release, None);
                AcceptedVersion::new(release, &accepted, self.now, (Vec::new(), ServedVersion::default()))
            }),
            FollowingRules::Branch(_) => cache.stored_commit(),
        };
        match stored {
            Some(version) => Ok(Some(self.record_of(&version, None))),
            None if self.bootstrap => Ok(None),
            None => Err(lost),
        }
    }

    /// Returns the reason for which the version that was accepted is kept. It lasts since it was seen first.
    fn kept(&self, error: &NotAccepted, before: Option<&KeptReason>) -> KeptReason {
        let reason = error_layers(error).join(": ");
        let since = before.filter(|before| before.reason == reason).map(|before| before.since.clone());
        let since = since.unwrap_or_else(|| display_timestamp(self.now, 0));
        KeptReason { kind: error.kind(), reason, since }
    }

    fn nothing(&self, reason: String) -> FollowError {
        FollowError::Nothing { address: self.address.to_string(), reason }
    }
}
