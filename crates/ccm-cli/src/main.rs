//! The binary `ccm`: arguments, wiring, error text, exit codes.

mod apply;
mod arguments;
mod diagnostics;
mod exit;
mod history;
mod late;
mod listeners;
mod manifest;
mod messages;
mod secrets;
mod show;
mod sources;
mod state;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use arguments::{Arguments, Command};
use exit::Code;

fn main() -> ExitCode {
    if let Err(error) = ccm_host::prepare_process() {
        return apply::cannot_start(&error).into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Help and version are answers, not mistakes. Nothing is left to do if they can't be printed.
            let _ = error.print();
            return if error.use_stderr() { Code::Usage } else { Code::Success }.into();
        }
    };
    let code = match arguments.command {
        Command::Apply(apply) => apply::run(&apply),
        Command::Validate(validate) => show::validate(&validate),
        Command::Graph(graph) => show::graph(&graph),
        Command::History(history) => history::run(&history),
        Command::Schema => show::schema(),
    };
    code.into()
}
