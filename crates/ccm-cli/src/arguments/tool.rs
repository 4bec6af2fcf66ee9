//! Arguments of `ccm tool`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::ArgPredicate;
use clap::{Args, Subcommand, ValueEnum};

use super::parsers::{assignment_of_variable, call_timeout, process_number, wait};
use super::service::ServiceArguments;
use super::state::StateArguments;
use super::{DocumentFormat, OutputArguments, headings};

const EXIT_CODES: &str = "\
Exit codes: 0 done, 4 the command failed, 5 refused by the policy, 7 an approval is required or has ended, 1 nothing
could be tried, 64 bad usage or input.

Documentation: /usr/share/doc/ccm/use/tools.md, or docs/use/tools.md";

const EXEC_HELP: &str = "\
Examples:
  ccm tool exec -- git status                      a program and its arguments
  ccm tool exec 'ls | wc -l'                       one word is a text for /bin/sh
  ccm tool exec --json - < call.json               a JSON object: command, args, env, workingDir, timeoutMs

Exit codes: 0 done, 4 the command failed, 5 refused by the policy, 7 an approval is required or has ended, 1 nothing
could be tried, 64 bad usage or input.

Documentation: /usr/share/doc/ccm/use/tools.md, or docs/use/tools.md";

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ToolSubcommand {
    /// List the tools that this user is offered
    List(ToolListArguments),
    /// Run a command, if the policy lets it
    Exec(Box<ToolExecArguments>),
    /// Run a bash script, if the policy lets it
    Bash(Box<ToolBashArguments>),
    /// Run code in a language runtime, if the policy lets it
    Code(Box<ToolCodeArguments>),
    /// List, show or signal processes that calls of this user have started
    #[command(subcommand)]
    Process(ToolProcessCommand),
    /// Run a call that waited for an approval
    Resume(ToolIntentArguments),
    /// Show whether a call is approved
    Status(ToolIntentArguments),
    /// Withdraw a call that waits for an approval
    Cancel(ToolIntentArguments),
    /// Answer a tool that reads, for the service of tools
    #[command(hide = true)]
    Read(ToolReadArguments),
}

#[derive(Debug, Args)]
#[command(
    after_help = EXIT_CODES,
    mut_arg("output", |output| output.help("Format of the output; json has the schemas of each tool")),
)]
pub(crate) struct ToolListArguments {
    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub of_service: ServiceArguments,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ToolReadArguments {
    /// Name of the tool, whose input is standard input
    #[arg(value_name = "TOOL")]
    pub tool: String,

    #[command(flatten)]
    pub state: StateArguments,
}

// Input and output as JSON.
#[derive(Debug, Args)]
pub(crate) struct ToolJsonArguments {
    /// Read the input from this file, `-` for standard input, as a JSON object, and print a JSON object
    #[arg(long, value_name = "FILE", help_heading = headings::OUTPUT)]
    pub json: Option<PathBuf>,

    /// Format of the output
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        default_value_t = DocumentFormat::Text,
        default_value_if("json", ArgPredicate::IsPresent, "json"),
        help_heading = headings::OUTPUT
    )]
    pub output: DocumentFormat,

    #[command(flatten)]
    pub of_service: ServiceArguments,

    #[command(flatten)]
    pub state: StateArguments,
}

// Circumstances of a command.
#[derive(Debug, Args)]
pub(crate) struct ToolPlaceArguments {
    /// Working directory [default: the workspace of the policy, or else the current directory]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<String>,

    /// Longest running time [default: that of the policy, or else 1m]
    #[arg(long, value_name = "DURATION", value_parser = call_timeout)]
    pub timeout: Option<Duration>,

    /// Reason for approvers
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Time to wait for an approval, if the call needs one [default: answer at once]
    #[arg(long, value_name = "DURATION", value_parser = wait)]
    pub wait: Option<Duration>,
}

#[derive(Debug, Args)]
#[command(after_help = EXEC_HELP)]
pub(crate) struct ToolExecArguments {
    /// Command: one word is a text for /bin/sh, several are a program and its arguments
    #[arg(value_name = "COMMAND", num_args = 0.., required_unless_present = "json", conflicts_with = "json")]
    pub command: Vec<String>,

    /// Set a variable of the environment
    #[arg(long, value_name = "KEY=VALUE", value_parser = assignment_of_variable, conflicts_with = "json")]
    pub env: Vec<(String, String)>,

    #[command(flatten)]
    pub place: ToolPlaceArguments,

