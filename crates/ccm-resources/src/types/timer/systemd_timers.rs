//! Provider systemd: units in `/etc/systemd/system`, and systemctl.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use ccm_engine::{Context, Provider, ReadPurpose, Suitability};
use ccm_host::{
    AccountError, Command, CommandOrigin, Exit, FileAttributes, FileError, FileStep, Host, InspectOptions,
    NewContent, NewFile, Role,
};
use ccm_model::{Failure, FailureKind};

use super::decide::{TimerDifference, TimerKind, TimerState, plan};
use super::desired::DesiredTimer;
use super::units::unit_path;
use crate::parts::systemd::suitability;
use crate::parts::systemd::systemctl::Systemctl;
use crate::support::file_failure::file_failure;
use crate::support::object_plan::ObjectPlan;
use crate::support::output_tail::text;

/// Time limit of calls of systemctl. None waits for a command.
const TIMEOUT: Duration = Duration::from_secs(90);

/// Maximum size of a unit.
const MAX_UNIT: u64 = 1 << 20;

const UNIT_MODE: u32 = 0o644;

const PROPERTIES: &str = "--property=Id,LoadState,LoadError,ActiveState,UnitFileState,NeedDaemonReload";

pub(crate) struct SystemdTimers;

impl Provider<TimerKind> for SystemdTimers {
    fn suitability(&self, host: Host<'_>) -> Suitability {
        suitability(host)
    }

