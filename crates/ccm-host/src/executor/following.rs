//! Middleware that shares the last line of running commands.

use std::rc::Rc;

use ccm_model::Stream;

use super::{Executor, RunnerMiddleware};

use crate::command::{Cancellation, Command, Finished, LastLine, Role, Runner, StartError};

/// Executor whose commands share the last line that they print, except for those that are sensitive and those
/// that only read the state of the system.
pub struct FollowingExecutor<'a> {
    /// Executor that starts the commands.
    pub executor: Rc<dyn Executor + 'a>,
    /// Receives the line.
    pub last_line: LastLine,
}

impl RunnerMiddleware for FollowingExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        &*self.executor
    }

    fn shown_line(&self) -> Option<&LastLine> {
        Some(&self.last_line)
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        self.last_line.clear();
        if command.sensitive || command.role == Role::Query {
            return runner.run(command, cancellation, on_line).await;
        }
        let command = Command { last_line: Some(self.last_line.clone()), ..command.clone() };
        runner.run(&command, cancellation, on_line).await
    }
}