    #[command(flatten)]
    pub io: ToolJsonArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ToolBashArguments {
    /// File with the script, `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "json", conflicts_with = "json")]
    pub script: Option<PathBuf>,

    #[command(flatten)]
    pub place: ToolPlaceArguments,

    #[command(flatten)]
    pub io: ToolJsonArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LanguageArgument {
    /// Python 3
    Python,
    /// JavaScript
    Javascript,
    /// TypeScript
    Typescript,
    /// bash
    Shell,
}

impl LanguageArgument {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Python => "python",
            Self::Javascript => "javascript",
            Self::Typescript => "typescript",
            Self::Shell => "shell",
        }
    }
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ToolCodeArguments {
    /// Language of the code
    #[arg(value_name = "LANGUAGE", value_enum, required_unless_present = "json", conflicts_with = "json")]
    pub language: Option<LanguageArgument>,

    /// File with the code, `-` for standard input
    #[arg(value_name = "FILE", required_unless_present = "json", conflicts_with = "json")]
    pub code: Option<PathBuf>,

    /// Longest running time [default: that of the policy, or else 1m]
    #[arg(long, value_name = "DURATION", value_parser = call_timeout)]
    pub timeout: Option<Duration>,

    /// Reason for approvers
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Time to wait for an approval, if the call needs one [default: answer at once]
    #[arg(long, value_name = "DURATION", value_parser = wait)]
    pub wait: Option<Duration>,

    #[command(flatten)]
    pub io: ToolJsonArguments,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ToolProcessCommand {
    /// List running processes that calls of this user have started
    List(ToolProcessListArguments),
    /// Show one of these processes
    Inspect(ToolPidArguments),
    /// Send a signal to one of these processes
    Kill(ToolKillArguments),
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ToolProcessListArguments {
    #[command(flatten)]
    pub io: ToolJsonArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ToolPidArguments {
    /// Number of the process
    #[arg(value_name = "PID", value_parser = process_number, required_unless_present = "json", conflicts_with = "json")]
    pub pid: Option<i64>,

    #[command(flatten)]
    pub io: ToolJsonArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ToolKillArguments {
    /// Number of the process
    #[arg(value_name = "PID", value_parser = process_number, required_unless_present = "json", conflicts_with = "json")]
    pub pid: Option<i64>,

    /// Name or number of the signal
    #[arg(long, value_name = "SIGNAL", default_value = "TERM", conflicts_with = "json")]
    pub signal: String,

    #[command(flatten)]
    pub io: ToolJsonArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ToolIntentArguments {
    /// Id of the intent
    #[arg(value_name = "INTENT", required_unless_present = "json", conflicts_with = "json")]
    pub intent: Option<String>,

    #[command(flatten)]
    pub io: ToolJsonArguments,
}

impl ToolSubcommand {
    /// Returns the time to wait for an approval.
    pub(crate) fn wait(&self) -> Option<Duration> {
        match self {
            Self::Exec(exec) => exec.place.wait,
            Self::Bash(bash) => bash.place.wait,
            Self::Code(code) => code.wait,
            _ => None,
        }
    }

    /// Returns the options of the service; `None` if the command is not one that calls it.
    pub(crate) fn service(&self) -> Option<&ServiceArguments> {
        let io = match self {
            Self::List(list) => return Some(&list.of_service),
            Self::Read(_) => return None,
            Self::Exec(exec) => &exec.io,
            Self::Bash(bash) => &bash.io,
            Self::Code(code) => &code.io,
            Self::Process(ToolProcessCommand::List(list)) => &list.io,
            Self::Process(ToolProcessCommand::Inspect(inspect)) => &inspect.io,
            Self::Process(ToolProcessCommand::Kill(kill)) => &kill.io,
            Self::Resume(intent) | Self::Status(intent) | Self::Cancel(intent) => &intent.io,
        };
        Some(&io.of_service)
    }

    /// Returns the options of the state directory.
    pub(crate) fn state(&mut self) -> &mut StateArguments {
        match self {
            Self::List(list) => &mut list.state,
            Self::Read(read) => &mut read.state,
            Self::Exec(exec) => &mut exec.io.state,
            Self::Bash(bash) => &mut bash.io.state,
            Self::Code(code) => &mut code.io.state,
            Self::Process(ToolProcessCommand::List(list)) => &mut list.io.state,
            Self::Process(ToolProcessCommand::Inspect(inspect)) => &mut inspect.io.state,
            Self::Process(ToolProcessCommand::Kill(kill)) => &mut kill.io.state,
            Self::Resume(intent) | Self::Status(intent) | Self::Cancel(intent) => &mut intent.io.state,
        }
    }
}
