//! Calls of systemctl for timers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_host::{Cancellation, Command, CommandOrigin, Exit, Role, StartError};
use ccm_model::display_duration;

use super::{SystemdPaths, TimerError, UnitScope};
use crate::doors::Commands;

/// Time limit of a call; systemd does not answer while it re-executes itself.
const LIMIT: Duration = Duration::from_secs(90);

/// Reason why systemctl did not do what was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemctlError {
    /// The call failed.
    #[error("`systemctl {call}` failed{}", if printed.is_empty() { format!(" with exit code {code}") } else { format!(": {printed}") })]
    Failed {
        /// Arguments of the call.
        call: String,
        /// Exit code.
        code: i32,
        /// First lines that it printed as an error.
        printed: String,
    },
    /// The call was ended by a signal or by its time limit.
    #[error("`systemctl {call}` {how}")]
    Ended {
        /// Arguments of the call.
        call: String,
        /// End of the call, in words.
        how: String,
    },
    /// The program could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// Service manager of the system, or of the user who runs ccm.
pub(super) struct TimerSystemctl<'s> {
    commands: &'s dyn Commands,
    program: PathBuf,
    environment: Vec<(String, String)>,
    scope: UnitScope,
}

impl<'s> TimerSystemctl<'s> {
    /// Finds systemctl. `exists` tests for a path.
    pub(super) fn find(
        commands: &'s dyn Commands,
        scope: UnitScope,
        paths: &SystemdPaths,
        exists: impl Fn(&Path) -> bool,
    ) -> Result<Self, TimerError> {
        if !exists(&paths.running) {
            return Err(TimerError::NoSystemd);
        }
        let mut environment = commands.base_environment();
        let of_commands = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path);
        let search_path = paths.search_path.as_ref().or(of_commands).cloned().unwrap_or_default();
        let program = commands.find("systemctl", &search_path, Path::new("/"));
        let program = program.map_err(|_| TimerError::NoSystemd)?;
        if scope == UnitScope::User {
            const RUNTIME: &str = "XDG_RUNTIME_DIR";
            let mut inherited = commands.inherited_environment().into_iter();
            let given = inherited.find(|(name, value)| name == RUNTIME && !value.is_empty());
            let usual = || Some(format!("/run/user/{}", commands.own_identity().ok()?.uid));
            let directory = given
                .map(|(_, directory)| directory)
                .or_else(|| usual().filter(|usual| exists(Path::new(usual))));
            environment.push((RUNTIME.to_owned(), directory.ok_or(TimerError::NoUserManager)?));
        }
        Ok(Self { commands, program, environment, scope })
    }

    /// Changes the state of units.
    pub(super) async fn change(&self, arguments: &[&str]) -> Result<(), SystemctlError> {
        self.call(arguments, Role::Tool).await.map(|_| ())
    }

    /// Returns what systemctl prints about units.
    pub(super) async fn query(&self, arguments: &[&str]) -> Result<String, SystemctlError> {
        self.call(arguments, Role::Query).await
    }

    async fn call(&self, arguments: &[&str], role: Role) -> Result<String, SystemctlError> {
        let user = (self.scope == UnitScope::User).then_some("--user");
        let first = user.into_iter().chain(["--no-ask-password", "--no-pager"]);
        let command = Command {
            args: first.chain(arguments.iter().copied()).map(Into::into).collect(),
            environment: self.environment.clone(),
            timeout: Some(LIMIT),
            origin: CommandOrigin::Ccm,
            role,
            ..Command::new(&self.program)
        };
        let finished = self.commands.run(&command, &Cancellation::never(), &mut |_, _| {}).await?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let call = || user.iter().chain(arguments).copied().collect::<Vec<_>>().join(" ");
        match finished.exit {
            Exit::Code(0) => Ok(text(&finished.stdout.head)),
            Exit::Code(code) => {
                let printed = text(&finished.stderr.head);
                let lines = printed.lines().map(str::trim).filter(|line| !line.is_empty()).take(3);
                let printed = lines.collect::<Vec<_>>().join("; ");
                Err(SystemctlError::Failed { call: call(), code, printed })
            }
            Exit::Signal { name, .. } => {
                Err(SystemctlError::Ended { call: call(), how: format!("was killed by {name}") })
            }
            Exit::TimedOut { after } => {
                let how = format!("did not finish within {}", display_duration(after));
                Err(SystemctlError::Ended { call: call(), how })
            }
            Exit::Cancelled => Err(SystemctlError::Ended { call: call(), how: "was cancelled".to_owned() }),
        }
    }
}
