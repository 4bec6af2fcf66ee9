//! Arguments of `ccm check`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::parsers::wait;
use super::{OutputArguments, OutputFormat, headings};

const EXAMPLES: &str = "\
Exit codes: 0 everything is as expected, 4 a rule failed or could not be judged, 1 the file has
errors, 64 bad usage. With --output nagios: 0 (OK), 1 (WARNING), 2 (CRITICAL), 3 (UNKNOWN, also for
a file with errors).

Examples:
  ccm check goss.yaml
  ccm check goss.yaml --retry-timeout 30s          wait until a service has come up
  ccm check goss.yaml --output nagios              check for a monitoring system

Documentation: /usr/share/doc/ccm/use/check-files.md, or docs/use/check-files.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("output", |output| output.alias("format")))]
pub(crate) struct CheckArguments {
    /// Goss file with the rules; `-` is standard input
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Judge rules that fail again until this time has passed, such as 30s
    #[arg(long, value_name = "DURATION", value_parser = wait, help_heading = headings::LIMITS)]
    pub retry_timeout: Option<Duration>,

    /// Pause before rules that fail are judged again
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
    pub output: OutputArguments<CheckFormat>,
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
