//! Arguments of `ccm release`.

use std::path::PathBuf;
use std::time::Duration;

use ccm_runtime::release::{ChannelName, ProgramVersion, Wave};
use clap::{Args, Subcommand};

use super::parsers::{channel, wait};
use super::{OutputArguments, SizeArguments, headings};

const BUILD_EXAMPLES: &str = "\
Examples:
  ccm release build site --channel base --version 42 --out base.release
  ccm release build site --channel base --version 43 --expires 30d --matrix facts/*.yaml --out base.release
  ccm release build site --channel web --version 7 --wave 1%:0s --wave 10%:1h --wave 100%:5h --splay 1m --out web.release

The bundle is written beside the release, under its digest.
Documentation: /usr/share/doc/ccm/use/releases.md, or docs/use/releases.md";

const VERIFY_EXAMPLES: &str = "\
Example:
  ccm release verify base.release --signers /etc/ccm/signers

Exit codes: 0 the release counts, 1 it does not.
Documentation: /usr/share/doc/ccm/use/releases.md, or docs/use/releases.md";

#[derive(Debug, Subcommand)]
pub(crate) enum ReleaseCommand {
    /// Check the manifests of a directory, and pack it into a release
    Build(Box<ReleaseBuildArguments>),
    /// Sign a release with an SSH key
    Sign(ReleaseSignArguments),
    /// Verify the signatures of a release, and its bundle
    Verify(ReleaseVerifyArguments),
    /// Show what a release says; nothing is verified
    Show(ReleaseShowArguments),
}

#[derive(Debug, Args)]
#[command(after_help = BUILD_EXAMPLES)]
pub(crate) struct ReleaseBuildArguments {
    /// Directory with the manifests and everything that belongs to them
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Channel: machines follow one
    #[arg(long, value_name = "NAME", value_parser = channel)]
    pub channel: ChannelName,

    /// Version; machines take only a higher one than before
    #[arg(long, value_name = "N")]
    pub version: u64,

    /// File to write, such as base.release
    #[arg(short, long, value_name = "FILE")]
    pub out: PathBuf,

    /// Epoch; versions begin anew with a higher one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub epoch: u64,

    /// Time for which machines accept the release, such as 30d; what a machine has accepted it applies for ever
    #[arg(long, value_name = "DURATION", value_parser = lifetime)]
    pub expires: Option<Duration>,

    /// Share of the machines, those of the waves before included, and how long after the release was built they take it,
    /// such as 10%:1h; repeatable. Without waves, all take it at once
    #[arg(long = "wave", value_name = "PERCENT%:DURATION", value_parser = wave)]
    pub waves: Vec<Wave>,

    /// Time over which the machines of a wave are spread
    #[arg(long, value_name = "DURATION", value_parser = wait)]
    pub splay: Option<Duration>,

    /// Oldest version of ccm that can apply it
    #[arg(long, value_name = "VERSION", value_parser = program_version)]
    pub min_ccm: Option<ProgramVersion>,

    /// Note for people
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,

    /// Check the manifests for several machines, each with the facts of one of these files
    #[arg(long, value_name = "FILE", num_args = 1.., help_heading = headings::DATA)]
    pub matrix: Vec<PathBuf>,

    /// Check the manifests without the files of this machine, such as secrets
    #[arg(long, help_heading = headings::DATA)]
    pub no_files: bool,

    #[command(flatten)]
    pub limits: SizeArguments,

    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReleaseSignArguments {
    /// Release to sign
    #[arg(value_name = "FILE")]
    pub release: PathBuf,

    /// Sign with this key: a private key, or a public key whose private key the agent holds
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = VERIFY_EXAMPLES)]
pub(crate) struct ReleaseVerifyArguments {
    /// Release to verify
    #[arg(value_name = "FILE")]
    pub release: PathBuf,

    /// File of allowed signers, as `ssh-keygen -Y verify` reads it
    #[arg(long, value_name = "FILE")]
    pub signers: PathBuf,

    /// Number of people who have to have signed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub threshold: u8,

    #[command(flatten)]
    pub output: OutputArguments,
}

#[derive(Debug, Args)]
pub(crate) struct ReleaseShowArguments {
    /// Release to show
    #[arg(value_name = "FILE")]
    pub release: PathBuf,

    #[command(flatten)]
    pub output: OutputArguments,
}

fn program_version(text: &str) -> Result<ProgramVersion, String> {
    ProgramVersion::parse(text).ok_or_else(|| "expected a version of ccm, such as 0.3.0".to_owned())
}

fn lifetime(text: &str) -> Result<Duration, String> {
    match wait(text)? {
        duration if duration.is_zero() => Err("a release is accepted for more than 0s".to_owned()),
        duration => Ok(duration),
    }
}

fn wave(text: &str) -> Result<Wave, String> {
    let (percent, after) = text
        .split_once("%:")
        .ok_or("expected a share and a time after the release was built, such as 10%:1h")?;
    let share = Wave::share(percent).map_err(|error| error.to_string())?;
    Ok(Wave { share, after: wait(after)? })
}
