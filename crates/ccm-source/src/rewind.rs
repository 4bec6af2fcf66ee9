//! Going back to the version before.

use std::time::SystemTime;

use ccm_model::{VersionId, display_timestamp};

use crate::cache::{CacheError, SourceCache};
use crate::record::{RewoundVersion, SourceRecord};

/// Maximum length of the reason in characters.
const MAX_REASON: usize = 200;

/// Reason for which a source can't be rewound, or not forward again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The cache can't be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// Nothing was accepted.
    #[error("nothing was accepted of this source")]
    Nothing,
    /// No version was accepted before this one.
    #[error("no version was accepted before {0}")]
    First(VersionId),
    /// The version before has the same content.
    #[error("{0} has the same content as the version before")]
    Same(VersionId),
    /// The version before is not there any more.
    #[error("{0} is lost")]
    Lost(VersionId),
    /// The source was rewound before.
    #[error("the source was rewound to {0} before, and nothing older is kept")]
    Again(VersionId),
    /// The source was not rewound.
    #[error("the source was not rewound")]
    Not,
}

impl SourceCache {
    /// Goes back to the version before, until a newer one than the one that was accepted comes. What was accepted stays
    /// written down, so that nothing older is accepted.
    pub fn rewind(&self, reason: &str, now: SystemTime) -> Result<SourceRecord, RewindError> {
        let record = self.record(false)?.ok_or(RewindError::Nothing)?;
        if let Some(rewound) = record.rewound {
            return Err(RewindError::Again(rewound.version.version));
        }
        let Some(version) = record.before.clone() else {
            return Err(RewindError::First(record.accepted.version));
        };
        if version.digest == record.accepted.digest {
            return Err(RewindError::Same(record.accepted.version));
        }
        if !self.has_version(&version.digest) {
            return Err(RewindError::Lost(version.version));
        }
        let reason = reason.chars().take(MAX_REASON).collect();
        let rewound = RewoundVersion { version, reason, since: display_timestamp(now, 0) };
        let record = SourceRecord { rewound: Some(rewound), ..record };
        self.write(&record)?;
        Ok(record)
    }

    /// Applies the version that was accepted again.
    pub fn forward(&self) -> Result<SourceRecord, RewindError> {
        let record = self.record(false)?.ok_or(RewindError::Nothing)?;
        if record.rewound.is_none() {
            return Err(RewindError::Not);
        }
        let record = SourceRecord { rewound: None, ..record };
        self.write(&record)?;
        Ok(record)
    }
}
