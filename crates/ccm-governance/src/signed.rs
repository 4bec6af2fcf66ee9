//! Signed manifests: an approver's statement about a manifest and every file that belongs to it.

mod content;
mod read_record;
mod signature;
mod signed_files;
mod statement;

use std::io;

use ccm_approval::ApproversError;
use ccm_host::FileError;

use crate::approval::SignatureFailure;

pub use content::{LocalSources, ManifestContent, SourceEntry};
pub use read_record::{ReadRecord, ReadState};
pub use signature::{ManifestSignature, StatementPaths};
pub use signed_files::{SignedFiles, SignedSources};
pub use statement::{SignedFile, SignedManifest};

/// Reason for which a manifest does not count as signed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestSignatureError {
    /// There is no statement.
    #[error("{0} does not exist")]
    Missing(String),
    /// The statement or its signature can't be read.
    #[error("{path} can't be read")]
    Unreadable {
        /// The path.
        path: String,
        /// Error of the system.
        source: io::Error,
    },
    /// Nobody can approve.
    #[error(transparent)]
    Approvers(#[from] ApproversError),
    /// The signature does not count.
    #[error(transparent)]
    Signature(#[from] SignatureFailure),
    /// The manifest has no directory in which a statement could lie.
    #[error("a manifest from standard input or a pipe can't be signed")]
    Transient,
    /// The manifest is of a signed source, and the values of the command line are not.
    #[error("the source is signed, and the values of `--data` and `--hiera` are no part of it")]
    GivenValues,
    /// The manifest is of a source whose versions nobody has to sign.
    #[error("nobody has to sign the versions of its source (`--signers none`)")]
    UnsignedSource,
    /// A command of an executor is not in the manifest.
    #[error("a command for an executor of a manifest can't be signed")]
    Command,
    /// A source can't be read.
    #[error(transparent)]
    Source(FileError),
    /// The statement is about another manifest.
    #[error("the statement is about `{}`", signed.escape_debug())]
    OtherManifest {
        /// Name of the manifest that was signed.
        signed: String,
    },
    /// The values of the command line differ.
    #[error("other values are given with `--data` than were signed")]
    OtherData,
    /// The files of values on the command line differ.
    #[error("other files are given with `--hiera` than were signed")]
    OtherHiera,
    /// A file has another content.
    #[error("{} is not the file that was signed", .0.escape_debug())]
    Changed(String),
    /// The owner of a file may execute it, and could not when it was signed, or the other way round.
    #[error("{} is executable or was when it was signed, not both", .0.escape_debug())]
    Mode(String),
    /// A file was not signed.
    #[error("{} is not among the files that were signed", .0.escape_debug())]
    NotSigned(String),
    /// A file that was signed does not exist.
    #[error("{} does not exist, but was signed", .0.escape_debug())]
    Gone(String),
    /// A file was changed while the manifest was loaded.
    #[error("{} was changed while the manifest was loaded", .0.escape_debug())]
    Unsteady(String),
    /// The resources copy or extract more than is read for this caller.
    #[error(
        "the files that it copies or extracts are more than {files} or larger than {bytes} bytes together"
    )]
    TooMuch {
        /// Maximum number of files.
        files: usize,
        /// Maximum size of all files.
        bytes: u64,
    },
    /// The statement can't be understood.
    #[error("{path} is no statement about a manifest: {reason}")]
    Statement {
        /// Path of the statement.
        path: String,
        /// The reason.
        reason: String,
    },
    /// The statement has ended.
    #[error("the statement ended at {0}")]
    Ended(String),
}

impl ManifestSignatureError {
    /// Returns `true` if nobody has tried to sign the manifest.
    pub fn is_absence(&self) -> bool {
        matches!(self, Self::Missing(path) if path.ends_with(".approval"))
            || matches!(self, Self::Transient | Self::GivenValues | Self::UnsignedSource | Self::Command)
    }
}
