//! The command line.

mod apply;
mod approve;
mod audit;
mod backup;
mod check;
mod completions;
mod ensure;
mod environment;
mod errors;
mod eval;
mod facts;
mod foreign_words;
mod from;
mod graph;
mod headings;
mod help;
mod hiera;
mod history;
mod init;
mod inputs;
mod mcp;
mod output;
mod parsers;
mod pause;
mod plan;
mod policy;
#[cfg(feature = "archive")]
mod push;
mod reference;
#[cfg(feature = "archive")]
mod release;
mod resource;
#[cfg(feature = "secrets")]
mod secret;
mod service;
mod session;
#[cfg(feature = "archive")]
mod source;
mod state;
mod status;
mod timer;
mod tool;
mod validate;

use clap::{ArgMatches, Args, Command, CommandFactory as _, Error, FromArgMatches, Parser, Subcommand};

pub(crate) use apply::{ApplyArguments, RecordFormat, ReportFormat, RunArguments};
pub(crate) use approve::{ApprovalsArguments, ApprovalsCommand, ApproveArguments};
pub(crate) use audit::{
    AuditCheckpointArguments, AuditCommand, AuditExportArguments, AuditInitArguments, AuditLogArguments,
    AuditVerifyArguments,
};
pub(crate) use backup::{BackupCommand, BackupListArguments, BackupPruneArguments, BackupRestoreArguments};
pub(crate) use check::{CheckArguments, CheckFormat};
pub(crate) use completions::{CompleteArguments, CompletionShell, CompletionsArguments};
pub(crate) use ensure::{EnsureArguments, EnsurePipeArguments, EnsureTarget, with_properties};
pub(crate) use environment::InvalidVariable;
pub(crate) use errors::adapt;
pub(crate) use eval::EvalArguments;
pub(crate) use facts::FactsArguments;
pub(crate) use from::FromArguments;
#[cfg(feature = "archive")]
pub(crate) use from::NO_SIGNERS;
pub(crate) use graph::{GraphArguments, GraphFormat};
pub(crate) use hiera::{HieraCommand, HieraParseArguments};
pub(crate) use history::{HistoryArguments, HistoryFormat};
pub(crate) use init::InitArguments;
pub(crate) use inputs::{
    DataArguments, EnvironmentArguments, FactArguments, IdentityArguments, ManifestArguments, SizeArguments,
    ValueArguments,
};
pub(crate) use mcp::McpArguments;
#[cfg(feature = "mcp")]
pub(crate) use mcp::ToolSetArgument;
pub(crate) use output::{
    DocumentFormat, ExplainedFormat, JsonForm, JsonFormat, OutputArguments, OutputFormat, ValueFormat,
    ValueOutputArguments,
};
pub(crate) use parsers::events_file;
pub(crate) use pause::PauseArguments;
pub(crate) use plan::{PlanCommand, PlanDiffArguments, PlanShowArguments};
pub(crate) use policy::{
    PolicyCheckArguments, PolicyCommand, PolicyExplainArguments, PolicyFileArguments, PolicyPlaceArguments,
    PolicyShowArguments, PolicyTestArguments,
};
#[cfg(feature = "archive")]
pub(crate) use push::PushArguments;
pub(crate) use reference::{ExplainArguments, SchemaArguments};
#[cfg(feature = "archive")]
pub(crate) use release::{
    ReleaseBuildArguments, ReleaseCommand, ReleaseShowArguments, ReleaseSignArguments, ReleaseVerifyArguments,
};
pub(crate) use resource::{ResourceArguments, ResourceFormat};
#[cfg(feature = "secrets")]
pub(crate) use secret::{
    KeyArguments, SecretCommand, SecretEditArguments, SecretEncryptArguments, SecretRekeyArguments,
    SecretWhoArguments,
};
pub(crate) use service::ServiceArguments;
pub(crate) use session::{SessionCommand, SessionNewArguments, SessionReportArguments};
#[cfg(feature = "archive")]
pub(crate) use source::{
    SourceCommand, SourceForgetArguments, SourceListArguments, SourceReceiveArguments, SourceRewindArguments,
};
pub(crate) use state::StateArguments;
pub(crate) use status::{StatusArguments, StatusCommand, StatusForgetArguments, StatusFormat};
pub(crate) use timer::{
    NOT_FOR_TIMERS, TimerCommand, TimerInstallArguments, TimerListArguments, TimerMigrateArguments,
    TimerNotifyArguments, TimerRemoveArguments, options_of_apply,
};
pub(crate) use tool::{
    LanguageArgument, ToolJsonArguments, ToolListArguments, ToolPlaceArguments, ToolProcessCommand,
    ToolSubcommand,
};
pub(crate) use validate::ValidateArguments;

/// Position of `-v` in the help of a command, after the options of the command itself.
const VERBOSE_ORDER: usize = 100;

const AFTER_HELP: &str = "\
Exit codes: 0 success (in noop: everything could be read), 1 nothing was run, 4 something failed or
was not recorded, 64 bad usage, 129/130/131/143 ended by HUP/INT/QUIT/TERM. With
--detailed-exitcodes also 2 (changes) and 6 (changes and failures).

Examples:
  ccm init                                         write a first manifest, site.yaml
  ccm apply --noop site.yaml                       show what would change
  ccm apply site.yaml                              change it
  ccm history last                                 show what the last run did
  ccm explain file                                 explain a resource type

Documentation: `ccm explain` for resource types, else /usr/share/doc/ccm, or docs in the source";

