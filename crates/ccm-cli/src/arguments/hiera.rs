//! Arguments of `ccm hiera`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::parsers::{AssignmentParser, variable_name};
use super::{ExplainedFormat, IdentityArguments, ValueOutputArguments, headings};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum HieraCommand {
    /// Evaluate the values of a file for the given facts
    Parse(HieraParseArguments),
}

const EXAMPLES: &str = "\
Examples:
  ccm hiera parse data.yaml role=web
  ccm hiera parse data.yaml role=web --explain     show where each value comes from
  ccm hiera parse data.yaml -S --query web.port
  eval \"$(ccm hiera parse data.yaml -S --env)\"

Expressions get only the facts given here. --system-facts and --env-facts add others.

With --env, the name of a variable consists of the keys of the value, in capitals and joined by `_`.
Characters that a name can't have become `_`. Two values with the same name are an error. Lists are
JSON, and null is empty.

Documentation: /usr/share/doc/ccm/reference/data.md, or docs/reference/data.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("output", ExplainedFormat::or_text))]
pub(crate) struct HieraParseArguments {
    /// File with values
    #[arg(
        value_name = "FILE",
        help = "YAML or JSON file with `data` and optional `hierarchy` and `overrides`, or a manifest; `-` is \
                standard input [env: CCM_HIERA_DATA]"
    )]
    pub file: Option<PathBuf>,

    /// Facts that override all others; dots nest keys
    #[arg(value_name = "FACT=VALUE", value_parser = AssignmentParser)]
    pub given: Vec<String>,

    /// Print only the part at this path, such as web.port
    #[arg(long, value_name = "PATH")]
    pub query: Option<String>,

    /// Print the entries of the hierarchy that matched, and which of them gives what for each key
    #[arg(long, conflicts_with_all = ["yaml", "env", "query"])]
    pub explain: bool,

    /// Use the facts of this machine as well
    #[arg(short = 'S', long, help_heading = headings::DATA)]
    pub system_facts: bool,

    /// Use environment variables as facts as well
    #[arg(short = 'E', long, help_heading = headings::DATA)]
    pub env_facts: bool,

    /// Read facts from this YAML or JSON file; repeatable
    #[arg(long, value_name = "FILE", help_heading = headings::DATA)]
    pub facts: Vec<PathBuf>,

    /// Set a value that overrides all others, such as web.port=8080; dots nest keys; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser, help_heading = headings::DATA)]
    pub data: Vec<String>,

    /// Allow `--data` to set keys that the data does not have
    #[arg(long, help_heading = headings::DATA)]
    pub data_any: bool,

    #[command(flatten)]
    pub identity: IdentityArguments,

    #[command(flatten)]
    pub output: ValueOutputArguments<ExplainedFormat>,

    /// Print variables for a shell
    #[arg(long, conflicts_with_all = ["yaml", "json", "output"], help_heading = headings::OUTPUT)]
    pub env: bool,

    /// Prefix of the names of variables
    #[arg(
        long,
        value_name = "PREFIX",
        default_value = "HIERA",
        requires = "env",
        value_parser = variable_name,
        help_heading = headings::OUTPUT
    )]
    pub env_prefix: String,

    /// Print sensitive values as well
    #[arg(long, help_heading = headings::OUTPUT)]
    pub show_sensitive: bool,
}
