//! Acceptance: whether a release comes after what a machine has taken before.

use std::time::{Duration, SystemTime};

use ccm_model::timestamp;

use crate::document::Release;
use crate::names::ChannelName;
use crate::program_version::ProgramVersion;
use crate::waves::splay_of;

/// Maximum time by which a release may have been issued ahead of the clock.
const MAX_AHEAD: Duration = Duration::from_secs(24 * 3600);

/// Newest release that a machine has accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// Its channel.
    pub channel: ChannelName,
    /// Its epoch.
    pub epoch: u64,
    /// Its version.
    pub version: u64,
    /// The sha256 of its bundle in hexadecimal digits.
    pub digest: String,
    /// Newest time at which a release of this source was issued.
    pub newest_issued: SystemTime,
}

/// What else decides about a release.
#[derive(Clone, Copy, Debug)]
pub struct AcceptanceRules<'a> {
    /// Channel that the release has to have; `None` takes that of the first one.
    pub channel: Option<&'a ChannelName>,
    /// Time by the clock of the machine.
    pub now: SystemTime,
    /// Version of this ccm.
    pub program: ProgramVersion,
    /// Time at which this ccm was built. A clock before it is wrong.
    pub built: SystemTime,
}

/// Relation of a release to what was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Newness {
    /// It comes after what was accepted.
    New,
    /// It is what was accepted.
    Same,
}

/// Reason for which a release is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReleaseRefusal {
    /// It is for another channel.
    #[error("it is for channel {found}, not for {expected}")]
    Channel {
        /// Its channel.
        found: ChannelName,
        /// Channel of the source.
        expected: ChannelName,
    },
    /// Its epoch is over.
    #[error("its epoch {found} is before epoch {accepted}, which was accepted")]
    Epoch {
        /// Its epoch.
        found: u64,
        /// Epoch that was accepted.
        accepted: u64,
    },
    /// A later version was accepted.
    #[error("version {accepted} was accepted before")]
    Older {
        /// Version that was accepted.
        accepted: u64,
    },
    /// The version was accepted with another content.
    #[error("it was accepted with another content: two releases have one version")]
    Conflict,
    /// It has expired.
    #[error("it expired at {}", timestamp(*at, 0))]
    Expired {
        /// The moment.
        at: SystemTime,
    },
    /// It was issued in the future.
    #[error("it was issued at {}, which is more than a day ahead of the clock", timestamp(*at, 0))]
    Future {
        /// The moment.
        at: SystemTime,
    },
    /// This ccm is too old for it.
    #[error("it needs ccm {needed}, and this is ccm {program}")]
    Program {
        /// Version that it needs.
        needed: ProgramVersion,
        /// Version of this ccm.
        program: ProgramVersion,
    },
}

/// Reason for which a release that comes next is not taken yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotYet {
    /// Hold of the server of the releases.
    Held {
        /// Reason.
        reason: String,
    },
    /// The wave of this machine comes later.
    Waiting {
        /// Time from which on it is taken.
        due: SystemTime,
    },
    /// No wave holds this machine.
    NoWave,
}

impl AcceptanceRules<'_> {
    /// Decides whether a release comes after what was accepted, if anything was.
    pub fn check(&self, release: &Release, accepted: Option<&Accepted>) -> Result<Newness, ReleaseRefusal> {
        let expected = self.channel.or(accepted.map(|accepted| &accepted.channel));
        if let Some(expected) = expected.filter(|expected| **expected != release.channel) {
            let (found, expected) = (release.channel.clone(), expected.clone());
            return Err(ReleaseRefusal::Channel { found, expected });
        }
        if let Some(accepted) = accepted {
            if release.epoch < accepted.epoch {
                return Err(ReleaseRefusal::Epoch { found: release.epoch, accepted: accepted.epoch });
            }
            if (release.epoch, release.version) < (accepted.epoch, accepted.version) {
                return Err(ReleaseRefusal::Older { accepted: accepted.version });
            }
            if (release.epoch, release.version) == (accepted.epoch, accepted.version) {
                let is_same = release.bundle.sha256 == accepted.digest;
                // What was accepted is applied for ever, also after it has expired.
                return if is_same { Ok(Newness::Same) } else { Err(ReleaseRefusal::Conflict) };
            }
        }
        if !self.is_credible(release.issued) {
            return Err(ReleaseRefusal::Future { at: release.issued });
        }
        let now = self.time(accepted).max(release.issued);
        if let Some(at) = release.expires.filter(|at| *at <= now) {
            return Err(ReleaseRefusal::Expired { at });
        }
        match release.min_ccm {
            Some(needed) if needed > self.program => {
                Err(ReleaseRefusal::Program { needed, program: self.program })
            }
            _ => Ok(Newness::New),
        }
    }

    /// Decides whether this machine takes a release that comes next now, with the reason of a hold, if there is one. A first
    /// version is for every machine at once.
    pub fn may_begin(
        &self,
        release: &Release,
        accepted: Option<&Accepted>,
        (node, hold): (&str, Option<String>),
    ) -> Result<(), NotYet> {
        if let Some(reason) = hold {
            return Err(NotYet::Held { reason });
        }
        if accepted.is_none() {
            return Ok(());
        }
        let due = release.waves.due(release.channel.as_str(), node, release.issued);
        let due = due.ok_or(NotYet::NoWave)? + splay_of(node, &release.bundle.sha256, release.splay);
        if self.time(accepted) < due { Err(NotYet::Waiting { due }) } else { Ok(()) }
    }

    /// Returns what is written down once a release is accepted.
    pub fn accept(&self, release: &Release, accepted: Option<&Accepted>) -> Accepted {
        let newest = accepted.map_or(release.issued, |accepted| accepted.newest_issued.max(release.issued));
        Accepted {
            channel: release.channel.clone(),
            epoch: release.epoch,
            version: release.version,
            digest: release.bundle.sha256.clone(),
            newest_issued: newest,
        }
    }

    /// Returns the time: that of the clock, or that of the newest release, so that a clock that is set back revives
    /// no release that had expired.
    pub fn time(&self, accepted: Option<&Accepted>) -> SystemTime {
        let newest =
            accepted.map(|accepted| accepted.newest_issued).filter(|issued| self.is_credible(*issued));
        newest.map_or(self.now, |issued| issued.max(self.now))
    }

    /// Returns `true` unless a release was issued far ahead of a clock that may be right.
    fn is_credible(&self, issued: SystemTime) -> bool {
        self.now < self.built
            || issued.duration_since(self.now).is_ok_and(|ahead| ahead <= MAX_AHEAD)
            || issued <= self.now
    }
}

#[cfg(test)]
mod tests;
