//! Arguments of `ccm graph`.

use clap::{Args, ValueEnum};

use super::{ManifestArguments, ValueArguments};

const EXAMPLES: &str = "\
Formats: text is the order of the run, a line for each resource; dot is for Graphviz, mermaid for
Markdown pages.

Examples:
  ccm graph site.yaml
  ccm graph site.yaml --format dot | dot -Tsvg > site.svg

Documentation: /usr/share/doc/ccm/running.md, or docs/running.md in the source";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GraphArguments {
    /// Format of the output
    #[arg(long, value_enum, default_value_t = GraphFormat::Text)]
    pub format: GraphFormat,

    #[command(flatten)]
    pub values: ValueArguments,

    #[command(flatten)]
    pub manifest: ManifestArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GraphFormat {
    // Comments for clap would turn the help of `graph` into its long form.
    Text,
    Dot,
    Mermaid,
}
