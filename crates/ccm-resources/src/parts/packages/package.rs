//! The desired package, complete and checked.

use std::time::Duration;

use super::version::VersionScheme;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Package {
    pub name: String,
    pub ensure: PackageEnsure,
    /// Maximum age of the index for a change.
    pub update_cache: Option<Duration>,
    pub recommends: bool,
    pub purge: bool,
    /// Maximum duration of a command, without waiting for locks; `None` for no limit.
    pub timeout: Option<Duration>,
    pub lock_timeout: Duration,
}

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
