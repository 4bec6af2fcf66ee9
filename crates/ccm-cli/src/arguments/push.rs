//! Arguments of `ccm push`.

use std::path::PathBuf;
use std::time::Duration;

use ccm_push::FailureLimit;
use ccm_runtime::model::ResourceId;
use clap::Args;

use super::parsers::{AssignmentParser, duration, reference, wait};
use super::{FromArguments, OutputArguments, SizeArguments, StateArguments, headings};

const EXAMPLES: &str = "\
Examples:
  ccm push --noop web1,web2 site/site.yaml         show what would change on two hosts
  ccm push @web site/site.yaml --sudo              change it on a group of hosts.yaml, as root
  ccm push '*' site/site.yaml --sudo --canary 2 --max-failures 10%
  ccm push web1 site/site.yaml --sudo --install    also where ccm is missing
  ccm push @web --run 'uptime'                     run one command
  ccm push '*' site/site.yaml --html push.html     write a page about all hosts, for a browser
  terraform output -json hosts | ccm push --inventory - '*' site/site.yaml

Exit codes: those of `ccm apply`; 4 also if a host was not reached.
Documentation: /usr/share/doc/ccm/use/push.md, or docs/use/push.md in the source";

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PushArguments {
    /// Hosts: names, globs and @groups of the inventory, with commas between; `-` reads a list from standard input
    #[arg(value_name = "HOSTS")]
    pub hosts: String,

    /// Manifest; its directory is sent to the hosts
    #[arg(value_name = "MANIFEST", required_unless_present_any = ["from", "run"])]
    pub manifest: Option<PathBuf>,

    #[command(flatten)]
    pub from: FromArguments,

    /// Run one command in place of a manifest; it is split into words as by a shell, and nothing else
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["manifest", "from", "only", "skip", "data"])]
    pub run: Option<String>,

    /// Let /bin/sh read the command of --run
    #[arg(long, requires = "run")]
    pub shell: bool,

    /// Change nothing: report what would be changed on each host
    #[arg(short = 'n', long, aliases = ["dry-run", "check"])]
    pub noop: bool,

    /// File with the hosts, their groups and facts
    #[arg(
        short,
        long,
        value_name = "FILE",
        help = "File with the hosts, their groups and facts; `-` reads it from standard input [default: hosts.yaml, if it \
                exists]"
    )]
    pub inventory: Option<PathBuf>,

    /// Become root on the hosts by `sudo`, which must not ask for a password
    #[arg(long)]
    pub sudo: bool,

    /// Ask for the password of `sudo` once, and become root on the hosts with it
    #[arg(long, conflicts_with = "sudo")]
    pub ask_sudo: bool,

    /// Install this program on hosts of the same architecture that have no ccm
    #[arg(long)]
    pub install: bool,

    /// Apply only this resource and what it requires; repeatable
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference)]
    pub only: Vec<ResourceId>,

    /// Leave this resource out; repeatable
    #[arg(long, value_name = "TYPE#NAME", value_parser = reference)]
    pub skip: Vec<ResourceId>,

    /// Set a value that overrides all others; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser, help_heading = headings::DATA)]
    pub data: Vec<String>,

    /// Set a fact of all hosts; repeatable
    #[arg(long, value_name = "KEY=VALUE", value_parser = AssignmentParser, help_heading = headings::DATA)]
    pub fact: Vec<String>,

    /// Number of hosts at once
    #[arg(
        short = 'j',
        long = "at-once",
        value_name = "N",
        default_value_t = 20,
        value_parser = clap::value_parser!(u16).range(1..=1000),
        help_heading = headings::LIMITS
    )]
    pub at_once: u16,

    /// Begin with this number of hosts, and go on only if all of them succeed
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true, help_heading = headings::LIMITS)]
    pub canary: usize,

    /// Begin no further host once more than this number or share of hosts have failed
    #[arg(long, value_name = "N|P%", value_parser = failure_limit, help_heading = headings::LIMITS)]
    pub max_failures: Option<FailureLimit>,

    /// Time that a connection may take
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = duration, help_heading = headings::LIMITS)]
    pub connect_timeout: Duration,

    /// End the run of a host after this time
    #[arg(long, value_name = "DURATION", value_parser = duration, help_heading = headings::LIMITS)]
    pub timeout: Option<Duration>,

    /// Time to wait on a host for another run to end
    #[arg(long, value_name = "DURATION", value_parser = wait, help_heading = headings::LIMITS)]
    pub lock_wait: Option<Duration>,

    #[command(flatten)]
    pub limits: SizeArguments,

    #[command(flatten)]
    pub output: OutputArguments,

    /// Write a page about all hosts to this file as well; `-` is standard output, in place of the report
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "json"], help_heading = headings::OUTPUT)]
    pub html: Option<PathBuf>,

    /// Print no line for each host
    #[arg(short, long, help_heading = headings::OUTPUT)]
    pub quiet: bool,

    /// Exit with 2 if something changed (in noop: would change), and with 6 if something failed as well
    #[arg(long, help_heading = headings::OUTPUT)]
    pub detailed_exitcodes: bool,

    #[command(flatten)]
    pub state: StateArguments,
}

fn failure_limit(text: &str) -> Result<FailureLimit, String> {
    FailureLimit::parse(text)
        .ok_or_else(|| "expected a number or a share of the hosts, such as 3 or 10%".to_owned())
}
