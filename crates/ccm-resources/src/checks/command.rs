//! Commands of rules: texts for the shell.

use std::time::Duration;

use ccm_check::{Attribute, Fact, FactError};
use ccm_host::{
    CapturedOutput, Command, CommandOrigin, Exit, Launch, LaunchPlan, Process, Role, RunningProcess,
    run_launched,
};
use ccm_model::escape_control;

use super::CheckScope;
use super::observation::{Observation, no_attribute, stopped, unreadable};
use crate::support::program::start_failure;

const SHELL: &str = "/bin/sh";

/// Command that has ended by itself.
pub(super) struct EndedCommand {
    code: i32,
    warning: Option<String>,
    stdout: Result<String, FactError>,
    stderr: Result<String, FactError>,
}

impl Observation for EndedCommand {
    fn fact(&self, attribute: Attribute) -> Result<Fact, FactError> {
        let output =
            |output: &Result<String, FactError>| output.as_deref().map(Fact::from).map_err(Clone::clone);
        match attribute {
            Attribute::ExitStatus => {
                Ok(Fact { warning: self.warning.clone(), ..i64::from(self.code).into() })
            }
            Attribute::Stdout => output(&self.stdout),
            Attribute::Stderr => output(&self.stderr),
            other => Err(no_attribute(other)),
        }
    }
}

/// Runs the command of a rule to its end. A command that did not end by itself has no values.
pub(super) async fn observe(
    text: &str,
    limit: Duration,
    scope: &CheckScope<'_>,
) -> Result<EndedCommand, FactError> {
    let launch = Launch {
        cwd: Some(scope.directory.to_owned()),
        timeout: Some(limit),
        manifest_directory: scope.directory.to_owned(),
        ..Launch::default()
    };
    let command = |plan: &dyn LaunchPlan| {
        let command = plan.command(SHELL, &["-c".to_owned(), text.to_owned()])?;
        Ok(Command { role: Role::Check, origin: CommandOrigin::Shell, ..command })
    };
    let executor = scope.host.executor;
    let (finished, _) = run_launched(executor, &launch, command, scope.cancellation, &mut |_, _| {}).await;
    let finished = finished.map_err(|error| unreadable(start_failure(&error, None).one_line()))?;
    end_leftovers(&finished.left_running);
    let warning = leftovers(&finished.left_running);
    let code = match &finished.exit {
        Exit::Cancelled => return Err(stopped()),
        exit => exit.code("the command").map_err(|failure| unreadable(failure.one_line()))?,
    };
    Ok(EndedCommand {
        code,
        warning,
        stdout: text_of("standard output", finished.printed_stdout()),
        stderr: text_of("standard error", finished.printed_stderr()),
    })
}

/// Kills what a command has left, because a check changes nothing.
pub(crate) fn end_leftovers(left: &[Process]) {
    for process in left {
        let found = RunningProcess::find(process.pid).filter(|found| found.name == process.name);
        // A process that has ended meanwhile, or belongs to another user, is left alone.
        let _ended = found.map(|found| found.signal("KILL"));
    }
}

/// Returns what a command has left in words.
fn leftovers(left: &[Process]) -> Option<String> {
    let named: Vec<String> = left.iter().map(ToString::to_string).collect();
    (!named.is_empty()).then(|| {
        format!("the command left processes that were killed: {}", escape_control(&named.join(", ")))
    })
}

fn text_of(stream: &str, captured: &CapturedOutput) -> Result<String, FactError> {
    if captured.truncated() {
        let total = captured.total();
        return Err(unreadable(format!("{stream} has {total} bytes, of which only a part was kept")));
    }
    let bytes = [&*captured.head, &*captured.tail].concat();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
