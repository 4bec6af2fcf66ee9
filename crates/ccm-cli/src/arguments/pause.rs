//! Arguments of `ccm pause`.

use std::time::Duration;

use clap::Args;

use super::parsers::pause;
use super::{OutputArguments, StateArguments};

const EXAMPLES: &str = "\
Examples:
  ccm pause --for 2h --reason 'database upgrade'   let runs of the timer wait for two hours
  ccm pause                                        show whether they wait, until when and why
  ccm pause --end                                  end the pause

Documentation: /usr/share/doc/ccm/reference/running.md, or docs/reference/running.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PauseArguments {
    /// Begin a pause of this time, such as 2h or 3d; it replaces an earlier one
    #[arg(long = "for", value_name = "DURATION", value_parser = pause, requires = "reason")]
    pub duration: Option<Duration>,

    /// Reason of the pause, for those who wonder about it
    #[arg(long, value_name = "TEXT", requires = "duration")]
    pub reason: Option<String>,

    /// End the pause
    #[arg(long, conflicts_with_all = ["duration", "reason"])]
    pub end: bool,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub state: StateArguments,
}
