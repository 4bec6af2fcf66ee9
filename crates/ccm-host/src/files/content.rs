//! Reading content, a piece at a time: its sha256, and as much of it as is asked for.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::buffer::spare_capacity;
use sha2::{Digest as _, Sha256};

use super::{FileError, ReadContent, Step};
use crate::command::{Cancellation, Level};

const PIECE: usize = 128 * 1024;

/// A file that is open for reading.
pub(super) struct Readable<'a> {
    pub file: OwnedFd,
    /// Where it is, for messages.
    pub path: &'a Path,
    /// Its length, if the end need not be looked for behind it.
    pub expected: Option<u64>,
}

/// Reads to the end, unless the run ends first. Each piece goes through `each` as well.
pub(super) fn read(
    from: Readable<'_>,
    cancellation: &Cancellation,
    keep_up_to: u64,
    mut each: impl FnMut(&[u8]) -> Result<(), FileError>,
) -> Result<ReadContent, FileError> {
    let Readable { file, path, expected } = from;
    let mut from = File::from(file);
    let mut hash = Sha256::new();
    let mut size = 0;
    let mut content = Some(Vec::new());
    // One byte more than is expected, so that a short read shows the end.
    let expected_piece = expected.and_then(|size| usize::try_from(size.saturating_add(1)).ok());
    let mut piece = vec![0; expected_piece.map_or(PIECE, |length| length.min(PIECE))];
    loop {
        go_on(cancellation)?;
        let length = match from.read(&mut piece) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(FileError::step(path, Step::Read, error)),
        };
        let is_short = length < piece.len();
        let piece = &piece[..length];
        hash.update(piece);
        size += length as u64;
        if size > keep_up_to {
            content = None;
        } else if let Some(content) = &mut content {
            content.extend_from_slice(piece);
        }
        each(piece)?;
        if is_short && expected == Some(size) {
            break;
        }
    }
    Ok(ReadContent { sha256: hexadecimal(&hash.finalize()), size, content })
}

/// Reads no more than the content; none if it is longer than that.
pub(super) fn alone(file: OwnedFd, path: &Path, longest: u64) -> Result<Option<Vec<u8>>, FileError> {
    let file = File::from(file);
    let refused = |error| FileError::step(path, Step::Read, error);
    let length = file.metadata().map_err(refused)?.len();
    let mut content = Vec::new();
    if length <= longest {
        // One more, so that the end shows without another buffer.
        content.reserve_exact(usize::try_from(length).unwrap_or_default().saturating_add(1));
        file.take(longest.saturating_add(1)).read_to_end(&mut content).map_err(refused)?;
    }
    Ok((length.max(content.len() as u64) <= longest).then_some(content))
}

/// Tells whether a file holds these bytes and no more. One read has to show it: long content, and a file that comes
/// in pieces, is told to be another one. The file is still to be read from its beginning.
pub(super) fn is(file: &OwnedFd, bytes: &[u8]) -> bool {
    if bytes.len() >= PIECE {
        return false;
    }
    // One byte more than there should be, so that the end shows.
    let mut read = Vec::with_capacity(bytes.len() + 1);
    rustix::io::pread(file, spare_capacity(&mut read), 0).is_ok() && read == bytes
}

/// Goes on unless the run is to end: what takes its time asks at each piece of it.
pub(super) fn go_on(cancellation: &Cancellation) -> Result<(), FileError> {
    match cancellation.level() {
        Level::Go => Ok(()),
        Level::Stop | Level::Kill => Err(FileError::Ended { changed: false }),
    }
}

/// The sha256 of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = vec![0; 2 * bytes.len()];
    for (byte, digits) in bytes.iter().zip(text.chunks_exact_mut(2)) {
        digits[0] = DIGITS[usize::from(byte >> 4)];
        digits[1] = DIGITS[usize::from(byte & 15)];
    }
    String::from_utf8(text).unwrap_or_default()
}
