//! The binary `ccm`: arguments, wiring, error text, exit codes.

mod apply;
mod arguments;
mod colour;
mod debug_log;
mod diagnostics;
mod eval;
mod explain;
mod facts;
mod hiera;
mod history;
mod idempotence;
mod listeners;
mod manifest;
mod messages;
mod printed;
mod secrets;
mod session;
mod show;
mod state;
mod status;
mod validate;
mod watch;

use std::process;

use clap::Parser as _;

use arguments::{Apply, Arguments, Command, Hiera};
use ccm_runtime::ExitCode;

fn main() -> process::ExitCode {
    // Started by itself to run a command as somebody else or in a sandbox, it is nothing but that command.
    if let Some(code) = ccm_host::launcher::begin() {
        return code;
    }
    if let Err(error) = ccm_host::prepare_process() {
        return apply::cannot_start(&error).into();
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let error = arguments::without_value(error);
            // Help and version are answers, not mistakes. Nothing is left to do if they can't be printed.
            let _ = error.print();
            return if error.use_stderr() { ExitCode::Usage } else { ExitCode::Success }.into();
        }
    };
    debug_log::install(arguments.verbose);
    let code = match arguments.command {
        Command::Apply(apply) => apply::run(&Apply { verbose: arguments.verbose, ..apply }),
        Command::Validate(validate) => validate::run(&validate),
        Command::Graph(graph) => show::graph(&graph),
        Command::History(history) => history::run(&history),
        Command::Status(status) => status::run(&status),
        Command::Facts(facts) => facts::run(&facts),
        Command::Hiera(Hiera::Parse(parse)) => hiera::run(&parse),
        Command::Eval(eval) => eval::run(&eval),
        Command::Explain(explain) => explain::run(&explain),
        Command::Schema(arguments) => show::schema(&arguments),
    };
    code.into()
}
