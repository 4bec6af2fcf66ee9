//! Calls of tools that change settings of the machine, such as sysctl and mount.

use std::path::Path;
use std::time::Duration;

use ccm_engine::Context;
use ccm_host::{Command, CommandOrigin, Exit, Finished, Role, StartError};
use ccm_model::{Failure, FailureKind, MissingPrerequisite, display_duration};

use crate::support::output_tail::text;

/// Time limit. A server of a file system may be slow.
const TIMEOUT: Duration = Duration::from_secs(300);

/// Maximum number of lines of an error that are quoted.
const MAX_QUOTED: usize = 3;

/// Call of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SystemTool {
    program: &'static str,
    package: &'static str,
    args: Vec<String>,
}

impl SystemTool {
    /// Builds a call of a program that is in this package.
    pub(crate) fn new(program: &'static str, package: &'static str) -> Self {
        Self { program, package, args: Vec::new() }
    }

    /// Adds arguments.
    pub(crate) fn with<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.args.extend(args.into_iter().map(str::to_owned));
        self
    }

    pub(crate) async fn run(&self, context: &Context<'_>) -> Result<(), Failure> {
        let host = context.host;
        let environment = host.system.base_environment();
        let path = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
        let program = host.system.find(self.program, &path.unwrap_or_default(), Path::new("/"));
        let program = program.map_err(|error| self.start_failure(&error))?;
        let command = Command {
            args: self.args.iter().map(Into::into).collect(),
            environment,
            timeout: Some(TIMEOUT),
            origin: CommandOrigin::Ccm,
            role: Role::Tool,
            ..Command::new(program)
        };
        let finished = host.executor.run_tool(&command, context.cancellation, &mut |_, _| {}).await;
        self.evaluate(&finished.map_err(|error| self.start_failure(&error))?)
    }

    fn evaluate(&self, finished: &Finished) -> Result<(), Failure> {
        let program = self.program;
        match &finished.exit {
            Exit::Code(0) => Ok(()),
            Exit::Code(code) => {
                let message = format!("{program} failed with exit code {code}");
                let mut failure = Failure::new(FailureKind::Exit, message);
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

    fn start_failure(&self, error: &StartError) -> Failure {
        let mut failure = error.failure();
        if let StartError::NotFound { name, .. } = error {
            failure.missing = Some(MissingPrerequisite::Program(name.clone()).into());
            return failure.with_hint(format!("install the package `{}`", self.package));
        }
        failure
    }
}

/// Returns the errors that a tool printed, without its name in front.
fn errors(program: &str, stderr: &str) -> Vec<String> {
    let lines = stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !is_advice(line));
    let without_name =
        lines.map(|line| line.strip_prefix(program).and_then(|line| line.strip_prefix(": ")).unwrap_or(line));
    let mut errors: Vec<String> =
        without_name.map(|line| line.strip_suffix('.').unwrap_or(line).to_owned()).collect();
    errors.truncate(MAX_QUOTED);
    errors
}

/// Returns `true` for advice of mount that is no error.
fn is_advice(line: &str) -> bool {
    line.starts_with("dmesg(1) may have") || line.starts_with("(hint) ")
}

#[cfg(test)]
mod tests {
    use super::errors;

    #[test]
    fn errors_are_quoted_without_advice() {
        let printed = "mount: /a: unknown filesystem type 'x'.\n       dmesg(1) may have more information\n";
        assert_eq!(errors("mount", printed), ["/a: unknown filesystem type 'x'"]);
        assert_eq!(errors("sysctl", "1\n2\n3\n4\n"), ["1", "2", "3"]);
    }
}
