//! Installing and removing timers.

use std::path::{Path, PathBuf};

use ccm_host::is_transient;
use ccm_resources::systemd::{SYSTEM_UNITS, unit_elsewhere};

use super::undo::Undo;
use super::unit_file::{self, UnitFile, unit_names};
use super::{
    DIRECTORY_MODE, FailureUnit, PlannedUnit, TimerError, TimerName, TimerPlan, TimerRequest, Timers,
    UnitScope,
};

impl Timers<'_> {
    /// Checks an installation, and returns the units that it would write.
    pub fn plan(&self, request: &TimerRequest) -> Result<TimerPlan, TimerError> {
        let is_plain = |part: char| part.is_alphanumeric() || "-_./+@:,=".contains(part);
        if !request.program.starts_with('/') || !request.program.chars().all(is_plain) {
            return Err(TimerError::Program(request.program.clone()));
        }
        if is_transient(Path::new(&request.manifest)) {
            return Err(TimerError::Transient(request.manifest.clone()));
        }
        let secrets = self.session.secrets();
        if let Some(at) = request.options.iter().position(|option| secrets.redact(option) != *option) {
            // The value of an option is the word behind it.
            let option = request.options[..=at].iter().rfind(|word| word.starts_with("--"));
            let option = option.map_or("--data", String::as_str);
            return Err(TimerError::Secret(option.split('=').next().unwrap_or_default().to_owned()));
        }
        let [service, timer] = unit_names(&request.name);
        if let Some(unit) = request.on_failure.own_unit(&service) {
            return Err(TimerError::OwnFailureUnit(unit.to_string()));
        }
        let planned = |unit: &str, text: String| {
            let found = self.unit_file(unit)?;
            self.check_replaceable(request, unit, &found)?;
            self.check_elsewhere(unit)?;
            Ok::<_, TimerError>(PlannedUnit {
                name: unit.to_owned(),
                path: self.path(unit),
                is_changed: !found.is(&text),
                text,
            })
        };
        let units = [
            planned(&service, unit_file::service(request, self.scope))?,
            planned(&timer, unit_file::timer(request, self.scope))?,
        ];
        Ok(TimerPlan { units, service, timer })
    }

    /// Returns lines of a crontab that do the same, for a machine without systemd.
    pub fn cron_lines(request: &TimerRequest) -> Vec<String> {
        unit_file::cron_lines(request)
    }

    /// Returns those of the units for a failed run that systemd has no file of.
    pub fn missing_failure_units<'r>(&self, request: &'r TimerRequest) -> Vec<&'r FailureUnit> {
        if self.scope != UnitScope::System {
            return Vec::new();
        }
        let is_there = |unit: &String| {
            let found = self.path(unit);
            let files = &*self.session.doors.files;
            files.exists(&found).unwrap_or(true)
                || unit_elsewhere(unit, files).is_ok_and(|found| found.is_some())
        };
        let is_missing = |unit: &&FailureUnit| {
            let files = unit.files();
            !files.is_empty() && !files.iter().any(is_there)
        };
        request.on_failure.units().filter(is_missing).collect()
    }

    /// Checks that the timer hides no unit of a package or generator.
    fn check_elsewhere(&self, unit: &str) -> Result<(), TimerError> {
        if self.paths.units != Path::new(SYSTEM_UNITS) {
            return Ok(());
        }
        match unit_elsewhere(unit, &*self.session.doors.files)? {
            Some(path) => Err(TimerError::Elsewhere(path)),
            None => Ok(()),
        }
    }

    fn check_replaceable(
        &self,
        request: &TimerRequest,
        unit: &str,
        found: &UnitFile,
    ) -> Result<(), TimerError> {
        match found {
            UnitFile::Foreign => Err(TimerError::Foreign(self.path(unit))),
            UnitFile::Edited(_) if !request.force => Err(TimerError::Edited(self.path(unit))),
            UnitFile::Own(own) if !request.force => match &own.manifest {
                Some(manifest) if *manifest != *request.manifest => {
                    Err(TimerError::OtherManifest { name: request.name.clone(), manifest: manifest.clone() })
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// Writes the units of a plan, and enables and starts the timer. After a failure, the units are as they were.
    pub async fn install(&self, plan: &TimerPlan) -> Result<(), TimerError> {
        let systemctl = self.systemctl()?;
        let mut undo = Undo::new(self);
        let installed = async {
            undo.make_directory(&self.paths.units, DIRECTORY_MODE)?;
            for unit in plan.units.iter().filter(|unit| unit.is_changed) {
                undo.write(unit)?;
            }
            systemctl.change(&["daemon-reload"]).await?;
            systemctl.change(&["enable", "--now", &plan.timer]).await?;
            if plan.units[1].is_changed && !undo.is_new(&self.path(&plan.timer)) {
                // The timer was active before, and gets its new times.
                systemctl.change(&["restart", &plan.timer]).await?;
            }
            Ok::<_, TimerError>(())
        }
        .await;
        let Err(error) = installed else { return Ok(()) };
        if undo.is_new(&self.path(&plan.timer)) {
            // The failure to report is the one before.
            let _ = systemctl.change(&["disable", "--now", &plan.timer]).await;
        }
        let had_changes = undo.has_changes();
        let left = undo.restore();
        if had_changes {
            let _ = systemctl.change(&["daemon-reload"]).await;
        }
        Err(if left.is_empty() { error } else { TimerError::NotRestored { left, source: Box::new(error) } })
    }

    /// Stops and disables a timer, and removes its units. A run that is going on ends by itself. Returns the paths of
    /// the units.
    pub async fn remove(&self, name: &TimerName, force: bool) -> Result<Vec<PathBuf>, TimerError> {
        let [service, timer] = &unit_names(name);
        let mut own = Vec::new();
        for unit in [timer, service] {
            match self.unit_file(unit)? {
                UnitFile::Missing => {}
                UnitFile::Foreign => return Err(TimerError::Foreign(self.path(unit))),
                UnitFile::Edited(_) if !force => return Err(TimerError::Edited(self.path(unit))),
                UnitFile::Own(_) | UnitFile::Edited(_) => own.push(self.path(unit)),
            }
        }
        if own.is_empty() {
            let known = self.names().iter().map(ToString::to_string).collect();
            return Err(TimerError::Missing { name: name.clone(), known });
        }
        let systemctl = self.systemctl()?;
        if own.contains(&self.path(timer)) {
            systemctl.change(&["disable", "--now", timer]).await?;
            // systemd keeps the time of the last run. An old systemd can't remove it.
            let _ = systemctl.change(&["clean", "--what=state", timer]).await;
        }
        for path in &own {
            self.session.doors.files.remove(path, false)?;
        }
        systemctl.change(&["daemon-reload"]).await?;
        // Without units, systemd still remembers that the last run failed, if it did.
        let _ = systemctl.change(&["reset-failed", timer, service]).await;
        Ok(own)
    }
}
