//! What a package lacks, and what has to be done about it. Pure.

use std::cmp::Ordering;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_model::{Failure, FailureKind};

use super::rules::PackageRule;
use super::state::{Offer, Presence, State, describe};
use super::wanted::{Ensure, Package};

/// The typed side of package.
pub(crate) struct PackageKind;

/// What an execution leaves to verify against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Done {
    /// After a look into the fresh index there was nothing to do.
    Nothing {
        /// Why.
        reason: PackageRule,
    },
    /// Packages were changed.
    Changed {
        /// The version that should be there now, if one was chosen.
        version: Option<String>,
    },
}

/// What has to be done.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Plan {
    /// Nothing, for this reason.
    Keep(PackageRule),
    /// Give up.
    Fail(PackageRule, Failure),
    /// Refresh the index, and look again.
    Refresh(PackageRule),
    /// Bring a version onto the machine.
    Install(Install),
    /// Remove it, for this reason.
    Remove(PackageRule),
}

/// An installation, an upgrade or a downgrade.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Install {
    /// Why.
    pub reason: PackageRule,
    /// What noop says.
    pub noop_message: String,
    /// The version that was chosen; none leaves it to the tool. An error says why there is none.
    pub version: Result<Option<String>, Failure>,
    /// An older version takes the place of a newer one.
    pub is_downgrade: bool,
}

impl ResourceKind for PackageKind {
    type Properties = Package;
    type State = State;
    type Effect = Done;
    type Rule = PackageRule;

    fn decide(package: &Package, state: &State, _: Option<&Trigger>) -> Decision<PackageRule> {
        let change = |reason, noop_message: &str| Decision::Change {
            reason,
            noop_message: noop_message.to_owned(),
            diff: None,
        };
        match plan(package, state) {
            Plan::Keep(reason) => Decision::Keep { reason },
            Plan::Fail(reason, failure) => Decision::Fail { reason, failure },
            Plan::Refresh(reason) => change(reason, "not known before the index of packages is refreshed"),
            Plan::Install(install) => change(install.reason, &install.noop_message),
            Plan::Remove(reason) => change(reason, "Would have uninstalled"),
        }
    }

    fn verify(package: &Package, state: &State, done: &Done) -> Result<Verified<PackageRule>, Failure> {
        match done {
            Done::Nothing { reason } => Ok(Verified::Unchanged(reason.clone())),
            Done::Changed { version } => {
                let Some(failure) = lacking(package, state, version.as_deref()) else {
                    return Ok(Verified::Changed);
                };
                // The tool did as it was told.
                let is_another = matches!(package.ensure, Ensure::Version(_)) && state.installed().is_some();
                let hint = "another package that was changed with it may need the version that is there";
                Err(if is_another { failure.with_hint(hint) } else { failure })
            }
        }
    }

    /// Of what the index did not know only where nothing is done: what is done says it itself, and so does what can't be.
    fn remarks(package: &Package, state: &State) -> Vec<String> {
        let twin = state.twin.as_ref().map(|twin| format!("it is the same package as package#{twin}"));
        let left_out = match plan(package, state) {
            Plan::Keep(_) => &state.left_out[..],
            _ => &[],
        };
        twin.into_iter().chain(left_out.iter().cloned()).collect()
    }

    fn describe(package: &Package, state: &State, _: &str) -> Described {
        describe(package, state)
    }
}

/// Decides what has to be done.
pub(crate) fn plan(package: &Package, state: &State) -> Plan {
    let plan = match &package.ensure {
        Ensure::Absent => plan_removal(package, state),
        Ensure::Present => match state.installed() {
            Some(version) => Plan::Keep(PackageRule::Installed(state.scheme.shown(version).to_owned())),
            None => install(package, state, "Would have installed", candidate(package, state).map(|_| None)),
        },
        Ensure::Latest => match state.installed() {
            Some(version) => plan_latest(package, state, version),
            None => install_latest(package, state),
        },
        Ensure::Version(wanted) => plan_version(package, state, wanted),
    };
    match (&plan, &state.found.hold) {
        (Plan::Install(Install { reason, .. }) | Plan::Remove(reason), Some(hold)) => {
            let message = format!("`{}` is held by {}", package.name, hold.by);
            let failure = conflict(reason.to_string()).because_of(message).with_hint(&hold.release);
            Plan::Fail(reason.clone(), failure)
        }
        _ => plan,
    }
}

