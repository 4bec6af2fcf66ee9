//! Arguments of `ccm session`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::OutputArguments;

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum SessionCommand {
    /// Begin a session, and print the shell command that makes later calls part of it
    #[command(alias = "start", alias = "create")]
    New(SessionNewArguments),
    /// Show the outcomes of the calls of a session, and its pending refreshes
    Report(SessionReportArguments),
}

const NEW_EXAMPLES: &str = "\
Examples:
  eval \"$(ccm session new)\"
  ccm ensure file /etc/app.conf --source ./app.conf
  ccm ensure service app --subscribe file#/etc/app.conf
  ccm session report --remove

Documentation: /usr/share/doc/ccm/use/shell.md, or docs/use/shell.md";

#[derive(Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub(crate) struct SessionNewArguments {
    /// Directory of the session, which must not exist [default: one for temporary files]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  ccm session report
  ccm session report --remove --output json

Documentation: /usr/share/doc/ccm/use/shell.md, or docs/use/shell.md";

#[derive(Debug, Args)]
#[command(after_help = REPORT_EXAMPLES)]
pub(crate) struct SessionReportArguments {
    /// Directory of the session
    #[arg(long, value_name = "DIR", help = "Directory of the session [env: CCM_SESSION_STORE]")]
    pub session: Option<PathBuf>,

    /// Remove the directory of the session
    #[arg(long)]
    pub remove: bool,

    #[command(flatten)]
    pub output: OutputArguments,
}
