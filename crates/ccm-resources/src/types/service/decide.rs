//! The pure decision about a service.

use std::path::Path;
use std::time::Duration;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_model::{Action, Failure, FailureKind, MissingPrerequisite, Verb, display_duration, listed};

use super::desired::{Service, ServiceEnsure, template_of};
use super::enablement::Enablement;
use super::rules::{Difference, KeepReason, ServiceRule};
use super::show::{Activity, Load, Unit};
use super::state::{MaskObstacle, ServiceState, describe};

pub(crate) struct ServiceKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitVerb {
    Start,
    Stop,
    Restart,
    Reload,
    ReloadOrRestart,
}

impl UnitVerb {
    pub(crate) fn command(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Stop => "stop",
            Self::Restart => "restart",
            Self::Reload => "reload",
            Self::ReloadOrRestart => "reload-or-restart",
        }
    }

    fn action(self, unit: &Unit) -> Verb {
        match self {
            Self::Start => Verb::Start,
            Self::Stop => Verb::Stop,
            Self::Reload => Verb::Reload,
            Self::ReloadOrRestart if unit.can_reload => Verb::Reload,
            Self::Restart | Self::ReloadOrRestart => Verb::Restart,
        }
    }

    /// Returns the time that the unit allows for the command.
    pub(crate) fn limit(self, unit: &Unit) -> Duration {
        match self {
            Self::Start | Self::Reload => unit.start_timeout,
            Self::Stop => unit.stop_timeout,
            Self::Restart | Self::ReloadOrRestart => unit.stop_timeout.saturating_add(unit.start_timeout),
        }
    }
}

/// Effect of an execution, used for verification.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServiceEffect {
    pub unit: String,
    pub verb: Option<UnitVerb>,
    /// Reason why nothing was left to do when the unit was about to be changed.
    pub unneeded: Option<Unneeded>,
    /// Watch over a unit that does not report its start.
    pub watch: Option<StartWatch>,
    /// Start of the execution since 1970.
    pub since: Duration,
    /// The action, if the steps were carried out.
    pub action: Option<Action>,
}

/// Reason why nothing was left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unneeded {
    /// Systemd has read its unit files again.
    Reload,
    /// Another service of the same batch was changed.
    Neighbour,
}

/// Watch over a unit that was started and does not report its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StartWatch {
    /// End of the watch, on the clock that never goes back.
    pub until: Duration,
    /// Restarts by systemd when the watch began.
    pub restarts: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ServicePlan {
    Keep(KeepReason),
    Change(Steps),
    Fail(Failure),
}

/// Steps of a change in order; a unit is masked after it was disabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Steps {
    pub mask: Option<bool>,
    pub enable: Option<bool>,
    /// The links of an enabled unit are made anew.
    pub reenable: bool,
    pub verb: Option<UnitVerb>,
    /// Reasons for the steps.
    pub differences: Vec<Difference>,
}

impl Steps {
    /// Returns the action: the change of the running unit if there is one, with the other steps as changes.
    pub(super) fn action(&self, unit: &Unit) -> Action {
        let enable = self.enable.map(|enable| if enable { Verb::Enable } else { Verb::Disable });
        let mask = self.mask.map(|mask| if mask { Verb::Mask } else { Verb::Unmask });
        let principal = self.verb.map(|verb| verb.action(unit)).or(enable).or(mask);
        let mut action = Action::new(principal.unwrap_or(Verb::Change));
        for (aspect, verb, to) in [("enable", enable, self.enable), ("masked", mask, self.mask)] {
            if let Some(to) = to.filter(|_| verb != principal) {
                let from =
                    if self.reenable && aspect == "enable" { "partly".to_owned() } else { (!to).to_string() };
                action = action.changing(aspect, Some(from), Some(to.to_string()));
            }
        }
        action
    }

    /// Returns `true` if the steps need a unit that can be started.
    fn start(&self) -> bool {
        self.enable == Some(true) || self.verb.is_some_and(|verb| verb != UnitVerb::Stop)
    }
}

impl ResourceKind for ServiceKind {
    type Properties = Service;
    type State = ServiceState;
    type Effect = ServiceEffect;
    type Rule = ServiceRule;