fn plan_removal(package: &Package, state: &State) -> Plan {
    match &state.found.presence {
        Presence::Gone => Plan::Keep(PackageRule::NotInstalled),
        Presence::ConfigFiles if !package.purge => Plan::Keep(PackageRule::OnlyConfigFilesKept),
        Presence::ConfigFiles => Plan::Remove(PackageRule::ConfigFilesLeft),
        Presence::Unfinished(status) => Plan::Remove(PackageRule::UnfinishedThere(status.clone())),
        Presence::Installed(version) => {
            Plan::Remove(PackageRule::Installed(state.scheme.shown(version).to_owned()))
        }
    }
}

fn plan_latest(package: &Package, state: &State, installed: &str) -> Plan {
    let shown = |version| state.scheme.shown(version).to_owned();
    if state.is_stale {
        return Plan::Refresh(PackageRule::StaleIndex(shown(installed)));
    }
    match &state.offer {
        Offer::Versions { candidate: Some(latest), .. }
            if state.scheme.compare(latest, installed) == Ordering::Greater =>
        {
            Plan::Install(Install {
                reason: PackageRule::Outdated { installed: shown(installed), latest: shown(latest) },
                noop_message: format!("Would have upgraded to latest ({})", shown(latest)),
                version: Ok(Some(latest.clone())),
                is_downgrade: false,
            })
        }
        Offer::Versions { candidate: Some(_), .. } => Plan::Keep(PackageRule::Latest(shown(installed))),
        _ => {
            let name = package.name.clone();
            Plan::Keep(PackageRule::NotInIndex { installed: shown(installed), name })
        }
    }
}

fn plan_version(package: &Package, state: &State, wanted: &str) -> Plan {
    let scheme = state.scheme;
    let chosen = match state.newest(wanted) {
        Some(version) => Ok(Some(version.to_owned())),
        None => Err(no_such_version(package, state, wanted)),
    };
    let Some(installed) = state.installed() else {
        return install(package, state, &format!("Would have installed version {wanted}"), chosen);
    };
    let shown = scheme.shown(installed);
    if scheme.is_meant(wanted, installed) {
        return Plan::Keep(PackageRule::Installed(shown.to_owned()));
    }
    let ordering = match &chosen {
        Ok(Some(version)) => scheme.compare(version, installed),
        _ => scheme.compare_wanted(wanted, installed),
    };
    let is_downgrade = ordering == Ordering::Less;
    let verb = if is_downgrade { "downgraded" } else { "upgraded" };
    Plan::Install(Install {
        reason: PackageRule::OtherVersion { installed: shown.to_owned(), wanted: wanted.to_owned() },
        noop_message: format!("Would have {verb} to {wanted}"),
        version: chosen,
        is_downgrade,
    })
}

fn install(_: &Package, state: &State, noop_message: &str, version: Result<Option<String>, Failure>) -> Plan {
    let reason = match &state.found.presence {
        Presence::Unfinished(status) => PackageRule::Unfinished(status.clone()),
        _ => PackageRule::NotInstalled,
    };
    Plan::Install(Install { reason, noop_message: noop_message.to_owned(), version, is_downgrade: false })
}

fn install_latest(package: &Package, state: &State) -> Plan {
    let latest = candidate(package, state);
    let known = latest.as_ref().ok().and_then(Option::as_deref);
    let known = known.map(|latest| format!(" ({})", state.scheme.shown(latest)));
    let message = format!("Would have installed latest{}", known.unwrap_or_default());
    install(package, state, &message, latest)
}

/// The version that an installation takes by itself.
fn candidate(package: &Package, state: &State) -> Result<Option<String>, Failure> {
    match &state.offer {
        Offer::NotAsked => Ok(None),
        Offer::Versions { candidate: Some(version), .. } => Ok(Some(version.clone())),
        Offer::Versions { candidate: None, .. } => Err(conflict(format!(
            "every version of `{}` is excluded by the settings of the package tool",
            package.name
        ))),
        Offer::Unknown | Offer::Virtual { .. } => Err(not_offered(package, state)),
    }
}

