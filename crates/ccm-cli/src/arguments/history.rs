//! Arguments of `ccm history`.

use std::path::PathBuf;
use std::time::Duration;

use ccm_runtime::model::ResourceId;
use clap::{Args, ValueEnum};

use super::parsers::{reference, wait};
use super::{OutputArguments, OutputFormat, StateArguments, headings};

const EXAMPLES: &str = "\
Examples:
  ccm history last                                 show the newest run
  ccm history --changed --since 2d                 list the runs that changed something
  ccm history --resource file#/etc/motd            show the last change of a resource
  ccm history last exec#build                      show what an exec printed
  ccm history last --slowest                       list the resources that took longest
  ccm history last --critical                      list the dependencies that took longest in a row
  ccm history last --html run.html                 write a page about a run, for a browser
  ccm history last --output trace > run.json       write a trace for ui.perfetto.dev

Documentation: /usr/share/doc/ccm/use/history.md, or docs/use/history.md";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("output", |output| output.alias("format")))]
pub(crate) struct HistoryArguments {
    /// Run to show: the beginning of its id, or `last`
    #[arg(value_name = "RUN")]
    pub run: Option<String>,

    /// Resource of that run to show, by name, alias or position
    #[arg(value_name = "RESOURCE")]
    pub in_run: Option<String>,

    /// List only runs that changed something
    #[arg(long, conflicts_with = "run")]
    pub changed: bool,

    /// List only runs that did not succeed: failed, refused, stopped or killed
    #[arg(long, conflicts_with = "run")]
    pub failed: bool,

    /// List only runs of this manifest; a relative path matches the end of the recorded path
    #[arg(long, value_name = "PATH", conflicts_with = "run")]
    pub manifest: Option<PathBuf>,

    /// List only runs that began in this time, such as 12h or 2d
    #[arg(long, value_name = "DURATION", value_parser = wait, conflicts_with = "run")]
    pub since: Option<Duration>,

    /// Show the last change of this resource, and list earlier ones
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference, conflicts_with = "run")]
    pub resource: Option<ResourceId>,

    /// List the slowest resources of the run, or of the last run
    #[arg(long, conflicts_with_all = ["in_run", "resource"])]
    pub slowest: bool,

    /// List the longest chain of dependencies of the run, or of the last run
    #[arg(long, conflicts_with_all = ["in_run", "resource", "slowest"])]
    pub critical: bool,

    /// Maximum number of lines to list
    #[arg(short = 'n', long = "lines", value_name = "N")]
    pub limit: Option<usize>,

    #[command(flatten)]
    pub output: OutputArguments<HistoryFormat>,

    /// Write a page about the run to this file; without a run about the past of the machine. `-` is standard output
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["in_run", "resource", "slowest", "critical", "output", "json"],
        help_heading = headings::OUTPUT
    )]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum HistoryFormat {
    // Comments for clap would turn the help of `history` into its long form.
    Text,
    Json,
    Trace,
}

impl OutputFormat for HistoryFormat {}
