//! State of a package.

use std::cmp::Ordering;

use ccm_engine::Described;
use ccm_model::Fields;
use serde_json::{Value, json};

use super::desired::Package;
use super::{apt, dnf};

/// State of a package on the machine, and its availability where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageState {
    pub found: Installation,
    pub scheme: VersionScheme,
    pub availability: Availability,
    /// Name of another resource for the same package.
    pub duplicate: Option<String>,
    /// Sentences about the repositories that the tool could not read.
    pub skipped_repositories: Vec<String>,
    /// True if the index is older than `update_cache` allows.
    pub is_stale: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Installation {
    pub presence: Presence,
    /// Architecture of the installed package.
    pub arch: Option<String>,
    /// Hold that forbids to change the package.
    pub hold: Option<Hold>,
    /// Other architectures that are installed instead.
    pub elsewhere: Vec<String>,
}

/// Degree to which a package is installed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Presence {
    /// Not at all.
    #[default]
    Gone,
    /// Removed except for its configuration files.
    ConfigFiles,
    /// Partially, with the status of the package tool.
    Unfinished(String),
    Installed(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    /// Description of what holds the package.
    pub by: String,
    /// Hint for releasing the hold.
    pub release: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Availability {
    /// Not queried because it does not matter.
    #[default]
    NotQueried,
    Unknown,
    /// Virtual: only provided by other packages.
    Virtual {
        /// Providing packages, sorted.
        by: Vec<String>,
    },
    Versions {
        /// Version installed by default; `None` if all are excluded.
        candidate: Option<String>,
        all: Vec<String>,
    },
}

/// Version scheme of a package tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionScheme {
    Debian,
    Rpm,
    /// Versions of pacman, which are compared as those of rpm.
    Alpm,
}

impl VersionScheme {
    pub(crate) fn compare(self, left: &str, right: &str) -> Ordering {
        match self {
            Self::Debian => apt::version::compare(left, right),
            Self::Rpm | Self::Alpm => dnf::version::compare(left, right),
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
            Self::Rpm | Self::Alpm => dnf::version::satisfies(desired, version),
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

impl PackageState {
    /// Returns the newest available version that `desired` stands for.
    pub(crate) fn newest(&self, desired: &str) -> Option<&str> {
        let Availability::Versions { all, .. } = &self.availability else { return None };
        let meant = all.iter().filter(|version| self.scheme.satisfies(desired, version));
        meant.max_by(|left, right| self.scheme.compare(left, right)).map(String::as_str)
    }

    pub(crate) fn installed(&self) -> Option<&str> {
        match &self.found.presence {
            Presence::Installed(version) => Some(version),
            _ => None,
        }
    }
}

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
        VersionScheme::Alpm => "pacman",
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
