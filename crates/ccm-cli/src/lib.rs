//! The binary `ccm`: arguments, rendering and exit codes over `ccm-runtime`.
//!
//! It is a library so that the chores of the workspace can read the definition of the command line, from which
//! they write man pages.
//!
//! `arguments` declares the command line. Each command has a module with a function `run`, from its arguments to its
//! exit code. `console` prints messages, and `listeners` passes the events of a run to its reports. [`main`] ties them
//! together, and [`command`] returns the declaration.
//!
//! This crate must never decide what a run does, or parse a file that ccm writes: a command is arguments and rendering,
//! and everything else belongs to `ccm-runtime`, where other programs can use it as well.

mod apply;
mod approvals;
mod approve;
mod arguments;
mod audit;
mod backup;
mod check;
mod colour;
mod completion;
mod console;
mod data_explanation;
mod debug_log;
mod diagnostics;
mod ensure;
mod ensure_pipe;
mod ensure_session;
mod error;
mod error_output;
mod eval;
mod explain;
mod facts;
mod hiera;
mod history;
mod idempotence;
mod init;
mod interruption;
#[cfg(feature = "archive")]
mod inventory;
mod listeners;
mod manifest;
mod mcp;
mod page;
mod pause;
mod plan;
mod policy;
#[cfg(feature = "archive")]
mod push;
mod reactor;
#[cfg(feature = "archive")]
mod release;
mod resource;
#[cfg(feature = "secrets")]
mod secret;
mod service;
mod session;
mod show;
mod source;
mod state;
mod status;
mod timer;
mod tool;
mod validate;
mod write_hints;

use std::mem::ManuallyDrop;
use std::process;

use ccm_runtime::ExitCode;
use ccm_runtime::process::{launcher, prepare_process, variable};
use clap::{CommandFactory as _, FromArgMatches as _};

use arguments::{
    ApplyArguments, Arguments, CliCommand, EnsureArguments, HieraCommand, InnerCommands, InvalidVariable,
    JsonForm, with_properties,
};
use console::Console;
use error::{CommandError, CommandResult};

pub use completion::SCRIPTS as COMPLETION_SCRIPTS;

/// Returns the definition of the command line, from which help, completions and man pages are made.
pub fn command() -> clap::Command {
    with_properties(Arguments::command())
}

/// Runs ccm, from the command line of the process to its exit code.
pub fn main() -> process::ExitCode {
    // A copy of ccm that becomes a command, as another user or in a sandbox, does nothing else.
    if let Some(code) = launcher::begin() {
        return code;
    }
    let console = Console::default();
    let code = run(&console).unwrap_or_else(|error| {
        console.error(&error);
        error.code()
    });
    code.into()
}

fn run(console: &Console) -> CommandResult {
    prepare_process().map_err(|error| CommandError::setup(&error))?;
    // The process ends with the command. Freeing the definition would be a tenth of its start.
    let mut command = ManuallyDrop::new(Arguments::command());
    let parsed = command.try_get_matches_from_mut(std::env::args_os()).and_then(|mut matches| {
        let json_form = JsonForm::of(&matches);
        let arguments = Arguments::from_arg_matches_mut(&mut matches);
        let arguments = arguments.map_err(|error| error.format(&mut Arguments::command()))?;
        Ok((arguments, json_form))
    });
    let (arguments, json_form) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            let error = arguments::adapt(error, |path| session::open(console).is_file(path));
            if error.use_stderr() {
                return Err(error.into());
            }
            // Help and version are not errors. A failure to print them is ignored.
            let _ = error.print();
            return Ok(ExitCode::Success);
        }
    };
    let result = arguments
        .with_environment(variable)
        .map_err(|InvalidVariable { name, reason }| CommandError::variable(name, &reason))
        .and_then(|arguments| run_command(arguments, console));
    result.inspect_err(|error| {
        if let Some(form) = json_form {
            console.error_document(error, form);
        }
    })
}

fn run_command(arguments: Arguments, console: &Console) -> CommandResult {
    debug_log::install(arguments.verbose, console);
    match arguments.command {
        CliCommand::Apply(apply) => {
            apply::run(ApplyArguments { verbose: arguments.verbose, ..*apply }, console)
        }
        CliCommand::Ensure(ensure) => {
            ensure::run(EnsureArguments { verbose: arguments.verbose, ..*ensure }, console)
        }
        CliCommand::Session(command) => ensure_session::run(&command.0, console),
        CliCommand::Validate(validate) => validate::run(&validate, arguments.verbose > 0, console),
        CliCommand::Graph(graph) => show::graph(&graph, console),
        CliCommand::History(history) => history::run(&history, console),
        CliCommand::Status(status) => status::run(&status, console),
        CliCommand::Resource(arguments) => resource::run(*arguments, console),
        CliCommand::Timer(command) => timer::run(&command.0, console),
        #[cfg(feature = "archive")]
        CliCommand::Release(command) => release::run(&command.0, arguments.verbose > 0, console),
        #[cfg(feature = "archive")]
        CliCommand::Source(command) => source::run(&command.0, console),
        #[cfg(feature = "archive")]
        CliCommand::Push(arguments) => push::run(&arguments, console),
        #[cfg(feature = "secrets")]
        CliCommand::Secret(command) => secret::run(&command.0, console),
        CliCommand::Pause(pause) => pause::run(&pause, console),
        CliCommand::Policy(command) => policy::run(&command.0, console),
        CliCommand::Approvals(arguments) => approvals::run(&arguments, console),
        CliCommand::Plan(command) => plan::run(&command.0, console),
        CliCommand::Approve(arguments) => approve::run(&arguments, console),
        CliCommand::Audit(command) => audit::run(&command.0, console),
        CliCommand::Tool(command) => tool::run(command.0, console),
        CliCommand::Mcp(arguments) => mcp::run(arguments, console),
        CliCommand::Backup(command) => backup::run(&command.0, console),
        CliCommand::Check(check) => check::run(check, console),
        CliCommand::Facts(facts) => facts::run(&facts, console),
        CliCommand::Hiera(InnerCommands(HieraCommand::Parse(parse))) => hiera::run(&parse, console),
        CliCommand::Eval(eval) => eval::run(&eval, console),
        CliCommand::Explain(explain) => explain::run(&explain, console),
        CliCommand::Schema(arguments) => show::schema(&arguments, console),
        CliCommand::Init(arguments) => init::run(&arguments, console),
        CliCommand::Completions(arguments) => completion::print_script(&arguments, console),
        CliCommand::Complete(arguments) => completion::complete(&arguments, console),
    }
}
