//! Calls of the tools that change accounts. The tools lock the files of accounts against one another.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Command, CommandOrigin, Exit, Finished, Role, StartError};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, display_duration};

use crate::support::output_tail::text;

/// Time limit. A home directory may have to be copied or removed.
const TIMEOUT: Duration = Duration::from_secs(3600);
/// Time that a tool may go on after a stop was requested.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);
/// Time to wait for another program that changes accounts.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
/// Delay before the next try while another program changes accounts.
const LOCK_RETRY_DELAY: Duration = Duration::from_secs(1);

const MAX_QUOTED: usize = 3;

/// Call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AccountTool {
    program: &'static str,
    args: Vec<String>,
}

impl AccountTool {
    pub(crate) fn new(program: &'static str) -> Self {
        Self { program, args: Vec::new() }
    }

    /// Adds arguments.
    pub(crate) fn with<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    /// Adds an option with a value, if there is one. They are one argument, so that a value may begin with a dash.
    pub(crate) fn with_value(self, option: &str, value: Option<impl AsRef<str>>) -> Self {
        match value {
            Some(value) => self.with([&*format!("{option}={}", value.as_ref())]),
            None => self,
        }
    }

    pub(crate) async fn run(&self, context: &Context<'_>) -> Result<(), Failure> {
        self.run_with(None, context).await
    }

    /// Runs the tool with this text as standard input, which may be a secret.
    pub(crate) async fn run_with(&self, stdin: Option<&str>, context: &Context<'_>) -> Result<(), Failure> {
        let host = context.host;
        let environment = host.system.base_environment();
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let program = host.system.find(self.program, &path.unwrap_or_default(), Path::new("/"));
        let program = program.map_err(|error| start_failure(&error))?;
        let command = Command {
            args: self.args.iter().map(Into::into).collect(),
            environment,
            stdin: stdin.map(Into::into),
            timeout: Some(TIMEOUT),
            sensitive: stdin.is_some(),
            origin: CommandOrigin::Ccm,
            role: Role::Tool,
            ..Command::new(program)
        };
        let begun = host.clock.monotonic();
        loop {
            let mut on_line = |_, _: &str| ControlFlow::Continue(());
            let finished =
                host.run_patiently(&command, context.cancellation, STOP_TIMEOUT, &mut on_line).await;
            let finished = finished.map_err(|error| start_failure(&error))?;
            let failure = match self.evaluate(&finished) {
                Ok(()) => return Ok(()),
                Err(failure) => failure,
            };
            let waited = host.clock.monotonic().saturating_sub(begun);
            let printed = text(&finished.stderr);
            let is_root = host.system.own_identity().is_ok_and(|own| own.uid == 0);
            if !is_root && is_forbidden(&printed) {
                return Err(failure.with_hint("run ccm as root: only root changes users and groups"));
            }
            if !is_locked(&printed) || finished.exit == Exit::Cancelled {
                return Err(failure);
            }
            if waited >= LOCK_TIMEOUT || !host.pause(LOCK_RETRY_DELAY, context.cancellation).await {
                return Err(failure.with_hint("wait until no other program changes users or groups"));
            }
        }
    }

    fn evaluate(&self, finished: &Finished) -> Result<(), Failure> {
        let program = self.program;
        match &finished.exit {
            Exit::Code(0) => Ok(()),
            Exit::Code(code) => {
                let mut failure =
                    Failure::new(FailureKind::Exit, format!("{program} failed with exit code {code}"));
                failure.chain.extend(errors(program, &text(&finished.stderr)));
                Err(failure)
            }
            Exit::Signal { name, .. } => {
                Err(Failure::new(FailureKind::Signal, format!("{program} was killed by {name}")))
            }
            Exit::TimedOut { after } => {
                let message = format!("{program} did not finish within {}", display_duration(*after));
                Err(Failure::new(FailureKind::Timeout, message))
            }
            Exit::Cancelled => {
                let message = format!("{program} was stopped together with the run");
                Err(Failure::new(FailureKind::Stopped, message))
            }
        }
    }
}

/// Returns the failure of a tool that can't be started.
fn start_failure(error: &StartError) -> Failure {
    let mut failure = error.failure();
    if let StartError::NotFound { name, .. } = error {
        failure.missing = Some(MissingPrerequisite::Program(name.clone()).into());
        let hint = "install the package `passwd` (Debian family) or `shadow-utils` (Red Hat family); the tools of busybox are not supported";
        return failure.with_hint(hint);
    }
    failure
}

/// Returns `true` if a tool of an ordinary user may not change accounts. The tools then name the lock as well, for which a
/// wait is vain. What is forbidden to root has other reasons, such as a file that can't be changed.
fn is_forbidden(stderr: &str) -> bool {
    stderr.contains("Permission denied")
}

/// Returns `true` if a tool gave up because another program changes accounts.
fn is_locked(stderr: &str) -> bool {
    stderr.contains("cannot lock /etc/") || stderr.contains("existing lock file ")
}

/// Returns the errors that a tool printed, without its name in front.
fn errors(program: &str, stderr: &str) -> Vec<String> {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty());
    let without_name =
        lines.map(|line| line.strip_prefix(program).and_then(|line| line.strip_prefix(": ")).unwrap_or(line));
    let mut errors: Vec<String> = without_name.map(str::to_owned).collect();
    errors.split_off(errors.len().saturating_sub(MAX_QUOTED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_quoted_without_the_name_of_the_tool() {
        let printed = "useradd: UID 0 is not unique\n\n";
        assert_eq!(errors("useradd", printed), ["UID 0 is not unique"]);
        assert_eq!(errors("useradd", "1\n2\n3\n4\n"), ["2", "3", "4"]);
        assert!(is_locked("usermod: cannot lock /etc/passwd; try again later.\n"));
        let of_user = "useradd: Permission denied.\nuseradd: cannot lock /etc/passwd; try again later.\n";
        assert!(is_forbidden(of_user));
        assert!(!is_forbidden("usermod: cannot lock /etc/passwd; try again later.\n"));
        assert!(!is_locked("usermod: user 'a' does not exist\n"));
    }

    #[test]
    fn values_may_begin_with_a_dash() {
        let tool = AccountTool::new("usermod").with_value("--comment", Some("-a")).with(["--", "ada"]);
        assert_eq!(tool.args, ["--comment=-a", "--", "ada"]);
        assert_eq!(
            AccountTool::new("usermod").with_value("--shell", None::<&str>).args,
            Vec::<String>::new()
        );
    }
}
