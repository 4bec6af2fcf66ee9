//! Arguments of `ccm explain` and `ccm schema`.

use clap::Args;

use super::{JsonFormat, OutputArguments};

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// Type, such as exec, one of its properties, such as exec.timeout, or `executors`; without it, all types are listed
    #[arg(value_name = "TYPE[.PROPERTY]")]
    pub name: Option<String>,

    /// Property, as another way to write TYPE.PROPERTY
    #[arg(value_name = "PROPERTY", requires = "name")]
    pub property: Option<String>,

    #[command(flatten)]
    pub output: OutputArguments,
}

impl ExplainArguments {
    /// Returns the type, or the property with its type.
    pub(crate) fn full_name(&self) -> Option<String> {
        let name = self.name.clone()?;
        Some(match &self.property {
            Some(property) => format!("{name}.{property}"),
            None => name,
        })
    }
}

#[derive(Args, Clone, Debug)]
pub(crate) struct SchemaArguments {
    /// Print the schema of a line of events, which also defines the document of `--output json`
    #[arg(long)]
    pub events: bool,

    /// Print the schema of what `ccm resource --output json` prints
    #[arg(long, conflicts_with = "events")]
    pub resource: bool,

    /// Print the schema of requests and answers of `ccm ensure api pipe`
    #[arg(long, conflicts_with_all = ["events", "resource"])]
    pub api: bool,

    #[command(flatten)]
    pub output: OutputArguments<JsonFormat>,
}
