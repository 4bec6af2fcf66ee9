//! Arguments of `ccm validate`.

use std::path::PathBuf;

use clap::Args;

use super::parsers::size;
use super::{DocumentFormat, ValueArguments};

const VALIDATE_EXAMPLES: &str = "\
Examples:
  ccm validate site.yaml
  ccm validate manifests/ --strict --output json
  ccm validate site.yaml --matrix facts/web1.yaml facts/db1.yaml";

#[derive(Debug, Args)]
#[command(after_help = VALIDATE_EXAMPLES)]
pub(crate) struct ValidateArguments {
    /// Manifests, or directories whose YAML files with a `ccm` key are checked; `-` is standard input
    #[arg(value_name = "MANIFEST", required = true, num_args = 1..)]
    pub manifests: Vec<PathBuf>,

    /// Maximum size of a manifest in bytes, such as 64M; K, M and G are units
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = size)]
    pub max_manifest_size: u64,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Check for several machines, each with the facts of one of these files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "facts")]
    pub matrix: Vec<PathBuf>,

    /// Treat warnings and notes as errors
    #[arg(long)]
    pub strict: bool,

    /// Format of the output
    #[arg(long, value_enum, default_value_t = DocumentFormat::Text)]
    pub output: DocumentFormat,
}
