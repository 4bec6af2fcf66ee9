//! Reasons for which nothing newer is accepted now.

use std::time::SystemTime;

use ccm_model::{VersionId, timestamp};
use ccm_release::{EnvelopeError, NotYet, ReleaseError, ReleaseRefusal, ThresholdError};

use crate::bundle::BuildError;
use crate::cache::CacheError;
use crate::git::{CommitRefusal, GitError, RepositoryError};
use crate::offer::FetchError;
use crate::record::KeptKind;

/// Reason for which a version is not accepted now.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotAccepted {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error("the release can't be read")]
    Envelope(#[from] EnvelopeError),
    #[error("the release does not count")]
    Threshold(#[from] ThresholdError),
    #[error("the release can't be read")]
    Document(#[from] ReleaseError),
    #[error("{version} is refused")]
    Refused { version: VersionId, source: ReleaseRefusal },
    #[error("{version} is refused: {reason}")]
    Invalid { version: VersionId, reason: String },
    #[error("{version} is held back: {}", reason.escape_debug())]
    Held { version: VersionId, reason: String },
    #[error("{version} is for this machine from {} on", timestamp(*due, 0))]
    Waiting { version: VersionId, due: SystemTime },
    #[error("{version} is not for this machine: none of its waves holds it")]
    NoWave { version: VersionId },
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("there is no branch {branch} at {url}")]
    NoBranch { branch: String, url: String },
    #[error("{version} is refused")]
    Commit { version: VersionId, source: CommitRefusal },
    #[error("{version} is refused")]
    Content { version: VersionId, source: BuildError },
    #[error("{version} is refused")]
    Tree { version: VersionId, source: Box<FetchError> },
    /// The command line takes the signatures away.
    #[error("its commits were signed, by {signers}, and are not verified any more with `--signers none`")]
    NoLongerSigned { signers: String },
    /// The command line names another root than the one that is pinned.
    #[error("it was accepted with the root {pinned}, and not with {named}")]
    OtherRoot { pinned: String, named: String },
    #[error("the source is of another kind")]
    OtherKind,
    /// Nothing can be kept on this machine.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

impl NotAccepted {
    pub(super) fn kind(&self) -> KeptKind {
        match self {
            Self::Fetch(FetchError::Bundle(_)) => KeptKind::Refused,
            Self::Fetch(_) | Self::Git(_) | Self::NoBranch { .. } => KeptKind::Unreachable,
            Self::Held { .. } => KeptKind::Held,
            Self::Waiting { .. } | Self::NoWave { .. } => KeptKind::Waiting,
            _ => KeptKind::Refused,
        }
    }

    /// Returns the reason for which a release is not taken yet.
    pub(super) fn not_yet(reason: NotYet, version: VersionId) -> Self {
        match reason {
            NotYet::Held { reason } => Self::Held { version, reason },
            NotYet::Waiting { due } => Self::Waiting { version, due },
            NotYet::NoWave => Self::NoWave { version },
        }
    }

    /// Returns the reason for which a commit can't be had.
    pub(super) fn of_repository(error: RepositoryError, version: &VersionId) -> Self {
        match error {
            RepositoryError::Git(error) => Self::Git(error),
            RepositoryError::File(error) => Self::Fetch(error.into()),
            RepositoryError::Refused(source) => Self::Commit { version: version.clone(), source },
        }
    }
}
