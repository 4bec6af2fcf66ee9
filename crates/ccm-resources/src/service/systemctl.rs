//! Calling systemctl and journalctl.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Command, Exit, Host, Origin, Role, StartError};
use ccm_model::{Failure, FailureKind, Missing, Stream, StreamTail, display_duration};

use crate::output_tail::{tail, text};

/// How long a question to systemd may take; it answers none while it starts itself again.
const QUERY_TIMEOUT: Duration = Duration::from_secs(90);
/// How many lines of the journal a failure quotes.
const JOURNAL_LINES: &str = "10";

/// The service manager of the machine, or of the user who runs ccm.
pub(crate) struct Systemctl {
    user: bool,
    program: PathBuf,
    environment: Vec<(String, String)>,
}

impl Systemctl {
    /// Finds the program, and what it needs to find the manager.
    pub(crate) fn of(user: bool, host: Host<'_>) -> Result<Self, Failure> {
        let mut environment = host.system.base_environment();
        if user {
            environment.push(("XDG_RUNTIME_DIR".to_owned(), runtime_directory(host)?));
        }
        Ok(Self { user, program: find("systemctl", host)?, environment })
    }

    /// Asks something, and returns what was printed.
    pub(crate) async fn query(&self, arguments: &[&str], context: &Context<'_>) -> Result<String, Failure> {
        let what = arguments.first().copied().unwrap_or_default();
        let printed = self.call(arguments, QUERY_TIMEOUT, Role::Query, context).await;
        printed.map_err(|failure| failure.because_of(format!("`systemctl {what}` failed")))
    }

    /// Runs `systemctl` with these arguments, and returns what it printed if it said that all went well.
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
        let whose = self.user.then_some("--user");
        let first = whose.into_iter().chain(["--no-ask-password", "--no-pager"]);
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
                let message = format!("it did not end within {}", display_duration(after));
                Err(Failure::new(FailureKind::Timeout, message)
                    .with_hint("raise `timeout`; systemd goes on with what it was told"))
            }
            Exit::Cancelled => Err(stopped_failure()),
        }
    }

    /// The last lines that the journal has of a unit since a moment, counted from 1970; none if it has none, or can't
    /// be asked.
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
            // What a process wrote last may not be there yet. To have failed means to see a little less.
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
            origin: Origin::Ccm,
            role,
            ..Command::new(program)
        }
    }
}

/// Where the manager of a user is found.
fn runtime_directory(host: Host<'_>) -> Result<String, Failure> {
    const VARIABLE: &str = "XDG_RUNTIME_DIR";
    let inherited = host.system.inherited_environment();
    let given = inherited.into_iter().find(|(name, value)| name == VARIABLE && !value.is_empty());
    if let Some((_, given)) = given {
        return Ok(given);
    }
    let own = host.system.own_identity().map_err(|error| {
        Failure::from_error(FailureKind::Read, &error).because_of("it can't be told who ccm runs as")
    })?;
    let usual = format!("/run/user/{}", own.uid);
    if host.files.is_directory(Path::new(&usual)).unwrap_or(false) {
        return Ok(usual);
    }
    let mut failure =
        Failure::new(FailureKind::Start, format!("{VARIABLE} is not set, and there is no \"{usual}\""))
            .because_of("the services of the user who runs ccm can't be reached")
            .with_hint(
                "log in as that user, or let `loginctl enable-linger` keep its services without a login",
            );
    failure.missing = Some(Missing::Path(usual.into()).into());
    Err(failure)
}

fn find(name: &str, host: Host<'_>) -> Result<PathBuf, Failure> {
    let path = host.system.base_environment().into_iter().find(|(name, _)| name == "PATH");
    let path = path.map(|(_, path)| path).unwrap_or_default();
    host.system.find(name, &path, Path::new("/")).map_err(|error| start_failure(&error))
}

/// The end of the run came before that of systemctl.
pub(crate) fn stopped_failure() -> Failure {
    Failure::new(FailureKind::Stopped, "it was not waited for, because the run was stopped")
}

fn start_failure(error: &StartError) -> Failure {
    let mut failure = error.failure();
    if let StartError::NotFound { name, .. } = error {
        failure.missing = Some(Missing::Program(name.clone()).into());
    }
    failure
}

/// What systemctl says when something did not go well; where to look is left to the one who reads the failure.
fn exit_failure(stderr: &str, code: i32, user: bool) -> Failure {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("See "));
    let lines =
        lines.map(|line| line.split(" See '").next().unwrap_or(line).trim_end_matches('.').to_owned());
    let lines: Vec<String> = lines.take(5).collect();
    if lines.is_empty() {
        return Failure::new(FailureKind::Exit, format!("systemctl ended with exit code {code}"));
    }
    let failure = Failure { chain: lines, ..Failure::new(FailureKind::Exit, "") };
    if stderr.contains("A dependency job for ") {
        let whose = if user { "--user " } else { "" };
        let hint = format!("`systemctl {whose}--failed` lists what it needs and did not start");
        return failure.with_hint(hint);
    }
    // With polkit, and without.
    if ["nteractive authentication required", "Access denied"].iter().any(|denial| stderr.contains(denial)) {
        return failure.with_hint("run ccm as root, or let polkit allow it");
    }
    failure
}
