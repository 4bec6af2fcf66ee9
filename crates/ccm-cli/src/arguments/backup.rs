//! Arguments of `ccm backup`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::parsers::wait;
use super::{OutputArguments, StateArguments};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum BackupCommand {
    /// List the backups that runs made of files with `backup: true`
    List(BackupListArguments),
    /// Give a file the content of a backup; its present content is backed up first
    Restore(BackupRestoreArguments),
    /// Remove backups
    Prune(BackupPruneArguments),
}

#[derive(Debug, Args)]
pub(crate) struct BackupListArguments {
    /// List only backups of this file
    #[arg(value_name = "PATH")]
    pub path: Option<PathBuf>,

    #[command(flatten)]
    pub output: OutputArguments,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
pub(crate) struct BackupRestoreArguments {
    /// File to restore
    #[arg(value_name = "PATH")]
    pub path: PathBuf,

    /// Version to restore, as `ccm backup list` shows it; the newest without it
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,

    #[command(flatten)]
    pub state: StateArguments,
}

#[derive(Debug, Args)]
#[group(id = "limit", required = true, multiple = true, args = ["keep", "older_than"])]
pub(crate) struct BackupPruneArguments {
    /// Number of the newest backups of each file to keep
    #[arg(long, value_name = "N")]
    pub keep: Option<usize>,

    /// Remove only backups that are older than this, such as 90d
    #[arg(long, value_name = "DURATION", value_parser = wait)]
    pub older_than: Option<Duration>,

    #[command(flatten)]
    pub state: StateArguments,
}
