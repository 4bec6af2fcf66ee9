//! The executor that records each command.

use std::rc::Rc;

use ccm_host::{Cancellation, Command, Executor, Finished, Runner, RunnerMiddleware, StartError};
use ccm_model::Stream;

use super::RunAudit;

/// Executor that records each command before it starts, and its end. What can't be recorded is not started, if a record is
/// required.
pub struct AuditedExecutor<'a> {
    /// Executor that starts the commands.
    pub executor: Rc<dyn Executor + 'a>,
    /// Record of the run.
    pub audit: Rc<RunAudit>,
}

impl RunnerMiddleware for AuditedExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        &*self.executor
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        self.audit.start(command)?;
        let result = runner.run(command, cancellation, on_line).await;
        self.audit.finish(result.as_ref(), command.sensitive);
        result
    }
}
