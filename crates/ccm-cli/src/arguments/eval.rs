//! Arguments of `ccm eval`.

use std::path::PathBuf;

use clap::Args;

use super::{
    DataArguments, ExplainedFormat, FactArguments, IdentityArguments, ValueOutputArguments, headings,
};

const EXAMPLES: &str = "\
Examples:
  ccm eval 'Facts.host.info.hostname'
  ccm eval 'upper(Data.name)' --data name=web --data-any
  ccm eval 'Data.port + 1' --hiera data.yaml
  ccm eval 'file(\"/etc/hostname\")' --explain

Documentation: /usr/share/doc/ccm/reference/expressions.md, or docs/reference/expressions.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("output", ExplainedFormat::or_text))]
pub(crate) struct EvalArguments {
    /// Expression without braces
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub expression: String,

    /// Print the names in the expression, and when it can be evaluated, instead of its value
    #[arg(long)]
    pub explain: bool,

    /// Print sensitive values as well
    #[arg(long)]
    pub show_sensitive: bool,

    #[command(flatten)]
    pub data: DataArguments,

    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub identity: IdentityArguments,

    /// Read additional names from this JSON or YAML file
    #[arg(long, value_name = "FILE", help_heading = headings::DATA)]
    pub vars: Option<PathBuf>,

    #[command(flatten)]
    pub output: ValueOutputArguments<ExplainedFormat>,
}
