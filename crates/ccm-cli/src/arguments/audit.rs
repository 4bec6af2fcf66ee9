//! Arguments of `ccm audit`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::parsers::wait;
use super::{JsonFormat, OutputArguments};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum AuditCommand {
    /// Make the audit log of this machine, and print the public key of its first seal
    Init(AuditInitArguments),
    /// List what is recorded
    Log(AuditLogArguments),
    /// Verify that nobody has changed the log
    Verify(AuditVerifyArguments),
    /// Print the end of the log as a line, to be kept on another machine
    Checkpoint(AuditCheckpointArguments),
    /// Copy the log for an auditor, who verifies the copy with OpenSSH and sha256sum alone
    Export(AuditExportArguments),
}

const DOCUMENTATION: &str = "Documentation: /usr/share/doc/ccm/use/audit.md, or docs/use/audit.md";

const INIT_EXAMPLES: &str = "\
Examples:
  ccm audit init > web1.pub                        make the log; keep web1.pub on another machine

Exit codes: 0 made, 1 not made.

Documentation: /usr/share/doc/ccm/use/audit.md, or docs/use/audit.md";

const LOG_EXAMPLES: &str = "\
Examples:
  ccm audit log                                    the newest entries
  ccm audit log --run last                         what the last run executed
  ccm audit log --since 2d --resource exec#build   when a command was run
  ccm audit log --user ada                         what ada started, and what ran as ada
  ccm audit log --json | jq .argv                  the lines of the log themselves

The lines are not verified; `ccm audit verify` does that.

Documentation: /usr/share/doc/ccm/use/audit.md, or docs/use/audit.md";

const VERIFY_EXAMPLES: &str = "\
Examples:
  ccm audit verify                                 the log by itself
  ccm audit verify --key web1.pub                  from the first key on, as `ccm audit init` printed it
  ccm audit verify --against web1.checkpoint       that nothing was cut off since the checkpoint
  journalctl -o cat MESSAGE_ID=5d0c2a1b7f0e4b0c9a6d3c81f2e94b57 | ccm audit verify --against -

Exit codes: 0 nobody has changed the log, 1 somebody has, or the log can't be read.

Documentation: /usr/share/doc/ccm/use/audit.md, or docs/use/audit.md";

#[derive(Args, Debug)]
#[command(after_help = INIT_EXAMPLES)]
pub(crate) struct AuditInitArguments {
    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Args, Clone, Debug)]
pub(crate) struct AuditPlaceArguments {
    /// Read the copy of a log in this directory instead of the log of this machine
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(
    after_help = LOG_EXAMPLES,
    mut_arg("output", |output| output.help("Format of the output: a text, or the lines of the log themselves")),
)]
pub(crate) struct AuditLogArguments {
    /// List only entries of this run: the beginning of its id, or `last`
    #[arg(long, value_name = "RUN")]
    pub run: Option<String>,

    /// List only entries of this time, such as 12h or 2d
    #[arg(long, value_name = "DURATION", value_parser = wait)]
    pub since: Option<Duration>,

    /// List only runs that this user started, also by sudo, and commands that ran as this user
    #[arg(long, value_name = "USER")]
    pub user: Option<String>,

    /// List only entries of this resource: `TYPE#NAME`, or its name
    #[arg(long, value_name = "RESOURCE")]
    pub resource: Option<String>,

    /// Maximum number of entries; the newest are listed [default: 100]
    #[arg(short = 'n', long = "lines", value_name = "N")]
    pub limit: Option<usize>,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub place: AuditPlaceArguments,
}

#[derive(Args, Debug)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct AuditVerifyArguments {
    /// File with the public key of the first seal, as `ccm audit init` printed it
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,

    /// File with checkpoints or forwarded seals, one a line; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub against: Option<PathBuf>,

    /// Verify only lines and seals, without the key of the next seal, which shows that the log was not cut back
    #[arg(long)]
    pub chain: bool,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub place: AuditPlaceArguments,
}

#[derive(Args, Debug)]
#[command(after_help = DOCUMENTATION)]
pub(crate) struct AuditCheckpointArguments {
    #[command(flatten)]
    pub output: OutputArguments<JsonFormat>,

    #[command(flatten)]
    pub place: AuditPlaceArguments,
}

#[derive(Args, Debug)]
#[command(after_help = DOCUMENTATION)]
pub(crate) struct AuditExportArguments {
    /// Directory of the copy, which is made or is empty
    #[arg(value_name = "DIR")]
    pub target: PathBuf,

    #[command(flatten)]
    pub place: AuditPlaceArguments,
}
