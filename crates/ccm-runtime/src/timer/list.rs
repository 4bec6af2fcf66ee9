//! Listing timers.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use ccm_resources::systemd::{ShownUnit, shown_units};
use serde::Serialize;

use super::drop_ins::settings;
use super::template::{instance_of, manifest_of, units_of};
use super::unit_file::{UnitFile, unit_names};
use super::{TimerError, TimerName, Timers, UnitScope};

/// Properties of timers and services that systemctl prints. A unit has only those of its kind.
const PROPERTIES: &str = "--property=Id,ActiveState,UnitFileState,NextElapseUSecRealtime,NextElapseUSecMonotonic,Result,\
                          ExecMainStatus,ExecMainStartTimestamp,ExecMainExitTimestamp";
/// Instances of the template that systemd has loaded, enabled or not.
const LOADED_TEMPLATES: [&str; 2] = ["ccm-apply@*.timer", "ccm-apply@*.service"];
/// Distance of two runs of the template.
const TEMPLATE_EVERY: &str = "30m";
/// Settings of a timer that decide when it runs.
const TIMES: [&str; 6] =
    ["OnCalendar", "OnActiveSec", "OnBootSec", "OnStartupSec", "OnUnitActiveSec", "OnUnitInactiveSec"];

/// A timer that applies a manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InstalledTimer {
    /// Name of the timer; for an instance of the package's template, `ccm-apply@NAME`.
    pub name: String,
    /// Way in which the timer was made.
    pub kind: TimerKind,
    /// Name of the unit.
    pub unit: String,
    /// Path of the manifest; `None` if the unit was edited so that the path can't be read.
    pub manifest: Option<PathBuf>,
    /// `true` if the manifest does not exist any more.
    pub is_manifest_missing: bool,
    /// Distance of two runs, as the option was written.
    pub every: String,
    /// `true` if a drop-in sets other times than `every`.
    pub has_other_times: bool,
    /// Path of a unit that does not exist any more. The timer does not run without it.
    pub missing_unit: Option<PathBuf>,
    /// `true` if a unit was edited after ccm wrote it.
    pub is_edited: bool,
    /// `true` if the timer starts at the next boot.
    pub is_enabled: bool,
    /// `true` if the timer waits for its next run; `None` if systemd can't be asked.
    pub is_active: Option<bool>,
    /// Time of the next run in the zone of the machine, as `2026-11-20 04:00:01`. `None` if the timer does not run, and
    /// while its service does.
    pub next: Option<String>,
    /// The last run; `None` if systemd does not remember one.
    pub last: Option<LastRun>,
    /// `false` if nothing is known about runs, because systemd can't be asked.
    pub is_known: bool,
    /// `true` if the timer is enabled, and will not run before somebody starts it, or before the next boot.
    pub is_stalled: bool,
}

/// Way in which a timer was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum TimerKind {
    /// ccm wrote its units.
    Installed,
    /// It is an instance of ccm-apply@.timer of the package.
    Template,
}

/// Last run of a timer, as systemd knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LastRun {
    /// Result in words of systemd, such as `success` and `exit-code`; `running` for a run that is going on.
    pub result: String,
    /// Exit code, or number of the signal that ended the run.
    pub code: Option<i32>,
    /// Time of the end, or of the beginning of a run that is going on.
    pub at: Option<String>,
}

/// What systemd and the links of units say.
struct UnitStates<'p> {
    /// Properties by unit; `None` if systemd can't be asked.
    shown: Option<HashMap<&'p str, ShownUnit<'p>>>,
    enabled: BTreeSet<String>,
}

impl UnitStates<'_> {
    fn of(&self, unit: &str) -> Option<&ShownUnit<'_>> {
        self.shown.as_ref()?.get(unit)
    }

    fn is_enabled(&self, unit: &str) -> bool {
        let state = self.of(unit).and_then(|shown| shown.get("UnitFileState")).copied().unwrap_or_default();
        self.enabled.contains(unit) || state.starts_with("enabled")
    }

    fn is_active(&self, unit: &str) -> Option<bool> {
        self.shown.as_ref()?;
        Some(self.of(unit).is_some_and(|shown| shown.get("ActiveState").copied() == Some("active")))
    }
}

/// State of a timer before a migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TimerState {
    pub(super) is_enabled: bool,
    pub(super) is_active: bool,
}

