//! Reading content in chunks.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use ccm_model::hexadecimal;
pub use ccm_model::sha256;
use rustix::buffer::spare_capacity;
use sha2::{Digest as _, Sha256};

use super::{FileError, FileStep, ReadContent};
use crate::command::{Cancellation, CancellationLevel};

const CHUNK: usize = 128 * 1024;

/// Open file to read.
pub(super) struct Readable<'a> {
    pub file: OwnedFd,
    /// Path, for messages.
    pub path: &'a Path,
    /// Expected length. A file of this length needs no further read to find its end.
    pub expected: Option<u64>,
    /// Maximum length. A file that is longer was changed since it was inspected.
    pub max_length: u64,
}

/// Reads to the end of the file, unless the run is cancelled. Hands each chunk to `each` as well.
pub(super) fn read(
    from: Readable<'_>,
    cancellation: &Cancellation,
    keep_up_to: u64,
    mut each: impl FnMut(&[u8]) -> Result<(), FileError>,
) -> Result<ReadContent, FileError> {
    let Readable { file, path, expected, max_length } = from;
    let mut from = File::from(file);
    let mut hash = Sha256::new();
    let mut size = 0;
    let mut content = Some(Vec::new());
    // One byte more than is expected, so that a short read shows the end.
    let expected_chunk = expected.and_then(|size| usize::try_from(size.saturating_add(1)).ok());
    let mut chunk = vec![0; expected_chunk.map_or(CHUNK, |length| length.min(CHUNK))];
    loop {
        check_cancelled(cancellation)?;
        let length = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(FileError::step(path, FileStep::Read, error)),
        };
        let is_short = length < chunk.len();
        let chunk = &chunk[..length];
        hash.update(chunk);
        size += length as u64;
        if size > max_length {
            return Err(FileError::Changed(path.to_owned()));
        }
        if size > keep_up_to {
            content = None;
        } else if let Some(content) = &mut content {
            content.extend_from_slice(chunk);
        }
        each(chunk)?;
        if is_short && expected == Some(size) {
            break;
        }
    }
    Ok(ReadContent { sha256: hexadecimal(&hash.finalize()), size, content })
}

/// Reads the content without a checksum; `None` if it is longer than `max_length`.
pub(super) fn read_bounded(
    file: OwnedFd,
    path: &Path,
    max_length: u64,
) -> Result<Option<Vec<u8>>, FileError> {
    let file = File::from(file);
    let refused = |error| FileError::step(path, FileStep::Read, error);
    let length = file.metadata().map_err(refused)?.len();
    let mut content = Vec::new();
    if length <= max_length {
        // With one byte more, the end is found without another buffer.
        content.reserve_exact(usize::try_from(length).unwrap_or_default().saturating_add(1));
        file.take(max_length.saturating_add(1)).read_to_end(&mut content).map_err(refused)?;
    }
    Ok((length.max(content.len() as u64) <= max_length).then_some(content))
}

/// Returns `true` if one read shows that the content is equal to `bytes`. Long content, and a file that needs
/// several reads, counts as different. The position in the file stays at its beginning.
pub(super) fn is(file: &OwnedFd, bytes: &[u8]) -> bool {
    if bytes.len() >= CHUNK {
        return false;
    }
    // With one byte more, the end is found.
    let mut read = Vec::with_capacity(bytes.len() + 1);
    rustix::io::pread(file, spare_capacity(&mut read), 0).is_ok() && read == bytes
}

/// Returns an error if the run is cancelled. Long operations call this at each step.
pub(super) fn check_cancelled(cancellation: &Cancellation) -> Result<(), FileError> {
    match cancellation.level() {
        CancellationLevel::Go => Ok(()),
        CancellationLevel::Stop | CancellationLevel::Kill => Err(FileError::Cancelled { changed: false }),
    }
}
