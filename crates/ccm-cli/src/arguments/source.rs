//! Arguments of `ccm source`.

use clap::{Args, Subcommand};

use super::{OutputArguments, StateArguments};

#[derive(Debug, Subcommand)]
pub(crate) enum SourceCommand {
    /// List the sources that this machine follows, with the version of each
    List(SourceListArguments),
    /// Forget a source with all its versions, so that its next version is a first one
    Forget(SourceForgetArguments),
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
