//! Calls of systemctl and journalctl.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Command, CommandOrigin, Exit, Host, Role, StartError};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, Stream, StreamTail, display_duration};

use crate::support::output_tail::{tail, text};

/// Timeout of a query; systemd does not answer while it re-executes itself.
const QUERY_TIMEOUT: Duration = Duration::from_secs(90);
const JOURNAL_LINES: &str = "10";

/// Service manager of the machine, or of the user who runs ccm.
pub(crate) struct Systemctl {
    user: bool,
    program: PathBuf,
    environment: Vec<(String, String)>,
}

impl Systemctl {
    /// Finds systemctl, and the environment needed to reach the manager.
    pub(crate) fn of(user: bool, host: Host<'_>) -> Result<Self, Failure> {
        let mut environment = host.system.base_environment();
        if user {
            environment.push(("XDG_RUNTIME_DIR".to_owned(), runtime_directory(host)?));
        }
        Ok(Self { user, program: find("systemctl", host)?, environment })
    }

    pub(crate) async fn query(&self, arguments: &[&str], context: &Context<'_>) -> Result<String, Failure> {
        let what = arguments.first().copied().unwrap_or_default();
        let printed = self.call(arguments, QUERY_TIMEOUT, Role::Query, context).await;
        printed.map_err(|failure| failure.because_of(format!("`systemctl {what}` failed")))
    }

    /// Runs systemctl and returns its output if it succeeded.
    pub(crate) async fn run(
        &self,
        arguments: &[&str],
        limit: Duration,
        context: &Context<'_>,
    ) -> Result<String, Failure> {
        self.call(arguments, limit, Role::Tool, context).await
    }

    async fn call(
        &self,
        arguments: &[&str],
        limit: Duration,
        role: Role,
        context: &Context<'_>,
    ) -> Result<String, Failure> {
        let manager_option = self.user.then_some("--user");
        let first = manager_option.into_iter().chain(["--no-ask-password", "--no-pager"]);
        let command = self.command(&self.program, first.chain(arguments.iter().copied()), limit, role);
        let executor = if role == Role::Query { context.queries } else { context.host.executor };
        let finished = executor.run_tool(&command, context.cancellation, &mut |_, _| {}).await;
        let finished = finished.map_err(|error| start_failure(&error))?;
        match finished.exit {
            Exit::Code(0) => Ok(text(&finished.stdout)),
            Exit::Code(code) => Err(exit_failure(&text(&finished.stderr), code, self.user)),
            Exit::Signal { name, .. } => {
                Err(Failure::new(FailureKind::Signal, format!("systemctl was killed by {name}")))
            }
            Exit::TimedOut { after } => {
                let message = format!("systemctl did not finish within {}", display_duration(after));
                Err(Failure::new(FailureKind::Timeout, message)
                    .with_hint("raise `timeout`; systemd continues the operation"))
            }
            Exit::Cancelled => Err(stopped_failure()),
        }
    }

    /// Returns the last journal lines of a unit since a time; `None` if there are none or the query fails.
    pub(crate) async fn journal(
        &self,
        unit: &str,
        since: Duration,
        context: &Context<'_>,
    ) -> Option<StreamTail> {
        let program = find("journalctl", context.host).ok()?;
        let run = async |arguments: &[&str]| {
            let command = self.command(&program, arguments.iter().copied(), QUERY_TIMEOUT, Role::Query);
            context.queries.run_tool(&command, context.cancellation, &mut |_, _| {}).await
        };
        if !self.user {
            // The last lines of a process may not be in the journal yet. A failure only hides some of them.
            let _best_effort = run(&["--sync"]).await;
        }
        let since = format!("--since=@{}.{:06}", since.as_secs(), since.subsec_micros());
        let unit = format!("--{}={unit}", if self.user { "user-unit" } else { "unit" });
        let finished =
            run(&["--no-pager", "--quiet", "--output=cat", "--lines", JOURNAL_LINES, &since, &unit])
                .await
                .ok()?;
        tail(Stream::Journal, &finished.stdout).filter(|_| finished.exit == Exit::Code(0))
    }

    fn command<'a>(
        &self,
        program: &Path,
        arguments: impl Iterator<Item = &'a str>,
        timeout: Duration,
        role: Role,
    ) -> Command {
        Command {
            args: arguments.map(Into::into).collect(),
            environment: self.environment.clone(),
            timeout: Some(timeout),
            origin: CommandOrigin::Ccm,
            role,
            ..Command::new(program)
        }
    }
}

/// Returns the runtime directory of the user.
fn runtime_directory(host: Host<'_>) -> Result<String, Failure> {
    const VARIABLE: &str = "XDG_RUNTIME_DIR";
    let inherited = host.system.inherited_environment();
    let given = inherited.into_iter().find(|(name, value)| name == VARIABLE && !value.is_empty());
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
    let mut failure =
        Failure::new(FailureKind::Start, format!("{VARIABLE} is not set and \"{usual}\" does not exist"))
            .because_of("cannot reach the services of the user who runs ccm")
            .with_hint("log in as that user, or run `loginctl enable-linger`");
    failure.missing = Some(MissingPrerequisite::Path(usual.into()).into());
    Err(failure)
}

fn find(name: &str, host: Host<'_>) -> Result<PathBuf, Failure> {
    let path = host.system.base_environment().into_iter().find(|(name, _)| name == "PATH");
    let path = path.map(|(_, path)| path).unwrap_or_default();
    host.system.find(name, &path, Path::new("/")).map_err(|error| start_failure(&error))
}

/// Failure for a run that stopped before systemctl finished.
pub(crate) fn stopped_failure() -> Failure {
    Failure::new(FailureKind::Stopped, "ccm did not wait for systemctl, because the run was stopped")
}

fn start_failure(error: &StartError) -> Failure {
    let mut failure = error.failure();
    if let StartError::NotFound { name, .. } = error {
        failure.missing = Some(MissingPrerequisite::Program(name.clone()).into());
    }
    failure
}

/// Returns the error of systemctl, without its advice on where to look.
fn exit_failure(stderr: &str, code: i32, user: bool) -> Failure {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("See "));
    let lines =
        lines.map(|line| line.split(" See '").next().unwrap_or(line).trim_end_matches('.').to_owned());
    let lines: Vec<String> = lines.take(5).collect();
    if lines.is_empty() {
        return Failure::new(FailureKind::Exit, format!("systemctl failed with exit code {code}"));
    }
    let failure = Failure { chain: lines, ..Failure::new(FailureKind::Exit, "") };
    if stderr.contains("A dependency job for ") {
        let manager_option = if user { "--user " } else { "" };
        let hint = format!("list failed dependencies with `systemctl {manager_option}--failed`");
        return failure.with_hint(hint);
    }
    // The messages with and without polkit.
    if ["nteractive authentication required", "Access denied"].iter().any(|denial| stderr.contains(denial)) {
        return failure.with_hint("run ccm as root, or allow the action in polkit");
    }
    failure
}
