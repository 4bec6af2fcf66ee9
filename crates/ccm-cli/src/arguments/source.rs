//! Arguments of `ccm source`.

use clap::{Args, Subcommand};

use super::{OutputArguments, StateArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// List the sources that this machine follows, with the version of each
    List(SourceListArguments),
    /// Go back to the version before, until a newer one comes
    Rewind(SourceRewindArguments),
    /// Forget a source with all its versions, so that its next version is a first one
    Forget(SourceForgetArguments),
    /// Receive a bundle from `ccm push` on another machine, and apply it
    Receive(SourceReceiveArguments),
}

#[derive(Debug, Args)]
pub(crate) struct SourceListArguments {
    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SourceForgetArguments {
    /// Name of the source, as `ccm source list` shows it
    #[arg(value_name = "NAME")]
    pub name: String,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SourceRewindArguments {
    /// Name of the source, as `ccm source list` shows it
    #[arg(value_name = "NAME")]
    pub name: String,

    /// Reason, which every run and `ccm source list` show
    #[arg(long, value_name = "TEXT", required_unless_present = "forward")]
    pub reason: Option<String>,

    /// Apply the version again that was accepted last
    #[arg(long, conflicts_with = "reason")]
    pub forward: bool,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct SourceReceiveArguments {
    #[command(flatten)]
    pub state: StateArguments,
}
