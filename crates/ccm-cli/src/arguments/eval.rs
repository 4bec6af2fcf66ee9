//! Arguments of `ccm eval`.

use std::path::PathBuf;

use clap::Args;

use super::{DataArguments, FactArguments};

#[derive(Debug, Args)]
pub(crate) struct EvalArguments {
    /// Expression without braces
    #[arg(value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub expression: String,

    /// Read additional names from this JSON or YAML file
    #[arg(long, value_name = "FILE")]
    pub vars: Option<PathBuf>,

    #[command(flatten)]
    pub facts: FactArguments,

    #[command(flatten)]
    pub data: DataArguments,

    /// Print the names in the expression, and when it can be evaluated, instead of its value
    #[arg(long)]
    pub explain: bool,

    /// Print sensitive values as well
    #[arg(long)]
    pub show_sensitive: bool,
}
