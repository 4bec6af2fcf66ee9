//! Arguments of `ccm status`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};

use super::parsers::wait;
use super::{OutputArguments, OutputFormat, StateArguments};

const EXAMPLES: &str = "\
Examples:
  ccm status                                       show each manifest with its last run
  ccm status --check --max-age 2h                  check for a monitoring system
  ccm status --pending                             show what the next runs refresh
  ccm status forget /root/try.yaml                 leave a manifest out until it runs again
  ccm status service nginx                         show the present state of a resource
  ccm status --output prometheus > ccm.prom.new && mv ccm.prom.new ccm.prom

With --check, the exit code is 0 (OK), 1 (WARNING), 2 (CRITICAL) or 3 (UNKNOWN). The last example
writes metrics for the textfile collector of Prometheus' node exporter.

Documentation: /usr/share/doc/ccm/use/history.md, or docs/use/history.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct StatusArguments {
    #[command(subcommand)]
    pub command: Option<StatusCommand>,

    /// Show the present state of a resource, as `ccm resource` does
    #[arg(value_name = "TYPE", conflicts_with_all = ["check", "pending", "manifest"])]
    pub type_name: Option<String>,

    /// Names of the resources
    #[arg(value_name = "NAME", requires = "type_name")]
    pub names: Vec<String>,

    /// Check for a monitoring system: print one line, and exit with its level
    #[arg(long)]
    pub check: bool,

    /// With --check, maximum time since the last run of a manifest, such as 2h
    #[arg(long, value_name = "DURATION", value_parser = wait, requires = "check")]
    pub max_age: Option<Duration>,

    /// Show only the pending refreshes
    #[arg(long, conflicts_with_all = ["check", "manifest"])]
    pub pending: bool,

    /// Show only this manifest; a relative path matches the end of the recorded path
    #[arg(long, value_name = "PATH")]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArguments<StatusFormat>,

    #[command(flatten)]
    pub state: StateArguments,
}

impl StatusArguments {
    /// Returns the arguments of the state directory.
    pub(crate) fn state_arguments(&mut self) -> &mut StateArguments {
        match &mut self.command {
            Some(StatusCommand::Forget(forget)) => &mut forget.state,
            None => &mut self.state,
        }
    }
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum StatusCommand {
    /// Leave a manifest out of the status and its check until it runs again
    Forget(StatusForgetArguments),
}

#[derive(Debug, Args)]
pub(crate) struct StatusForgetArguments {
    /// Manifest to forget; a relative path also matches the end of the recorded path
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatusFormat {
    Text,
    Json,
    Prometheus,
}

impl OutputFormat for StatusFormat {}
