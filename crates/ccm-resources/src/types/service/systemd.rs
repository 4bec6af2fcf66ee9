//! Provider systemd.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{ChangedPart, Host, InspectOptions};
use ccm_model::{ClaimKind, Failure, FailureKind};

use super::absence::{is_rightly_missing, remember};
use super::decide::{
    ServiceEffect, ServiceKind, ServicePlan, Steps, UnitVerb, Unneeded, has_ended_well, is_gone,
    is_in_desired_state, plan,
};
use super::desired::{Service, ServiceEnsure, template_of};
use super::enablement::read_enablement;
use super::show::{Activity, Load, PROPERTIES, Unit, units};
use super::state::{MaskObstacle, ServiceState};
use super::steps::execute;
use super::suggestions::suggestions;
use crate::parts::systemd::suitability;
use crate::parts::systemd::systemctl::{Systemctl, stopped_failure};
use crate::parts::systemd::units::SYSTEM_UNITS;
use crate::support::file_failure::check_writable;

/// First and longest interval between two reads of a changing unit.
const POLL_INTERVALS: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

pub(crate) struct Systemd;

impl Provider<ServiceKind> for Systemd {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        suitability(host)
    }

    async fn status(
        &self,
        service: &Service,
        reading: ReadPurpose<'_, ServiceEffect>,
        context: &mut Context<'_>,
    ) -> Result<ServiceState, Failure> {
        let systemctl = Systemctl::of(service.user, context.host)?;
        match reading {
            ReadPurpose::Before { triggered } => {
                checked(service, read(service, triggered, &systemctl, context).await, context)
            }
            ReadPurpose::After(done) => read_after_change(service, done, &systemctl, context).await,
        }
    }

    fn read_batch_size(&self) -> usize {
        usize::MAX
    }

    async fn status_many(
        &self,
        services: &[&Service],
        context: &mut Context<'_>,
    ) -> Vec<Result<ServiceState, Failure>> {
        let mut found = HashMap::new();
        for user in [false, true] {
            let of_one = services.iter().filter(|service| service.user == user);
            let names: Vec<&str> = of_one.map(|service| &*service.unit).collect();
            let Ok(systemctl) = Systemctl::of(user, context.host) else { continue };
            // One invalid name makes the call fail for all units; then each is read by itself.
            if let Ok(units) = show(&names, &systemctl, context).await {
                found.extend(names.into_iter().map(|name| (name, user)).zip(units));
            }
        }
        let mut states = Vec::with_capacity(services.len());
        for service in services {
            let unit = found.remove(&(&*service.unit, service.user));
            states.push(match Systemctl::of(service.user, context.host) {
                Ok(systemctl) => {
                    let read = read_until_settled(service, unit, false, &systemctl, context).await;
                    checked(service, read, context)
                }
                Err(failure) => Err(failure),
            });
        }
        states
    }

    async fn execute(
        &self,
        service: &Service,
        state: &ServiceState,
        context: &mut Context<'_>,
    ) -> Result<ServiceEffect, Failure> {
        let systemctl = Systemctl::of(service.user, context.host)?;
        execute(service, state, &systemctl, context).await
    }

    fn change_batch_size(&self, _: (&Service, &ServiceState)) -> usize {
        usize::MAX
    }

    /// Units that do not report their start are watched for a time, which they share.
    fn can_batch_with(&self, one: (&Service, &ServiceState), other: (&Service, &ServiceState)) -> bool {
        [one, other].into_iter().all(|(service, state)| is_watched(service, state))
    }

    async fn execute_many(
        &self,
        changes: &[(&Service, &ServiceState)],
        context: &mut Context<'_>,
    ) -> Vec<Result<ServiceEffect, Failure>> {
        let mut effects = Vec::with_capacity(changes.len());
        for (position, (service, state)) in changes.iter().enumerate() {
            effects.push(match Systemctl::of(service.user, context.host) {
                Ok(systemctl) if position == 0 => execute(service, state, &systemctl, context).await,
                Ok(systemctl) => execute_after_others(service, state, &systemctl, context).await,
                Err(failure) => Err(failure),
            });
        }
        effects
    }

    async fn preflight(
        &self,
        service: &Service,
        _: &ServiceState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        let is_root = context.host.system.own_identity().is_ok_and(|own| own.uid == 0);
        let warning = "ccm does not run as root and may not be allowed to change the service";
        let warning = (!is_root && !service.user).then(|| warning.to_owned());
        Ok(warning.into_iter().collect())
    }
}

