//! The executor that records each command.

use ccm_host::{Cancellation, Command, Executor, Finished, Local, Runner, RunnerMiddleware, StartError};
use ccm_model::Stream;

use super::RunAudit;

/// Executor that records each command before it starts, and its end. What can't be recorded is not started, if a record is
/// required.
pub(crate) struct AuditedExecutor<'a> {
    pub(crate) executor: &'a dyn Executor,
    pub(crate) audit: &'a RunAudit,
}

impl RunnerMiddleware for AuditedExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        self.executor
    }

    fn run_around<'a>(
        &'a self,
        runner: &'a dyn Runner,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(async move {
            self.audit.start(command)?;
            let result = runner.run(command, cancellation, on_line).await;
            self.audit.finish(result.as_ref(), command.sensitive);
            result
        })
    }
}
