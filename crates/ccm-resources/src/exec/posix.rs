//! Provider posix: the command is split into words and started directly.

use ccm_engine::{Context, Provider, Reading, Suitability};
use ccm_host::{Host, Local};
use ccm_model::Failure;

use super::command::Exec;
use super::decide::{Ended, ExecKind};
use super::provider;
use super::state::ExecState;

/// Starts commands directly.
pub(crate) struct Posix;

impl Provider<ExecKind> for Posix {
    fn name(&self) -> &'static str {
        "posix"
    }

    fn suitability(&self, _: Host<'_>) -> Suitability {
        Suitability::Suits(1)
    }

    fn status<'a>(
        &'a self,
        exec: &'a Exec,
        reading: Reading<'a, Ended>,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<ExecState, Failure>> {
        Box::pin(provider::status(exec, reading, context))
    }

    fn execute<'a>(
        &'a self,
        exec: &'a Exec,
        _: &'a ExecState,
        context: &'a mut Context<'_>,
    ) -> Local<'a, Result<Ended, Failure>> {
        Box::pin(provider::execute(exec, context))
    }

    fn foresee(&self, exec: &Exec, host: Host<'_>) -> Vec<String> {
        provider::foresee(exec, host)
    }
}