/// Brings this machine to the state that a manifest declares, and reports exactly what it did.
#[derive(Debug, Parser)]
#[command(name = "ccm", version, after_help = AFTER_HELP)]
pub(crate) struct Arguments {
    /// Command to run.
    #[command(subcommand)]
    pub command: CliCommand,

    /// Level of detail; every command takes it.
    #[arg(
        short,
        long,
        global = true,
        action = clap::ArgAction::Count,
        display_order = VERBOSE_ORDER,
        help = "Print more: -v adds unchanged resources and reasons, -vv states and debug messages [env: CCM_LOG]"
    )]
    pub verbose: u8,
}

/// Returns the definition of the command line with the options of all commands. clap alone builds those of a command when
/// it parses the command.
pub(crate) fn whole_command() -> Command {
    let mut root = with_properties(Arguments::command());
    root.build();
    root
}

/// Returns the options of `ccm ensure`, without dashes.
pub(crate) fn run_options_of_ensure() -> Vec<String> {
    let root = whole_command();
    let ensure = root.find_subcommand("ensure").into_iter().flat_map(Command::get_arguments);
    ensure.filter_map(clap::Arg::get_long).map(str::to_owned).collect()
}

/// Prints the help of a type of `ccm ensure`.
pub(crate) fn type_help(type_name: &str) -> Result<(), Error> {
    let words = ["ccm", "ensure", type_name, "--help"];
    match with_properties(Arguments::command()).try_get_matches_from(words) {
        Err(help) if !help.use_stderr() => {
            // As everywhere, a failure to print the help is ignored.
            let _ = help.print();
            Ok(())
        }
        Err(error) => Err(error),
        Ok(_) => Ok(()),
    }
}

/// Commands below a command of ccm. As arguments of that command, clap only builds them if the command line names it.
#[derive(Debug)]
pub(crate) struct InnerCommands<T>(pub T);

impl<T: Subcommand> Args for InnerCommands<T> {
    fn augment_args(command: Command) -> Command {
        T::augment_subcommands(command.subcommand_required(true).arg_required_else_help(true))
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::augment_subcommands_for_update(command)
    }
}

impl<T: Subcommand> FromArgMatches for InnerCommands<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

// clap builds the options of a command only once the command line names it. A doc comment of a structure of options would then
// replace the description of the command, so these structures have plain comments.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum CliCommand {
    /// Apply a manifest: bring the machine to the state it declares
    Apply(Box<ApplyArguments>),
    /// Ensure the state of one resource, without a manifest
    Ensure(Box<EnsureArguments>),
    /// Begin a session of `ccm ensure`, or show its outcomes
    Session(InnerCommands<SessionCommand>),
    /// Check a manifest and report every error in it; nothing is run
    Validate(ValidateArguments),
    /// Show the order of a manifest's resources and their dependencies
    Graph(GraphArguments),
    /// List the recorded runs, show one of them, or the last change of a resource
    History(HistoryArguments),
    /// Show the last run of each manifest and the pending refreshes, or check them for a monitoring system
    Status(StatusArguments),
    /// Show the present state of resources, or write a manifest that recreates it
    Resource(Box<ResourceArguments>),
    /// Install, list, migrate or remove systemd timers that apply manifests
    Timer(InnerCommands<TimerCommand>),
    /// Build, sign, verify or show a release of manifests for many machines
    #[cfg(feature = "archive")]
    Release(InnerCommands<ReleaseCommand>),
    /// List the sources that this machine takes manifests from, or forget one
    #[cfg(feature = "archive")]
    Source(InnerCommands<SourceCommand>),
    /// Apply a manifest on other machines over ssh
    #[cfg(feature = "archive")]
    Push(Box<PushArguments>),
    /// Encrypt values to the host keys of machines, and change who can open them
    #[cfg(feature = "secrets")]
    Secret(InnerCommands<SecretCommand>),
    /// Let the runs of timers wait, show until when they wait, or end the pause
    Pause(PauseArguments),
    /// Check, show and test the policy about commands, or judge a command
    Policy(InnerCommands<PolicyCommand>),
    /// List what waits for an approval, show, export or reject it
    Approvals(ApprovalsArguments),
    /// Show a plan of changes, or compare it with another one or with this machine
    Plan(InnerCommands<PlanCommand>),
    /// Approve what waits for an approval, or sign a plan or a manifest
    Approve(Box<ApproveArguments>),
    /// Make, list, verify or copy the audit log, which nobody can rewrite unnoticed
    Audit(InnerCommands<AuditCommand>),
    /// Run governed tools: commands that the policy judges, people approve and a sandbox holds
    Tool(InnerCommands<ToolSubcommand>),
    /// Offer governed tools to a client of the Model Context Protocol
    Mcp(McpArguments),
    /// List, restore or remove backups of files
    Backup(InnerCommands<BackupCommand>),
    /// Judge the rules of a Goss file about this machine
    Check(CheckArguments),
    /// Show the facts of this machine, or the part of them at a path
    Facts(FactsArguments),
    /// Evaluate data that depends on facts
    #[command(visible_alias = "data")]
    Hiera(InnerCommands<HieraCommand>),
    /// Evaluate an expression and print its value
    Eval(EvalArguments),
    /// Explain a resource type, or one of its properties
    Explain(ExplainArguments),
    /// Print the JSON schema of manifests, events or requests, for editors and other tools
    Schema(SchemaArguments),
    /// Write a first manifest for this machine
    Init(InitArguments),
    /// Print the script with which a shell completes command lines of ccm
    #[command(alias = "completion")]
    Completions(CompletionsArguments),
    /// Complete a command line for the script of a shell
    #[command(name = "__complete", hide = true)]
    Complete(CompleteArguments),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
