//! Listing timers.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use ccm_resources::systemd::{ShownUnit, shown_units};
use serde::Serialize;

use super::unit_file::{UnitFile, unit_names};
use super::{TimerError, TimerName, Timers};

/// Properties of timers and services that systemctl prints. A unit has only those of its kind.
const PROPERTIES: &str = "--property=Id,ActiveState,NextElapseUSecRealtime,Result,ExecMainStatus,\
                          ExecMainStartTimestamp,ExecMainExitTimestamp";

/// A timer that ccm wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InstalledTimer {
    /// Name of the timer.
    pub name: String,
    /// Path of the manifest; `None` if the unit was edited so that the path can't be read.
    pub manifest: Option<PathBuf>,
    /// `true` if the manifest does not exist any more.
    pub is_manifest_missing: bool,
    /// Distance of two runs, as the option was written.
    pub every: String,
    /// Path of a unit that does not exist any more. The timer does not run without it.
    pub missing_unit: Option<PathBuf>,
    /// `true` if a unit was edited after ccm wrote it.
    pub is_edited: bool,
    /// Time of the next run in the zone of the machine, as `2026-11-20 04:00:01`. `None` if the timer does not run, and
    /// while its service does.
    pub next: Option<String>,
    /// The last run; `None` if systemd does not remember one.
    pub last: Option<LastRun>,
    /// `false` if nothing is known about runs, because systemd can't be asked.
    pub is_known: bool,
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

impl Timers<'_> {
    /// Lists the timers that ccm wrote, sorted by name.
    pub async fn list(&self) -> Result<Vec<InstalledTimer>, TimerError> {
        let names = self.names();
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let units: Vec<String> = names.iter().flat_map(unit_names).collect();
        let printed = match self.systemctl() {
            Ok(systemctl) => {
                let arguments: Vec<&str> =
                    ["show", PROPERTIES].into_iter().chain(units.iter().map(String::as_str)).collect();
                Some(systemctl.query(&arguments).await?)
            }
            Err(TimerError::NoSystemd | TimerError::NoUserManager) => None,
            Err(error) => return Err(error),
        };
        let shown = printed.as_deref().map(shown_units);
        names.iter().map(|name| self.installed(name, shown.as_ref())).collect()
    }

    fn installed(
        &self,
        name: &TimerName,
        shown: Option<&HashMap<&str, ShownUnit<'_>>>,
    ) -> Result<InstalledTimer, TimerError> {
        let [service, timer] = unit_names(name);
        let files = [self.unit_file(&timer)?, self.unit_file(&service)?];
        let own = files.iter().find_map(UnitFile::own);
        let missing = files.iter().position(|file| *file == UnitFile::Missing);
        let is_missing = |path: &Path| self.session.doors.files.exists(path).is_ok_and(|exists| !exists);
        let of = |unit: &str| shown.and_then(|shown| shown.get(unit));
        Ok(InstalledTimer {
            name: name.to_string(),
            is_manifest_missing: own
                .and_then(|own| own.manifest.as_ref())
                .is_some_and(|path| is_missing(path)),
            manifest: own.and_then(|own| own.manifest.clone()),
            every: own.map(|own| own.every.clone()).unwrap_or_default(),
            missing_unit: missing.map(|at| self.path([&timer, &service][at])),
            is_edited: files.iter().any(|file| matches!(file, UnitFile::Edited(_) | UnitFile::Foreign)),
            next: of(&timer).and_then(|shown| time(shown.get("NextElapseUSecRealtime")?)),
            last: of(&service).and_then(last_run),
            is_known: shown.is_some(),
        })
    }
}

fn last_run(service: &ShownUnit<'_>) -> Option<LastRun> {
    let get = |name| service.get(name).copied().filter(|value: &&str| !value.is_empty());
    if matches!(get("ActiveState"), Some("activating" | "active" | "deactivating")) {
        let at = get("ExecMainStartTimestamp").and_then(time);
        return Some(LastRun { result: "running".to_owned(), code: None, at });
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
