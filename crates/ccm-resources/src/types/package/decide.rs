//! The pure decision about a package.

use std::cmp::Ordering;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_model::{Action, Failure, FailureKind, MissingPrerequisite, Verb};

use super::rules::PackageRule;
use super::state::{PackageState, describe, shown_age};
use super::virtual_name::{is_virtual, provided_warning, virtual_failure, virtual_removal};
use crate::parts::packages::{Availability, Package, PackageEnsure, Presence, UpdateCache};

pub(crate) struct PackageKind;

/// Effect of an execution, used for verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PackageEffect {
    /// No change was needed after the index was refreshed.
    Nothing {
        /// Reason for keeping the package.
        reason: PackageRule,
    },
    Changed {
        /// Version that should be installed now, if one was chosen.
        version: Option<String>,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PackagePlan {
    Keep(PackageRule),
    Fail(PackageRule, Failure),
    /// Refresh of the index, followed by a new plan.
    Refresh(PackageRule),
    Install(Install),
    Remove(PackageRule),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Install {
    pub reason: PackageRule,
    /// Chosen version; `None` leaves the choice to the tool. A failure if no version fits.
    pub version: Result<Option<String>, Failure>,
    /// True if an older version replaces a newer one.
    pub is_downgrade: bool,
}

impl ResourceKind for PackageKind {
    type Properties = Package;
    type State = PackageState;
    type Effect = PackageEffect;
    type Rule = PackageRule;

    fn decide(package: &Package, state: &PackageState, _: Option<&Trigger>) -> Decision<PackageRule> {
        let change = |reason, action| Decision::Change { reason, action, diff: None };
        match plan(package, state) {
            PackagePlan::Keep(reason) => Decision::Keep { reason },
            PackagePlan::Fail(reason, failure) => Decision::Fail { reason, failure },
            PackagePlan::Refresh(reason) => {
                let unknown = "not known before the package index is refreshed";
                let action =
                    Action::new(Verb::Change).of(unknown).changing("version", installed(state), None);
                change(reason, action)
            }
            PackagePlan::Install(install) => {
                let action = install_action(package, state, &install);
                change(install.reason, action)
            }
            PackagePlan::Remove(reason) => change(reason, removal(state)),
        }
    }

    fn verify(
        package: &Package,
        state: &PackageState,
        done: &PackageEffect,
    ) -> Result<Verified<PackageRule>, Failure> {
        match done {
            PackageEffect::Nothing { reason } => Ok(Verified::Unchanged(reason.clone())),
            PackageEffect::Changed { version } => {
                let Some(failure) = mismatch(package, state, version.as_deref()) else {
                    return Ok(Verified::Changed);
                };
                // The tool succeeded, so another package decided the version.
                let is_another =
                    matches!(package.ensure, PackageEnsure::Version(_)) && state.installed().is_some();
                let hint = "check whether another package of the same change needs the installed version";
                Err(if is_another { failure.with_hint(hint) } else { failure })
            }
        }
    }

    /// The package tool may choose the version, and a refreshed index offers one that was not known.
    fn action_taken(_: &Package, state: &PackageState, _: &PackageEffect, planned: Action) -> Action {
        let verb = match planned.verb {
            Verb::Remove => return planned,
            // Only a later version is installed after the index was refreshed.
            Verb::Change => Verb::Upgrade,
            verb => verb,
        };
        let from = planned.changes.into_iter().find_map(|change| change.from);
        Action::new(verb).changing("version", from, installed(state))
    }

    /// Warns about unread repositories only if nothing changes; a change or failure reports them anyway.
    fn warnings(package: &Package, state: &PackageState) -> Vec<String> {
        let duplicate = state
            .duplicate
            .as_ref()
            .map(|duplicate| format!("this is the same package as package#{duplicate}"));
        let skipped_repositories = match plan(package, state) {
            PackagePlan::Keep(_) => &state.skipped_repositories[..],
            _ => &[],
        };
        let provided = provided_warning(package, state);
        let left = state.left_index.map(|left| {
            format!("the package index {}, and `update_cache: never` leaves it", shown_age(left.age))
        });
        duplicate
            .into_iter()
            .chain(provided)
            .chain(left)
            .chain(skipped_repositories.iter().cloned())
            .collect()
    }

    fn describe(package: &Package, state: &PackageState, _: &str) -> Described {
        describe(package, state)
    }
}

/// Returns the installed version in the displayed form.
fn installed(state: &PackageState) -> Option<String> {
    state.installed().map(|version| state.scheme.shown(version).to_owned())
}

fn install_action(package: &Package, state: &PackageState, install: &Install) -> Action {
    let verb = match (state.installed(), install.is_downgrade) {
        (None, _) => Verb::Install,
        (Some(_), false) => Verb::Upgrade,
        (Some(_), true) => Verb::Downgrade,
    };
    let chosen = install.version.as_ref().ok().and_then(Option::as_deref);
    let candidate = match &state.availability {
        Availability::Versions { candidate, .. } if install.version.is_ok() => candidate.as_deref(),
        _ => None,
    };
    let desired = match &package.ensure {
        PackageEnsure::Version(desired) => Some(&**desired),
        _ => None,
    };
    let to = chosen.or(desired).or(candidate).map(|version| state.scheme.shown(version).to_owned());
    Action::new(verb).changing("version", installed(state), to)
}

fn removal(state: &PackageState) -> Action {
    let action = Action::new(Verb::Remove);
    match (&state.found.presence, installed(state)) {
        (Presence::ConfigFiles, _) => action.of("configuration files"),
        (_, Some(version)) => action.changing("version", Some(version), None),
        _ => action,
    }
}

pub(crate) fn plan(package: &Package, state: &PackageState) -> PackagePlan {
    let plan = match &package.ensure {
        PackageEnsure::Absent => plan_removal(package, state),
        PackageEnsure::Present => match state.installed() {
            Some(version) => {
                PackagePlan::Keep(PackageRule::Installed(state.scheme.shown(version).to_owned()))
            }
            None => install(state, candidate(package, state).map(|_| None)),
        },
        PackageEnsure::Latest => match state.installed() {
            Some(version) => plan_latest(package, state, version),
            None => install(state, candidate(package, state)),
        },
        PackageEnsure::Version(desired) => plan_version(package, state, desired),
    };
    match (&plan, &state.found.hold) {
        (PackagePlan::Install(Install { reason, .. }) | PackagePlan::Remove(reason), Some(hold)) => {
            let message = format!("`{}` is held by {}", package.name, hold.by);
            let missing = MissingPrerequisite::NoHold(package.name.clone());
            let failure = Failure::conflict(reason.to_string()).because_of(message).with_missing(missing);
            PackagePlan::Fail(reason.clone(), failure.with_hint(&hold.release))
        }
        _ => plan,
    }
}

fn plan_removal(package: &Package, state: &PackageState) -> PackagePlan {
    match &state.found.presence {
        Presence::Gone if is_virtual(state) => {
            PackagePlan::Fail(PackageRule::NotInstalled, virtual_removal(package, state))
        }
        Presence::Gone => PackagePlan::Keep(PackageRule::NotInstalled),
        Presence::ConfigFiles if !package.purge => PackagePlan::Keep(PackageRule::OnlyConfigFilesKept),
        Presence::ConfigFiles => PackagePlan::Remove(PackageRule::ConfigFilesLeft),
        Presence::Unfinished(status) => PackagePlan::Remove(PackageRule::UnfinishedThere(status.clone())),
        Presence::Installed(version) => {
            PackagePlan::Remove(PackageRule::Installed(state.scheme.shown(version).to_owned()))
        }
    }
}

fn plan_latest(package: &Package, state: &PackageState, installed: &str) -> PackagePlan {
    let shown = |version| state.scheme.shown(version).to_owned();
    if state.is_stale {
        return PackagePlan::Refresh(PackageRule::StaleIndex(shown(installed)));
    }
    match &state.availability {
        Availability::Versions { candidate: Some(latest), .. }
            if state.scheme.compare(latest, installed) == Ordering::Greater =>
        {
            PackagePlan::Install(Install {
                reason: PackageRule::Outdated { installed: shown(installed), latest: shown(latest) },
                version: Ok(Some(latest.clone())),
                is_downgrade: false,
            })
        }
        Availability::Versions { candidate: Some(_), .. } => {
            PackagePlan::Keep(PackageRule::Latest(shown(installed)))
        }
        _ => {
            let name = package.name.clone();
            PackagePlan::Keep(PackageRule::NotInIndex { installed: shown(installed), name })
        }
    }
}

fn plan_version(package: &Package, state: &PackageState, desired: &str) -> PackagePlan {
    let scheme = state.scheme;
    let chosen = match state.newest(desired) {
        Some(version) => Ok(Some(version.to_owned())),
        None => Err(no_such_version(package, state, desired)),
    };
    let Some(installed) = state.installed() else {
        return install(state, chosen);
    };
    let shown = scheme.shown(installed);
    if scheme.satisfies(desired, installed) {
        return PackagePlan::Keep(PackageRule::Installed(shown.to_owned()));
    }
    let ordering = match &chosen {
        Ok(Some(version)) => scheme.compare(version, installed),
        _ => scheme.compare_desired(desired, installed),
    };
    let is_downgrade = ordering == Ordering::Less;
    PackagePlan::Install(Install {
        reason: PackageRule::OtherVersion { installed: shown.to_owned(), desired: desired.to_owned() },
        version: chosen,
        is_downgrade,
    })
}

fn install(state: &PackageState, version: Result<Option<String>, Failure>) -> PackagePlan {
    let reason = match &state.found.presence {
        Presence::Unfinished(status) => PackageRule::Unfinished(status.clone()),
        _ => PackageRule::NotInstalled,
    };
    PackagePlan::Install(Install { reason, version, is_downgrade: false })
}

/// Returns the version that the tool installs by default.
fn candidate(package: &Package, state: &PackageState) -> Result<Option<String>, Failure> {
    match &state.availability {
        Availability::NotQueried => Ok(None),
        Availability::Versions { candidate: Some(version), .. } => Ok(Some(version.clone())),
        Availability::Versions { candidate: None, .. } => Err(Failure::conflict(format!(
            "every version of `{}` is excluded by the configuration of the package tool",
            package.name
        ))),
        Availability::Unknown | Availability::Virtual { .. } => Err(not_offered(package, state)),
    }
}

fn not_offered(package: &Package, state: &PackageState) -> Failure {
    let name = &package.name;
    if is_virtual(state) {
        let mut failure = virtual_failure(package, state);
        failure.chain.extend_from_slice(&state.skipped_repositories);
        return failure.with_hint(format!("name the package: {}", listed(&state.providers)));
    }
    if let Availability::Virtual { by } = &state.availability {
        return Failure::conflict(format!("`{name}` is a virtual package"))
            .with_hint(format!("name a package that provides it: {}", listed(by)));
    }
    let mut failure = Failure::conflict(format!("package `{name}` is not in the index"));
    failure.chain.extend_from_slice(&state.skipped_repositories);
    let hint = match package.update_cache {
        _ if !state.skipped_repositories.is_empty() => "check the repositories that could not be read",
        UpdateCache::Default | UpdateCache::Never => {
            "check the name, or refresh an old index with `update_cache: 1d`"
        }
        UpdateCache::Within(_) => "check the name and the configured repositories",
    };
    failure.with_hint(hint)
}

fn no_such_version(package: &Package, state: &PackageState, desired: &str) -> Failure {
    let Availability::Versions { all, .. } = &state.availability else {
        return match state.availability {
            // Only a plan that is never executed is made without a query.
            Availability::NotQueried => {
                Failure::conflict(format!("the versions of `{}` are not known", package.name))
            }
            _ => not_offered(package, state),
        };
    };
    let mut known: Vec<&str> = all.iter().map(String::as_str).collect();
    known.sort_by(|left, right| state.scheme.compare(right, left));
    known.dedup();
    let known: Vec<&str> = known.into_iter().map(|version| state.scheme.shown(version)).collect();
    let mut failure =
        Failure::conflict(format!("version {desired} of `{}` is not in the index", package.name));
    failure.chain.extend_from_slice(&state.skipped_repositories);
    if known.is_empty() {
        failure
    } else {
        failure.with_hint(format!("use an available version: {}", listed(&known)))
    }
}

/// Lists the first few names and the number of the others.
pub(super) fn listed<S: AsRef<str>>(all: &[S]) -> String {
    const NAMED: usize = 5;
    let named: Vec<&str> = all.iter().take(NAMED).map(AsRef::as_ref).collect();
    match all.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{}, and {more} more", named.join(", ")),
    }
}

/// Returns the difference to the desired package as a failure; `chosen` is the version to install.
pub(crate) fn mismatch(package: &Package, state: &PackageState, chosen: Option<&str>) -> Option<Failure> {
    let scheme = state.scheme;
    let still = |what: String| Some(Failure::new(FailureKind::Verification, what));
    match (&package.ensure, &state.found.presence) {
        (PackageEnsure::Absent, Presence::Gone) | (PackageEnsure::Present, Presence::Installed(_)) => None,
        (PackageEnsure::Absent, Presence::ConfigFiles) if !package.purge => None,
        (PackageEnsure::Absent, Presence::ConfigFiles) => {
            still("configuration files of the package are still present".to_owned())
        }
        (PackageEnsure::Absent, Presence::Installed(version)) => {
            still(format!("version {} is still installed", scheme.shown(version)))
        }
        (_, Presence::Unfinished(status)) => still(format!("it is only partially installed ({status})")),
        (_, Presence::Gone | Presence::ConfigFiles) => {
            let failure = Failure::new(FailureKind::Verification, "the package is still not installed");
            let name = &package.name;
            Some(match state.found.elsewhere.first() {
                Some(arch) => {
                    failure.with_hint(format!("write `{name}:{arch}`: the package is installed for {arch}"))
                }
                None => failure,
            })
        }
        (PackageEnsure::Latest, Presence::Installed(version)) => {
            chosen.filter(|chosen| scheme.compare(version, chosen) == Ordering::Less).and_then(|chosen| {
                let (version, chosen) = (scheme.shown(version), scheme.shown(chosen));
                still(format!("version {version} is still installed, not {chosen}"))
            })
        }
        (PackageEnsure::Version(desired), Presence::Installed(version)) => {
            if scheme.satisfies(desired, version) {
                return None;
            }
            still(format!("version {} is installed, not {desired}", scheme.shown(version)))
        }
    }
}
