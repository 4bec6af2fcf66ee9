//! Arguments of `ccm check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, Args, ValueEnum};

use super::parsers::wait;
use super::{OutputArguments, OutputFormat, SizeArguments, ValueArguments, headings};

const EXAMPLES: &str = "\
Exit codes: 0 everything is as expected, 4 a rule or check failed or has no result, 1 the file has
errors, 64 bad usage. With --output nagios: 0 (OK), 1 (WARNING), 2 (CRITICAL), 3 (UNKNOWN, also for
a file with errors).

Examples:
  ccm check goss.yaml
  ccm check goss.yaml --retry-timeout 30s          wait until a service has come up
  ccm check goss.yaml --output nagios              check for a monitoring system
  ccm check --manifest site.yaml                   health checks of a manifest

Documentation: /usr/share/doc/ccm/use/check-files.md, or docs/use/check-files.md";

/// Options that only a manifest understands.
const OF_MANIFESTS: [&str; 8] =
    ["data", "hiera", "data_any", "fact", "facts", "identity", "no_env", "max_manifest_size"];

#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("output", |output| output.alias("format")),
    mut_args(|argument| of_manifest(argument)),
)]
pub(crate) struct CheckArguments {
    /// Goss file with the rules; `-` is standard input
    #[arg(value_name = "FILE", required_unless_present = "manifest")]
    pub file: Option<PathBuf>,

    /// Run the health checks of this manifest instead, and nothing else; `-` is standard input
    #[arg(long, value_name = "MANIFEST", conflicts_with = "file")]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Judge rules or checks that fail again until this time has passed, such as 30s
    #[arg(long, value_name = "DURATION", value_parser = wait, help_heading = headings::LIMITS)]
    pub retry_timeout: Option<Duration>,

    /// Pause before they are judged again
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = wait,
        default_value = "1s",
        requires = "retry_timeout",
        help_heading = headings::LIMITS
    )]
    pub sleep: Duration,

    #[command(flatten)]
    pub limits: SizeArguments,

    #[command(flatten)]
    pub output: OutputArguments<CheckFormat>,
}

fn of_manifest(argument: Arg) -> Arg {
    if OF_MANIFESTS.contains(&argument.get_id().as_str()) {
        argument.conflicts_with("file")
    } else {
        argument
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CheckFormat {
    // Comments for clap would turn the help into its long form.
    #[value(aliases = ["text", "rspecish"])]
    Documentation,
    Json,
    Nagios,
    Tap,
    Junit,
}

impl OutputFormat for CheckFormat {
    const DEFAULT: &'static str = "documentation";
}
