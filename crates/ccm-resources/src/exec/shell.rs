//! Provider shell: the command is given whole to `/bin/sh -c`. Posix suits every host and
//! comes before it, so it is used only if a resource names it.

use std::path::Path;

use ccm_engine::{Context, Provider, Reading, Suitability};
use ccm_host::{Host, Local};
use ccm_model::Failure;

use super::command::Exec;
use super::decide::{Ended, ExecKind};
use super::provider;
use super::state::ExecState;

/// Starts commands through the shell.
pub(crate) struct Shell;

impl Provider<ExecKind> for Shell {
    fn name(&self) -> &'static str {
        "shell"
    }

    fn suitability(&self, host: Host<'_>) -> Suitability {
        match host.files.exists(Path::new("/bin/sh")) {
            Ok(true) => Suitability::Suits(99),
            Ok(false) => Suitability::Unsuitable("there is no /bin/sh".to_owned()),
            Err(error) => Suitability::Unsuitable(format!("/bin/sh can't be looked at: {error}")),
        }
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
