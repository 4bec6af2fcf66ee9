//! Extraction of archives that nobody vouches for. What is in an archive is written to a fresh directory, and only
//! moved to its place when all of it was found to be harmless.

mod content_digest;
mod decompression;
mod entry;
mod error;
mod format;
mod placement;
mod staging;
mod stop;
mod tar;
mod unpack;
mod zip;

use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;

use ccm_host::{Cancellation, CancellationLevel, ExtractionTarget};

pub use entry::EntryError;
pub use error::ExtractError;
pub use format::ArchiveFormat;

/// Maximum number of files, directories and links that come out of an archive.
pub const MAX_ARCHIVE_ENTRIES: u64 = 500_000;

/// Maximum ratio between what comes out of an archive and the archive itself.
const MAX_ARCHIVE_RATIO: u64 = 1000;

/// Archive to extract.
#[derive(Debug)]
pub struct ExtractRequest {
    /// Open archive.
    pub archive: File,
    /// SHA-256 of the archive in hexadecimal digits, compared with what is open before anything is read from it.
    pub sha256: Option<String>,
    /// SHA-256 of what a tar archive is before it is compressed, in hexadecimal digits. It is compared with all that was
    /// read before anything is moved into place.
    pub content_sha256: Option<String>,
    /// Path of the archive, for messages and for the name of the temporary directory.
    pub path: PathBuf,
    /// Format of the archive.
    pub format: ArchiveFormat,
    /// Existing directory to extract into.
    pub into: ExtractionTarget,
    /// Number of leading parts to remove from each name.
    pub strip_components: usize,
    /// Owner of what is extracted.
    pub uid: Option<u32>,
    /// Group of what is extracted.
    pub gid: Option<u32>,
    /// Maximum number of bytes that come out.
    pub max_size: u64,
    /// Maximum number of files, directories and links that come out.
    pub max_entries: u64,
    /// Path that is moved into place after everything else, because it shows that the extraction is complete.
    pub last: Option<PathBuf>,
    /// Time limit.
    pub timeout: Option<Duration>,
}

/// Result of an extraction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Number of files and links.
    pub files: u64,
    /// Number of directories.
    pub directories: u64,
    /// Length of the files in bytes.
    pub bytes: u64,
}

/// Extracts an archive on a thread of its own. Names that lead out of the directory, links that do, devices,
/// pipes, set-id bits, duplicates and what grows too large are errors, after which nothing is kept. Owners in the
/// archive are ignored, and nobody but an owner may write what was extracted.
///
/// Existing files are replaced one by one, in one step each; existing directories are kept. A cancellation or the
/// time limit ends the extraction, unless files are already being moved into place.
pub async fn extract(
    request: ExtractRequest,
    cancellation: &Cancellation,
) -> Result<Extracted, ExtractError> {
    let stop = stop::ExtractionStop::after(request.timeout);
    let (sender, mut result) = tokio::sync::oneshot::channel();
    let thread = std::thread::Builder::new().name("extraction".to_owned());
    let of_thread = stop.clone();
    let started = thread.spawn(move || {
        // An error means that nobody waits any more.
        let _ = sender.send(unpack::unpack(request, &of_thread));
    });
    started.map_err(ExtractError::Thread)?;
    // If the future is dropped, the thread stops too.
    let _stop_on_drop = stop.on_drop();
    tokio::select! {
        biased;
        result = &mut result => return result.unwrap_or_else(|_| Err(lost_thread())),
        () = cancellation.reached(CancellationLevel::Stop) => stop.cancel(),
    }
    // The thread removes what it has written.
    result.await.unwrap_or_else(|_| Err(lost_thread()))
}

fn lost_thread() -> ExtractError {
    ExtractError::Thread(std::io::ErrorKind::BrokenPipe.into())
}