    async fn status(
        &self,
        timer: &DesiredTimer,
        _: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<TimerState, Failure> {
        let mut states = read(&[timer], context).await;
        states.pop().unwrap_or_else(|| Ok(TimerState::default()))
    }

    fn read_batch_size(&self) -> usize {
        usize::MAX
    }

    async fn status_many(
        &self,
        timers: &[&DesiredTimer],
        context: &mut Context<'_>,
    ) -> Vec<Result<TimerState, Failure>> {
        read(timers, context).await
    }

    async fn execute(
        &self,
        timer: &DesiredTimer,
        state: &TimerState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let unit = format!("{}.timer", timer.name);
        let systemctl = Systemctl::of(false, context.host)?;
        let call = async |arguments: &[&str]| systemctl.run(arguments, TIMEOUT, context).await;
        let differences = match plan(timer, state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Remove => return remove(timer, state, &systemctl, context).await,
            ObjectPlan::Create(differences) | ObjectPlan::Change(differences) => differences,
        };
        let Some(units) = &timer.units else { return Ok(()) };
        check_times(timer, context).await?;
        let (service_text, timer_text) = (units.service(&timer.name), units.timer(&timer.name));
        let is_new_timer = state.timer.as_ref() != Some(&timer_text);
        let texts = [("service", &state.service, service_text), ("timer", &state.timer, timer_text)];
        let mut changed = false;
        for (suffix, old, text) in texts {
            if old.as_ref() != Some(&text) {
                let attributes = FileAttributes { mode: Some(UNIT_MODE), ..FileAttributes::default() };
                let new = NewFile { content: NewContent::Bytes(text.as_bytes()), attributes };
                let written = context.host.files.write(&unit_path(&timer.name, suffix), &new);
                written.map_err(|error| Failure { changed, ..file_failure(&error) })?;
                changed = true;
            }
        }
        let only_state =
            |found: &TimerDifference| matches!(found, TimerDifference::Disabled | TimerDifference::Inactive);
        let after = |failure: Failure| Failure { changed: true, ..failure };
        if !differences.iter().all(only_state) || state.needs_reload {
            call(&["daemon-reload"]).await.map_err(after)?;
        }
        if !state.is_enabled {
            call(&["enable", &unit]).await.map_err(after)?;
        }
        // A running timer keeps its old times until it is restarted.
        let verb = if is_new_timer || state.needs_reload { "restart" } else { "start" };
        call(&[verb, &unit]).await.map_err(after)?;
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
    let units = |timer: &DesiredTimer| ["timer", "service"].map(|suffix| format!("{}.{suffix}", timer.name));
    let names: Vec<String> = timers.iter().flat_map(|timer| units(timer)).collect();
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
    let blocks: HashMap<&str, HashMap<&str, &str>> = shown
        .split("\n\n")
        .map(|block| block.lines().filter_map(|line| line.split_once('=')).collect::<HashMap<_, _>>())
        .filter_map(|block| Some((*block.get("Id")?, block)))
        .collect();
    let state = |timer: &&DesiredTimer| {
        let [of_timer, of_service] = units(timer);
        let get_of = |unit: &str, property| blocks.get(unit).and_then(|block| block.get(property)).copied();
        let get = |property| get_of(&of_timer, property).unwrap_or_default();
        // A run that was killed may have written either unit without a reload.
        let needs_reload = |unit: &str| {
            get_of(unit, "NeedDaemonReload") == Some("yes") || get_of(unit, "LoadState") == Some("not-found")
        };
        Ok(TimerState {
            service: unit_text(&timer.name, "service", context)?,
            timer: unit_text(&timer.name, "timer", context)?,
            is_enabled: get("UnitFileState") == "enabled",
            is_active: get("ActiveState") == "active",
            needs_reload: needs_reload(&of_timer) || needs_reload(&of_service),
            user_missing: is_user_missing(timer, context)?,
            load_error: Some(get("LoadError")).filter(|error| !error.is_empty()).map(str::to_owned),
        })
    };
    timers.iter().map(state).collect()
}

/// Reads a unit; `None` if there is none. A link, such as that of a masked unit, counts as an empty unit.
fn unit_text(name: &str, suffix: &str, context: &Context<'_>) -> Result<Option<String>, Failure> {
    let path = unit_path(name, suffix);
    let files = context.host.files;
    let found = files.inspect(&path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
    if found.link {
        return Ok(Some(String::new()));
    }
    if found.target.is_none() {
        return Ok(None);
    }
    match files.content(&path, MAX_UNIT) {
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned())),
        Err(FileError::Step { step: FileStep::Read, source, .. })
            if source.kind() == std::io::ErrorKind::NotFound =>
        {
            Ok(None)
        }
        Err(error) => Err(file_failure(&error)),
    }
}

fn is_user_missing(timer: &DesiredTimer, context: &Context<'_>) -> Result<bool, Failure> {
    let Some(user) = timer.user.as_ref().filter(|_| timer.units.is_some()) else { return Ok(false) };
    match context.host.system.account(user) {
        Ok(_) => Ok(false),
        Err(AccountError::NoUser { .. }) => Ok(true),
        Err(error) => Err(Failure::from_error(FailureKind::Read, &error)),
    }
}

async fn remove(
    timer: &DesiredTimer,
    state: &TimerState,
    systemctl: &Systemctl,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let unit = format!("{}.timer", timer.name);
    if state.timer.is_some() {
        systemctl.run(&["disable", "--now", &unit], TIMEOUT, context).await?;
    }
    let after = |failure: Failure| Failure { changed: true, ..failure };
    for (suffix, found) in [("timer", &state.timer), ("service", &state.service)] {
        if found.is_some() {
            let removed = context.host.files.remove(&unit_path(&timer.name, suffix), false);
            removed.map_err(|error| after(file_failure(&error)))?;
        }
    }
    systemctl.run(&["daemon-reload"], TIMEOUT, context).await.map_err(after)?;
    Ok(())
}

/// Lets systemd check the times before anything is written.
async fn check_times(timer: &DesiredTimer, context: &Context<'_>) -> Result<(), Failure> {
    if timer.times.is_empty() {
        return Ok(());
    }
    let host = context.host;
    let environment = host.system.base_environment();
    let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    // Where the program is missing, systemd itself refuses the unit.
    let Ok(program) = host.system.find("systemd-analyze", &path.unwrap_or_default(), Path::new("/")) else {
        return Ok(());
    };
    let words = ["calendar", "--"].into_iter().chain(timer.times.iter().map(String::as_str));
    let command = Command {
        args: words.map(Into::into).collect(),
        environment,
        timeout: Some(TIMEOUT),
        origin: CommandOrigin::Ccm,
        role: Role::Query,
        ..Command::new(program)
    };
    let finished = context.queries.run_tool(&command, context.cancellation, &mut |_, _| {}).await;
    let finished = finished.map_err(|error| error.failure())?;
    match finished.exit {
        Exit::Code(0) => Ok(()),
        Exit::Code(_) => {
            let printed = text(&finished.stderr);
            let error = printed.lines().map(str::trim).find(|line| !line.is_empty());
            let message = error.unwrap_or("systemd-analyze refuses the times");
            Err(Failure::new(FailureKind::Conflict, message)
                .because_of("systemd does not understand a time of the timer")
                .of_property("on_calendar")
                .with_hint("check the times with `systemd-analyze calendar`"))
        }
        _ => Err(Failure::new(FailureKind::Stopped, "the times could not be checked")),
    }
}
