//! Versions, as the package tools compare them.

use std::cmp::Ordering;

use super::{apt, dnf, evr, pacman};

/// Version scheme of a package tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionScheme {
    Debian,
    Rpm,
    /// Versions of pacman and its library.
    Alpm,
}

impl VersionScheme {
    pub(crate) fn compare(self, left: &str, right: &str) -> Ordering {
        match self {
            Self::Debian => apt::version::compare(left, right),
            Self::Rpm => dnf::version::compare(left, right),
            Self::Alpm => pacman::version::compare(left, right),
        }
    }

    /// Compares a desired version, which takes the epoch of the found one if it has none.
    pub(crate) fn compare_desired(self, desired: &str, found: &str) -> Ordering {
        match found.split_once(':').filter(|_| !desired.contains(':')) {
            Some((epoch, _)) => self.compare(&format!("{epoch}:{desired}"), found),
            None => self.compare(desired, found),
        }
    }

    pub(crate) fn satisfies(self, desired: &str, version: &str) -> bool {
        match self {
            Self::Debian => apt::version::satisfies(desired, version),
            Self::Rpm | Self::Alpm => evr::satisfies(desired, version),
        }
    }

    /// Returns the displayed form of a version.
    pub(crate) fn shown(self, version: &str) -> &str {
        match self {
            Self::Debian | Self::Alpm => version,
            Self::Rpm => dnf::version::without_epoch(version),
        }
    }
}

#[cfg(test)]
mod oracles;
