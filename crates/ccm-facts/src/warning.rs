//! Warnings: errors that don't end a run.

use std::io;
use std::path::PathBuf;

use ccm_host::ConfigurationError;
use ccm_model::InvalidByte;
use thiserror::Error;

/// Source of facts that failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Warning {
    /// Unreadable system file.
    #[error("no facts from \"{}\": the file can't be read", path.display())]
    Unreadable {
        /// Path.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// System file without the expected content.
    #[error("no facts from \"{}\": the file has no {expected}", path.display())]
    Unexpected {
        /// Path.
        path: PathBuf,
        /// Missing content.
        expected: &'static str,
    },
    /// Failed query of the system.
    #[error("{what} can't be read")]
    QueryFailed {
        /// Subject of the query.
        what: &'static str,
        /// Cause.
        source: io::Error,
    },
    /// Failed query of the space of a file system.
    #[error("the size of the file system at \"{}\" is unknown", path.display())]
    NoSpace {
        /// Mount point.
        path: PathBuf,
        /// Cause.
        source: io::Error,
    },
    /// File or directory of custom facts that is left out.
    #[error("custom facts are left out")]
    Skipped(#[from] ConfigurationError),
    /// File of custom facts that is no text.
    #[error("custom facts are left out: \"{}\" is not UTF-8 text", path.display())]
    NotText {
        /// Path.
        path: PathBuf,
        /// First byte that is not part of a character.
        #[source]
        byte: Option<InvalidByte>,
    },
    /// Files in the directory of custom facts that have other endings, such as programs.
    #[error(
        "\"{}\"{} not read: custom facts are in files that end in .json, .yaml or .yml, and no program is run",
        path.display(), more(*others)
    )]
    OtherEndings {
        /// Path of the first one.
        path: PathBuf,
        /// Number of others.
        others: usize,
    },
    /// Files of custom facts that exceed the total limit.
    #[error(
        "custom facts are left out: \"{}\" exceeds the total of {limit} bytes",
        path.display()
    )]
    TooMuch {
        /// First file left out.
        path: PathBuf,
        /// Limit in bytes.
        limit: u64,
    },
}

fn more(others: usize) -> String {
    match others {
        0 => " is".to_owned(),
        1 => " and another file beside it are".to_owned(),
        others => format!(" and {others} other files beside it are"),
    }
}