/// Returns a state, or the failure of its change if systemctl can't make or remove links of the unit.
fn checked(
    service: &Service,
    state: Result<ServiceState, Failure>,
    context: &Context<'_>,
) -> Result<ServiceState, Failure> {
    let state = state?;
    if service.user || state.unit.file_state == "generated" {
        return Ok(state);
    }
    // What was set until the next boot is elsewhere.
    let is_for_now = state.unit.file_state.ends_with("-runtime");
    let is_made = |is_set: Option<bool>| is_set.is_some_and(|is_set| is_set || !is_for_now);
    match plan(service, &state) {
        ServicePlan::Change(steps) if is_made(steps.enable) || is_made(steps.mask) => {
            check_writable(Path::new(SYSTEM_UNITS), ChangedPart::Inside, context.host.files).map(|()| state)
        }
        _ => Ok(state),
    }
}

/// Returns `true` for a start that is watched.
fn is_watched(service: &Service, state: &ServiceState) -> bool {
    let starts = |steps: &Steps| steps.verb.is_some_and(|verb| verb != UnitVerb::Stop);
    !state.unit.reports_start && matches!(plan(service, state), ServicePlan::Change(steps) if starts(&steps))
}

/// Changes a unit that a change of another one may have changed as well.
async fn execute_after_others(
    service: &Service,
    before: &ServiceState,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<ServiceEffect, Failure> {
    let state = read(service, before.triggered, systemctl, context).await?;
    let effect = execute(service, &state, systemctl, context).await?;
    let is_kept = matches!(plan(service, &state), ServicePlan::Keep(_));
    let unneeded = if is_kept { Some(Unneeded::Neighbour) } else { effect.unneeded };
    Ok(ServiceEffect { unneeded, ..effect })
}

/// Reads a unit after a change, with its journal if it is not in the desired state.
async fn read_after_change(
    service: &Service,
    done: &ServiceEffect,
    systemctl: &Systemctl,
    context: &mut Context<'_>,
) -> Result<ServiceState, Failure> {
    // Disabling a unit may have removed the alias.
    let by_its_own_name = Service { unit: done.unit.clone(), ..service.clone() };
    let service = &by_its_own_name;
    let was_started = done.verb.is_some_and(|verb| verb != UnitVerb::Stop);
    if let Some(watch) = done.watch {
        let left = watch.until.saturating_sub(context.host.clock.monotonic());
        context.host.pause(left, context.cancellation).await;
    }
    let mut state = read(service, false, systemctl, context).await?;
    if let Some(watch) = done.watch {
        state.restarts_after_start = state.unit.restarts.saturating_sub(watch.restarts);
    }
    if was_started && has_ended_well(&state.unit) {
        let what = if state.unit.is_oneshot { "the oneshot" } else { "the service" };
        context.note(format!(
            "{what} succeeded and exited; the next run starts it again unless its unit sets `RemainAfterExit=yes`"
        ));
    }
    if is_gone(service, &state) {
        remember(service, context);
        return Ok(state);
    }
    if !is_in_desired_state(service, &state, done) {
        state.journal = systemctl.journal(&state.unit.id, done.since, &*context).await;
    }
    Ok(state)
}

/// Reads a unit, and waits for a transition to end.
pub(crate) async fn read(
    service: &Service,
    triggered: bool,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<ServiceState, Failure> {
    read_until_settled(service, None, triggered, systemctl, context).await
}

/// Waits for a transition to end, starting from a unit that may have been read already.
async fn read_until_settled(
    service: &Service,
    unit: Option<Unit>,
    triggered: bool,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<ServiceState, Failure> {
    let clock = context.host.clock;
    let begun = clock.monotonic();
    let mut pause = POLL_INTERVALS.0;
    let unit = match unit {
        Some(unit) => unit,
        None => show_one(service, systemctl, context).await?,
    };
    let mut state = ServiceState { unit, triggered, ..ServiceState::default() };
    while let Some(limit) = wait_limit(service, &state) {
        let waited = clock.monotonic().saturating_sub(begun);
        let left = limit.saturating_sub(waited);
        if left.is_zero() {
            state.waited = Some(waited);
            break;
        }
        if !context.host.pause(pause.min(left), context.cancellation).await {
            return Err(stopped_failure());
        }
        pause = (pause * 2).min(POLL_INTERVALS.1);
        state.unit = show_one(service, systemctl, context).await?;
    }
    let host = context.host;
    state.enablement = read_enablement(service, &state.unit, systemctl, context).await?;
    state.active_for = state.unit.active_since.and_then(|since| host.clock.now().duration_since(since).ok());
    if service.ensure == ServiceEnsure::Stopped {
        state.starters = starters(&state.unit, systemctl, context).await?;
    }
    let asks_for_unit = service.ensure == ServiceEnsure::Running || service.masked == Some(false);
    if state.unit.is_masked() && asks_for_unit {
        state.mask = mask(service, systemctl, context).await?;
    }
    if service.masked == Some(true) && !state.unit.is_masked() {
        state.mask_obstacle = mask_obstacle(service, &state.unit, systemctl, context).await?;
    }
    if state.unit.load == Load::NotFound {
        state.has_new_file = has_unread_files(service, &state.unit, systemctl, context).await?;
        if !state.has_new_file {
            state.is_rightly_missing = is_rightly_missing(service, systemctl, context).await?;
        }
        if !state.has_new_file && !state.is_rightly_missing && service.masked != Some(true) {
            state.suggestions =
                suggestions(&service.unit, &unit_names(service.user, systemctl, context).await);
        }
    }
    Ok(state)
}

/// Returns how long to wait for a transition to end; `None` if there is none that matters.
fn wait_limit(service: &Service, state: &ServiceState) -> Option<Duration> {
    let unit = &state.unit;
    let limit = match (service.ensure, unit.activity) {
        // A running oneshot is in the desired state; only a refresh has to wait for its end.
        (ServiceEnsure::Running, Activity::Activating) if unit.is_oneshot && !state.triggered => return None,
        (ServiceEnsure::Running, Activity::Activating | Activity::Reloading) => unit.start_timeout,
        (_, Activity::Deactivating) => unit.stop_timeout,
        _ => return None,
    };
    Some(service.timeout.unwrap_or(limit))
}

pub(crate) async fn show_one(
    service: &Service,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<Unit, Failure> {
    let mut found = show(&[&service.unit], systemctl, context).await?;
    found.pop().ok_or_else(|| {
        Failure::new(FailureKind::Read, format!("systemctl printed nothing about `{}`", service.unit))
    })
}

pub(super) async fn show(
    names: &[&str],
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<Vec<Unit>, Failure> {
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let properties = format!("--property={PROPERTIES}");
    let arguments = [&["show", &*properties, "--"], names].concat();
    let found = units(&systemctl.query(&arguments, context).await?);
    match names {
        [one] if found.len() != 1 => {
            Err(Failure::new(FailureKind::Read, format!("systemctl printed nothing about `{one}`")))
        }
        _ if found.len() != names.len() => {
            Err(Failure::new(FailureKind::Read, "systemctl did not print every unit"))
        }
        _ => Ok(found),
    }
}

/// Returns the names of all units that have a file; empty if they cannot be listed.
async fn unit_names(user: bool, systemctl: &Systemctl, context: &Context<'_>) -> Vec<String> {
    struct UnitNames<const OF_USER: bool>(Vec<String>);
    let list = async || {
        let printed = systemctl.query(&["list-unit-files", "--no-legend", "--plain"], context).await?;
        let names = printed.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
        Ok::<Vec<String>, Failure>(names.collect())
    };
    let names = if user {
        context.state_cache(async || list().await.map(UnitNames::<true>)).await.map(|names| names.0.clone())
    } else {
        context.state_cache(async || list().await.map(UnitNames::<false>)).await.map(|names| names.0.clone())
    };
    names.unwrap_or_default()
}

/// Returns `true` if systemd has not read all files of a unit. systemd reports changed files; some versions
/// miss new unit files, and all miss new drop-in directories.
pub(crate) async fn has_unread_files(
    service: &Service,
    unit: &Unit,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<bool, Failure> {
    let directories = directories(service.user, systemctl, context).await?;
    let template = template_of(&service.unit);
    let names = || [Some(&service.unit), template.as_ref()].into_iter().flatten();
    let files = context.host.files;
    Ok(directories.iter().any(|directory| {
        names().any(|name| {
            if unit.load == Load::NotFound {
                return files.exists(&directory.join(name)).unwrap_or(false);
            }
            let additions = directory.join(format!("{name}.d"));
            let is_read =
                unit.drop_ins.iter().any(|unit_names| Path::new(unit_names).starts_with(&additions));
            !is_read && files.is_directory(&additions).unwrap_or(false)
        })
    }))
}

/// Returns the file or link at the path where systemd would mask the unit.
async fn mask_obstacle(
    service: &Service,
    unit: &Unit,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<Option<MaskObstacle>, Failure> {
    // Directories before this one end in `system.control`, those after it belong to the system or packages.
    let ending = if service.user { "systemd/user" } else { "systemd/system" };
    let directories = directories(service.user, systemctl, context).await?;
    let Some(directory) = directories.iter().find(|directory| directory.ends_with(ending)) else {
        return Ok(None);
    };
    let path = directory.join(if unit.id.is_empty() { &service.unit } else { &unit.id });
    let files = context.host.files;
    // systemd reports the error.
    let Ok(found) = files.inspect(&path, InspectOptions::default()) else { return Ok(None) };
    let is_mask = found.link && files.canonical(&path).is_ok_and(|end| end == Path::new("/dev/null"));
    let is_there = (found.link || found.target.is_some()) && !is_mask;
    Ok(is_there.then_some(MaskObstacle { path, is_link: found.link }))
}

/// Returns the path of the link that masks a unit.
async fn mask(
    service: &Service,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<Option<PathBuf>, Failure> {
    let directories = directories(service.user, systemctl, context).await?;
    let mut paths = directories.iter().map(|directory| directory.join(&service.unit));
    let is_mask =
        |path: &PathBuf| context.host.files.canonical(path).is_ok_and(|end| end == Path::new("/dev/null"));
    Ok(paths.find(is_mask))
}

/// Returns the active units that start a unit, but for those that other resources manage.
async fn starters(unit: &Unit, systemctl: &Systemctl, context: &Context<'_>) -> Result<Vec<String>, Failure> {
    let managed: Vec<&str> = context.claimed_keys(ClaimKind::Unit).collect();
    let names: Vec<&str> = unit.triggered_by.iter().map(String::as_str).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| !managed.contains(name)).collect();
    let found = show(&names, systemctl, context).await?;
    let active = found.into_iter().filter(|unit| unit.activity == Activity::Running);
    Ok(active.map(|unit| unit.id).collect())
}

/// Returns the unit directories of systemd in search order.
pub(super) async fn directories(
    user: bool,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<Vec<PathBuf>, Failure> {
    struct Directories<const OF_USER: bool>(Vec<PathBuf>);
    let query = async || {
        let printed = systemctl.query(&["show", "--property=UnitPath"], context).await?;
        let paths = printed.trim().trim_start_matches("UnitPath=").split_whitespace();
        Ok::<Vec<PathBuf>, Failure>(paths.map(PathBuf::from).collect())
    };
    Ok(if user {
        context.state_cache(async || query().await.map(Directories::<true>)).await?.0.clone()
    } else {
        context.state_cache(async || query().await.map(Directories::<false>)).await?.0.clone()
    })
}

/// Returns `true` if files of one of the units changed since systemd read them.
pub(crate) async fn is_any_outdated(
    names: &[String],
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<bool, Failure> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(show(&names, systemctl, context).await?.iter().any(|unit| unit.needs_reload))
}
