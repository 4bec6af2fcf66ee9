//! Turning an instance of the package's template into a timer of ccm.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::InspectOptions;
use ccm_model::split_words;

use super::drop_ins::{DropIn, assignments, settings, variables_of_file, without_instance};
use super::list::TimerState;
use super::template::{PREFIX, SHIPPED_SERVICE, SHIPPED_TIMER, manifest_of, units_of};
use super::undo::Undo;
use super::unit_file::unit_names;
use super::{
    DEFAULTS, DIRECTORY_MODE, OnFailure, Schedule, TimerError, TimerName, TimerPlan, TimerRequest, Timers,
};

/// Program of the template.
const PROGRAM: &str = "/usr/bin/ccm";
/// Maximum delay of a run of the template.
const JITTER: Duration = Duration::from_secs(5 * 60);
/// Variables that the command of the template uses, with their defaults.
const DEFAULT_VARIABLES: [(&str, &str); 3] =
    [("CCM_LOCK_WAIT", "5m"), ("CCM_TIMEOUT", "20m"), ("CCM_OPTIONS", "")];
/// Drop-in with the defaults of the template, for a command in another drop-in. Its name lets it come first.
const DEFAULTS_DROP_IN: &str = "00-ccm-apply.conf";
/// Mode of directories of drop-ins.
const DROP_IN_DIRECTORY_MODE: u32 = 0o755;
/// Mode of a drop-in that everybody may read.
const OPEN_MODE: u32 = 0o644;
/// Bit of a mode by which everybody may read a file.
const READABLE_BY_ALL: u32 = 0o004;
/// Maximum size of a file of variables.
const MAX_VARIABLES: u64 = 1 << 20;

/// Drop-in that a migration carries over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedDropIn {
    /// Path of the new file.
    pub path: PathBuf,
    /// Path of the drop-in of the template; `None` for defaults of the template itself.
    pub source: Option<PathBuf>,
    /// `true` if the file has other content now, or does not exist.
    pub is_changed: bool,
    text: String,
    mode: u32,
}

/// Something in the old timer that an administrator should look at.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MigrationWarning {
    /// The template is not that of the package. What was changed in it is not carried over.
    ChangedTemplate(PathBuf),
    /// The drop-in names a unit of the template.
    NamesTemplate(PathBuf),
    /// The manifest does not exist.
    NoManifest(PathBuf),
}

/// Checked migration of a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MigrationPlan {
    /// Timer of ccm.
    pub timer: TimerPlan,
    /// Path of the manifest.
    pub manifest: PathBuf,
    /// Drop-ins that are carried over.
    pub drop_ins: Vec<PlannedDropIn>,
    /// Timer of the template.
    pub old: String,
    /// `true` if the timer is enabled.
    pub is_enabled: bool,
    /// `true` if the timer runs.
    pub is_active: bool,
    /// Directories of drop-ins that nothing uses afterwards.
    pub unused: Vec<PathBuf>,
    /// What an administrator should look at.
    pub warnings: Vec<MigrationWarning>,
    /// State of the new timer before.
    before: TimerState,
    has_template: bool,
}

/// Variables of the command, each with the file that sets it, if everybody can't read that file.
type Variables = Vec<(String, String, Option<PathBuf>)>;

