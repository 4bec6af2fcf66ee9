//! What is known of a package.

use std::cmp::Ordering;

use ccm_engine::Described;
use ccm_model::Fields;
use serde_json::{Value, json};

use super::desired::Package;
use super::{apt, dnf};

/// What was read of a package, and what the index offers where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageState {
    pub found: Installation,
    /// Whose versions these are.
    pub scheme: VersionScheme,
    /// What the index has of it.
    pub availability: Availability,
    /// Another resource of the run that manages the same package by another name.
    pub duplicate: Option<String>,
    /// What the index did not know when it was asked, because a part of it could not be read: a sentence for each.
    pub skipped_repositories: Vec<String>,
    /// The index is older than it may be for a change.
    pub is_stale: bool,
}

/// What the machine has of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Installation {
    pub presence: Presence,
    /// The architecture of what is there.
    pub arch: Option<String>,
    /// Somebody asked the package tool to leave it as it is.
    pub hold: Option<Hold>,
    /// Architectures that were not meant, and have it instead.
    pub elsewhere: Vec<String>,
}

/// How much of a package is there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Nothing.
    #[default]
    Gone,
    /// Configuration files that a removal left.
    ConfigFiles,
    /// Something, but not all that belongs to an installed package; with the word that the package tool has for it.
    Unfinished(String),
    /// This version of it.
    Installed(String),
}

/// That a package is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// By what, in words.
    pub by: String,
    /// What to do to let it go.
    pub release: String,
}

/// What the index has of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Availability {
    /// Nobody asked, because it does not matter.
    #[default]
    NotQueried,
    /// It knows no such package.
    Unknown,
    /// It knows the name, which stands for whatever provides it.
    Virtual {
        /// The packages that do, in order.
        by: Vec<String>,
    },
    /// These versions.
    Versions {
        /// The one that an installation takes if nothing else is said; none if all are excluded.
        candidate: Option<String>,
        /// All of them.
        all: Vec<String>,
    },
}

/// Whose versions they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionScheme {
    Debian,
    Rpm,
}

impl VersionScheme {
    /// Compares two versions.
    pub(crate) fn compare(self, left: &str, right: &str) -> Ordering {
        match self {
            Self::Debian => apt::version::compare(left, right),
            Self::Rpm => dnf::version::compare(left, right),
        }
    }

    /// Compares a version that was asked for with one that is there, whose epoch it has unless it names one.
    pub(crate) fn compare_desired(self, desired: &str, found: &str) -> Ordering {
        match found.split_once(':').filter(|_| !desired.contains(':')) {
            Some((epoch, _)) => self.compare(&format!("{epoch}:{desired}"), found),
            None => self.compare(desired, found),
        }
    }

    /// Tells whether a version is one of those that were asked for.
    pub(crate) fn satisfies(self, desired: &str, version: &str) -> bool {
        match self {
            Self::Debian => apt::version::satisfies(desired, version),
            Self::Rpm => dnf::version::satisfies(desired, version),
        }
    }

    /// A version as people know it.
    pub(crate) fn shown(self, version: &str) -> &str {
        match self {
            Self::Debian => version,
            Self::Rpm => dnf::version::without_epoch(version),
        }
    }
}

impl PackageState {
    /// The newest of the versions on offer that were asked for.
    pub(crate) fn newest(&self, desired: &str) -> Option<&str> {
        let Availability::Versions { all, .. } = &self.availability else { return None };
        let meant = all.iter().filter(|version| self.scheme.satisfies(desired, version));
        meant.max_by(|left, right| self.scheme.compare(left, right)).map(String::as_str)
    }

    /// The version that is installed.
    pub(crate) fn installed(&self) -> Option<&str> {
        match &self.found.presence {
            Presence::Installed(version) => Some(version),
            _ => None,
        }
    }
}

/// Shapes the state for events.
pub(crate) fn describe(package: &Package, state: &PackageState) -> Described {
    let version = state.installed().map(|version| state.scheme.shown(version));
    let ensure = version.unwrap_or("absent");
    let status = match &state.found.presence {
        Presence::Gone => "absent",
        Presence::ConfigFiles => "config-files",
        Presence::Unfinished(status) => status,
        Presence::Installed(_) => "installed",
    };
    let epoch = state.installed().and_then(|version| version.split_once(':')).map(|(epoch, _)| epoch);
    let provider = match state.scheme {
        VersionScheme::Debian => "apt",
        VersionScheme::Rpm => "dnf",
    };
    let candidate = match &state.availability {
        Availability::Versions { candidate, .. } => candidate.as_deref(),
        _ => None,
    };
    Described {
        ensure: ensure.to_owned(),
        state: Fields::from([
            ("protocol", Value::from("io.choria.ccm.v1.resource.package.state")),
            ("resource_type", Value::from("package")),
            ("name", Value::from(package.name.as_str())),
            ("ensure", Value::from(ensure)),
            (
                "metadata",
                json!({
                    "name": package.name,
                    "version": version.unwrap_or_default(),
                    "arch": state.found.arch,
                    "provider": provider,
                    "extended": {
                        "status": status,
                        "epoch": epoch,
                        "held": state.found.hold.is_some(),
                        "candidate": candidate.map(|candidate| state.scheme.shown(candidate)),
                    },
                }),
            ),
        ]),
    }
}
