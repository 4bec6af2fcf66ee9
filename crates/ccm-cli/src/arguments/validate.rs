//! Arguments of `ccm validate`.

use std::path::PathBuf;

use clap::Args;

use super::{FromArguments, OutputArguments, SizeArguments, StateArguments, ValueArguments, headings};

const EXAMPLES: &str = "\
Examples:
  ccm validate site.yaml
  ccm validate manifests/ --strict --output json
  ccm validate site.yaml --matrix facts/web1.yaml facts/db1.yaml
  ccm validate manifests/ --no-files               in a pipeline without the secrets of the machine
  ccm validate --from https://example.com/base.release --signers signers

`ccm facts --yaml` on a machine writes a file for --facts and --matrix.
Documentation: /usr/share/doc/ccm/use/validate.md, or docs/use/validate.md";

const FACTS: &str = "Use only the facts in this YAML or JSON file, and none of this machine; repeatable";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("facts", |facts| facts.help(FACTS)))]
pub(crate) struct ValidateArguments {
    /// Manifests, or directories whose YAML files with a `ccm` key are checked; `-` is standard input
    #[arg(value_name = "MANIFEST", num_args = 1..)]
    #[cfg_attr(feature = "archive", arg(required_unless_present = "from"))]
    #[cfg_attr(not(feature = "archive"), arg(required = true))]
    pub manifests: Vec<PathBuf>,

    /// Treat warnings and notes as errors
    #[arg(long)]
    pub strict: bool,

    /// Check without the files of the machine, such as secrets: those with an absolute path are not read, and other
    /// files, variables and facts may be missing
    #[arg(long)]
    pub no_files: bool,

    #[command(flatten)]
    pub from: FromArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Check for several machines, each with the facts of one of these files
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with = "facts", help_heading = headings::DATA)]
    pub matrix: Vec<PathBuf>,

    #[command(flatten)]
    pub limits: SizeArguments,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub state: StateArguments,
}
