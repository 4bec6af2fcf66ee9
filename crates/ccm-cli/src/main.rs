//! The binary `ccm`: arguments, wiring, error text, exit codes.

mod apply;
mod arguments;
mod colour;
mod console;
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
mod reactor;
mod session;
mod show;
mod state;
mod status;
mod validate;

use std::process;

use ccm_runtime::ExitCode;
use ccm_runtime::process::{launcher, prepare_process};
use clap::Parser as _;

use arguments::{Apply, Arguments, Command, Hiera};
use console::Console;

fn main() -> process::ExitCode {
    // Started by itself to run a command as somebody else or in a sandbox, it is nothing but that command.
    if let Some(code) = launcher::begin() {
        return code;
    }
    let console = Console::default();
    if let Err(error) = prepare_process() {
        return state::cannot_start(&console, &error).into();
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
    let log = debug_log::install(arguments.verbose, &console);
    let code = match arguments.command {
        Command::Apply(apply) => apply::run(Apply { verbose: arguments.verbose, ..apply }, &console, &log),
        Command::Validate(validate) => validate::run(&validate, &console),
        Command::Graph(graph) => show::graph(&graph, &console),
        Command::History(history) => history::run(&history, &console),
        Command::Status(status) => status::run(&status, &console),
        Command::Facts(facts) => facts::run(&facts, &console),
        Command::Hiera(Hiera::Parse(parse)) => hiera::run(&parse, &console),
        Command::Eval(eval) => eval::run(&eval, &console),
        Command::Explain(explain) => explain::run(&explain, &console),
        Command::Schema(arguments) => show::schema(&arguments, &console),
    };
    code.into()
}
