//! State of a package.

use std::time::Duration;

use ccm_engine::Described;
use serde_json::json;

use crate::parts::packages::{Availability, Installation, Package, Presence, VersionScheme};

/// State of a package on the machine, and its availability where that matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PackageState {
    pub found: Installation,
    pub scheme: VersionScheme,
    pub availability: Availability,
    /// Installed packages that provide the name, if it is not that of an installed package, without those that the
    /// manifest removes.
    pub providers: Vec<String>,
    /// True if the manifest wants each of these providers.
    pub are_providers_wanted: bool,
    /// Name of another resource for the same package.
    pub duplicate: Option<String>,
    /// Sentences about the repositories that the tool could not read.
    pub skipped_repositories: Vec<String>,
    /// True if the index is older than `update_cache` allows, or lacks changes of repositories.
    pub is_stale: bool,
    /// True if the index is only older than it is by default, so that it can be used if a refresh fails.
    pub is_usable: bool,
    /// Age of an old index that `update_cache: never` leaves, where it is to be reported.
    pub left_index: Option<LeftIndex>,
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

/// Old index that is not refreshed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LeftIndex {
    /// Time since the last known refresh.
    pub age: Option<Duration>,
}

/// Returns a clause on the age of the index.
pub(crate) fn shown_age(age: Option<Duration>) -> String {
    const HOUR: u64 = 3600;
    match age.map(|age| age.as_secs() / HOUR) {
        None => "was never refreshed".to_owned(),
        Some(hours @ 0..48) => format!("is {hours} hours old"),
        Some(hours) => format!("is {} days old", hours / 24),
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
    Described::new(ensure).with(
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
    )
}
