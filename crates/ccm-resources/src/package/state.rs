//! What is known of a package.

use std::cmp::Ordering;

use ccm_engine::Described;
use ccm_model::Fields;
use serde_json::{Value, json};

use super::wanted::Package;
use super::{apt, dnf};

/// What was read of a package, and what the index offers where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub found: Found,
    /// Whose versions these are.
    pub scheme: Scheme,
    /// What the index has of it.
    pub offer: Offer,
    /// Another resource of the run that manages the same package by another name.
    pub twin: Option<String>,
    /// What the index did not know when it was asked, because a part of it could not be read: a sentence for each.
    pub left_out: Vec<String>,
    /// The index is older than it may be for a change.
    pub is_stale: bool,
}

/// What the machine has of a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
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
pub(crate) enum Offer {
    /// Nobody asked, because it does not matter.
    #[default]
    NotAsked,
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
pub(crate) enum Scheme {
    Debian,
    Rpm,
}

impl Scheme {
    /// Compares two versions.
    pub(crate) fn compare(self, left: &str, right: &str) -> Ordering {
        match self {
            Self::Debian => apt::version::compare(left, right),
            Self::Rpm => dnf::version::compare(left, right),
        }
    }

    /// Compares a version that was asked for with one that is there, whose epoch it has unless it names one.
    pub(crate) fn compare_wanted(self, wanted: &str, found: &str) -> Ordering {
        match found.split_once(':').filter(|_| !wanted.contains(':')) {
            Some((epoch, _)) => self.compare(&format!("{epoch}:{wanted}"), found),
            None => self.compare(wanted, found),
        }
    }

    /// Tells whether a version is one of those that were asked for.
    pub(crate) fn is_meant(self, wanted: &str, version: &str) -> bool {
        match self {
            Self::Debian => apt::version::is_meant(wanted, version),
            Self::Rpm => dnf::version::is_meant(wanted, version),
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

impl State {
    /// The newest of the versions on offer that were asked for.
    pub(crate) fn newest(&self, wanted: &str) -> Option<&str> {
        let Offer::Versions { all, .. } = &self.offer else { return None };
        let meant = all.iter().filter(|version| self.scheme.is_meant(wanted, version));
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
pub(crate) fn describe(package: &Package, state: &State) -> Described {
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
        Scheme::Debian => "apt",
        Scheme::Rpm => "dnf",
    };
    let candidate = match &state.offer {
        Offer::Versions { candidate, .. } => candidate.as_deref(),
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