impl Timers<'_> {
    /// Checks a migration; `None` if the timer was migrated before.
    pub async fn plan_migration(
        &self,
        name: &TimerName,
        force: bool,
    ) -> Result<Option<MigrationPlan>, TimerError> {
        let instance = name.to_string();
        let [old_service, old] = units_of(&instance);
        let [service, timer] = unit_names(name);
        let [state, before] = self.states([&old, &timer]).await?;
        let manifest = manifest_of(&instance);
        if state == TimerState::default() {
            let own = self.unit_file(&timer)?.own().and_then(|own| own.manifest.clone());
            if own.as_deref() == Some(&manifest) {
                return Ok(None);
            }
            return Err(TimerError::NoTemplateTimer { unit: old, known: self.enabled_templates() });
        }
        let [template_service, template_timer] = units_of("");
        let of_service = self.drop_ins(&[&old_service, &template_service])?;
        let of_timer = self.drop_ins(&[&old, &template_timer])?;
        let found_template = self.template(&template_service);
        let shipped = found_template.as_deref().unwrap_or(SHIPPED_SERVICE);
        let variables = self.variables(shipped, &of_service, &instance)?;
        let request = TimerRequest {
            name: name.clone(),
            manifest: manifest.display().to_string(),
            source: None,
            schedule: Schedule::HALF_HOURLY,
            jitter: JITTER,
            options: options(&variables)?,
            program: PROGRAM.to_owned(),
            has_state_directory: false,
            credentials: Vec::new(),
            on_failure: OnFailure::default(),
            force,
        };
        let plan = self.plan(&request)?;
        for unit in plan.units.iter().filter(|unit| unit.is_changed && !force) {
            if self.unit_file(&unit.name)?.own().is_some() {
                return Err(TimerError::OtherSettings { name: name.clone(), unit: old });
            }
        }
        let mut drop_ins = Vec::new();
        if of_service
            .iter()
            .any(|found| settings(&found.text, "Service").iter().any(|(key, _)| key == "ExecStart"))
        {
            let path = self.path(&format!("{service}.d")).join(DEFAULTS_DROP_IN);
            drop_ins.push(self.planned_drop_in(path, None, defaults_text(), OPEN_MODE, force)?);
        }
        for (unit, found) in of_service
            .iter()
            .map(|found| (&service, found))
            .chain(of_timer.iter().map(|found| (&timer, found)))
        {
            let path = self.path(&format!("{unit}.d")).join(found.name());
            let text = without_instance(&found.text, PREFIX, &instance);
            drop_ins.push(self.planned_drop_in(path, Some(found.path.clone()), text, found.mode, force)?);
        }
        let unused = [&old_service, &old].map(|unit| self.path(&format!("{unit}.d")));
        let unused =
            unused.into_iter().filter(|path| self.session.doors.files.is_directory(path).unwrap_or(false));
        let has_template = self.template(&template_timer).is_some();
        Ok(Some(MigrationPlan {
            warnings: self.migration_warnings(&of_service, &of_timer, &manifest),
            timer: plan,
            manifest,
            drop_ins,
            old,
            is_enabled: state.is_enabled,
            is_active: state.is_active,
            unused: unused.collect(),
            before,
            has_template,
        }))
    }

    /// Writes and starts the timer of ccm, and then stops that of the template. After a failure, both are as they were.
    /// Repeating a migration that was killed completes it.
    pub async fn migrate(&self, plan: &MigrationPlan) -> Result<(), TimerError> {
        let systemctl = self.systemctl()?;
        let timer = &*plan.timer.timer;
        let old = &*plan.old;
        let mut undo = Undo::new(self);
        let mut is_old_touched = false;
        let migrated = async {
            undo.make_directory(&self.paths.units, DIRECTORY_MODE)?;
            for drop_in in plan.drop_ins.iter().filter(|drop_in| drop_in.is_changed) {
                undo.make_directory(drop_in.path.parent().unwrap_or(Path::new("/")), DROP_IN_DIRECTORY_MODE)?;
                undo.write_file(&drop_in.path, &drop_in.text, drop_in.mode)?;
            }
            for unit in plan.timer.units.iter().filter(|unit| unit.is_changed) {
                undo.write(unit)?;
            }
            systemctl.change(&["daemon-reload"]).await?;
            match (plan.is_enabled, plan.is_active) {
                (true, true) => systemctl.change(&["enable", "--now", timer]).await?,
                (true, false) => systemctl.change(&["enable", timer]).await?,
                (false, _) => systemctl.change(&["start", timer]).await?,
            }
            if plan.before.is_active && undo.has_changes() {
                systemctl.change(&["restart", timer]).await?;
            }
            is_old_touched = true;
            if plan.has_template && plan.is_enabled {
                systemctl.change(&["disable", "--now", old]).await?;
            } else {
                // Without its template, systemctl does not disable the timer.
                for (link, _) in self.enabling_links().into_iter().filter(|(_, unit)| unit == old) {
                    undo.remove_link(&link)?;
                }
                if plan.is_active {
                    systemctl.change(&["stop", old]).await?;
                }
            }
            Ok::<_, TimerError>(())
        }
        .await;
        let Err(error) = migrated else {
            // systemd keeps the time of the last run. An old systemd can't remove it.
            let _ = systemctl.change(&["clean", "--what=state", old]).await;
            return Ok(());
        };
        let mut left = Vec::new();
        if is_old_touched {
            let enabled =
                !plan.has_template || !plan.is_enabled || systemctl.change(&["enable", old]).await.is_ok();
            let started = !plan.is_active || systemctl.change(&["start", old]).await.is_ok();
            if !enabled || !started {
                left.push(PathBuf::from(old));
            }
        }
        // The failure to report is the one before.
        if plan.is_enabled && !plan.before.is_enabled {
            let _ = systemctl.change(&["disable", timer]).await;
        }
        if !plan.before.is_active {
            let _ = systemctl.change(&["stop", timer]).await;
        }
        let had_changes = undo.has_changes();
        left.extend(undo.restore());
        if had_changes {
            let _ = systemctl.change(&["daemon-reload"]).await;
        }
        Err(if left.is_empty() { error } else { TimerError::NotRestored { left, source: Box::new(error) } })
    }

    fn planned_drop_in(
        &self,
        path: PathBuf,
        source: Option<PathBuf>,
        text: String,
        mode: u32,
        force: bool,
    ) -> Result<PlannedDropIn, TimerError> {
        let files = &self.session.doors.files;
        let found = files.inspect(&path, InspectOptions::default())?;
        let is_there = found.link || found.target.is_some();
        let is_same = is_there
            && files.content(&path, MAX_VARIABLES)?.is_some_and(|content| content == text.as_bytes());
        if is_there && !is_same && (!force || found.link) {
            return Err(TimerError::OtherDropIn(path));
        }
        Ok(PlannedDropIn { path, source, is_changed: !is_same, text, mode })
    }

    fn migration_warnings(
        &self,
        of_service: &[DropIn],
        of_timer: &[DropIn],
        manifest: &Path,
    ) -> Vec<MigrationWarning> {
        let mut warnings = Vec::new();
        for (unit, shipped) in units_of("").into_iter().zip([SHIPPED_SERVICE, SHIPPED_TIMER]) {
            // That of a package in another directory may be older or newer.
            let own = self.unit_text(&unit);
            if own.is_some_and(|own| directives(&own) != directives(shipped)) {
                warnings.push(MigrationWarning::ChangedTemplate(self.path(&unit)));
            }
        }
        for drop_in in of_service.iter().chain(of_timer) {
            let names_template = |(_, value): &(String, String)| value.contains(&format!("{PREFIX}@"));
            let sections = ["Unit", "Service", "Timer", "Install"];
            if sections.iter().any(|section| settings(&drop_in.text, section).iter().any(names_template)) {
                warnings.push(MigrationWarning::NamesTemplate(drop_in.path.clone()));
            }
        }
        if !self.session.doors.files.exists(manifest).unwrap_or(true) {
            warnings.push(MigrationWarning::NoManifest(manifest.to_owned()));
        }
        warnings
    }

    /// Returns the text of a unit in the directory of the administrator.
    fn unit_text(&self, unit: &str) -> Option<String> {
        let content = self.session.doors.files.content(&self.path(unit), MAX_VARIABLES).ok()??;
        String::from_utf8(content).ok()
    }

    /// Returns the variables of the command as systemd sets them for the service of the template.
    fn variables(
        &self,
        template: &str,
        drop_ins: &[DropIn],
        instance: &str,
    ) -> Result<Variables, TimerError> {
        let texts = [(template, None)].into_iter().chain(drop_ins.iter().map(|drop_in| {
            (&*drop_in.text, (drop_in.mode & READABLE_BY_ALL == 0).then_some(&*drop_in.path))
        }));
        let mut variables: Variables = Vec::new();
        let mut files: Vec<String> = Vec::new();
        for (text, hidden) in texts {
            for (key, value) in settings(text, "Service") {
                let value = without_instance(&value, PREFIX, instance);
                match (&*key, value.is_empty()) {
                    ("Environment", true) => variables.clear(),
                    ("Environment", false) => variables.extend(
                        assignments(&value)
                            .into_iter()
                            .map(|(name, value)| (name, value, hidden.map(Path::to_owned))),
                    ),
                    ("EnvironmentFile", true) => files.clear(),
                    ("EnvironmentFile", false) => files.push(value),
                    _ => {}
                }
            }
        }
        for value in files {
            let named = value.strip_prefix('-').unwrap_or(&value);
            if named.contains(['*', '?', '[', '%']) {
                return Err(TimerError::PatternOfVariables(named.to_owned()));
            }
            let path = if named == DEFAULTS { self.paths.defaults.clone() } else { PathBuf::from(named) };
            let Some(found) = self.session.doors.files.inspect(&path, InspectOptions::default())?.target
            else {
                continue;
            };
            let content = self.session.doors.files.content(&path, MAX_VARIABLES)?;
            let text = content.and_then(|content| String::from_utf8(content).ok());
            let text = text.ok_or_else(|| TimerError::NoText(path.clone()))?;
            let hidden = (found.mode & READABLE_BY_ALL == 0).then_some(path);
            variables.extend(
                variables_of_file(&text).into_iter().map(|(name, value)| (name, value, hidden.clone())),
            );
        }
        Ok(variables)
    }
}

