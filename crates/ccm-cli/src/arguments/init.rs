//! Arguments of `ccm init`.

use std::path::PathBuf;

use clap::Args;

const EXAMPLES: &str = "\
Examples:
  ccm init                                         write site.yaml
  ccm init web.yaml
  ccm init - | less                                print it

The manifest has comments that explain it. It writes only below your home directory.

Documentation: /usr/share/doc/ccm/reference/manifest.md, or docs/reference/manifest.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InitArguments {
    /// File to write, which must not exist; `-` is standard output
    #[arg(value_name = "FILE", default_value = "site.yaml")]
    pub file: PathBuf,
}
