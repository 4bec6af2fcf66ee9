//! Arguments of `ccm graph`.

use clap::{Args, ValueEnum};

use super::{ManifestArguments, OutputArguments, OutputFormat, ValueArguments};

const EXAMPLES: &str = "\
Formats: text and json are the order of the run; dot is for Graphviz, mermaid for Markdown pages,
svg is a picture of at most 1000 resources.

Examples:
  ccm graph site.yaml
  ccm graph site.yaml --output svg > site.svg
  ccm graph site.yaml --output dot | dot -Tpdf > site.pdf

Documentation: /usr/share/doc/ccm/reference/running.md, or docs/reference/running.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("output", |output| output.alias("format")))]
pub(crate) struct GraphArguments {
    #[command(flatten)]
    pub values: ValueArguments,

    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub output: OutputArguments<GraphFormat>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum GraphFormat {
    // Comments for clap would turn the help of `graph` into its long form.
    Text,
    Dot,
    Mermaid,
    Svg,
    Json,
}

impl OutputFormat for GraphFormat {}
