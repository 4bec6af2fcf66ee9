//! `ccm status forget`: a manifest that the status leaves out.

use ccm_runtime::Session;
use ccm_runtime::model::escape_control;
use ccm_runtime::status::ForgetError;

use crate::arguments::StatusForgetArguments;
use crate::console::Console;
use crate::error::{CommandError, CommandResult};
use crate::{session, state};

/// Leaves a manifest out of the status until it runs again.
pub(super) fn run(arguments: &StatusForgetArguments, console: &Console) -> CommandResult {
    let session = session::open_with(console, &arguments.state);
    let manifest = session.forget(&arguments.path).map_err(|error| forget_error(&session, &error))?;
    let manifest = escape_control(&manifest);
    console.print(&format!("{manifest} is left out of the status until it runs again\n"))
}

fn forget_error(session: &Session, error: &ForgetError) -> CommandError {
    let found = CommandError::of(error);
    match error {
        ForgetError::Unknown { .. } => found.hint("`ccm status` lists the manifests"),
        ForgetError::Ambiguous { manifests, .. } => {
            found.with_list(manifests.clone()).hint("write the whole path")
        }
        ForgetError::GoingOn(_) => found.hint("wait until it ends"),
        ForgetError::Status(error) => state::state_error(session, error),
        ForgetError::State(error) => found.hint(state::state_hint(session, error)),
        ForgetError::Write { path, source } => found.hint(session.state_advice(path, source).to_string()),
        _ => found,
    }
}
