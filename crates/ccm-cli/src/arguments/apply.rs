//! Arguments of `ccm apply`.

use std::path::PathBuf;
use std::time::Duration;

use ccm_model::ResourceId;
use clap::{Args, ValueEnum};

use super::parsers::{duration, events_file, reference, wait};
use super::{ManifestArguments, StateArguments, ValueArguments};

#[derive(Debug, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub manifest: ManifestArguments,

    #[command(flatten)]
    pub values: ValueArguments,

    /// Change nothing: read the state and report what would be changed
    #[arg(long)]
    pub noop: bool,

    /// Show changes of the content of files as unified diffs
    #[arg(long)]
    pub diff: bool,

    /// Print the manifest with all values filled in, and run nothing
    #[arg(long, conflicts_with_all = ["noop", "only", "events_file"])]
    pub render: bool,

    /// Exit with 2 if something changed (in noop: would change), and with 6 if something failed as well
    #[arg(long)]
    pub detailed_exitcodes: bool,

    /// Apply the manifest twice, and fail if the second run changes something
    #[arg(long, conflicts_with_all = ["noop", "render"])]
    pub verify_idempotent: bool,

    /// Stop after the first resource that fails
    #[arg(long)]
    pub fail_on_error: bool,

    /// Apply only this resource and what it requires; can be repeated
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference)]
    pub only: Vec<ResourceId>,

    /// End the run after this time, such as 10m; a running command is stopped
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,

    /// Format of the output: the report, lines for a log, a line of JSON for each event as it happens, or one
    /// JSON document at the end
    #[arg(long, value_enum, default_value_t = ReportFormat::Text)]
    pub output: ReportFormat,

    /// File that the events are appended to, a line of JSON each
    #[arg(
        long,
        value_name = "PATH",
        value_parser = events_file,
        help = "Also append the events to this file, a line of JSON each [env: CCM_EVENTS_FILE]"
    )]
    pub events_file: Option<PathBuf>,

    #[command(flatten)]
    pub state: StateArguments,

    /// Time to wait for another run to end, such as 5m; 0 does not wait
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = wait)]
    pub lock_wait: Duration,

    /// Number of recorded runs to keep, and of older runs that changed something or failed
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub keep_runs: usize,

    /// Print failures and warnings only
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Level of `-v`, which every command takes.
    #[arg(skip)]
    pub verbose: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    // Comments for clap would turn the help of `apply` into its long form, a page for each option.
    Text,
    Log,
    Jsonl,
    Json,
}
