//! Middleware around the commands of an executor.

use std::path::Path;

use ccm_model::Stream;

use super::{ClosedPlan, Executor, Launch, LaunchPlan, Purpose};
use crate::Local;
use crate::command::{Cancellation, Command, Enforced, Finished, LastLine, Runner, StartError};

/// Wrapper around an executor that sees every command, whether of a manifest or of a tool.
#[allow(async_fn_in_trait, reason = "commands run on one thread, so that no future of them has to be `Send`")]
pub trait RunnerMiddleware {
    /// Returns the executor that starts the commands.
    fn inner(&self) -> &dyn Executor;

    /// Returns the purpose that the inner executor resolves a launch for.
    fn purpose(&self, purpose: Purpose) -> Purpose {
        purpose
    }

    /// Returns where the last line of what runs is shown, as [`Executor::last_line`] does.
    fn shown_line(&self) -> Option<&LastLine> {
        self.inner().last_line()
    }

    /// Takes all steps before the start of a command with the plan of the inner executor, as [`Runner::preflight`] does.
    fn preflight_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
    ) -> Result<Option<Enforced>, StartError> {
        runner.preflight(command)
    }

    /// Runs a command with the plan of the inner executor, as [`Runner::run`] does.
    async fn run_around(
        &self,
        runner: &dyn Runner,
        command: &Command,
        cancellation: &Cancellation,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Finished, StartError>;
}

impl<T: RunnerMiddleware> Executor for T {
    fn resolve<'a>(
        &'a self,
        launch: &'a Launch,
        purpose: Purpose,
    ) -> Local<'a, Result<Box<dyn LaunchPlan + 'a>, StartError>> {
        Box::pin(async move {
            let plan = self.inner().resolve(launch, self.purpose(purpose)).await?;
            Ok(Box::new(PlanWithin { plan, middleware: self }) as Box<dyn LaunchPlan + 'a>)
        })
    }

    fn last_line(&self) -> Option<&LastLine> {
        self.shown_line()
    }
}

struct PlanWithin<'a, T> {
    plan: Box<dyn LaunchPlan + 'a>,
    middleware: &'a T,
}

impl<T: RunnerMiddleware> LaunchPlan for PlanWithin<'_, T> {
    fn cwd(&self) -> &Path {
        self.plan.cwd()
    }

    fn program_base(&self) -> &Path {
        self.plan.program_base()
    }

    fn command(&self, program: &str, args: &[String]) -> Result<Command, StartError> {
        self.plan.command(program, args)
    }

    fn close<'p>(self: Box<Self>) -> Local<'p, ClosedPlan>
    where
        Self: 'p,
    {
        self.plan.close()
    }
}

impl<T: RunnerMiddleware> Runner for PlanWithin<'_, T> {
    fn preflight(&self, command: &Command) -> Result<Option<Enforced>, StartError> {
        self.middleware.preflight_around(&*self.plan, command)
    }

    fn run<'a>(
        &'a self,
        command: &'a Command,
        cancellation: &'a Cancellation,
        on_line: &'a mut dyn FnMut(Stream, &str),
    ) -> Local<'a, Result<Finished, StartError>> {
        Box::pin(self.middleware.run_around(&*self.plan, command, cancellation, on_line))
    }
}
