//! Arguments of `ccm plan`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{OutputArguments, SizeArguments, StateArguments, ValueArguments};

const EXAMPLES: &str = "\
Examples:
  ccm apply --noop --plan-out web.plan site.yaml   write a plan
  ccm plan show web.plan                           what it changes, who approved it, and whether it holds
  ccm plan diff web.plan                           what differs now
  ccm plan diff web.plan new.plan                  what differs between two plans

Documentation: /usr/share/doc/ccm/use/plans.md, or docs/use/plans.md";

#[derive(Debug, Subcommand)]
pub(crate) enum PlanCommand {
    /// Show what a plan changes, who approved it, and whether it holds on this machine
    Show(PlanShowArguments),
    /// List what differs between a plan and another one, or what this machine would change now
    Diff(Box<PlanDiffArguments>),
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanShowArguments {
    /// Plan, as `ccm apply --noop --plan-out` writes it
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PlanDiffArguments {
    /// Plan, as `ccm apply --noop --plan-out` writes it
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,

    /// Plan to compare with; without one, the changes are computed again
    #[arg(value_name = "OTHER")]
    pub other: Option<PathBuf>,

    #[command(flatten)]
    pub values: ValueArguments,

    #[command(flatten)]
    pub limits: SizeArguments,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub state: StateArguments,
}
