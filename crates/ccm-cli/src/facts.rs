//! `ccm facts`: the facts of this machine.

use ccm_runtime::{ExitCode, printed};

use crate::arguments::FactsArguments;
use crate::console::Console;
use crate::{diagnostics, session};

/// Prints all facts, or the part of them at a path.
pub(crate) fn run(arguments: &FactsArguments, console: &Console) -> ExitCode {
    match session::open(console).facts(&session::facts(&arguments.given), arguments.path.as_deref()) {
        Ok(value) => {
            let text = if arguments.yaml { printed::yaml(&value) } else { printed::json(&value) };
            console.print(&text)
        }
        Err(errors) => {
            diagnostics::print(console, &errors);
            ExitCode::NothingRun
        }
    }
}
