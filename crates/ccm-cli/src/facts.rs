//! `ccm facts`: what is true of this machine.

use ccm_runtime::ExitCode;

use crate::arguments::Facts;
use crate::{diagnostics, printed, session, show};

/// Prints all facts, or what is at a path.
pub(crate) fn run(arguments: &Facts) -> ExitCode {
    match session::open().facts(&session::facts(&arguments.given), arguments.path.as_deref()) {
        Ok(value) => show::print(&if arguments.yaml { printed::yaml(&value) } else { printed::json(&value) }),
        Err(errors) => {
            diagnostics::print(&errors);
            ExitCode::NothingRun
        }
    }
}