fn conflict(message: String) -> Failure {
    Failure::new(FailureKind::Conflict, message)
}

fn not_offered(package: &Package, state: &State) -> Failure {
    let name = &package.name;
    if let Offer::Virtual { by } = &state.offer {
        return conflict(format!("there is no package `{name}` itself: other packages provide it"))
            .with_hint(format!("name one of those that provide it: {}", listed(by)));
    }
    let mut failure = conflict(format!("there is no package `{name}` in the index"));
    failure.chain.extend_from_slice(&state.left_out);
    let hint = match package.update_cache {
        _ if !state.left_out.is_empty() => "it may be in what was left out",
        None => "check the name; `update_cache: 1d` refreshes an index that is too old to know it",
        Some(_) => "check the name, and the sources of the index",
    };
    failure.with_hint(hint)
}

fn no_such_version(package: &Package, state: &State, wanted: &str) -> Failure {
    let Offer::Versions { all, .. } = &state.offer else {
        return match state.offer {
            // Only a plan that is never carried out is made without asking.
            Offer::NotAsked => conflict(format!("the versions of `{}` are not known", package.name)),
            _ => not_offered(package, state),
        };
    };
    let mut known: Vec<&str> = all.iter().map(String::as_str).collect();
    known.sort_by(|left, right| state.scheme.compare(right, left));
    known.dedup();
    let known: Vec<&str> = known.into_iter().map(|version| state.scheme.shown(version)).collect();
    let mut failure = conflict(format!("there is no version {wanted} of `{}` in the index", package.name));
    failure.chain.extend_from_slice(&state.left_out);
    if known.is_empty() { failure } else { failure.with_hint(format!("it has {}", listed(&known))) }
}

/// The first few, and how many more there are.
fn listed<S: AsRef<str>>(all: &[S]) -> String {
    /// How many are named.
    const NAMED: usize = 5;
    let named: Vec<&str> = all.iter().take(NAMED).map(AsRef::as_ref).collect();
    match all.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{}, and {more} more", named.join(", ")),
    }
}

/// Says what a package lacks of what is wanted. `chosen` is the version that was to be installed.
pub(crate) fn lacking(package: &Package, state: &State, chosen: Option<&str>) -> Option<Failure> {
    let scheme = state.scheme;
    let still = |what: String| Some(Failure::new(FailureKind::Verification, what));
    match (&package.ensure, &state.found.presence) {
        (Ensure::Absent, Presence::Gone) | (Ensure::Present, Presence::Installed(_)) => None,
        (Ensure::Absent, Presence::ConfigFiles) if !package.purge => None,
        (Ensure::Absent, Presence::ConfigFiles) => {
            still("its configuration files are still there".to_owned())
        }
        (Ensure::Absent, Presence::Installed(version)) => {
            still(format!("version {} is still installed", scheme.shown(version)))
        }
        (_, Presence::Unfinished(status)) => still(format!("it is not wholly installed: it is {status}")),
        (_, Presence::Gone | Presence::ConfigFiles) => {
            let failure = Failure::new(FailureKind::Verification, "it is still not installed");
            let name = &package.name;
            Some(match state.found.elsewhere.first() {
                Some(arch) => {
                    failure.with_hint(format!("it is for {arch}: its name would be `{name}:{arch}`"))
                }
                None => failure,
            })
        }
        (Ensure::Latest, Presence::Installed(version)) => {
            chosen.filter(|chosen| scheme.compare(version, chosen) == Ordering::Less).and_then(|chosen| {
                let (version, chosen) = (scheme.shown(version), scheme.shown(chosen));
                still(format!("version {version} is still installed, not {chosen}"))
            })
        }
        (Ensure::Version(wanted), Presence::Installed(version)) => {
            if scheme.is_meant(wanted, version) {
                return None;
            }
            still(format!("version {} is installed, not {wanted}", scheme.shown(version)))
        }
    }
}