    fn decide(service: &Service, state: &ServiceState, trigger: Option<&Trigger>) -> Decision<ServiceRule> {
        match plan(service, state) {
            ServicePlan::Keep(kept) => Decision::Keep { reason: ServiceRule::Keep(kept) },
            ServicePlan::Fail(failure) => Decision::Fail { reason: ServiceRule::Conflict, failure },
            ServicePlan::Change(steps) => {
                let action = steps.action(&state.unit);
                let Steps { differences, .. } = steps;
                let trigger = trigger.filter(|_| differences.contains(&Difference::Triggered)).cloned();
                let reason = ServiceRule::Differs { differences, trigger };
                Decision::Change { reason, action, diff: None }
            }
        }
    }

    fn verify(
        service: &Service,
        state: &ServiceState,
        done: &ServiceEffect,
    ) -> Result<Verified<ServiceRule>, Failure> {
        match done.unneeded {
            Some(Unneeded::Reload) => return Ok(Verified::Unchanged(ServiceRule::AsDesiredAfterReload)),
            Some(Unneeded::Neighbour) => return Ok(Verified::Unchanged(ServiceRule::AsDesiredMeanwhile)),
            None => {}
        }
        if is_gone(service, state) {
            return Ok(Verified::Changed);
        }
        let failure = match plan(service, &with_good_end(state, done)) {
            _ if state.restarts_after_start > 0 => {
                let mut failure = Failure::new(FailureKind::Verification, restarting(state));
                failure.chain.extend(exit_of_last_try(&state.unit));
                failure
            }
            ServicePlan::Keep(_) => return Ok(Verified::Changed),
            ServicePlan::Fail(failure) => failure,
            ServicePlan::Change(steps) => {
                let rule = ServiceRule::Differs { differences: steps.differences, trigger: None };
                let mut failure = Failure::new(FailureKind::Verification, rule.to_string());
                failure.chain.extend(exit_description(&state.unit));
                failure
            }
        };
        let mut failure =
            failure.because_of(format!("`{}` is not in the desired state after the change", service.unit));
        failure.kind = FailureKind::Verification;
        failure.output.extend(state.journal.clone());
        Err(failure)
    }

    /// The properties of a unit may be known only after systemd reloaded its unit files.
    fn action_taken(_: &Service, _: &ServiceState, done: &ServiceEffect, planned: Action) -> Action {
        done.action.clone().unwrap_or(planned)
    }

    fn warnings(service: &Service, state: &ServiceState) -> Vec<String> {
        let unit = &state.unit;
        let has_no_effect = service.enable == Some(false) && is_fixed(state);
        let has_no_effect = has_no_effect.then(|| {
            let kind = &unit.file_state;
            format!(
                "`enable: false` has no effect on a {kind} unit, which starts when something else needs it; set `masked: true` to prevent that"
            )
        });
        let is_kept =
            service.ensure == ServiceEnsure::Running && matches!(plan(service, state), ServicePlan::Keep(_));
        let is_outdated = (is_kept && unit.needs_reload).then(|| {
            "the unit file changed after the service was started; subscribe to the file to restart the service"
                .to_owned()
        });
        let not_installable =
            (service.enable == Some(true) && state.enablement == Enablement::NotInstallable).then(|| {
                let now = if unit.file_state == "static" {
                    "it starts only when something else needs it"
                } else {
                    "an old link still starts it"
                };
                format!("`enable: true` has no effect on a unit without an `[Install]` section: {now}")
            });
        let is_restarted =
            is_kept && unit.restarts > 0 && state.active_for.is_some_and(|active| active < RECENTLY);
        let is_restarted = is_restarted.then(|| {
            let ago = display_duration(Duration::from_secs(state.active_for.unwrap_or_default().as_secs()));
            let (times, user) = (unit.restarts, if service.user { "--user " } else { "" });
            format!(
                "systemd has restarted it {}, last {ago} ago, so that it may be failing again and again: see `journalctl {user}--unit {}`",
                if times == 1 { "once".to_owned() } else { format!("{times} times") },
                unit.name_or(&service.unit)
            )
        });
        let starters = state.starters.iter().map(|starter| {
            format!(
                "`{starter}` runs and starts it again; stop `{starter}` as well if it has to stay stopped"
            )
        });
        let own = [has_no_effect, not_installable, is_outdated, is_restarted];
        own.into_iter().flatten().chain(starters).collect()
    }

