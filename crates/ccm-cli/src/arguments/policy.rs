//! Arguments of `ccm policy`.

use std::path::PathBuf;

use ccm_runtime::policy::{Caller, ShellDialect};
use clap::{Args, Subcommand, ValueEnum};

use super::{JsonFormat, OutputArguments, headings};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PolicyCommand {
    /// Check a policy, and show its errors and conflicts
    Check(PolicyCheckArguments),
    /// Show the policy in force: its settings, guard classes and rules
    Show(PolicyShowArguments),
    /// Compare the verdicts on the commands of a file with the expected ones
    Test(PolicyTestArguments),
    /// Show what a command would do, and the verdict on it; nothing is run
    Explain(Box<PolicyExplainArguments>),
    /// Print the JSON schema of policy files, for editors
    Schema(OutputArguments<JsonFormat>),
}

const SHOW_AFTER_HELP: &str = "\
The policy of this machine is /etc/ccm/policy.yaml with /etc/ccm/policy.d/*.yaml. For a user other than root, the
user's own $XDG_CONFIG_HOME/ccm/policy.yaml, or ~/.config/ccm/policy.yaml, can make it stricter.

Documentation: /usr/share/doc/ccm/reference/policy.md, or docs/reference/policy.md";

const CHECK_EXAMPLES: &str = "\
Examples:
  ccm policy check                                 the policy of this machine
  ccm policy check --policy policy.yaml            a policy before it is installed

The policy of this machine is /etc/ccm/policy.yaml with /etc/ccm/policy.d/*.yaml. For a user other than root, the
user's own $XDG_CONFIG_HOME/ccm/policy.yaml, or ~/.config/ccm/policy.yaml, can make it stricter.

Exit codes: 0 valid, 1 not valid.

Documentation: /usr/share/doc/ccm/reference/policy.md, or docs/reference/policy.md";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  ccm policy explain -- 'git log && rm -rf build'  one word is a shell text
  ccm policy explain -- git push origin main       several words are a program and its arguments
  ccm policy explain --caller apply --shell 'systemctl restart nginx'
  ccm policy explain --json --batch < texts        a JSON string per line of standard input

Exit codes: 0 allowed, 5 denied, 7 approval required, 1 the policy can't be used. With --batch: 0 if every line
was judged.

Documentation: /usr/share/doc/ccm/reference/policy.md, or docs/reference/policy.md";

const TEST_EXAMPLES: &str = "\
Examples:
  ccm policy test verdicts.yaml --policy policy.yaml

A file of tests lists commands below callers and verdicts:
  tool:
    allow: [git status]
    ask: [git push]
    deny: [rm -rf /]

Exit codes: 0 all verdicts are as expected, 4 one is not, 1 nothing could be compared.

Documentation: /usr/share/doc/ccm/reference/policy.md, or docs/reference/policy.md";

#[derive(Args, Clone, Debug)]
pub(crate) struct PolicyFileArguments {
    /// Read this policy file instead of the policy of this machine
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES)]
pub(crate) struct PolicyCheckArguments {
    #[command(flatten)]
    pub file: PolicyFileArguments,

    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
#[command(after_help = SHOW_AFTER_HELP)]
pub(crate) struct PolicyShowArguments {
    #[command(flatten)]
    pub file: PolicyFileArguments,

    /// Show all guard classes with their verdicts, also those that the policy does not set
    #[arg(long)]
    pub classes: bool,

    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
#[command(after_help = TEST_EXAMPLES)]
pub(crate) struct PolicyTestArguments {
    /// File with commands and the verdicts that they have to get
    #[arg(value_name = "FILE")]
    pub tests: PathBuf,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub file: PolicyFileArguments,

    #[command(flatten)]
    pub place: PolicyPlaceArguments,
}

// Circumstances of a command.
#[derive(Args, Clone, Debug)]
pub(crate) struct PolicyPlaceArguments {
    /// Use this directory as the workspace, instead of that of the policy
    #[arg(long, value_name = "DIRECTORY")]
    pub workspace: Option<PathBuf>,

    /// Deny paths outside the workspace, whatever the policy says
    #[arg(long)]
    pub restrict: bool,

    /// Judge the command in this working directory [default: the workspace, or else the current directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub cwd: Option<PathBuf>,

    /// Home directory of the caller
    #[arg(long, value_name = "DIRECTORY")]
    pub home: Option<PathBuf>,

    /// User who calls, for conditions of rules
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(crate) struct PolicyExplainArguments {
    /// Command to judge: one word is a text for a shell, several are a program and its arguments
    #[arg(value_name = "COMMAND", num_args = 0.., required_unless_present_any = ["shell", "batch"])]
    pub command: Vec<String>,

    /// Judge this text for a shell
    #[arg(long, value_name = "TEXT", conflicts_with = "command")]
    pub shell: Option<String>,

    /// Shell of a text
    #[arg(long, value_enum, default_value_t = DialectArgument::Sh)]
    pub dialect: DialectArgument,

    /// Caller to judge for
    #[arg(long, value_enum, default_value_t = CallerArgument::Tool)]
    pub caller: CallerArgument,

    #[command(flatten)]
    pub file: PolicyFileArguments,

    #[command(flatten)]
    pub place: PolicyPlaceArguments,

    #[command(flatten)]
    pub output: OutputArguments,

    /// Judge the texts on standard input, a JSON string per line, and print a JSON object per line
    #[arg(long, conflicts_with_all = ["command", "shell"], help_heading = headings::OUTPUT)]
    pub batch: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DialectArgument {
    /// `/bin/sh`, whichever shell that is
    Sh,
    /// bash
    Bash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CallerArgument {
    /// A governed tool
    Tool,
    /// `ccm apply`
    Apply,
}

impl From<DialectArgument> for ShellDialect {
    fn from(argument: DialectArgument) -> Self {
        match argument {
            DialectArgument::Sh => Self::Sh,
            DialectArgument::Bash => Self::Bash,
        }
    }
}

impl From<CallerArgument> for Caller {
    fn from(argument: CallerArgument) -> Self {
        match argument {
            CallerArgument::Tool => Self::Tool,
            CallerArgument::Apply => Self::Apply,
        }
    }
}
