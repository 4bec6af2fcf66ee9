//! Arguments of `ccm graph`.

use clap::{Args, ValueEnum};

use super::{ManifestArguments, ValueArguments};

#[derive(Debug, Args)]
pub(crate) struct GraphArguments {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Format of the output
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GraphFormat {
    /// Order of the run, a line for each resource
    Text,
    /// For Graphviz: ccm graph m.yaml --format dot | dot -Tsvg
    Dot,
    /// For Markdown pages that draw Mermaid diagrams
    Mermaid,
}
