//! Errors of extractions.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::EntryError;
use ccm_host::FileError;

/// Error of an extraction. Names of entries are escaped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The archive can't be read, or is damaged, or is of another format.
    #[error("\"{}\" can't be read as an archive", .path.display())]
    Read {
        /// Path of the archive.
        path: PathBuf,
        /// Error of reading or decompressing.
        source: io::Error,
    },
    /// The archive has another checksum than before.
    #[error("\"{}\" was changed while ccm looked at it: its checksum is another one now", .path.display())]
    Checksum {
        /// Path of the archive.
        path: PathBuf,
    },
    /// What comes out of the archive is not what was expected.
    #[error("what is in \"{}\" has another checksum than it has to have", .path.display())]
    Content {
        /// Path of the archive.
        path: PathBuf,
    },
    /// An entry is refused.
    #[error("the entry `{entry}` is refused: {problem}")]
    Entry {
        /// Name of the entry.
        entry: String,
        /// What is wrong with it.
        problem: EntryError,
    },
    /// There are too many entries.
    #[error("the archive holds more than {max} entries")]
    TooManyEntries {
        /// Maximum number.
        max: u64,
    },
    /// More comes out than may.
    #[error("more than {max} bytes come out of the archive")]
    TooLarge {
        /// Maximum number of bytes.
        max: u64,
    },
    /// So much comes out that the archive is an attack.
    #[error("the archive grows to more than {ratio} times its size")]
    Ratio {
        /// Maximum ratio.
        ratio: u64,
    },
    /// Nothing comes out of the archive.
    #[error("the archive holds nothing to extract")]
    Empty {
        /// `true` if `strip_components` leaves nothing.
        stripped: bool,
    },
    /// Something is in the way.
    #[error("\"{}\" is {what}, but the archive has {wanted} there", .path.display())]
    Obstacle {
        /// Path on this machine.
        path: PathBuf,
        /// What it is, with its article.
        what: &'static str,
        /// What the archive has, with its article.
        wanted: &'static str,
    },
    /// A file could not be written or moved.
    #[error(transparent)]
    File(#[from] FileError),
    /// The extraction took too long.
    #[error("the extraction timed out after {after:?}")]
    TimedOut {
        /// Time limit.
        after: Duration,
    },
    /// The run was cancelled during the extraction.
    #[error("stopped together with the run")]
    Cancelled,
    /// The thread of the extraction could not be started.
    #[error("a thread for the extraction could not be started")]
    Thread(#[source] io::Error),
}

impl ExtractError {
    /// Returns `true` if something was changed before the error.
    pub fn changed(&self) -> bool {
        matches!(self, Self::File(error) if error.changed())
    }

    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Read { .. } => "check that the file is complete, and that its name ends like its format",
            Self::Entry { problem: EntryError::NotUtf8, .. } => "pack the archive again with names in UTF-8",
            Self::Entry { problem: EntryError::Encrypted | EntryError::Method, .. } => {
                "pack the archive again, as tar.gz or as a plain zip"
            }
            Self::Entry { problem: EntryError::Sparse, .. } => "pack the archive again without `--sparse`",
            Self::Entry { problem: EntryError::Continued, .. } => "pack the archive again as one volume",
            Self::Entry { .. } => "do not use this archive unless you know who made it, and why",
            Self::TooLarge { .. } => "raise `max_size`",
            Self::Empty { stripped: true } => "lower `strip_components`",
            Self::Obstacle { .. } => "move away what is at this path, or extract into another directory",
            Self::TimedOut { .. } => "raise `timeout`",
            _ => return None,
        })
    }
}
