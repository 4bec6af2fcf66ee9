//! Option `--from` of the commands that take a manifest from a source.

#[cfg(feature = "archive")]
use std::path::Path;
use std::path::PathBuf;
#[cfg(feature = "archive")]
use std::time::Duration;

#[cfg(feature = "archive")]
use ccm_runtime::process::absolute;
#[cfg(feature = "archive")]
use ccm_runtime::push::is_push_address;
#[cfg(feature = "archive")]
use ccm_runtime::release::ChannelName;
use clap::Args;

#[cfg(feature = "archive")]
use super::headings;
#[cfg(feature = "archive")]
use super::parsers::{channel, wait};

/// Value of `--signers` for commits that nobody has to sign.
#[cfg(feature = "archive")]
pub(crate) const NO_SIGNERS: &str = "none";

// Source to take the manifest from.
#[cfg(feature = "archive")]
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FromArguments {
    /// Source to take the manifest from
    #[arg(
        long,
        value_name = "SOURCE",
        requires = "signers",
        help_heading = headings::SOURCE,
        help = "Take the manifest from this source: a release, https://HOST/PATH/NAME.release or a path, or a branch, \
                git+https://HOST/PATH#BRANCH, also with ssh or file, and :DIR for a part; MANIFEST is a path in it \
                [default: site.yaml]"
    )]
    pub from: Option<String>,

    /// File of the people who may sign, as `ssh-keygen -Y verify` reads it
    #[arg(
        long,
        value_name = "FILE",
        requires = "from",
        help_heading = headings::SOURCE,
        help = "File of the people who may sign, as `ssh-keygen -Y verify` reads it; `none` takes commits that nobody \
                has signed, and trusts TLS or SSH alone"
    )]
    pub signers: Option<PathBuf>,

    /// Number of people who have to have signed a release
    #[arg(
        long,
        value_name = "N",
        requires = "from",
        value_parser = clap::value_parser!(u8).range(1..=16),
        help_heading = headings::SOURCE,
        help = "Number of people who have to have signed a release [default: 1]"
    )]
    pub threshold: Option<u8>,

    /// Channel that releases have to have; without it, that of the first one
    #[arg(long, value_name = "NAME", requires = "from", value_parser = channel, help_heading = headings::SOURCE)]
    pub channel: Option<ChannelName>,

    /// Commit that the history of a branch has to begin with
    #[arg(
        long,
        value_name = "COMMIT",
        requires = "from",
        help_heading = headings::SOURCE,
        help = "Commit that the history of a branch has to begin with; without it, the beginning of the first version \
                counts, which is printed"
    )]
    pub root: Option<String>,

    /// Take a branch although it was rewritten, and does not follow on what was accepted
    #[arg(long, requires = "from", help_heading = headings::SOURCE)]
    pub allow_rewind: bool,

    /// Time that fetching may take
    #[arg(
        long,
        value_name = "DURATION",
        requires = "from",
        value_parser = wait,
        help_heading = headings::SOURCE,
        help = "Time that fetching may take; then what was accepted before is applied [default: 30s]"
    )]
    pub fetch_wait: Option<Duration>,

    /// File with certificates to trust in place of those of the system
    #[arg(long, value_name = "FILE", requires = "from", help_heading = headings::SOURCE)]
    pub ca_file: Option<PathBuf>,

    /// Begin anew with a source although the record of what was accepted is lost
    #[arg(long, requires = "from", help_heading = headings::SOURCE)]
    pub bootstrap: bool,
}

#[cfg(feature = "archive")]
impl FromArguments {
    /// Returns `true` if a source is given.
    pub(crate) fn is_given(&self) -> bool {
        self.from.is_some()
    }

    /// Returns `true` for a source whose versions nobody has to sign. What `ccm push` sends comes from whoever may log in.
    pub(crate) fn is_unsigned(&self) -> bool {
        let is_given = self.from.as_deref().is_some_and(|from| !is_push_address(from));
        is_given && self.signers.as_deref() == Some(Path::new(NO_SIGNERS))
    }

    /// Returns the address of the source, if there is one. A path is absolute.
    pub(crate) fn address(&self) -> Option<String> {
        let address = self.from.as_deref()?;
        let is_path = !address.contains("://") && !is_push_address(address);
        let path = absolute(Path::new(address)).ok().filter(|_| is_path);
        Some(path.map_or_else(|| address.to_owned(), |path| path.display().to_string()))
    }

    /// Returns the file of the people who may sign; `None` if nobody has to.
    pub(crate) fn signers(&self) -> Option<PathBuf> {
        let path = self.signers.as_deref().filter(|path| *path != Path::new(NO_SIGNERS))?;
        Some(absolute(path).unwrap_or_else(|_| path.to_owned()))
    }
}

// Source to take the manifest from: none, without downloads.
#[cfg(not(feature = "archive"))]
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct FromArguments {}

#[cfg(not(feature = "archive"))]
#[expect(clippy::unused_self, reason = "other builds have a source")]
impl FromArguments {
    /// Returns `true` if a source is given: never.
    pub(crate) fn is_given(&self) -> bool {
        false
    }

    /// Returns the address of the source: none.
    pub(crate) fn address(&self) -> Option<String> {
        None
    }

    /// Returns the file of the people who may sign: none.
    pub(crate) fn signers(&self) -> Option<PathBuf> {
        None
    }
}
