//! Calls of systemctl and journalctl.

use std::path::Path;
use std::time::Duration;

use ccm_host::{Host, Role, search_path};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, Stream, StreamTail};

use crate::support::output_tail::tail;
use crate::support::program::{ErrorLines, Program, ProgramScope, start_failure};

/// Timeout of calls that start and stop nothing; systemd does not answer while it re-executes itself.
pub const UNIT_FILE_TIMEOUT: Duration = Duration::from_secs(90);

const JOURNAL_LINES: &str = "10";
const RUNTIME_DIRECTORY: &str = "XDG_RUNTIME_DIR";

/// Service manager of the machine, or of the user who runs ccm.
pub struct Systemctl {
    program: String,
    /// Runtime directory of the user; `None` for the manager of the machine.
    of_user: Option<String>,
}

impl Systemctl {
    /// Finds systemctl, and the environment needed to reach the manager.
    pub(crate) fn of(user: bool, host: Host<'_>) -> Result<Self, Failure> {
        let environment = host.system.base_environment();
        Self::found_in(search_path(&environment).unwrap_or_default(), user, host)
    }

    /// Finds systemctl in directories that `:` separates. A failure that names no missing program means that the manager of
    /// the user can't be reached.
    pub fn found_in(search_path: &str, user: bool, host: Host<'_>) -> Result<Self, Failure> {
        let of_user = user.then(|| runtime_directory(host)).transpose()?;
        let program = host.system.find("systemctl", search_path, Path::new("/"));
        let program = program.map_err(|error| start_failure(&error, None))?;
        Ok(Self { program: program.to_string_lossy().into_owned(), of_user })
    }

    /// Returns what systemctl prints in answer to a question.
    pub async fn query(
        &self,
        arguments: &[&str],
        scope: impl Into<ProgramScope<'_>>,
    ) -> Result<String, Failure> {
        let what = arguments.first().copied().unwrap_or_default();
        let printed = self.program(arguments, UNIT_FILE_TIMEOUT).query(scope).await;
        printed.map_err(|failure| self.explained(failure).because_of(format!("`systemctl {what}` failed")))
    }

