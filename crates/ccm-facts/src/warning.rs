//! What did not end a run.

use std::io;
use std::path::PathBuf;

use ccm_host::ConfigurationError;
use thiserror::Error;

/// A source of facts that gave none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Warning {
    /// A file of the kernel or the system can't be read.
    #[error("no facts from \"{}\": it can't be read", path.display())]
    Unreadable {
        /// Which one.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of the kernel or the system says something else than expected.
    #[error("no facts from \"{}\": it has no {expected}", path.display())]
    Unexpected {
        /// Which one.
        path: PathBuf,
        /// What is missing in it.
        expected: &'static str,
    },
    /// The system did not answer.
    #[error("the system does not tell {what}")]
    Unanswered {
        /// What it was asked.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// A file system was not asked for its room.
    #[error("the room of \"{}\" is not known", path.display())]
    NoSpace {
        /// Where it is mounted.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file or a directory with custom facts is left out.
    #[error("custom facts are left out")]
    Skipped(#[from] ConfigurationError),
    /// A file with custom facts is no text.
    #[error("custom facts are left out: \"{}\" is not UTF-8 (byte {offset})", path.display())]
    NotText {
        /// Which one.
        path: PathBuf,
        /// How much of it is.
        offset: usize,
    },
    /// The files with custom facts are too long together.
    #[error(
        "custom facts are left out: with \"{}\" there are more than {limit} bytes of them",
        path.display()
    )]
    TooMuch {
        /// The first one that is left out.
        path: PathBuf,
        /// How many there may be.
        limit: u64,
    },
}
