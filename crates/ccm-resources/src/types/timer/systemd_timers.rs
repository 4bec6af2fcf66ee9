//! Provider systemd: units in `/etc/systemd/system`, and systemctl.

use std::path::{Path, PathBuf};

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{AccountError, ChangedPart, FileError, Files, Host};
use ccm_model::{Failure, FailureKind};

use super::decide::{OtherUnit, TimerDifference, TimerState};
use super::desired::DesiredTimer;
use super::units::COMMENT;
use crate::parts::systemd::suitability;
use crate::parts::systemd::systemctl::{Systemctl, UNIT_FILE_TIMEOUT};
use crate::parts::systemd::units::{
    SYSTEM_UNITS, UnitContent, read_unit, shown_units, timer_units, unit_elsewhere, write_unit,
};
use crate::support::file_failure::{check_replaceable, check_writable, file_failure};
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};
use crate::support::program::Program;

const PROPERTIES: &str = "--property=Id,LoadState,LoadError,ActiveState,UnitFileState,NeedDaemonReload";

pub(crate) struct SystemdTimers;

impl Provider<Object<DesiredTimer>> for SystemdTimers {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        suitability(host)
    }

    async fn status(
        &self,
        timer: &DesiredTimer,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<TimerState, Failure> {
        let state = read(&[timer], context).await.pop().unwrap_or_else(|| Ok(TimerState::default()))?;
        if reading.is_before() {
            check_units(timer, &state, context.host.files)?;
        }
        Ok(state)
    }

    fn read_batch_size(&self) -> usize {
        usize::MAX
    }

    async fn status_many(
        &self,
        timers: &[&DesiredTimer],
        context: &mut Context<'_>,
    ) -> Vec<Result<TimerState, Failure>> {
        let states = read(timers, context).await;
        let checked = |(timer, state): (&&DesiredTimer, Result<TimerState, Failure>)| {
            let state = state?;
            check_units(timer, &state, context.host.files).map(|()| state)
        };
        timers.iter().zip(states).map(checked).collect()
    }

    async fn execute(
        &self,
        timer: &DesiredTimer,
        state: &TimerState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let units @ [_, unit] = &timer_units(&timer.name);
        let systemctl = Systemctl::of(false, context.host)?;
        let call = async |arguments: &[&str]| systemctl.run(arguments, UNIT_FILE_TIMEOUT, &*context).await;
        let differences = match timer.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Remove => return remove(timer, state, &systemctl, context).await,
            ObjectPlan::Create(differences) | ObjectPlan::Change(differences) => differences,
        };
        let Some(desired) = &timer.units else { return Ok(()) };
        check_times(timer, context).await?;
        let texts = [desired.service(&timer.name), desired.timer(&timer.name)];
        let is_new_timer = state.timer.as_ref() != Some(&texts[1]);
        let mut changed = false;
        for ((unit, text), old) in units.iter().zip(&texts).zip([&state.service, &state.timer]) {
            if old.as_ref() != Some(text) {
                check_unchanged(unit, old.as_ref(), context)
                    .map_err(|failure| Failure { changed, ..failure })?;
                let written = write_unit(&unit_path(unit), text, context.host.files);
                written.map_err(|error| Failure { changed, ..file_failure(&error) })?;
                changed = true;
            }
        }
        let only_state =
            |found: &TimerDifference| matches!(found, TimerDifference::Disabled | TimerDifference::Inactive);
        let after = |failure: Failure| Failure { changed: true, ..failure };
        if !differences.iter().all(only_state) || state.needs_reload {
            systemctl.reload(&*context).await.map_err(after)?;
        }
        if !state.is_enabled {
            call(&["enable", unit]).await.map_err(after)?;
        }
        // A running timer keeps its old times until it is restarted.
        let verb = if is_new_timer || state.needs_reload { "restart" } else { "start" };
        call(&[verb, unit]).await.map_err(after)?;
        Ok(())
    }

    async fn preflight(
        &self,
        timer: &DesiredTimer,
        _: &TimerState,
        context: &mut Context<'_>,
    ) -> Result<Vec<String>, Failure> {
        check_times(timer, context).await.map(|()| Vec::new())
    }
}

/// Reads timers, with one call of systemctl for all.
async fn read(timers: &[&DesiredTimer], context: &Context<'_>) -> Vec<Result<TimerState, Failure>> {
    let names: Vec<String> = timers.iter().flat_map(|timer| timer_units(&timer.name)).collect();
    let shown = async {
        let systemctl = Systemctl::of(false, context.host)?;
        let arguments = ["show", PROPERTIES, "--"].into_iter().chain(names.iter().map(String::as_str));
        systemctl.query(&arguments.collect::<Vec<_>>(), context).await
    }
    .await;
    let shown = match shown {
        Ok(shown) => shown,
        Err(failure) => return timers.iter().map(|_| Err(failure.clone())).collect(),
    };
    let shown = shown_units(&shown);
    let state = |timer: &&DesiredTimer| {
        let [of_service, of_timer] = timer_units(&timer.name);
        let get_of = |unit: &str, property| shown.get(unit).and_then(|unit| unit.get(property)).copied();
        let get = |property| get_of(&of_timer, property).unwrap_or_default();
        // A run that was killed may have written either unit without a reload.
        let needs_reload = |unit: &str| {
            get_of(unit, "NeedDaemonReload") == Some("yes") || get_of(unit, "LoadState") == Some("not-found")
        };
        let (service, other_service) = read_text(&of_service, context)?;
        let (timer_unit, other_timer) = read_text(&of_timer, context)?;
        Ok(TimerState {
            service,
            timer: timer_unit,
            other_service,
            other_timer,
            is_enabled: get("UnitFileState") == "enabled",
            is_active: get("ActiveState") == "active",
            needs_reload: needs_reload(&of_timer) || needs_reload(&of_service),
            user_missing: is_user_missing(timer, context)?,
            load_error: Some(get("LoadError")).filter(|error| !error.is_empty()).map(str::to_owned),
        })
    };
    timers.iter().map(state).collect()
}

