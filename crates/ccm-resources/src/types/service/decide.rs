//! The pure decision about a service.

use std::path::Path;
use std::time::Duration;

use ccm_engine::{Decision, Described, ResourceKind, Trigger, Verified};
use ccm_model::{Action, Failure, FailureKind, MissingPrerequisite, Verb, display_duration, listed};

use super::desired::{Service, ServiceEnsure, template_of};
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
    /// True if nothing was left to do after systemd reloaded its unit files.
    pub nothing: bool,
    /// Start of the execution since 1970.
    pub since: Duration,
    /// The action, if the steps were carried out.
    pub action: Option<Action>,
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
                action = action.changing(aspect, Some((!to).to_string()), Some(to.to_string()));
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
        if done.nothing {
            return Ok(Verified::Unchanged(ServiceRule::AsDesiredAfterReload));
        }
        let failure = match plan(service, &with_finished_oneshot(state, done)) {
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
        let has_no_effect = service.enable == Some(false) && unit.is_fixed();
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
        has_no_effect.into_iter().chain(is_outdated).collect()
    }

    fn describe(_: &Service, state: &ServiceState, _: &str) -> Described {
        describe(state)
    }
}

/// Returns the state with a successfully finished oneshot counted as running.
fn with_finished_oneshot(state: &ServiceState, done: &ServiceEffect) -> ServiceState {
    let mut state = state.clone();
    if is_finished_oneshot(&state.unit) && done.verb.is_some_and(|verb| verb != UnitVerb::Stop) {
        state.unit.activity = Activity::Running;
    }
    state
}

/// Returns `true` for a oneshot that succeeded and does not remain active.
pub(crate) fn is_finished_oneshot(unit: &Unit) -> bool {
    let has_ended_well = unit.activity == Activity::Stopped && unit.result == "success";
    unit.is_oneshot && !unit.remains_after_exit && has_ended_well
}

/// Returns `true` if the change led to the desired state.
pub(crate) fn is_in_desired_state(service: &Service, state: &ServiceState, done: &ServiceEffect) -> bool {
    matches!(plan(service, &with_finished_oneshot(state, done)), ServicePlan::Keep(_))
}

/// Plans the change of a service.
pub(crate) fn plan(service: &Service, state: &ServiceState) -> ServicePlan {
    let unit = &state.unit;
    let mut steps = Steps::default();
    if let Some(masked) = service.masked.filter(|masked| *masked != unit.is_masked()) {
        steps.mask = Some(masked);
        steps.differences.push(if masked { Difference::NotMasked } else { Difference::Masked });
    }
    let is_enabled = unit.is_enabled();
    if let Some(enable) =
        service.enable.filter(|enable| *enable != is_enabled && (*enable || !unit.is_fixed()))
    {
        steps.enable = Some(enable);
        steps.differences.push(if enable { Difference::NotEnabled } else { Difference::Enabled });
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
        Load::NotFound if service.masked == Some(true) => None,
        Load::NotFound if runs && service.enable.is_none() && !steps.start() => None,
        Load::NotFound => Some(not_found(service, state)),
        _ if unit.is_masked() && service.masked.is_none() && steps.start() => Some(masked(service)),
        Load::Bad(why) if steps.start() => {
            let failure = Failure::conflict(why.clone())
                .because_of(format!("cannot start `{name}`"))
                .with_missing(MissingPrerequisite::Unit(name.to_owned()));
            Some(failure.with_hint(format!("run `systemd-analyze verify {name}` for details")))
        }
        _ if steps.verb == Some(UnitVerb::Reload) && !unit.can_reload => Some(
            Failure::conflict(format!("cannot reload `{name}`: its unit has no `ExecReload`"))
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

fn masked(service: &Service) -> Failure {
    let user = if service.user { "--user " } else { "" };
    let name = &service.unit;
    let missing = if service.user {
        MissingPrerequisite::Unit(name.clone())
    } else {
        // The mask is a link that a resource may remove.
        MissingPrerequisite::Path(Path::new("/etc/systemd/system").join(name))
    };
    Failure::conflict(format!("`{name}` is masked"))
        .with_missing(missing)
        .with_hint(format!("set `masked: false`, or run `systemctl {user}unmask {name}`"))
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
