//! Provider procfs: values below `/proc/sys`, changed by sysctl, and a file from which they are set at boot.

use std::path::Path;

use ccm_engine::{Context, Provider, ReadPurpose};
use ccm_host::{InspectOptions, read_at_most};
use ccm_model::{Failure, FailureKind};

use super::boot_files::BootFiles;
use super::decide::{DesiredParameter, ParameterDifference, ParameterObstacle, ParameterState};
use super::parameter_file::ParameterFiles;
use super::properties::{is_same, normalized};
use crate::parts::mounts::{MountTable, MountedFilesystem};
use crate::parts::parameter_key::ParameterKey;
use crate::parts::text::shown;
use crate::support::file_failure::file_failure;
use crate::support::object_plan::{Object, ObjectPlan, ObjectType};
use crate::support::program::Program;

/// Maximum length of a value.
const MAX_VALUE: u64 = 1 << 20;

/// Permissions of anybody to read.
const READABLE: u32 = 0o444;

/// Permissions of anybody to write.
const WRITABLE: u32 = 0o222;

pub(crate) struct Procfs;

impl Provider<Object<DesiredParameter>> for Procfs {
    async fn status(
        &self,
        parameter: &DesiredParameter,
        reading: ReadPurpose<'_, ()>,
        context: &mut Context<'_>,
    ) -> Result<ParameterState, Failure> {
        let state = read(parameter, context).await?;
        if reading.is_before() {
            let plan = parameter.plan(&state);
            let is_saved =
                |difference: &ParameterDifference| !matches!(difference, ParameterDifference::Running { .. });
            if matches!(plan, ObjectPlan::Remove) || plan.differences().iter().any(is_saved) {
                state.file.file.check_replaceable(context)?;
            }
        }
        Ok(state)
    }

    async fn execute(
        &self,
        parameter: &DesiredParameter,
        state: &ParameterState,
        context: &mut Context<'_>,
    ) -> Result<(), Failure> {
        let differences = match parameter.plan(state) {
            ObjectPlan::Keep { .. } => return Ok(()),
            ObjectPlan::Fail(failure) => return Err(failure),
            ObjectPlan::Remove => return save(parameter, None, state, context),
            ObjectPlan::Create(differences) | ObjectPlan::Change(differences) => differences,
        };
        let mut running_before = None;
        let mut is_saved = true;
        for difference in differences {
            match difference {
                ParameterDifference::Running { from, .. } => running_before = Some(from),
                ParameterDifference::Saved { .. } | ParameterDifference::Lines(_) => is_saved = false,
            }
        }
        // The kernel refuses a bad value, which is then not saved either.
        if running_before.is_some() {
            set(parameter, &parameter.value, context).await.map_err(|failure| {
                let hint = "check which values the kernel allows for the parameter";
                if failure.kind == FailureKind::Exit { failure.with_hint(hint) } else { failure }
            })?;
        }
        if is_saved {
            return Ok(());
        }
        match (save(parameter, Some(&parameter.value), state, context), running_before) {
            (Err(failure), Some(before)) => {
                let is_undone = set(parameter, &before, context).await.is_ok();
                Err(Failure { changed: !is_undone, ..failure })
            }
            (saved, _) => saved,
        }
    }
}

/// Reads the value of the kernel and the saved one.
async fn read(parameter: &DesiredParameter, context: &Context<'_>) -> Result<ParameterState, Failure> {
    let file = ParameterFiles::file(&parameter.file, context).await?;
    let mut state = ParameterState { file, ..ParameterState::default() };
    if parameter.is_absent && !context.describe_unchanged {
        return Ok(state);
    }
    let path = parameter.key.path();
    let files = context.host.files;
    // The kernel makes these files, so that no link can lead elsewhere.
    state.running = match read_at_most(Some(&path), MAX_VALUE) {
        Ok(value) => Some(normalized(&shown(&value))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(_) if parameter.is_absent => None,
        Err(_) if is_unreadable(&path, context) => {
            let message = format!("kernel parameter `{}` can only be written", parameter.name);
            return Err(Failure::conflict(message).with_hint(format!(
                "run `sysctl -w {}=…` with an `exec` instead: such a parameter starts something, and has no value",
                parameter.name
            )));
        }
        Err(error) => {
            return Err(Failure::from_error(FailureKind::Read, &error)
                .because_of(format!("kernel parameter `{}` can't be read", parameter.name))
                .with_hint(
                    "check that the name is that of a parameter, not of a directory with parameters",
                ));
        }
    };
    if !parameter.is_absent {
        state.later = BootFiles::of(context).await.later(parameter);
    }
    if state.running.as_ref().is_some_and(|running| !is_same(running, &parameter.value)) {
        let mounts = MountTable::of(context).await?;
        let mount = path.to_str().and_then(|path| mounts.containing(path));
        let info = files.inspect(&path, InspectOptions::default()).map_err(|error| file_failure(&error))?;
        state.obstacle = match mount.filter(MountedFilesystem::is_read_only) {
            _ if info.target.is_some_and(|file| file.mode & WRITABLE == 0) => {
                Some(ParameterObstacle::Reported)
            }
            Some(MountedFilesystem { mount_point, .. }) => {
                Some(ParameterObstacle::ReadOnlyMount(mount_point))
            }
            None => None,
        };
    }
    Ok(state)
}

/// Returns the value of the kernel, with one blank between its parts; `None` if the kernel has no such parameter.
pub(super) fn running_value(key: &ParameterKey, context: &Context<'_>) -> Result<Option<String>, Failure> {
    let path = key.path();
    match read_at_most(Some(&path), MAX_VALUE) {
        Ok(value) => Ok(Some(normalized(&shown(&value)))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(_) if is_unreadable(&path, context) => {
            Err(Failure::conflict(format!("kernel parameter `{key}` can only be written")))
        }
        Err(error) => Err(Failure::from_error(FailureKind::Read, &error)
            .because_of(format!("kernel parameter `{key}` can't be read"))),
    }
}

/// Returns `true` for a parameter that nobody may read.
fn is_unreadable(path: &Path, context: &Context<'_>) -> bool {
    let info = context.host.files.inspect(path, InspectOptions::default());
    info.is_ok_and(|info| info.target.is_some_and(|file| file.mode & READABLE == 0))
}

/// Sets the value of the kernel.
async fn set(parameter: &DesiredParameter, value: &str, context: &Context<'_>) -> Result<(), Failure> {
    let assignment = format!("{}={value}", parameter.key);
    Program::new("sysctl").in_package("`procps`").with(["-w", &*assignment]).run(context).await
}

/// Saves the value for the next boot, or removes it.
fn save(
    parameter: &DesiredParameter,
    value: Option<&str>,
    state: &ParameterState,
    context: &Context<'_>,
) -> Result<(), Failure> {
    let new = state.file.with(&parameter.key, value.map(|value| (&*parameter.name, value)));
    state.file.file.write(new, context).map(drop)
}