/// Returns the options of the command, in the order of the template.
fn options(variables: &Variables) -> Result<Vec<String>, TimerError> {
    let value = |(name, default): (&str, &str)| {
        let found = variables.iter().rfind(|(known, ..)| known == name);
        found.map_or_else(|| (default.to_owned(), None), |(_, value, hidden)| (value.clone(), hidden.clone()))
    };
    let [(lock_wait, _), (timeout, _), (more, hidden)] = DEFAULT_VARIABLES.map(value);
    if let Some(path) = hidden.filter(|_| !more.is_empty()) {
        return Err(TimerError::HiddenOptions(path));
    }
    let more = split_words(&more).unwrap_or_else(|_| more.split_whitespace().map(str::to_owned).collect());
    let fixed = ["--lock-wait".to_owned(), lock_wait, "--timeout".to_owned(), timeout];
    Ok(fixed.into_iter().chain(more).collect())
}

/// Returns the drop-in with the defaults of the template.
fn defaults_text() -> String {
    let values: Vec<String> =
        DEFAULT_VARIABLES.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!(
        "# Defaults of {PREFIX}@.service, for the command in another drop-in.\n[Service]\nEnvironment={}\n",
        values.join(" ")
    )
}

/// Returns the settings of a unit that matter for its runs. An older package says nothing when it runs.
fn directives(text: &str) -> Vec<(String, String)> {
    let sections = ["Service", "Timer", "Install"];
    let found = sections.iter().flat_map(|section| settings(text, section));
    found.filter(|(key, _)| key != "ExecStartPre").collect()
}
