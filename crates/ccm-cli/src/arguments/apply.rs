//! Arguments of `ccm apply`.

use std::path::PathBuf;
use std::time::Duration;

use ccm_runtime::model::ResourceId;
use clap::{Args, ValueEnum};

use super::parsers::{duration, events_file, reference, runs, wait};
use super::{
    FromArguments, OutputArguments, OutputFormat, SizeArguments, StateArguments, VERBOSE_ORDER,
    ValueArguments, headings,
};

/// Position in the help after `-v`, in the order of declaration.
const AFTER_VERBOSE: usize = VERBOSE_ORDER + 1;

const EXAMPLES: &str = "\
Examples:
  ccm apply --noop --diff site.yaml                show what would change
  ccm apply site.yaml                              change it
  ccm apply site.yaml --only file#/etc/motd -v     apply one resource and what it requires
  ccm apply site.yaml --skip exec#migrate          apply all but one resource
  ccm apply site.yaml --data web.port=8080         with another value
  ccm apply --noop --plan-out web.plan site.yaml   write what would change, for an approval
  ccm apply --plan web.plan                        make exactly these changes
  ccm apply base.yaml web.yaml                     apply several manifests, one after another
  ccm apply --from https://example.com/base.release --signers /etc/ccm/signers
  ssh web1 ccm apply - < site.yaml                 on another machine

Exit codes: `ccm help`.
Documentation: /usr/share/doc/ccm/reference/running.md, or docs/reference/running.md";

const OUTPUT: &str = "Format of the output: the report, lines for a log, a line of JSON for each event as it happens, or \
                      one JSON document at the end";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ApplyArguments {
    /// Manifests, which are applied in this order; `-` reads one from standard input
    #[arg(value_name = "MANIFEST", num_args = 1..)]
    #[cfg_attr(feature = "archive", arg(required_unless_present_any = ["from", "plan"]))]
    #[cfg_attr(not(feature = "archive"), arg(required_unless_present = "plan"))]
    pub manifests: Vec<PathBuf>,

    #[command(flatten)]
    pub from: FromArguments,

    /// Change nothing: read the state and report what would be changed
    #[arg(short = 'n', long, aliases = ["dry-run", "check"])]
    pub noop: bool,

    /// Show changes of the content of files as unified diffs
    #[arg(long)]
    pub diff: bool,

    /// Apply only this resource and what it requires; repeatable
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference)]
    pub only: Vec<ResourceId>,

    /// Leave this resource out; what requires it runs as if it were unchanged; repeatable
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference)]
    pub skip: Vec<ResourceId>,

    /// Show what would change, ask on the terminal, and then change it
    #[arg(long, conflicts_with_all = ["noop", "quiet", "render"])]
    pub confirm: bool,

    /// Run the health checks of the resources and nothing else
    #[arg(long, conflicts_with_all = ["noop", "confirm", "render", "verify_idempotent"])]
    pub monitor_only: bool,

    /// Print failures and warnings only
    #[arg(short, long, conflicts_with = "verbose", display_order = AFTER_VERBOSE)]
    pub quiet: bool,

    /// Print the manifest with all values filled in, and run nothing
    #[arg(
        long,
        conflicts_with_all = ["noop", "only", "skip", "diff", "output", "json", "events_file", "detailed_exitcodes"],
        display_order = AFTER_VERBOSE
    )]
    pub render: bool,

    /// Apply the manifest twice, and fail if the second run changes something
    #[arg(long, conflicts_with_all = ["noop", "render"], display_order = AFTER_VERBOSE)]
    pub verify_idempotent: bool,

    /// Apply only manifests that an approver has signed
    #[arg(long)]
    pub require_signed: bool,

    /// With --noop: also write what would change into this file, as a plan that can be approved and applied
    #[arg(long, value_name = "FILE", requires = "noop", conflicts_with = "render")]
    pub plan_out: Option<PathBuf>,

    /// Make exactly the changes of this plan, or none if anything differs; MANIFEST is by default that of the plan
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["noop", "confirm", "render", "monitor_only", "verify_idempotent"]
    )]
    pub plan: Option<PathBuf>,

    /// Apply only a plan that an approver has signed
    #[arg(long)]
    pub require_plan: bool,

    #[command(flatten)]
    pub values: ValueArguments,

    #[command(flatten)]
    pub run: RunArguments,

    /// Do nothing and exit with 0 while `ccm pause` lets unattended runs wait
    #[arg(long, alias = "honor-pause", help_heading = headings::LIMITS)]
    pub honour_pause: bool,

    /// Stop after the first resource that fails
    #[arg(long, help_heading = headings::LIMITS)]
    pub fail_on_error: bool,

    #[command(flatten)]
    pub limits: SizeArguments,

    /// Detail of the record: `full` has the graph also if nothing changes
    #[arg(long, value_enum, value_name = "DETAIL", default_value = "changes", help_heading = headings::RECORD)]
    pub record: RecordFormat,

    /// Writes lines of output with `--output jsonl`, for `ccm push`.
    #[arg(skip)]
    pub emits_output: bool,

    /// Level of `-v`, which every command takes.
    #[arg(skip)]
    pub verbose: u8,
}

// A comment for clap would be the help of the command. Options of a run, whatever it gets its resources from.
#[derive(Debug, Args)]
#[command(mut_arg("output", |output| output.help(OUTPUT)))]
pub(crate) struct RunArguments {
    /// End the run after this time, such as 10m; a running command is stopped
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = headings::LIMITS)]
    pub timeout: Option<Duration>,

    /// Time to wait for another run to end
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = wait,
        help_heading = headings::LIMITS,
        help = "Time to wait for another run to end, such as 5m; 0 does not wait [default: 30s] [env: CCM_LOCK_WAIT]"
    )]
    pub lock_wait: Option<Duration>,

    #[command(flatten)]
    pub output: OutputArguments<ReportFormat>,

    /// File that the events are appended to, a line of JSON each
    #[arg(
        long,
        value_name = "PATH",
        value_parser = events_file,
        help_heading = headings::OUTPUT,
        help = "Also append the events to this file, a line of JSON each [env: CCM_EVENTS_FILE]"
    )]
    pub events_file: Option<PathBuf>,

    /// Exit with 2 if something changed (in noop: would change), and with 6 if something failed as well
    #[arg(long, help_heading = headings::OUTPUT)]
    pub detailed_exitcodes: bool,

    #[command(flatten)]
    pub state: StateArguments,

    /// Number of recorded runs to keep
    #[arg(
        long,
        value_name = "N",
        value_parser = runs,
        help_heading = headings::RECORD,
        help = "Number of recorded runs to keep, and of older runs that changed something or failed [default: 50] \
                [env: CCM_KEEP_RUNS]"
    )]
    pub keep_runs: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RecordFormat {
    // Comments for clap would turn the help of `apply` into its long form.
    #[default]
    Changes,
    Full,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    // Comments for clap would turn the help of `apply` into its long form, a page for each option.
    Text,
    Log,
    Jsonl,
    Json,
}

impl OutputFormat for ReportFormat {}
