//! The desired package, complete and checked.

use std::time::Duration;

use super::version::VersionScheme;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub name: String,
    pub ensure: PackageEnsure,
    pub update_cache: UpdateCache,
    pub recommends: bool,
    pub purge: bool,
    /// Maximum duration of a command, without waiting for locks; `None` for no limit.
    pub timeout: Option<Duration>,
    pub lock_timeout: Duration,
}

/// Age at which the index is refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UpdateCache {
    /// A day for the latest version, and any for others.
    Default,
    Never,
    /// Maximum age of the index for a change.
    Within(Duration),
}

impl Package {
    /// Maximum age of the index for a change; `None` for any.
    pub(crate) fn max_index_age(&self) -> Option<Duration> {
        match self.update_cache {
            UpdateCache::Within(age) => Some(age),
            UpdateCache::Default if self.ensure == PackageEnsure::Latest => Some(MAX_AGE_FOR_LATEST),
            UpdateCache::Default | UpdateCache::Never => None,
        }
    }
}

/// Maximum age of an index that shows the latest version.
pub(crate) const MAX_AGE_FOR_LATEST: Duration = Duration::from_secs(86_400);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageEnsure {
    Present,
    Absent,
    Latest,
    Version(String),
}

impl PackageEnsure {
    /// Returns `true` if no package can satisfy both.
    pub(crate) fn excludes(&self, other: &Self, scheme: VersionScheme) -> bool {
        match (self, other) {
            (Self::Version(one), Self::Version(other)) => {
                !scheme.satisfies(one, other) && !scheme.satisfies(other, one)
            }
            _ => (*self == Self::Absent) != (*other == Self::Absent),
        }
    }
}
