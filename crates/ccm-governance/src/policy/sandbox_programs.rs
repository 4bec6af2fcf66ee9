//! Programs that a sandbox with `programs: analysed` may execute.

use std::path::PathBuf;
use std::rc::Rc;

use ccm_host::{Cancellation, Command, Enforced, Executor, Finished, Runner, RunnerMiddleware, StartError};
use ccm_model::Stream;

use super::gate::analysis_of;

/// Executor that adds the programs which the programs of a command start, such as `make` of `timeout 5 make`. They are
/// those of the analysis that the policy judges.
pub struct AnalysingExecutor<'a> {
    /// Executor that starts the commands.
    pub executor: Rc<dyn Executor + 'a>,
}

impl RunnerMiddleware for AnalysingExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        &*self.executor
    }

    fn preflight_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
    ) -> Result<Option<Enforced>, StartError> {
        match with_started_programs(command)? {
            Some(command) => runner.preflight(&command),
            None => runner.preflight(command),
        }
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        match with_started_programs(command) {
            Ok(None) => runner.run(command, cancellation, on_line).await,
            Ok(Some(command)) => runner.run(&command, cancellation, on_line).await,
            Err(error) => Err(error),
        }
    }
}

/// Returns the command with all programs that its sandbox allows; `None` if its programs are not analysed.
fn with_started_programs(command: &Command) -> Result<Option<Command>, StartError> {
    let allowed = command.sandbox.as_ref().and_then(|sandbox| sandbox.programs.as_ref());
    if !allowed.is_some_and(|allowed| allowed.are_analysed) {
        return Ok(None);
    }
    let started = analysis_of(None, command, &[]).started_programs().map_err(|reason| {
        // Reasons may quote the text.
        let reason = if command.sensitive { "the command is sensitive".to_owned() } else { reason };
        StartError::UnknownPrograms { reason }
    })?;
    let mut command = command.clone();
    if let Some(allowed) = command.sandbox.as_mut().and_then(|sandbox| sandbox.programs.as_mut()) {
        for program in started.into_iter().map(PathBuf::from) {
            if !allowed.programs.contains(&program) {
                allowed.programs.push(program);
            }
        }
    }
    Ok(Some(command))
}