    fn describe(_: &Service, state: &ServiceState, _: &str) -> Described {
        describe(state)
    }
}

/// Age of a restart that is no accident of the past.
const RECENTLY: Duration = Duration::from_secs(60);

/// Returns `true` for a unit that went away when it was stopped.
pub(crate) fn is_gone(service: &Service, state: &ServiceState) -> bool {
    let wants_none = service.ensure == ServiceEnsure::Stopped && service.enable != Some(true);
    wants_none && service.masked != Some(true) && state.unit.load == Load::NotFound && !state.has_new_file
}

/// Returns what keeps a unit from being started that systemd restarts again and again.
fn restarting(state: &ServiceState) -> String {
    match state.restarts_after_start {
        1 => "it ended, and systemd restarted it, within a second after its start".to_owned(),
        times => format!("it ended, and systemd restarted it, {times} times within a second after its start"),
    }
}

/// Describes how the process ended before systemd restarted it.
fn exit_of_last_try(unit: &Unit) -> Option<String> {
    unit.main_process.clone().or_else(|| exit_description(unit))
}

/// Returns `true` if the unit counts as enabled, or for `enable: false` as not disabled.
fn is_enabled(state: &ServiceState, enable: bool) -> bool {
    match &state.enablement {
        Enablement::Script { is_enabled } => *is_enabled,
        Enablement::Others { has_disabled, .. } if enable => !has_disabled,
        Enablement::Others { has_enabled, .. } => *has_enabled,
        _ => state.unit.is_enabled(),
    }
}

/// Returns `true` if the unit can't be enabled or disabled.
fn is_fixed(state: &ServiceState) -> bool {
    match &state.enablement {
        Enablement::Script { .. } => false,
        Enablement::Others { has_enabled, has_disabled } => !has_enabled && !has_disabled,
        _ => state.unit.is_fixed(),
    }
}

/// Returns the state with a unit that ended well counted as running.
fn with_good_end(state: &ServiceState, done: &ServiceEffect) -> ServiceState {
    let mut state = state.clone();
    if has_ended_well(&state.unit) && done.verb.is_some_and(|verb| verb != UnitVerb::Stop) {
        state.unit.activity = Activity::Running;
    }
    state
}

/// Returns `true` for a unit that succeeded and does not remain active. One that reports its start is to stay, unless it is
/// a oneshot.
pub(crate) fn has_ended_well(unit: &Unit) -> bool {
    let has_ended_well = unit.activity == Activity::Stopped && unit.result == "success";
    (unit.is_oneshot || !unit.reports_start) && !unit.remains_after_exit && has_ended_well
}

/// Returns `true` if the change led to the desired state.
pub(crate) fn is_in_desired_state(service: &Service, state: &ServiceState, done: &ServiceEffect) -> bool {
    let is_kept = matches!(plan(service, &with_good_end(state, done)), ServicePlan::Keep(_));
    is_gone(service, state) || (is_kept && state.restarts_after_start == 0)
}

/// Plans the change of a service.
pub(crate) fn plan(service: &Service, state: &ServiceState) -> ServicePlan {
    let unit = &state.unit;
    let mut steps = Steps::default();
    if let Some(masked) = service.masked.filter(|masked| *masked != unit.is_masked()) {
        steps.mask = Some(masked);
        steps.differences.push(if masked { Difference::NotMasked } else { Difference::Masked });
    }
    if let Some(enable) =
        service.enable.filter(|enable| *enable != is_enabled(state, *enable) && (*enable || !is_fixed(state)))
    {
        steps.enable = Some(enable);
        steps.differences.push(if enable { Difference::NotEnabled } else { Difference::Enabled });
    } else if service.enable == Some(true) && state.enablement == Enablement::LinksMissing {
        steps.enable = Some(true);
        steps.reenable = true;
        steps.differences.push(Difference::LinksMissing);
    }
    let kept = match activity(service, state) {
        ActivityChange::Keep(kept) => kept,
        ActivityChange::Do(verb, difference) => {
            steps.verb = Some(verb);
            steps.differences.push(difference);
            KeepReason::AsDesired
        }
        ActivityChange::Busy => return ServicePlan::Fail(busy(service, state)),
    };
    let kept = if state.is_rightly_missing && steps.verb.is_none() { KeepReason::Missing } else { kept };
    if let Some(failure) = mask_failure(service, state, &steps) {
        return ServicePlan::Fail(failure);
    }
    // systemd cannot describe files that it has not read yet.
    let is_known = !unit.needs_reload && !state.has_new_file;
    if let Some(failure) = obstacle(service, state, &steps).filter(|_| is_known) {
        return ServicePlan::Fail(failure);
    }
    if steps.differences.is_empty() { ServicePlan::Keep(kept) } else { ServicePlan::Change(steps) }
}

