//! Changing a unit step by step.

use std::time::{Duration, UNIX_EPOCH};

use ccm_engine::Context;
use ccm_model::{Action, Failure, FailureKind, Verb};

use super::decide::{
    ServiceEffect, ServicePlan, StartWatch, Steps, UnitVerb, Unneeded, exit_description, plan,
};
use super::desired::Service;
use super::show::{Activity, Unit};
use super::state::ServiceState;
use super::systemd::{has_unread_files, is_any_outdated, read, show_one};
use crate::parts::systemd::systemctl::{Systemctl, UNIT_FILE_TIMEOUT};

/// Time for which a unit is watched that does not report its start.
const WATCH_TIME: Duration = Duration::from_secs(1);

/// Time allowed in addition to the limits of the unit, for the units that it waits for.
const DEPENDENCY_TIME: Duration = Duration::from_secs(90);

pub(crate) async fn execute(
    service: &Service,
    state: &ServiceState,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<ServiceEffect, Failure> {
    let since = context.host.clock.now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nothing = ServiceEffect {
        unit: name(service, state).to_owned(),
        unneeded: Some(Unneeded::Reload),
        since,
        ..ServiceEffect::default()
    };
    let Some(mut steps) = steps_of(service, state)? else { return Ok(nothing) };
    let starts = steps.verb.is_some_and(|verb| verb != UnitVerb::Stop);
    let reloads = state.unit.needs_reload
        || state.has_new_file
        || (starts && has_unread_files(service, &state.unit, systemctl, context).await?)
        || (starts && is_any_outdated(&state.unit.triggers, systemctl, context).await?);
    let unmasks = steps.mask == Some(false);
    if unmasks {
        let unmasked = systemctl.run(&undo("unmask", service, state), UNIT_FILE_TIMEOUT, context).await;
        unmasked.map_err(|failure| failure.because_of("cannot unmask the unit"))?;
    }
    if reloads {
        systemctl.reload(context).await.map_err(|failure| Failure {
            changed: unmasks,
            ..failure.because_of("cannot make systemd reload its unit files")
        })?;
    }
    let read_again;
    let mut state = state;
    // The properties of the unit are known only now.
    if unmasks || reloads {
        let again = read(service, state.triggered, systemctl, context).await;
        let found = again.and_then(|again| steps_of(service, &again).map(|steps| (again, steps)));
        let (again, found) = found.map_err(|failure| Failure { changed: unmasks, ..failure })?;
        read_again = again;
        state = &read_again;
        let Some(found) = found else {
            let action = unmasks.then(|| Action::new(Verb::Unmask));
            let unneeded = nothing.unneeded.filter(|_| !unmasks);
            return Ok(ServiceEffect { unneeded, action, ..nothing });
        };
        steps = found;
    }
    let watch = run_steps(service, state, &steps, unmasks, since, systemctl, context).await?;
    let mask = if unmasks { Some(false) } else { steps.mask };
    let action = Some(Steps { mask, ..steps.clone() }.action(&state.unit));
    let unit = name(service, state).to_owned();
    Ok(ServiceEffect { unit, verb: steps.verb, unneeded: None, watch, since, action })
}

fn steps_of(service: &Service, state: &ServiceState) -> Result<Option<Steps>, Failure> {
    match plan(service, state) {
        ServicePlan::Change(steps) => Ok(Some(steps)),
        ServicePlan::Keep(_) => Ok(None),
        ServicePlan::Fail(failure) => Err(failure),
    }
}

/// Returns the primary name of the unit, because an alias can be neither enabled nor masked.
fn name<'a>(service: &'a Service, state: &'a ServiceState) -> &'a str {
    state.unit.name_or(&service.unit)
}

/// Builds the arguments to disable or unmask a unit. systemctl ignores a runtime setting without `--runtime`.
fn undo<'a>(command: &'a str, service: &'a Service, state: &'a ServiceState) -> Vec<&'a str> {
    let for_now = state.unit.file_state.ends_with("-runtime").then_some("--runtime");
    [command].into_iter().chain(for_now).chain(["--", name(service, state)]).collect()
}

/// Runs the steps, and returns how long a started unit is watched. `changed` is set if something was changed before.
async fn run_steps(
    service: &Service,
    state: &ServiceState,
    steps: &Steps,
    mut changed: bool,
    since: Duration,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<Option<StartWatch>, Failure> {
    let make = |command| vec![command, "--", name(service, state)];
    let enable = steps.enable.map(|enable| {
        if enable {
            make(if steps.reenable { "reenable" } else { "enable" })
        } else {
            undo("disable", service, state)
        }
    });
    let mask = steps.mask.filter(|mask| *mask).map(|_| make("mask"));
    for arguments in [enable, mask].into_iter().flatten() {
        let done = systemctl.run(&arguments, UNIT_FILE_TIMEOUT, context).await;
        done.map_err(|failure| Failure {
            changed,
            ..failure.because_of(format!("`systemctl {}` failed", arguments[0]))
        })?;
        changed = true;
    }
    let Some(verb) = steps.verb else { return Ok(None) };
    let is_limited = |unit: &Unit| verb != UnitVerb::Stop && unit.result == "start-limit-hit";
    // Without the reset systemd refuses a start if the unit was started too often. For a unit that failed before, its
    // result does not tell.
    let reset =
        async || systemctl.run(&["reset-failed", "--", &service.unit], UNIT_FILE_TIMEOUT, context).await.ok();
    let has_failed_before = verb != UnitVerb::Stop && state.unit.activity == Activity::Failed;
    if has_failed_before || is_limited(&state.unit) {
        let _best_effort = reset().await;
    }
    let limit = service.timeout.unwrap_or_else(|| verb.limit(&state.unit).saturating_add(DEPENDENCY_TIME));
    let call = [verb.command(), "--", &service.unit];
    let mut done = systemctl.run(&call, limit, context).await;
    let has_failed = done.as_ref().is_err_and(|failure| !failure.kind.is_refusal());
    if has_failed && !has_failed_before && !is_limited(&state.unit) {
        // Starts before this run may have used the limit up, for a cause that this run has mended.
        let unit = show_one(service, systemctl, context).await;
        if unit.is_ok_and(|unit| is_limited(&unit)) && reset().await.is_some() {
            done = systemctl.run(&call, limit, context).await;
        }
    }
    let Err(failure) = done else {
        if verb == UnitVerb::Stop || state.unit.reports_start {
            return Ok(None);
        }
        let until = context.host.clock.monotonic().saturating_add(WATCH_TIME);
        let restarts = show_one(service, systemctl, context).await.map_or(0, |unit| unit.restarts);
        return Ok(Some(StartWatch { until, restarts }));
    };
    let mut failure = failure.because_of(format!("`systemctl {}` failed", verb.command()));
    if failure.kind == FailureKind::Timeout {
        failure.hints.push("raise `timeout`; systemd continues the operation".to_owned());
    }
    if failure.kind.is_refusal() {
        return Err(Failure { changed, ..failure });
    }
    if let Ok(unit) = show_one(service, systemctl, context).await {
        failure.chain.extend(exit_description(&unit));
    }
    failure.output.extend(systemctl.journal(name(service, state), since, context).await);
    failure.changed = true;
    Err(failure)
}
