//! Signed releases of manifests: what they say, whom they are for, and whether they are accepted.
//!
//! A [`Release`] is one version of a channel: it names a bundle by its digest, and says from when on which machines take
//! it. It travels in an [`Envelope`] with its signatures. [`Accepted`] is what a machine has taken before, and decides
//! whether a release comes after it.
//!
//! This crate must never read a file, ask for the time, or read a release whose signatures nobody has verified.

mod acceptance;
mod document;
mod envelope;
mod names;
mod program_version;
mod waves;

pub use acceptance::{AcceptanceRules, Accepted, Newness, NotYet, ReleaseRefusal};
pub use document::{BundleDigest, RELEASE_NAMESPACE, Release, ReleaseError};
pub use envelope::{
    Envelope, EnvelopeError, MAX_ENVELOPE, SignatureError, SignatureThreshold, ThresholdError,
};
pub use names::{ChannelName, ChannelNameError};
pub use program_version::ProgramVersion;
pub use waves::{Wave, WaveError, Waves};
