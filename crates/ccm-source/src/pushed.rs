//! Bundles that another machine pushes: what a machine receives, and the version that a run names.

use std::fs::File;
use std::io::{self, Read, Seek as _};
use std::path::Path;
use std::time::SystemTime;

use ccm_fetch::{ArchiveFormat, ExtractRequest, extract};
use ccm_host::{Cancellation, Files};
use ccm_model::{BundleId, VersionId, display_timestamp};
use ccm_release::BundleDigest;

use crate::address::{SourceAddress, SourcePlace};
use crate::bundle::{MAX_BUNDLE, MAX_ENTRIES};
use crate::cache::{CacheError, SourceCache};
use crate::follow::{FollowError, Followed};
use crate::offer::FetchError;
use crate::record::{AcceptedVersion, SourceRecord};

/// What the record has in place of a channel.
const CHANNEL: &str = "push";
/// What the record has in place of a file of signers: whoever may log in may push.
const SIGNERS: &str = "none";

/// Bundle that another machine sends.
#[derive(Clone, Copy, Debug)]
pub struct PushedBundle<'a> {
    /// Address of the source, which names the bundle.
    pub address: &'a SourceAddress,
    /// Digest of the archive.
    pub digest: &'a BundleDigest,
    /// Number of bytes of the compressed archive.
    pub compressed: u64,
}

/// Reason for which a bundle is not received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReceiveError {
    /// The cache can't be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// The bundle can't be stored.
    #[error("the bundle can't be stored")]
    Store(#[source] io::Error),
    /// The bundle ends early.
    #[error("the bundle ends after {received} of {expected} bytes")]
    Short {
        /// Number of bytes that came.
        received: u64,
        /// Number of bytes that were announced.
        expected: u64,
    },
    /// The bundle is larger than bundles may be.
    #[error("a bundle has at most {MAX_BUNDLE} bytes")]
    TooLarge,
    /// The bundle is not the one that was announced, or can't be unpacked.
    #[error("the bundle can't be unpacked")]
    Unpack(#[source] FetchError),
}

impl PushedBundle<'_> {
    /// Returns `true` if the machine has the bundle.
    pub fn is_there(&self, state: &Path) -> Result<bool, CacheError> {
        let Some(record) = SourceCache::peek(state, &self.address.name())? else { return Ok(false) };
        let cache = SourceCache::open(state, &self.address.name())?;
        Ok(version_of(&record, &self.digest.sha256).is_some() && cache.has_version(&self.digest.sha256))
    }

    /// Reads the compressed archive, hashes and unpacks it, and keeps it as the newest version of its source.
    pub async fn receive(
        &self,
        input: &mut dyn Read,
        (state, now): (&Path, SystemTime),
        (files, cancellation): (&dyn Files, &Cancellation),
    ) -> Result<(), ReceiveError> {
        if self.compressed > MAX_BUNDLE || self.digest.size > MAX_BUNDLE {
            return Err(ReceiveError::TooLarge);
        }
        let cache = SourceCache::open(state, &self.address.name())?;
        let archive = self.stored(input, cache.scratch())?;
        let before = cache.record(true)?;
        let path = cache.stage()?;
        let into = files.extraction_target(&path).map_err(|error| ReceiveError::Unpack(error.into()))?;
        let request = ExtractRequest {
            archive,
            sha256: None,
            content_sha256: Some(self.digest.sha256.clone()),
            path: self.digest.file_name().into(),
            format: ArchiveFormat::TarZst,
            into,
            strip_components: 0,
            uid: None,
            gid: None,
            max_size: self.digest.size,
            max_entries: MAX_ENTRIES,
            last: None,
            timeout: None,
        };
        let extracted = extract(request, cancellation).await;
        extracted.map_err(|error| ReceiveError::Unpack(FetchError::from(error)))?;
        let record = SourceRecord {
            source: self.address.to_string(),
            signers: SIGNERS.to_owned(),
            threshold: 0,
            accepted: AcceptedVersion {
                channel: CHANNEL.to_owned(),
                version: VersionId::Bundle(BundleId::of_sha256(&self.digest.sha256)),
                digest: self.digest.sha256.clone(),
                at: display_timestamp(now, 0),
                signed_by: Vec::new(),
                release: None,
                commit: None,
            },
            applied: before.as_ref().and_then(|before| before.applied.clone()),
            before: before.map(|before| before.accepted),
            rewound: None,
            kept: None,
        };
        cache.accept(None, &record)?;
        Ok(())
    }

    fn stored(&self, input: &mut dyn Read, scratch: &Path) -> Result<File, ReceiveError> {
        let mut file = ccm_host::unnamed_file(scratch).map_err(ReceiveError::Store)?;
        let received = io::copy(&mut input.take(self.compressed), &mut file).map_err(ReceiveError::Store)?;
        if received < self.compressed {
            return Err(ReceiveError::Short { received, expected: self.compressed });
        }
        file.rewind().map_err(ReceiveError::Store)?;
        Ok(file)
    }
}

/// Returns the version that an address of a push names, or else the one that was received last. Nothing is fetched.
pub(crate) fn follow(address: &SourceAddress, state: &Path) -> Result<Option<Followed>, FollowError> {
    let SourcePlace::Push { digest, .. } = &address.place else { return Ok(None) };
    let name = address.name();
    let record = SourceCache::peek(state, &name)?;
    let version = record.as_ref().and_then(|record| match digest {
        Some(digest) => version_of(record, digest),
        None => Some(record.current().clone()),
    });
    let Some(version) = version else {
        let reason = "nobody has pushed it to this machine".to_owned();
        return Err(FollowError::Nothing { address: address.to_string(), reason });
    };
    let path = SourceCache::path_of(state, &name, &version.digest);
    let rewound = record.and_then(|record| record.rewound).filter(|_| digest.is_none());
    Ok(Some(Followed { name, path, version, is_new: false, kept: None, is_reason_new: false, rewound }))
}

/// Returns the version of a digest that a record has.
fn version_of(record: &SourceRecord, digest: &str) -> Option<AcceptedVersion> {
    let versions = [Some(&record.accepted), record.before.as_ref()];
    versions.into_iter().flatten().find(|version| version.digest == digest).cloned()
}