impl Timers<'_> {
    /// Lists the timers that ccm wrote, sorted by name, and then the enabled and running instances of the package's
    /// template.
    pub async fn list(&self) -> Result<Vec<InstalledTimer>, TimerError> {
        let names = self.names();
        let enabled = self.enabled_units();
        let has_templates = self.scope == UnitScope::System;
        let mut instances: BTreeSet<String> = enabled
            .iter()
            .filter(|_| has_templates)
            .filter_map(|unit| instance_of(unit))
            .map(str::to_owned)
            .collect();
        let mut units: Vec<String> = names.iter().flat_map(unit_names).collect();
        units.extend(instances.iter().flat_map(|instance| units_of(instance)));
        if has_templates {
            units.extend(LOADED_TEMPLATES.map(str::to_owned));
        }
        let printed = self.show(&units).await?;
        let states = UnitStates { shown: printed.as_deref().map(shown_units), enabled };
        let loaded = states.shown.iter().flatten().filter_map(|(unit, _)| instance_of(unit));
        instances.extend(loaded.filter(|instance| is_in_use(&states, instance)).map(str::to_owned));
        let installed = names.iter().map(|name| self.installed(name, &states));
        let templates = instances
            .iter()
            .filter(|_| has_templates)
            .map(|instance| Ok(self.of_template(instance, &states)));
        installed.chain(templates).collect()
    }

    /// Returns the states of two timers.
    pub(super) async fn states(&self, timers: [&str; 2]) -> Result<[TimerState; 2], TimerError> {
        let printed = self.show(&timers.map(str::to_owned)).await?;
        let states = UnitStates { shown: printed.as_deref().map(shown_units), enabled: self.enabled_units() };
        Ok(timers.map(|unit| TimerState {
            is_enabled: states.is_enabled(unit),
            is_active: states.is_active(unit).unwrap_or(false),
        }))
    }

    fn enabled_units(&self) -> BTreeSet<String> {
        self.enabling_links().into_iter().map(|(_, unit)| unit).collect()
    }

    /// Returns what systemctl prints about units; `None` if systemd can't be asked.
    async fn show(&self, units: &[String]) -> Result<Option<String>, TimerError> {
        if units.is_empty() {
            return Ok(None);
        }
        match self.systemctl() {
            Ok(systemctl) => {
                let arguments: Vec<&str> =
                    ["show", PROPERTIES].into_iter().chain(units.iter().map(String::as_str)).collect();
                Ok(Some(systemctl.query(&arguments).await?))
            }
            Err(TimerError::NoSystemd | TimerError::NoUserManager) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn installed(&self, name: &TimerName, states: &UnitStates<'_>) -> Result<InstalledTimer, TimerError> {
        let [service, timer] = unit_names(name);
        let files = [self.unit_file(&timer)?, self.unit_file(&service)?];
        let own = files.iter().find_map(UnitFile::own);
        let missing = files.iter().position(|file| *file == UnitFile::Missing);
        Ok(InstalledTimer {
            name: name.to_string(),
            kind: TimerKind::Installed,
            manifest: own.and_then(|own| own.manifest.clone()),
            every: own.map(|own| own.every.clone()).unwrap_or_default(),
            has_other_times: self.has_other_times(&[&timer]),
            missing_unit: missing.map(|at| self.path([&timer, &service][at])),
            is_edited: files.iter().any(|file| matches!(file, UnitFile::Edited(_) | UnitFile::Foreign)),
            ..in_state([service, timer], states)
        }
        .with_manifest(self))
    }

    fn of_template(&self, instance: &str, states: &UnitStates<'_>) -> InstalledTimer {
        let [service, timer] = units_of(instance);
        InstalledTimer {
            name: timer.trim_end_matches(".timer").to_owned(),
            kind: TimerKind::Template,
            manifest: Some(manifest_of(instance)),
            every: TEMPLATE_EVERY.to_owned(),
            has_other_times: self.has_other_times(&[&timer, &units_of("")[1]]),
            ..in_state([service, timer], states)
        }
        .with_manifest(self)
    }

    /// Returns `true` if a drop-in of the timer sets times. One that can't be read counts as none.
    fn has_other_times(&self, names: &[&str]) -> bool {
        let drop_ins = self.drop_ins(names).unwrap_or_default();
        let mut set = drop_ins.iter().flat_map(|drop_in| settings(&drop_in.text, "Timer"));
        set.any(|(key, _)| TIMES.contains(&&*key))
    }
}

impl InstalledTimer {
    /// Finds out whether the manifest exists.
    fn with_manifest(self, timers: &Timers<'_>) -> Self {
        // The address of a web server is no path.
        let is_missing = |path: &Path| {
            path.is_absolute() && timers.session.doors.files.exists(path).is_ok_and(|exists| !exists)
        };
        Self { is_manifest_missing: self.manifest.as_deref().is_some_and(is_missing), ..self }
    }
}

/// Returns a timer with nothing but what systemd knows of its service and timer.
fn in_state([service, timer]: [String; 2], states: &UnitStates<'_>) -> InstalledTimer {
    let is_enabled = states.is_enabled(&timer);
    let is_active = states.is_active(&timer);
    let shown = states.of(&timer);
    let property = |name| shown.and_then(|shown| shown.get(name)).copied().unwrap_or_default();
    let last = states.of(&service).and_then(last_run);
    let is_running = last.as_ref().is_some_and(|last| last.result == RUNNING);
    let has_next = [property("NextElapseUSecRealtime"), property("NextElapseUSecMonotonic")]
        .iter()
        .any(|next| !matches!(*next, "" | "n/a" | "infinity" | "0"));
    InstalledTimer {
        name: String::new(),
        kind: TimerKind::Installed,
        manifest: None,
        is_manifest_missing: false,
        every: String::new(),
        has_other_times: false,
        missing_unit: None,
        is_edited: false,
        is_enabled,
        is_active,
        next: time(property("NextElapseUSecRealtime")),
        last,
        is_known: states.shown.is_some(),
        is_stalled: is_enabled && is_active.is_some() && !is_running && !has_next,
        unit: timer,
    }
}

/// Returns `true` if the timer of an instance, or its service, is enabled or running.
fn is_in_use(states: &UnitStates<'_>, instance: &str) -> bool {
    let [_, timer] = units_of(instance);
    states.is_enabled(&timer) || states.is_active(&timer) == Some(true)
}

/// Result of a run that is going on.
const RUNNING: &str = "running";

fn last_run(service: &ShownUnit<'_>) -> Option<LastRun> {
    let get = |name| service.get(name).copied().filter(|value: &&str| !value.is_empty());
    if matches!(get("ActiveState"), Some("activating" | "active" | "deactivating")) {
        let at = get("ExecMainStartTimestamp").and_then(time);
        return Some(LastRun { result: RUNNING.to_owned(), code: None, at });
    }
    let at = get("ExecMainExitTimestamp").and_then(time)?;
    let code = get("ExecMainStatus").and_then(|code| code.parse().ok());
    Some(LastRun { result: get("Result").unwrap_or_default().to_owned(), code, at: Some(at) })
}

/// Shortens a time of systemctl, `Fri 2026-11-20 04:00:01 UTC`, to date and time of day.
fn time(shown: &str) -> Option<String> {
    let mut words =
        shown.split(' ').skip_while(|word| !word.starts_with(|first: char| first.is_ascii_digit()));
    let (date, time) = (words.next()?, words.next()?);
    (date.contains('-') && time.contains(':')).then(|| format!("{date} {time}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_of_units_are_read() {
        let printed = "Id=ccm-site.timer\nActiveState=active\nNextElapseUSecRealtime=Fri 2026-11-20 04:00:01 UTC\nResult=success\n\n\
                       Id=ccm-site.service\nActiveState=inactive\nResult=exit-code\nExecMainStatus=4\n\
                       ExecMainExitTimestamp=Fri 2026-11-20 03:30:02 CET\n\nId=ccm-new.service\nActiveState=inactive\n\
                       Result=success\nExecMainStatus=0\nExecMainExitTimestamp=\n\nId=ccm-busy.service\nActiveState=activating\n\
                       ExecMainStartTimestamp=Fri 2026-11-20 03:30:01 CET\nExecMainExitTimestamp=n/a\n";
        let shown = shown_units(printed);
        assert_eq!(
            time(shown["ccm-site.timer"]["NextElapseUSecRealtime"]).as_deref(),
            Some("2026-11-20 04:00:01")
        );
        let run = |result: &str, code, at: &str| {
            Some(LastRun { result: result.to_owned(), code, at: Some(at.to_owned()) })
        };
        assert_eq!(last_run(&shown["ccm-site.service"]), run("exit-code", Some(4), "2026-11-20 03:30:02"));
        assert_eq!(last_run(&shown["ccm-new.service"]), None);
        assert_eq!(last_run(&shown["ccm-busy.service"]), run("running", None, "2026-11-20 03:30:01"));
    }

    #[test]
    fn a_time_that_is_none_is_left_out() {
        for shown in ["", "n/a", "0", "infinity", "5min 3s"] {
            assert_eq!(time(shown), None, "{shown}");
        }
    }
}
