//! Releases that come next.

use std::path::Path;

use ccm_fetch::ServedVersion;
use ccm_model::VersionId;
use ccm_release::{AcceptanceRules, Accepted, Envelope, Newness, Release, ThresholdError};

use super::not_accepted::NotAccepted;
use super::{Following, NextVersion, PREVIEW};
use crate::cache::SourceCache;
use crate::offer::FetchedEnvelope;
use crate::record::{AcceptedVersion, SourceRecord};

/// Verifies the signatures of an envelope, and returns who signed.
pub type VerifyEnvelope<'a> = &'a dyn Fn(&Envelope) -> Result<Vec<String>, ThresholdError>;

/// What decides about releases.
#[derive(Clone, Copy)]
pub struct ReleaseFollowing<'a> {
    /// Verifies signatures.
    pub verify: VerifyEnvelope<'a>,
    /// Name of this machine, for waves.
    pub node: &'a str,
    /// Rules of acceptance.
    pub rules: AcceptanceRules<'a>,
}

/// Release that comes next.
struct NextRelease {
    envelope: Envelope,
    release: Release,
    signed_by: Vec<String>,
    served: ServedVersion,
}

/// What is known before anything is fetched.
#[derive(Clone, Copy, Default)]
struct KnownRelease<'a> {
    accepted: Option<&'a Accepted>,
    /// Envelope that was accepted, if the server has named it.
    envelope: Option<&'a FetchedEnvelope>,
}

impl NextRelease {
    fn version(&self) -> VersionId {
        VersionId::Number(self.release.version)
    }
}

impl Following<'_> {
    /// Returns the release that comes next, unpacked into a private directory and checked; `None` if nothing is new.
    pub(super) async fn preview_release(
        &self,
        rules: &ReleaseFollowing<'_>,
        record: Option<&SourceRecord>,
        private: &Path,
    ) -> Result<Option<NextVersion>, NotAccepted> {
        let accepted = record.and_then(|record| record.accepted.accepted());
        let known = KnownRelease { accepted: accepted.as_ref(), envelope: None };
        let Some(next) = self.next_release(rules, known, private).await? else { return Ok(None) };
        let path = self.preview_directory(private, PREVIEW)?;
        self.address.unpack(&next.release, &path, self.doors, private).await?;
        self.checked_release(rules, next, accepted.as_ref(), &path).map(Some)
    }

    /// Returns the release that comes next, unpacked and checked; `None` if nothing is new.
    pub(super) async fn try_release(
        &self,
        rules: &ReleaseFollowing<'_>,
        cache: &SourceCache,
        record: Option<&SourceRecord>,
    ) -> Result<Option<NextVersion>, NotAccepted> {
        let accepted = record.and_then(|record| record.accepted.accepted());
        let is_whole = record.is_none_or(|record| cache.has_version(&record.accepted.digest));
        // A version that was lost is fetched again.
        let scratch = cache.scratch();
        let envelope = record.and_then(|record| known_envelope(cache, &record.accepted));
        let known = KnownRelease { accepted: accepted.as_ref(), envelope: envelope.as_ref() };
        let found = self.next_release(rules, known, scratch).await?;
        let next = match found {
            None if !is_whole => self.offered(rules, known, scratch).await?.map(|(next, _)| next),
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
        self.checked_release(rules, next, accepted.as_ref(), &path).map(Some)
    }

    fn checked_release(
        &self,
        rules: &ReleaseFollowing<'_>,
        next: NextRelease,
        accepted: Option<&Accepted>,
        path: &Path,
    ) -> Result<NextVersion, NotAccepted> {
        let after = rules.rules.accept(&next.release, accepted);
        let version = AcceptedVersion::new(&next.release, &after, self.now, (next.signed_by, next.served));
        self.checked(&version, path)?;
        Ok(NextVersion { version, path: path.to_owned(), envelope: Some(next.envelope) })
    }

    /// Returns the release that comes next, if it is time for it; `None` if nothing is new.
    async fn next_release(
        &self,
        rules: &ReleaseFollowing<'_>,
        known: KnownRelease<'_>,
        scratch: &Path,
    ) -> Result<Option<NextRelease>, NotAccepted> {
        let Some((next, newness)) = self.offered(rules, known, scratch).await? else { return Ok(None) };
        if newness == Newness::Same {
            return Ok(None);
        }
        let hold = self.address.hold(self.doors, scratch).await?;
        let may_begin = rules.rules.may_begin(&next.release, known.accepted, (rules.node, hold));
        may_begin.map_err(|reason| NotAccepted::not_yet(reason, next.version()))?;
        Ok(Some(next))
    }

    /// Returns what the source offers, verified, and whether it is new.
    async fn offered(
        &self,
        rules: &ReleaseFollowing<'_>,
        known: KnownRelease<'_>,
        scratch: &Path,
    ) -> Result<Option<(NextRelease, Newness)>, NotAccepted> {
        let fetched = self.address.envelope(known.envelope, self.doors, scratch).await?;
        let envelope = Envelope::parse(&fetched.bytes)?;
        let signed_by = (rules.verify)(&envelope)?;
        let release = Release::parse(envelope.payload())?;
        let next = NextRelease { envelope, release, signed_by, served: fetched.served };
        let newness = rules.rules.check(&next.release, known.accepted);
        let newness = newness.map_err(|source| NotAccepted::Refused { version: next.version(), source })?;
        Ok(Some((next, newness)))
    }
}

/// Returns the envelope that was accepted, if its server has named it. It is verified again like one that is fetched.
fn known_envelope(cache: &SourceCache, accepted: &AcceptedVersion) -> Option<FetchedEnvelope> {
    let served = accepted.release.as_ref()?.served()?;
    let bytes = cache.envelope(&accepted.digest)?;
    // One that is damaged is fetched.
    Envelope::parse(&bytes).ok()?;
    Some(FetchedEnvelope { bytes, served })
}
