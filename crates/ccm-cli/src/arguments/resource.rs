//! Arguments of `ccm resource`.

use std::path::PathBuf;

use clap::{ArgGroup, Args, ValueEnum};

use super::{OutputFormat, SizeArguments, ValueArguments, ValueOutputArguments, headings};

const EXAMPLES: &str = "\
Exit codes: 0 everything was read, 4 the state of a named resource can't be exported, 1 nothing was
read, 64 bad usage.

Examples:
  ccm resource service nginx                       show the state of a service
  ccm resource user                                list all users
  ccm resource --manifest --with-related service nginx > web.yaml
  ccm resource --all                               list what a person made or changed
  ccm resource --all --against site.yaml           list what site.yaml does not manage
  ccm resource --all --manifest --out adopted      write a manifest and the contents of long files

Secrets are never shown: passwords, keys and tokens become comments that name a credential.

Documentation: /usr/share/doc/ccm/use/adopt.md, or docs/use/adopt.md";

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    group = ArgGroup::new("selection").args(["type_name", "all"]).required(true),
)]
pub(crate) struct ResourceArguments {
    /// Type of the resources, such as service
    #[arg(value_name = "TYPE")]
    pub type_name: Option<String>,

    /// Names of the resources; all of the type without one
    #[arg(value_name = "NAME", requires = "type_name")]
    pub names: Vec<String>,

    /// Show what a person made or changed after the installation of the system
    #[arg(long, conflicts_with = "with_related")]
    pub all: bool,

    /// With --all, leave out what this manifest manages
    #[arg(long, value_name = "MANIFEST", requires = "all", conflicts_with = "type_name")]
    pub against: Option<PathBuf>,

    /// Add what belongs to the resources: package, changed files, unit files and user, with their order
    #[arg(long, requires = "names")]
    pub with_related: bool,

    #[command(flatten)]
    pub values: ValueArguments,

    #[command(flatten)]
    pub limits: SizeArguments,

    /// Print a manifest that recreates the resources, and that changes nothing on this machine
    #[arg(long, conflicts_with_all = ["output", "json", "yaml"], help_heading = headings::OUTPUT)]
    pub manifest: bool,

    /// With --manifest, write the manifest and contents of files to this new directory
    #[arg(long, value_name = "DIR", requires = "manifest", help_heading = headings::OUTPUT)]
    pub out: Option<PathBuf>,

    #[command(flatten)]
    pub output: ValueOutputArguments<ResourceFormat>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ResourceFormat {
    Text,
    Json,
    Yaml,
}

impl OutputFormat for ResourceFormat {}
