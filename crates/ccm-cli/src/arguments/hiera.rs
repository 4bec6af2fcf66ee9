//! Arguments of `ccm hiera`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::parsers::{AssignmentParser, variable_name};

#[derive(Debug, Subcommand)]
pub(crate) enum HieraCommand {
    /// Evaluate the values of a file for the given facts
    Parse(HieraParseArguments),
}

const VARIABLES: &str = "\
Expressions get only the facts given here. --system-facts and --env-facts add others.

With --env, the name of a variable consists of the keys of the value, in capitals and joined by `_`.
Characters that a name can't have become `_`. Two values with the same name are an error. Lists are
JSON, and null is empty.";

#[derive(Debug, Args)]
#[command(after_help = VARIABLES)]
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

    /// Print YAML instead of JSON
    #[arg(long)]
    pub yaml: bool,

    /// Print variables for a shell: eval "$(ccm hiera parse data.yaml --env)"
    #[arg(long, conflicts_with = "yaml")]
    pub env: bool,

    /// Prefix of the names of variables
    #[arg(long, value_name = "PREFIX", default_value = "HIERA", requires = "env", value_parser = variable_name)]
    pub env_prefix: String,

    /// Use the facts of this machine as well
    #[arg(short = 'S', long)]
    pub system_facts: bool,

    /// Use environment variables as facts as well
    #[arg(short = 'E', long)]
    pub env_facts: bool,

    /// Print the entries of the hierarchy that matched, and the source of each value, instead of the data
    #[arg(long, conflicts_with_all = ["yaml", "env", "query"])]
    pub explain: bool,

    /// Read facts from this YAML or JSON file; can be repeated
    #[arg(long, value_name = "FILE")]
    pub facts: Vec<PathBuf>,

    /// Set a value that overrides all others; dots nest keys
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser)]
    pub data: Vec<String>,

    /// Allow `--data` to set keys that the data does not have
    #[arg(long)]
    pub data_any: bool,

    /// Print sensitive values as well
    #[arg(long)]
    pub show_sensitive: bool,
}
