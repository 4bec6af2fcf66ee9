//! The executor of resources in noop.

use ccm_host::{Cancellation, Command, Executor, Finished, Purpose, Runner, RunnerMiddleware, StartError};
use ccm_model::Stream;

/// Executor that resolves every launch for noop, so that a place that noop must not start commands in starts
/// none.
pub(crate) struct NoopExecutor<'a>(pub &'a dyn Executor);

impl RunnerMiddleware for NoopExecutor<'_> {
    fn inner(&self) -> &dyn Executor {
        self.0
    }

    fn purpose(&self, purpose: Purpose) -> Purpose {
        match purpose {
            Purpose::Run | Purpose::Noop => Purpose::Noop,
            Purpose::Preflight => Purpose::Preflight,
        }
    }

    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError> {
        runner.run(command, cancellation, on_line).await
    }
}
