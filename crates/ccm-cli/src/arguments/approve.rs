//! Arguments of `ccm approve` and `ccm approvals`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::parsers::lifetime;
use super::{
    DataArguments, EnvironmentArguments, FactArguments, OutputArguments, SizeArguments, StateArguments,
};

const EXAMPLES: &str = "\
Examples:
  ccm approve 7K3F                                 show what waits for an approval, ask, and sign
  ccm approve 7K3F --signature 7K3F.sig            with a signature from another machine
  ccm approve 7K3F --uses 10 --for 1h              the same action, ten times
  ccm approve 7K3F --rule restarts --uses 10       whatever this rule alone asks for, ten times
  ccm approve --plan web.plan                      show the changes of a plan, ask, and sign
  ccm approve --manifest site.yaml --until 30d     sign a manifest with everything that belongs to it

Exit codes: 0 approved, 1 not approved.

Documentation: /usr/share/doc/ccm/use/approvals.md, or docs/use/approvals.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApproveArguments {
    /// Code of what waits for an approval, as `ccm approvals` shows it
    #[arg(value_name = "CODE", required_unless_present_any = ["manifest", "plan"], conflicts_with = "manifest")]
    pub code: Option<String>,

    /// Sign this manifest, with every file that belongs to it
    #[arg(long, value_name = "MANIFEST", requires = "until")]
    pub manifest: Option<PathBuf>,

    /// Sign this plan: exactly its changes are approved
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = [
            "code", "manifest", "until", "also", "export", "valid", "uses", "rule", "data", "hiera", "fact", "facts"
        ]
    )]
    pub plan: Option<PathBuf>,

    /// Time for which the signed manifest may be applied, such as 30d or 90s
    #[arg(long, value_name = "DURATION", value_parser = lifetime, requires = "manifest")]
    pub until: Option<Duration>,

    /// Sign this file or directory as well, because other machines read it; repeatable
    #[arg(long, value_name = "PATH", requires = "manifest")]
    pub also: Vec<PathBuf>,

    /// Write the statement about the manifest without signing it, for a key on another machine
    #[arg(long, requires = "manifest", conflicts_with_all = ["key", "signature"])]
    pub export: bool,

    /// Time for which the approval can be used, such as 1h
    #[arg(long = "for", value_name = "DURATION", value_parser = lifetime, conflicts_with = "manifest")]
    pub valid: Option<Duration>,

    /// Number of uses, if the rule allows more than one
    #[arg(long, value_name = "N", conflicts_with_all = ["manifest", "signature"])]
    pub uses: Option<u32>,

    /// Approve whatever this rule alone asks the same caller for, instead of one action; ends after the uses or the time
    #[arg(long, value_name = "NAME", requires = "uses", conflicts_with_all = ["manifest", "signature"])]
    pub rule: Option<String>,

    /// Sign with this key: a private key, or a public key whose private key the agent holds
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// Use this signature, which `ssh-keygen -Y sign` made on another machine
    #[arg(long, value_name = "FILE", conflicts_with = "key")]
    pub signature: Option<PathBuf>,

    /// Sign without a question
    #[arg(long)]
    pub yes: bool,

    #[command(flatten)]
    pub data: DataArguments,

    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub environment: EnvironmentArguments,

    #[command(flatten)]
    pub limits: SizeArguments,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ApprovalsArguments {
    #[command(subcommand)]
    pub command: Option<ApprovalsCommand>,

    /// Show what waits again whenever it changes, until interrupted
    #[arg(long)]
    pub watch: bool,

    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ApprovalsCommand {
    /// Show everything about a command or change that waits for an approval
    Show {
        /// Code, as `ccm approvals` shows it
        code: String,

        #[command(flatten)]
        output: OutputArguments,
    },
    /// Print the statement to sign on another machine
    Export {
        /// Code, as `ccm approvals` shows it
        code: String,
    },
    /// Refuse an approval, so that nobody can give it any more
    Reject {
        /// Code, as `ccm approvals` shows it
        code: String,

        /// Reason, for those who asked
        #[arg(long, value_name = "TEXT")]
        reason: String,

        /// Sign with this key, as somebody else than root: a private key, or a public key whose private key the agent holds
        #[arg(long, value_name = "FILE")]
        key: Option<PathBuf>,
    },
}