/// Consequence of the activity of a unit.
enum ActivityChange {
    Keep(KeepReason),
    Do(UnitVerb, Difference),
    /// The unit is in a transition that did not end in time.
    Busy,
}

fn activity(service: &Service, state: &ServiceState) -> ActivityChange {
    let (unit, triggered) = (&state.unit, state.triggered);
    match (service.ensure, unit.activity) {
        (ServiceEnsure::Running, Activity::Running) if triggered => {
            ActivityChange::Do(service.on_refresh, Difference::Triggered)
        }
        (ServiceEnsure::Running, Activity::Reloading) if triggered => ActivityChange::Busy,
        (ServiceEnsure::Running, Activity::Activating) if unit.is_oneshot && !triggered => {
            ActivityChange::Keep(KeepReason::Working)
        }
        (ServiceEnsure::Running, Activity::Activating) | (_, Activity::Deactivating) => ActivityChange::Busy,
        (ServiceEnsure::Running, Activity::Stopped) => {
            ActivityChange::Do(UnitVerb::Start, Difference::NotRunning)
        }
        (ServiceEnsure::Running, Activity::Failed) => ActivityChange::Do(UnitVerb::Start, Difference::Failed),
        (ServiceEnsure::Running, Activity::Restarting) => {
            ActivityChange::Do(UnitVerb::Start, Difference::WaitsForRestart)
        }
        (ServiceEnsure::Stopped, Activity::Stopped | Activity::Failed) if triggered => {
            ActivityChange::Keep(KeepReason::StaysStopped)
        }
        (ServiceEnsure::Running, Activity::Running | Activity::Reloading)
        | (ServiceEnsure::Stopped, Activity::Stopped | Activity::Failed) => {
            ActivityChange::Keep(KeepReason::AsDesired)
        }
        (ServiceEnsure::Stopped, _) => ActivityChange::Do(UnitVerb::Stop, Difference::Running),
    }
}

/// Returns the failure if something prevents the steps.
fn obstacle(service: &Service, state: &ServiceState, steps: &Steps) -> Option<Failure> {
    let unit = &state.unit;
    let name = &*service.unit;
    let runs = !matches!(unit.activity, Activity::Stopped | Activity::Failed);
    match &unit.load {
        // A unit to be masked may be missing, and a running unit can be stopped after its file was removed.
        Load::NotFound if service.masked == Some(true) || (state.is_rightly_missing && !steps.start()) => {
            None
        }
        Load::NotFound if runs && service.enable.is_none() && !steps.start() => None,
        Load::NotFound => Some(not_found(service, state)),
        _ if unit.is_masked() && service.masked.is_none() && steps.start() => Some(masked(service, state)),
        _ if steps.mask == Some(false) && mask_of_package(state).is_some() => Some(masked(service, state)),
        Load::Bad(why) if steps.start() => {
            let failure = Failure::conflict(why.clone())
                .because_of(format!("cannot start `{name}`"))
                .with_missing(MissingPrerequisite::Unit(name.to_owned()));
            Some(failure.with_hint(format!("run `systemd-analyze verify {name}` for details")))
        }
        _ if steps.verb == Some(UnitVerb::Reload) && !unit.can_reload => Some(
            Failure::conflict(format!("cannot reload `{name}`: its unit has no `ExecReload`"))
                .with_missing(MissingPrerequisite::Unit(name.to_owned()))
                .with_hint("set `on_refresh: reload-or-restart`"),
        ),
        _ => None,
    }
}

