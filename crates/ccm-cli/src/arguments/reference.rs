//! Arguments of `ccm explain` and `ccm schema`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Type, such as exec, or one of its properties, such as exec.timeout; without it, all types are listed
    #[arg(value_name = "TYPE[.PROPERTY]")]
    pub name: Option<String>,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SchemaArguments {
    /// Print the schema of a line of events, which also defines the document of `--output json`
    #[arg(long)]
    pub events: bool,
}
