//! Calls of systemctl for timers.

use std::fmt;

use ccm_host::{Cancellation, Clock, Commands, Files, Host, LocalExecutor, search_path};
use ccm_model::{Failure, MissingPrerequisite};
use ccm_resources::systemd::{ProgramScope, Systemctl, UNIT_FILE_TIMEOUT};

use super::{SystemdPaths, TimerError, UnitScope};
use crate::doors::OpenDoors;

/// Reason why systemctl did not do what was asked.
#[derive(Debug)]
pub struct SystemctlError(Failure);

impl std::error::Error for SystemctlError {}

/// The call, and what systemctl printed as errors.
impl fmt::Display for SystemctlError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((call, errors)) = self.0.chain.split_first() else { return Ok(()) };
        write!(formatter, "{call}: {}", errors.join("; "))
    }
}

/// Service manager of the system, or of the user who runs ccm.
pub(super) struct TimerSystemctl<'s> {
    systemctl: Systemctl,
    executor: LocalExecutor<'s>,
    commands: &'s dyn Commands,
    files: &'s dyn Files,
    clock: &'s dyn Clock,
    never: Cancellation,
    is_user: bool,
}

impl<'s> TimerSystemctl<'s> {
    /// Finds systemctl.
    pub(super) fn find(
        commands: &'s dyn Commands,
        doors: &'s OpenDoors,
        scope: UnitScope,
        paths: &SystemdPaths,
    ) -> Result<Self, TimerError> {
        let (files, clock) = (&*doors.files, &*doors.clock);
        if !files.exists(&paths.running).unwrap_or(false) {
            return Err(TimerError::NoSystemd);
        }
        let executor = LocalExecutor::new(commands, commands, files);
        let host = Host { executor: &executor, system: commands, files, clock };
        let environment = commands.base_environment();
        let search_path = paths.search_path.as_deref().or_else(|| search_path(&environment));
        let is_user = scope == UnitScope::User;
        let systemctl = Systemctl::found_in(search_path.unwrap_or_default(), is_user, host);
        let systemctl = systemctl.map_err(|failure| match failure.missing.as_deref() {
            Some(MissingPrerequisite::Program(_)) => TimerError::NoSystemd,
            _ => TimerError::NoUserManager,
        })?;
        Ok(Self { systemctl, executor, commands, files, clock, never: Cancellation::never(), is_user })
    }

    /// Changes the state of units.
    pub(super) async fn change(&self, arguments: &[&str]) -> Result<(), SystemctlError> {
        let changed = self.systemctl.run(arguments, UNIT_FILE_TIMEOUT, self.scope()).await;
        let option = if self.is_user { "--user " } else { "" };
        let call = || format!("`systemctl {option}{}` failed", arguments.join(" "));
        changed.map_err(|failure| SystemctlError(failure.because_of(call())))
    }

    /// Returns what systemctl prints about units.
    pub(super) async fn query(&self, arguments: &[&str]) -> Result<String, SystemctlError> {
        self.systemctl.query(arguments, self.scope()).await.map_err(SystemctlError)
    }

    fn scope(&self) -> ProgramScope<'_> {
        let Self { executor, commands, files, clock, never, .. } = self;
        let host = Host { executor, system: *commands, files: *files, clock: *clock };
        ProgramScope { host, queries: executor, cancellation: never }
    }
}