fn not_found(service: &Service, state: &ServiceState) -> Failure {
    let whose = if service.user { " for this user" } else { "" };
    let failure =
        Failure::conflict(format!("service not found: unit `{}` does not exist{whose}", service.unit))
            .with_missing(MissingPrerequisite::Unit(
                template_of(&service.unit).unwrap_or_else(|| service.unit.clone()),
            ));
    let suggestions: Vec<&str> = state.suggestions.iter().map(String::as_str).collect();
    match &suggestions[..] {
        [] => failure,
        suggestions => failure.with_hint(format!("did you mean {}?", listed(suggestions, "or"))),
    }
}

/// Returns the path of the mask if a package brings it, so that `systemctl unmask` can't remove it.
fn mask_of_package(state: &ServiceState) -> Option<&Path> {
    state.mask.as_deref().filter(|mask| mask.starts_with("/usr") || mask.starts_with("/lib"))
}

fn masked(service: &Service, state: &ServiceState) -> Failure {
    let user = if service.user { "--user " } else { "" };
    let name = &service.unit;
    let missing = if service.user {
        MissingPrerequisite::Unit(name.clone())
    } else {
        // The mask is a link that a resource may remove.
        MissingPrerequisite::Path(Path::new("/etc/systemd/system").join(name))
    };
    let Some(mask) = mask_of_package(state) else {
        return Failure::conflict(format!("`{name}` is masked"))
            .with_missing(missing)
            .with_hint(format!("set `masked: false`, or run `systemctl {user}unmask {name}`"));
    };
    let directory = if service.user { "/etc/systemd/user" } else { "/etc/systemd/system" };
    Failure::conflict(format!("`{name}` is masked by \"{}\", which belongs to the system", mask.display()))
        .with_missing(missing)
        .with_hint(format!("write a unit file at {directory}/{name}: it takes the place of the mask"))
}

/// Returns the failure if something exists where systemd would put the link that masks the unit.
fn mask_failure(service: &Service, state: &ServiceState, steps: &Steps) -> Option<Failure> {
    let MaskObstacle { path, is_link } = state.mask_obstacle.as_ref().filter(|_| steps.mask == Some(true))?;
    let shown = path.display();
    let (what, hint) = match (is_link, service.user) {
        (true, _) if steps.enable == Some(false) => return None,
        (true, user) => {
            let user = if user { "--user " } else { "" };
            ("a link", format!("run `systemctl {user}disable {}` to remove it", service.unit))
        }
        (false, user) => {
            let elsewhere =
                if user { "~/.local/share/systemd/user" } else { "/usr/local/lib/systemd/system" };
            let hint = format!(
                "move the file to {elsewhere}, or use `enable: false` with `ensure: stopped` instead of `masked: true`"
            );
            ("a file", hint)
        }
    };
    let why = format!("\"{shown}\" is {what}, and the link that masks the unit needs this path");
    let failure = Failure::conflict(why).because_of(format!("cannot mask `{}`", service.unit));
    Some(failure.with_missing(MissingPrerequisite::Path(path.clone())).with_hint(hint))
}

fn busy(service: &Service, state: &ServiceState) -> Failure {
    let (active, sub) = &state.unit.words;
    let waited = display_duration(state.waited.unwrap_or_default());
    Failure::new(FailureKind::Timeout, format!("`{}` is still {active} ({sub}) after {waited}", service.unit))
        .with_hint("raise `timeout`, or check what the unit waits for")
}

/// Describes how a stopped unit exited.
pub(crate) fn exit_description(unit: &Unit) -> Option<String> {
    let runs = !matches!(unit.activity, Activity::Stopped | Activity::Failed | Activity::Restarting);
    match (&*unit.result, &unit.main_process) {
        _ if runs => None,
        ("" | "success", None) => None,
        ("" | "success", Some(how)) => Some(how.clone()),
        (result, Some(how)) => Some(format!("{how} (result: {result})")),
        (result, None) => Some(format!("result: {result}")),
    }
}

#[cfg(test)]
mod tests;