/// Returns the failure of a change of units that a mounted file system or a flag of a file prevents.
fn check_units(timer: &DesiredTimer, state: &TimerState, files: &dyn Files) -> Result<(), Failure> {
    if matches!(timer.plan(state), ObjectPlan::Keep { .. } | ObjectPlan::Fail(_)) {
        return Ok(());
    }
    let desired = timer.units.as_ref().map(|units| [units.service(&timer.name), units.timer(&timer.name)]);
    let [service, own] = &timer_units(&timer.name);
    let [new_service, new_timer] = desired.map_or([None, None], |texts| texts.map(Some));
    for (unit, old, new) in [(service, &state.service, new_service), (own, &state.timer, new_timer)] {
        if *old != new {
            check_replaceable(&unit_path(unit), files)?;
        }
    }
    let is_link_made = timer.units.is_some() && !state.is_enabled;
    if is_link_made { check_writable(Path::new(SYSTEM_UNITS), ChangedPart::Inside, files) } else { Ok(()) }
}

/// Reads a unit: its text if ccm wrote it, and the unit of another writer that has the name.
fn read_text(unit: &str, context: &Context<'_>) -> Result<(Option<String>, Option<OtherUnit>), Failure> {
    let files = context.host.files;
    let failed = |error: FileError| file_failure(&error);
    let path = unit_path(unit);
    let own = match read_unit(&path, files).map_err(failed)? {
        UnitContent::Missing => None,
        UnitContent::File(bytes) if bytes.starts_with(COMMENT.as_bytes()) => {
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        UnitContent::File(_) => return Ok((None, Some(OtherUnit::InPlace(path)))),
        UnitContent::Foreign => {
            let target = files.link_target(&path).map_err(failed)?;
            let is_mask = target.is_some_and(|target| target == Path::new("/dev/null"));
            return Ok((None, Some(if is_mask { OtherUnit::Mask(path) } else { OtherUnit::InPlace(path) })));
        }
    };
    let elsewhere = unit_elsewhere(unit, files).map_err(failed)?;
    Ok((own, elsewhere.map(OtherUnit::Elsewhere)))
}

/// Checks that nobody has written a unit since it was read.
fn check_unchanged(unit: &str, old: Option<&String>, context: &Context<'_>) -> Result<(), Failure> {
    match read_text(unit, context)? {
        (now, None | Some(OtherUnit::Elsewhere(_))) if now.as_ref() == old => Ok(()),
        _ => Err(file_failure(&FileError::Changed(unit_path(unit)))),
    }
}

fn unit_path(unit: &str) -> PathBuf {
    Path::new(SYSTEM_UNITS).join(unit)
}

fn is_user_missing(timer: &DesiredTimer, context: &Context<'_>) -> Result<bool, Failure> {
    let Some(user) = timer.user.as_ref().filter(|_| timer.units.is_some()) else { return Ok(false) };
    match context.host.system.account(user) {
        Ok(_) => Ok(false),
        Err(AccountError::NoUser { .. }) => Ok(!context.would_be_principal(user)),
        Err(error) => Err(Failure::from_error(FailureKind::Read, &error)),
    }
}

async fn remove(
    timer: &DesiredTimer,
    state: &TimerState,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let [service_unit, timer_unit] = &timer_units(&timer.name);
    if state.timer.is_some() {
        systemctl.run(&["disable", "--now", timer_unit], UNIT_FILE_TIMEOUT, context).await?;
    }
    let after = |failure: Failure| Failure { changed: true, ..failure };
    for (unit, found) in [(timer_unit, &state.timer), (service_unit, &state.service)] {
        if found.is_some() {
            check_unchanged(unit, found.as_ref(), context).map_err(after)?;
            let removed = context.host.files.remove(&unit_path(unit), false);
            removed.map_err(|error| after(file_failure(&error)))?;
        }
    }
    systemctl.reload(context).await.map_err(after)
}

/// Lets systemd check the times before anything is written.
async fn check_times(timer: &DesiredTimer, context: &Context<'_>) -> Result<(), Failure> {
    if timer.times.is_empty() {
        return Ok(());
    }
    let analyse = Program::new("systemd-analyze").with(["calendar", "--"]);
    let analyse = analyse.with(timer.times.iter().map(String::as_str));
    // Where the program is missing, systemd itself refuses the unit.
    if !analyse.is_installed(context.host) {
        return Ok(());
    }
    let checked = analyse.time_limit(UNIT_FILE_TIMEOUT).query(context).await;
    checked.map(drop).map_err(|failure| match failure.kind {
        FailureKind::Exit => {
            let message = failure.chain.get(1).map_or("systemd-analyze refuses the times", |error| error);
            Failure::conflict(message)
                .because_of("systemd does not understand a time of the timer")
                .of_property("on_calendar")
                .with_hint("check the times with `systemd-analyze calendar`")
        }
        _ => failure.because_of("the times could not be checked"),
    })
}
