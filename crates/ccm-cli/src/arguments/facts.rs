//! Arguments of `ccm facts`.

use clap::Args;

use super::{FactArguments, ValueOutputArguments};

const EXAMPLES: &str = "\
Examples:
  ccm facts host.info
  ccm facts --raw host.info.platformFamily         print a value for a script
  ccm facts --yaml > web1.yaml                     write all facts, for `ccm validate --facts`

Custom facts come from these files. Later files override earlier ones, and maps are merged:
  /etc/ccm/facts.json, /etc/ccm/facts.yaml, /etc/ccm/facts.d/*.json and *.yaml
  the same in $XDG_CONFIG_HOME/ccm, else in ~/.config/ccm
  the files of --facts, then the facts of --fact
Links, special files and files of more than 1 MiB are skipped with a warning; as root also files
that another user owns or can write. No file is ever run.

Documentation: /usr/share/doc/ccm/reference/facts.md, or docs/reference/facts.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FactsArguments {
    /// Path of the facts to show, such as host.info or `network.interfaces.#.name`; all facts without it
    #[arg(value_name = "PATH")]
    pub path: Option<String>,

    /// Print a text without quotes, and a list one element a line
    #[arg(long, requires = "path", conflicts_with_all = ["yaml", "json", "output"])]
    pub raw: bool,

    #[command(flatten)]
    pub given: FactArguments,

    #[command(flatten)]
    pub output: ValueOutputArguments,
}