    /// Returns systemd's word for the enablement of a unit, such as `disabled`.
    pub(crate) async fn is_enabled<'s>(
        &self,
        unit: &str,
        scope: impl Into<ProgramScope<'s>>,
    ) -> Result<String, Failure> {
        let program = self.program(&["is-enabled", "--", unit], UNIT_FILE_TIMEOUT);
        let finished = program.finish(Role::Query, scope).await?;
        // The exit code of a unit that is not enabled is 1.
        let word = String::from_utf8_lossy(&finished.stdout.head).trim().to_owned();
        match program.failure(&finished) {
            Some(failure) if word.is_empty() => {
                Err(self.explained(failure).because_of("`systemctl is-enabled` failed"))
            }
            _ => Ok(word),
        }
    }

    /// Changes something.
    pub async fn run(
        &self,
        arguments: &[&str],
        limit: Duration,
        scope: impl Into<ProgramScope<'_>>,
    ) -> Result<(), Failure> {
        self.program(arguments, limit).run(scope).await.map_err(|failure| self.explained(failure))
    }

    /// Makes the manager read its unit files again.
    pub(crate) async fn reload(&self, scope: impl Into<ProgramScope<'_>>) -> Result<(), Failure> {
        self.run(&["daemon-reload"], UNIT_FILE_TIMEOUT, scope).await
    }

    fn program(&self, arguments: &[&str], limit: Duration) -> Program {
        let manager_option = self.of_user.is_some().then_some("--user");
        let options = manager_option.into_iter().chain(["--no-ask-password", "--no-pager"]);
        let program = Program::new(&*self.program).titled("systemctl").time_limit(limit);
        let program = program.with(options).with(arguments.iter().copied());
        // Times are read again.
        let program = program.env("TZ", "UTC");
        self.in_environment(program).quoting(ErrorLines { of_line: error, max: 5, is_last: false })
    }

    fn in_environment(&self, program: Program) -> Program {
        match &self.of_user {
            Some(directory) => program.env(RUNTIME_DIRECTORY, directory),
            None => program,
        }
    }

    /// Returns the failure of a call without what the errors of systemctl say themselves, and with advice.
    fn explained(&self, mut failure: Failure) -> Failure {
        if failure.kind == FailureKind::Stopped {
            return stopped_failure();
        }
        if failure.kind != FailureKind::Exit || failure.chain.len() == 1 {
            return failure;
        }
        failure.chain.remove(0);
        let has = |sign: &str| failure.chain.iter().any(|line| line.contains(sign));
        if has("A dependency job for ") {
            let manager_option = if self.of_user.is_some() { "--user " } else { "" };
            let hint = format!("list failed dependencies with `systemctl {manager_option}--failed`");
            return failure.with_hint(hint);
        }
        // The messages with and without polkit.
        if has("nteractive authentication required") || has("Access denied") {
            return failure.with_hint("run ccm as root, or allow the action in polkit");
        }
        failure
    }

    /// Returns the last journal lines of a unit since a time; `None` if there are none or the query fails.
    pub(crate) async fn journal(
        &self,
        unit: &str,
        since: Duration,
        scope: impl Into<ProgramScope<'_>>,
    ) -> Option<StreamTail> {
        let scope = scope.into();
        let journalctl = || self.in_environment(Program::new("journalctl").time_limit(UNIT_FILE_TIMEOUT));
        if self.of_user.is_none() {
            // The last lines of a process may not be in the journal yet. A failure only hides some of them.
            let _best_effort = journalctl().with(["--sync"]).query(scope).await;
        }
        let since = format!("--since=@{}.{:06}", since.as_secs(), since.subsec_micros());
        let unit = format!("--{}={unit}", if self.of_user.is_some() { "user-unit" } else { "unit" });
        let options = ["--no-pager", "--quiet", "--output=cat", "--lines", JOURNAL_LINES, &since, &unit];
        let program = journalctl().with(options);
        let finished = program.finish(Role::Query, scope).await.ok()?;
        tail(Stream::Journal, &finished.stdout).filter(|_| program.failure(&finished).is_none())
    }
}

/// Returns the error in a line of systemctl, without advice on where to look.
fn error(line: &str) -> Option<&str> {
    let error = line.split(" See '").next().unwrap_or(line);
    (!error.starts_with("See ")).then_some(error)
}

/// Returns the runtime directory of the user.
fn runtime_directory(host: Host<'_>) -> Result<String, Failure> {
    let inherited = host.system.inherited_environment();
    let given = inherited.into_iter().find(|(name, value)| name == RUNTIME_DIRECTORY && !value.is_empty());
    if let Some((_, given)) = given {
        return Ok(given);
    }
    let own = host.system.own_identity().map_err(|error| {
        Failure::from_error(FailureKind::Read, &error).because_of("cannot determine the current user")
    })?;
    let usual = format!("/run/user/{}", own.uid);
    if host.files.is_directory(Path::new(&usual)).unwrap_or(false) {
        return Ok(usual);
    }
    let mut failure = Failure::new(
        FailureKind::Start,
        format!("{RUNTIME_DIRECTORY} is not set and \"{usual}\" does not exist"),
    )
    .because_of("cannot reach the services of the user who runs ccm")
    .with_hint("log in as that user, or run `loginctl enable-linger`");
    failure.missing = Some(MissingPrerequisite::Path(usual.into()).into());
    Err(failure)
}

/// Failure for a run that stopped before systemctl finished.
pub(crate) fn stopped_failure() -> Failure {
    Failure::new(FailureKind::Stopped, "ccm did not wait for systemctl, because the run was stopped")
}
